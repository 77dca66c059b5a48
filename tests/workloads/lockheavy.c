// SPDX-License-Identifier: BSD-3-Clause
/* For overhead: each thread locks and unlocks its own mutex, never contended, about 5 million times
 * a second. --between-ns of work between pairs sets the rate. A visit is --batch pairs. */
#include "workload.h"

static long between_ns = 245, batch = 10000;
static uint64_t between_iters;

static void *run(void *argument)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	for (;;) {
		for (long i = 0; i < batch; i++) {
			pthread_mutex_lock(&mutex);
			pthread_mutex_unlock(&mutex);
			SPIN_LINE(between_iters); /* LINE_A */
		}
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"between-ns", &between_ns}, {"batch", &batch}, {NULL}};

	work_init(argc, argv, 1, options);
	between_iters = work_iters(between_ns / 1000.0);
	for (long i = 0; i < work.threads; i++)
		work_thread(run, NULL);
	work_wait();
}
