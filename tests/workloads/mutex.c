// SPDX-License-Identifier: BSD-3-Clause
/*
 * Threads do 4 ms inside one lock (the line under test) and 2 ms outside. With two threads the lock
 * is the bottleneck until the inside is shorter than the outside. A visit takes max(inside, (inside
 * + outside) / 2), which gives 25/50/62/75 %. With --threads 4 on two cores the lock stays the
 * bottleneck.
 */
#include "workload.h"

static long inside_us = 4000, outside_us = 2000;
static uint64_t inside_iters, outside_iters;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *argument)
{
	for (;;) {
		pthread_mutex_lock(&mutex);
		SPIN_LINE(inside_iters); /* LINE_A */
		pthread_mutex_unlock(&mutex);
		SPIN(outside_iters); /* LINE_B */
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"inside-us", &inside_us}, {"outside-us", &outside_us}, {NULL}};

	work_init(argc, argv, 2, options);
	inside_iters = work_iters(inside_us);
	outside_iters = work_iters(outside_us);
	for (long i = 0; i < work.threads; i++)
		work_thread(run, NULL);
	work_wait();
}
