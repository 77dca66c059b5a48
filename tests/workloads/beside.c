// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two independent threads: one runs A (the line) for seven tenths of its time, the other counts its
 * own rounds. Making A faster gains nothing. A predicted gain is what pausing costs a thread beyond
 * its pauses.
 */
#include "workload.h"

static long a_us = 700, rest_us = 300, b_us = 1000;
static uint64_t a_iters, rest_iters, b_iters;

static void *run_line(void *argument)
{
	for (;;) {
		SPIN_LINE(a_iters); /* LINE_A */
		SPIN(rest_iters);
	}
	return NULL;
}

static void *run_beside(void *argument)
{
	for (;;) {
		SPIN(b_iters); /* LINE_B */
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"rest-us", &rest_us}, {"b-us", &b_us}, {NULL}};

	work_init(argc, argv, 1, options);
	a_iters = work_iters(a_us);
	rest_iters = work_iters(rest_us);
	b_iters = work_iters(b_us);
	work_thread(run_line, NULL);
	work_thread(run_beside, NULL);
	work_wait();
}
