// SPDX-License-Identifier: BSD-3-Clause
/*
 * Threads that wait for a CPU: all of them on one, or with a line speedup of 100 % on two by turns.
 * --via join: each works 1 ms, then all meet; a visit is a meeting. Two threads gain 1 / 2 and
 * never wait any more; four gain 1 / 2 and still wait. --via hand-over: each works in its turn, so
 * a second CPU gains nothing. How long they waited for CPUs is the kernel's figure, where it has
 * one.
 */
#include "workload.h"

#include <semaphore.h>

#define THREADS_MAX 64
#define CPUS 2

static long work_us = 1000, cpus[CPUS];
static const char *via = "join";
static uint64_t thread_iters;
static int is_chain;
static pthread_barrier_t meeting;
static sem_t turns[THREADS_MAX];

static void meet(long nth)
{
	if (!is_chain) {
		if (pthread_barrier_wait(&meeting) == PTHREAD_BARRIER_SERIAL_THREAD)
			progress();
		return;
	}
	progress();
	sem_post(&turns[(nth + 1) % work.threads]);
	while (sem_wait(&turns[nth]))
		;
}

static void *run(void *argument)
{
	int file = work_open_schedstat(), wide = -1;
	long nth = (long)argument;
	uint64_t before = work_delayed_ns(file), now;

	while (is_chain && nth && sem_wait(&turns[nth]))
		;
	for (;;) {
		if (wide != !work_share()) {
			wide = !work_share();
			work_pin(cpus[wide ? nth % CPUS : 0]);
		}
		SPIN(thread_iters);
		meet(nth);
		now = work_delayed_ns(file);
		if (file >= 0)
			work_waited(now - before);
		before = now;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"work-us", &work_us}, {"via", NULL, &via}, {NULL}};

	work_init(argc, argv, 2, options);
	thread_iters = work_iters(work_us);
	is_chain = !strcmp(via, "hand-over");
	work_two_cpus(cpus);
	errno = EINVAL;
	if (work.threads < 2 || work.threads > THREADS_MAX)
		work_fail("two threads are the least");
	pthread_barrier_init(&meeting, NULL, (unsigned)work.threads);
	for (long i = 0; i < work.threads; i++)
		sem_init(&turns[i], 0, 0);
	for (long i = 0; i < work.threads; i++)
		work_thread(run, (void *)i);
	work_wait();
}
