// SPDX-License-Identifier: BSD-3-Clause
/*
 * In each round two threads are created and joined, 12 ms and 8 ms long, after a serial part of 2
 * ms. Making the longer one (the line under test) faster by s gains min(s x 12, 4) / 14:
 * 21/29/29/29 %. With --both 1 either thread runs the line first and then the rest, so their lives
 * have two parts.
 */
#include "workload.h"

static long a_us = 12000, b_us = 8000, serial_us = 2000, both;
static uint64_t a_iters, b_iters, serial_iters;

static void *run_a(void *argument)
{
	SPIN_LINE(a_iters); /* LINE_A */
	if (both)
		SPIN(b_iters); /* LINE_D */
	return NULL;
}

static void *run_b(void *argument)
{
	SPIN(b_iters); /* LINE_B */
	return NULL;
}

static void *coordinate(void *argument)
{
	for (;;) {
		SPIN(serial_iters); /* LINE_C */
		pthread_t a = work_thread(run_a, NULL), b = work_thread(both ? run_a : run_b, NULL);

		pthread_join(a, NULL);
		pthread_join(b, NULL);
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"b-us", &b_us}, {"serial-us", &serial_us}, {"both", &both}, {NULL}};

	work_init(argc, argv, 2, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	serial_iters = work_iters(serial_us);
	work_thread(coordinate, NULL);
	work_wait();
}
