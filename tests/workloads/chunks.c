// SPDX-License-Identifier: BSD-3-Clause
/*
 * Dynamic chunks with one join: in each round two new threads draw chunks from a counter, and are
 * joined. Every third chunk of 12 is the line (1.2 ms), the others take 0.3 ms. What a round takes
 * is what the two threads make of the list, one chunk after another.
 */
#include "workload.h"

#define CHUNKS 12
#define EVERY 3

static long a_us = 1200, b_us = 300;
static uint64_t a_iters, b_iters;
static long next_chunk;

static void *run_chunks(void *argument)
{
	long chunk;

	while ((chunk = __atomic_fetch_add(&next_chunk, 1, __ATOMIC_RELAXED)) < CHUNKS) {
		if (chunk % EVERY == 0)
			SPIN_LINE(a_iters); /* LINE_A */
		else
			SPIN(b_iters); /* LINE_B */
	}
	return NULL;
}

static void *run(void *argument)
{
	for (;;) {
		pthread_t first, second;

		__atomic_store_n(&next_chunk, 0, __ATOMIC_RELAXED);
		first = work_thread(run_chunks, NULL);
		second = work_thread(run_chunks, NULL);
		pthread_join(first, NULL);
		pthread_join(second, NULL);
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"a-us", &a_us}, {"b-us", &b_us}, {NULL}};

	work_init(argc, argv, 1, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	work_thread(run, NULL);
	work_wait();
}
