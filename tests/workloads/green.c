// SPDX-License-Identifier: BSD-3-Clause
/*
 * Green threads: one kernel thread runs two contexts in turn, 2 ms (the line) and 1 ms, and hands
 * an item on for each round. Another kernel thread works 1.8 ms on each item. Making the line
 * faster by s gains min(2 s, 1.2) / 3.
 */
#include "workload.h"

#include <semaphore.h>
#include <ucontext.h>

#define GREEN 2
#define STACK_BYTES 65536

static long a_us = 2000, b_us = 1000, use_us = 1800;
static uint64_t a_iters, b_iters, use_iters;
static sem_t empty, full;
static ucontext_t contexts[GREEN];

static void take(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		;
}

static void first(void)
{
	for (;;) {
		SPIN_LINE(a_iters); /* LINE_A */
		swapcontext(&contexts[0], &contexts[1]);
	}
}

static void second(void)
{
	for (;;) {
		SPIN(b_iters); /* LINE_B */
		take(&empty);
		sem_post(&full);
		swapcontext(&contexts[1], &contexts[0]);
	}
}

static void *run_green(void *argument)
{
	static char stacks[GREEN][STACK_BYTES] __attribute__((aligned(16)));
	void (*const runs[GREEN])(void) = {first, second};
	ucontext_t self;

	for (int i = 0; i < GREEN; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = STACK_BYTES;
		makecontext(&contexts[i], runs[i], 0);
	}
	swapcontext(&self, &contexts[0]);
	return NULL;
}

static void *consume(void *argument)
{
	for (;;) {
		take(&full);
		SPIN(use_iters); /* LINE_C */
		sem_post(&empty);
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"b-us", &b_us}, {"use-us", &use_us}, {NULL}};

	work_init(argc, argv, 2, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	use_iters = work_iters(use_us);
	sem_init(&empty, 0, 2);
	sem_init(&full, 0, 0);
	work_thread(run_green, NULL);
	work_thread(consume, NULL);
	work_wait();
}
