// SPDX-License-Identifier: BSD-3-Clause
/*
 * A thread works 2 ms every 10 ms, paced by an absolute timer, and makes the progress. A hot
 * bystander beside it holds the line under test. Making any line faster gains nothing (truth 0),
 * since the pace comes from outside.
 */
#include "workload.h"

static long interval_us = 10000, work_us = 2000, a_us = 600, b_us = 400;
static uint64_t work_turns, a_iters, b_iters;

static void *run_periodic(void *argument)
{
	uint64_t next_ns = work_now_ns();

	for (;;) {
		next_ns += interval_us * 1000;
		struct timespec t = {
		    .tv_sec = next_ns / 1000000000, .tv_nsec = next_ns % 1000000000};

		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
			;
		SPIN(work_turns); /* LINE_C */
		progress();
	}
	return NULL;
}

static void *stand_by(void *argument)
{
	for (;;) {
		SPIN_LINE(a_iters); /* LINE_A */
		SPIN(b_iters);      /* LINE_B */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"interval-us", &interval_us}, {"work-us", &work_us},
	    {"a-us", &a_us}, {"b-us", &b_us}, {NULL}};

	work_init(argc, argv, 2, options);
	work_turns = work_iters(work_us);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	work_thread(run_periodic, NULL);
	work_thread(stand_by, NULL);
	work_wait();
}
