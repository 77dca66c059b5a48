// SPDX-License-Identifier: BSD-3-Clause
/*
 * A bounded buffer of two semaphores with four places: 4 ms to make an item (the line), 2.6 ms to
 * use one. The bottleneck flips at s = 35 %: min(s, 0.35) is gained.
 */
#include "workload.h"

#include <semaphore.h>

static long make_us = 4000, use_us = 2600, places = 4;
static uint64_t make_iters, use_iters;
static sem_t empty, full;

static void take(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		;
}

static void *produce(void *argument)
{
	for (;;) {
		SPIN_LINE(make_iters); /* LINE_A */
		take(&empty);
		sem_post(&full);
	}
	return NULL;
}

static void *consume(void *argument)
{
	for (;;) {
		take(&full);
		SPIN(use_iters); /* LINE_B */
		sem_post(&empty);
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"make-us", &make_us}, {"use-us", &use_us}, {"places", &places}, {NULL}};

	work_init(argc, argv, 2, options);
	make_iters = work_iters(make_us);
	use_iters = work_iters(use_us);
	sem_init(&empty, 0, (unsigned)places);
	sem_init(&full, 0, 0);
	work_thread(produce, NULL);
	work_thread(consume, NULL);
	work_wait();
}
