// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two threads of unequal length, 8 ms and 4 ms; a coordinator starts a round by two semaphores and
 * waits for both. Making the longer one faster by s gains min(s, 1 - B / A): 25/50/50/50 %.
 */
#include "workload.h"
#include <semaphore.h>

static long a_us = 8000, b_us = 4000, pinned; /* pinned: each has a CPU of its own */
static uint64_t a_iters, b_iters;
static sem_t start_a, start_b, done;

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) && errno == EINTR)
		;
}

static void *run_a(void *argument)
{
	work_pin(pinned ? 0 : -1);
	for (;;) {
		wait_for(&start_a);
		SPIN_LINE(a_iters); /* LINE_A */
		sem_post(&done);
	}
	return NULL;
}

static void *run_b(void *argument)
{
	work_pin(pinned ? 1 : -1);
	for (;;) {
		wait_for(&start_b);
		SPIN(b_iters); /* LINE_B */
		sem_post(&done);
	}
	return NULL;
}

static void *coordinate(void *argument)
{
	for (;;) {
		sem_post(&start_a);
		sem_post(&start_b);
		wait_for(&done);
		wait_for(&done);
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"b-us", &b_us}, {"pinned", &pinned}, {NULL}};

	work_init(argc, argv, 2, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	sem_init(&start_a, 0, 0);
	sem_init(&start_b, 0, 0);
	sem_init(&done, 0, 0);
	work_thread(run_a, NULL);
	work_thread(run_b, NULL);
	work_thread(coordinate, NULL);
	work_wait();
}
