// SPDX-License-Identifier: BSD-3-Clause
/*
 * bounded.c with std::counting_semaphore, which spins before it sleeps: four places, 4 ms to make
 * an item (the line), 2.6 ms to use one. min(s, 0.35) is gained.
 */
#include <semaphore>
extern "C" {
#include "workload.h"
}

#define PLACES 4

static long make_us = 4000, use_us = 2600;
static uint64_t make_iters, use_iters;
static std::counting_semaphore<PLACES> empty(PLACES), full(0);

static void *produce(void *argument)
{
	for (;;) {
		SPIN_LINE(make_iters); /* LINE_A */
		empty.acquire();
		full.release();
	}
	return NULL;
}

static void *consume(void *argument)
{
	for (;;) {
		full.acquire();
		SPIN(use_iters); /* LINE_B */
		empty.release();
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"make-us", &make_us}, {"use-us", &use_us}, {NULL}};

	work_init(argc, argv, 2, options);
	make_iters = work_iters(make_us);
	use_iters = work_iters(use_us);
	work_thread(produce, NULL);
	work_thread(consume, NULL);
	work_wait();
}
