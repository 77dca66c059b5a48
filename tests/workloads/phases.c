// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two phases take turns, 2 s each: units of 6 ms in the line under test and 4 ms elsewhere, then
 * units of 10 ms elsewhere. All threads change phase together. Over whole cycles, making the line
 * faster by s gains s x 0.3. --cycles N ends the program after N whole cycles.
 */
#include "workload.h"

static long a_us = 6000, b_us = 4000, phase_ms = 2000, cycles;
static uint64_t a_iters, b_iters, whole_iters;
static pthread_barrier_t barrier;

static void *run(void *argument)
{
	long units = phase_ms * 1000 / (a_us + b_us);

	for (long cycle = 0; !cycles || cycle < cycles; cycle++) {
		for (long i = 0; i < units; i++) {
			SPIN_LINE(a_iters); /* LINE_A */
			SPIN(b_iters);      /* LINE_B */
			progress();
		}
		pthread_barrier_wait(&barrier);
		for (long i = 0; i < units; i++) {
			SPIN(whole_iters); /* LINE_C */
			progress();
		}
		pthread_barrier_wait(&barrier);
	}
	work_finish();
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"b-us", &b_us}, {"phase-ms", &phase_ms}, {"cycles", &cycles}, {NULL}};

	work_init(argc, argv, 2, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	whole_iters = work_iters(a_us + b_us);
	pthread_barrier_init(&barrier, NULL, work.threads);
	for (long i = 0; i < work.threads; i++)
		work_thread(run, NULL);
	work_wait();
}
