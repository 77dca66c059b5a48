// SPDX-License-Identifier: BSD-3-Clause
/*
 * A thread for each task, two at a time: a dispatcher prepares a task (1.6 ms) and starts a thread
 * that works for 3 ms, of which the line is 2.5 ms. On two CPUs three threads share the time: the
 * CPUs, the tasks or the dispatcher are the bottleneck.
 */
#include "workload.h"

#include <semaphore.h>

static long prepare_us = 1600, a_us = 2500, b_us = 500, at_a_time = 2;
static uint64_t prepare_iters, a_iters, b_iters;
static sem_t room;

static void *run_task(void *argument)
{
	SPIN_LINE(a_iters); /* LINE_A */
	SPIN(b_iters);      /* LINE_B */
	progress();
	sem_post(&room);
	return NULL;
}

static void *dispatch(void *argument)
{
	for (;;) {
		SPIN(prepare_iters); /* LINE_C */
		while (sem_wait(&room))
			;
		pthread_detach(work_thread(run_task, NULL));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"prepare-us", &prepare_us}, {"a-us", &a_us},
	    {"b-us", &b_us}, {"at-a-time", &at_a_time}, {NULL}};

	work_init(argc, argv, 1, options);
	prepare_iters = work_iters(prepare_us);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	sem_init(&room, 0, (unsigned)at_a_time);
	work_thread(dispatch, NULL);
	work_wait();
}
