// SPDX-License-Identifier: BSD-3-Clause
/*
 * A bounded queue behind a mutex and two condition variables, with --producers and --consumers.
 * With one of each (3 ms to make, 4.5 ms to use) the consumer's line gains min(s, 1/3). With the
 * default two of each on two cores the CPUs are the bottleneck: s x 4.5 / 7.5.
 */
#include "workload.h"

static long a_us = 4500, b_us = 3000, producers = 2, consumers = 2, capacity = 4;
static uint64_t a_iters, b_iters;
static long queued;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;

static void *produce(void *argument)
{
	for (;;) {
		SPIN(b_iters); /* LINE_B */
		pthread_mutex_lock(&mutex);
		while (queued == capacity)
			pthread_cond_wait(&not_full, &mutex);
		queued++;
		pthread_cond_signal(&not_empty);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void *consume(void *argument)
{
	for (;;) {
		pthread_mutex_lock(&mutex);
		while (!queued)
			pthread_cond_wait(&not_empty, &mutex);
		queued--;
		pthread_cond_signal(&not_full);
		pthread_mutex_unlock(&mutex);
		SPIN_LINE(a_iters); /* LINE_A */
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"a-us", &a_us}, {"b-us", &b_us},
	    {"producers", &producers}, {"consumers", &consumers}, {"capacity", &capacity}, {NULL}};

	work_init(argc, argv, 0, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	for (long i = 0; i < producers; i++)
		work_thread(produce, NULL);
	for (long i = 0; i < consumers; i++)
		work_thread(consume, NULL);
	work_wait();
}
