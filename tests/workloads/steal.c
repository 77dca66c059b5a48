// SPDX-License-Identifier: BSD-3-Clause
/*
 * Work stealing: two threads with a deque each. In a round the first one has eight tasks of 0.6 ms
 * (the line), the second one six of 0.4 ms. A thread takes its own newest task, else the other
 * one's oldest one, and both meet when nothing is left. How many tasks are stolen depends on s.
 */
#include "workload.h"

#define WORKERS 2

static long a_us = 600, b_us = 400, a_tasks = 8, b_tasks = 6;
static uint64_t a_iters, b_iters;
static pthread_barrier_t meeting;
static struct deque {
	pthread_mutex_t lock;
	long oldest, newest; /* tasks oldest to newest - 1 are left */
	char padding[64];
} deques[WORKERS];

static int take_from(struct deque *deque, int is_own)
{
	int found;

	pthread_mutex_lock(&deque->lock);
	found = deque->oldest < deque->newest;
	if (found && is_own)
		deque->newest--;
	else if (found)
		deque->oldest++;
	pthread_mutex_unlock(&deque->lock);
	return found;
}

static void run_task(int owner)
{
	if (!owner)
		SPIN_LINE(a_iters); /* LINE_A */
	else
		SPIN(b_iters); /* LINE_B */
}

static void *run(void *argument)
{
	const int self = (int)(long)argument, other = !self;

	for (;;) {
		deques[self].oldest = 0;
		deques[self].newest = self ? b_tasks : a_tasks;
		pthread_barrier_wait(&meeting);
		for (;;) {
			if (take_from(&deques[self], 1))
				run_task(self);
			else if (take_from(&deques[other], 0))
				run_task(other);
			else
				break;
		}
		pthread_barrier_wait(&meeting);
		if (!self)
			progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"b-us", &b_us}, {"a-tasks", &a_tasks}, {"b-tasks", &b_tasks}, {NULL}};

	work_init(argc, argv, WORKERS, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	pthread_barrier_init(&meeting, NULL, WORKERS);
	for (long i = 0; i < WORKERS; i++) {
		pthread_mutex_init(&deques[i].lock, NULL);
		work_thread(run, (void *)i);
	}
	work_wait();
}
