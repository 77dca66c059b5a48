// SPDX-License-Identifier: BSD-3-Clause
/*
 * One thread sleeps 2 ms and then works 1 ms; another works 2 ms; they meet at a barrier in each
 * round. Making the sleep shorter by s gains min(2 s / 3, 1 / 3), a little less since sleeps last
 * longer than asked.
 */
#include "workload.h"

static long sleep_us = 2000, work_us = 1000, partner_us = 2000;
static uint64_t sleeper_iters, partner_iters;
static pthread_barrier_t meeting;

static void sleep_once(void)
{
	struct timespec t = work_span(sleep_us * work_share());
	uint64_t begin = work_off_cpu_ns();

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR) /* WAIT */
		;
	work_waited(work_off_cpu_ns() - begin);
}

static void *run(void *argument)
{
	for (;;) {
		sleep_once();
		SPIN(sleeper_iters);
		pthread_barrier_wait(&meeting);
		progress();
	}
	return NULL;
}

static void *run_partner(void *argument)
{
	for (;;) {
		SPIN(partner_iters);
		pthread_barrier_wait(&meeting);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"sleep-us", &sleep_us}, {"work-us", &work_us}, {"partner-us", &partner_us}, {NULL}};

	work_init(argc, argv, 2, options);
	sleeper_iters = work_iters(work_us);
	partner_iters = work_iters(partner_us);
	pthread_barrier_init(&meeting, NULL, 2);
	work_thread(run, NULL);
	work_thread(run_partner, NULL);
	work_wait();
}
