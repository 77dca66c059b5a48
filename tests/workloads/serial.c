// SPDX-License-Identifier: BSD-3-Clause
/*
 * In each round one thread does a serial part of 4 ms while the others wait, then all do a parallel
 * part of 6 ms. Making the serial line faster by s gains s x 4 / 10. LINE_B is the parallel part: s
 * x 6 / 10.
 */
#include "workload.h"

static long serial_us = 4000, parallel_us = 6000;
static uint64_t serial_iters, parallel_iters;
static pthread_barrier_t started, finished;

static void *run_leader(void *argument)
{
	for (;;) {
		SPIN_LINE(serial_iters); /* LINE_A */
		pthread_barrier_wait(&started);
		SPIN(parallel_iters);
		pthread_barrier_wait(&finished);
		progress();
	}
	return NULL;
}

static void *run_follower(void *argument)
{
	for (;;) {
		pthread_barrier_wait(&started);
		SPIN(parallel_iters); /* LINE_B */
		pthread_barrier_wait(&finished);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"serial-us", &serial_us}, {"parallel-us", &parallel_us}, {NULL}};

	work_init(argc, argv, 2, options);
	serial_iters = work_iters(serial_us);
	parallel_iters = work_iters(parallel_us);
	pthread_barrier_init(&started, NULL, work.threads);
	pthread_barrier_init(&finished, NULL, work.threads);
	work_thread(run_leader, NULL);
	for (long i = 1; i < work.threads; i++)
		work_thread(run_follower, NULL);
	work_wait();
}
