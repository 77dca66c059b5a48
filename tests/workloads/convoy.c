// SPDX-License-Identifier: BSD-3-Clause
/*
 * Threads hold a lock for 2 ms and work 1 ms outside. A line speedup of 100 % gives each thread a
 * lock of its own, any other leaves the one lock: so it tells what a lock that is never contended
 * gains. On two CPUs a visit takes max(2, 3 / 2) ms with one lock, else 3 / 2. --hold sleep sleeps
 * with the lock held, as who writes to a disk does: then the lock, not the CPUs, is the bottleneck.
 */
#include "workload.h"

#define THREADS_MAX 64

static long inside_us = 2000, outside_us = 1000;
static const char *hold = "work";
static uint64_t inside_iters, outside_iters;
static int holds_asleep;
static struct {
	pthread_mutex_t mutex;
	char apart[64]; /* no two in one cache line */
} shared, own[THREADS_MAX];

static void hold_it(void)
{
	struct timespec t = work_span(inside_us);

	if (!holds_asleep)
		SPIN(inside_iters);
	while (holds_asleep && clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
		;
}

static void *run(void *mine)
{
	for (;;) {
		pthread_mutex_t *mutex = work_share() ? &shared.mutex : (pthread_mutex_t *)mine;
		uint64_t begin = work_off_cpu_ns();

		pthread_mutex_lock(mutex); /* WAIT */
		work_waited(work_off_cpu_ns() - begin);
		hold_it();
		pthread_mutex_unlock(mutex);
		SPIN(outside_iters);
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"inside-us", &inside_us}, {"outside-us", &outside_us}, {"hold", NULL, &hold}, {NULL}};

	work_init(argc, argv, 4, options);
	inside_iters = work_iters(inside_us);
	outside_iters = work_iters(outside_us);
	holds_asleep = !strcmp(hold, "sleep");
	errno = EINVAL;
	if (work.threads > THREADS_MAX)
		work_fail("--threads");
	pthread_mutex_init(&shared.mutex, NULL);
	for (long i = 0; i < work.threads; i++) {
		pthread_mutex_init(&own[i].mutex, NULL);
		work_thread(run, &own[i].mutex);
	}
	work_wait();
}
