// SPDX-License-Identifier: BSD-3-Clause
/*
 * Every thread does A, then B, for ever, each with its own progress: making A faster by s gains s x
 * A / (A + B). By default 6 ms and 4 ms in two threads (0.6 s). --threads 8 on two cores is the
 * oversubscribed case, with the same truth. --tick-us adds a thread that wakes by timer at that
 * distance, each time a little later, and does nearly nothing: it does not change the truth. With
 * --tick-work-us that thread executes so long each time, on CPUs that the others would have. It
 * takes the same part of all of their time, so the truth stays.
 */
#include "workload.h"

static long tick_us, tick_work_us, a_us = 6000, b_us = 4000;
static uint64_t a_iters, b_iters;

static void *run(void *argument)
{
	/* threads start at different points of their cycle */
	SPIN(work_iters((a_us + b_us) * (double)(long)argument / work.threads));
	for (;;) {
		SPIN_LINE(a_iters); /* LINE_A */
		SPIN(b_iters);      /* LINE_B */
		progress();
	}
	return NULL;
}

static void *tick(void *argument)
{
	uint64_t iters = work_iters(tick_work_us);

	for (;;) {
		usleep((useconds_t)tick_us);
		SPIN(iters);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"a-us", &a_us}, {"b-us", &b_us},
	    {"tick-us", &tick_us}, {"tick-work-us", &tick_work_us}, {NULL}};

	work_init(argc, argv, 2, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	for (long i = 0; i < work.threads; i++)
		work_thread(run, (void *)i);
	if (tick_us)
		work_thread(tick, NULL);
	work_wait();
}
