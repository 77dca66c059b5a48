// SPDX-License-Identifier: BSD-3-Clause
/*
 * Threads that live 2 ms. In each round --threads of them (2) are created, do 1.2 ms in the line
 * under test and 0.8 ms elsewhere, and are joined. Making the line faster by s gains a little less
 * than s x 0.6, since creating threads takes time too.
 */
#include "workload.h"

#define THREADS_MAX 64

static long a_us = 1200, b_us = 800;
static uint64_t a_iters, b_iters;

static void *live(void *argument)
{
	SPIN_LINE(a_iters); /* LINE_A */
	SPIN(b_iters);      /* LINE_B */
	return NULL;
}

static void *coordinate(void *argument)
{
	pthread_t threads[THREADS_MAX];

	for (;;) {
		for (long i = 0; i < work.threads; i++)
			threads[i] = work_thread(live, NULL);
		for (long i = 0; i < work.threads; i++)
			pthread_join(threads[i], NULL);
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"a-us", &a_us}, {"b-us", &b_us}, {NULL}};

	work_init(argc, argv, 2, options);
	if (work.threads > THREADS_MAX)
		work_usage(argv[0], options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	work_thread(coordinate, NULL);
	work_wait();
}
