// SPDX-License-Identifier: BSD-3-Clause
/*
 * One condition variable and a herd: a leader works for 3 ms (the line) and wakes six waiters at
 * once, each of which works for 0.5 ms. The last one lets the leader go on. On two CPUs the herd
 * takes 1.5 ms, so making the leader's line faster by s gains 2 s / 3. With --line herd the line is
 * what the waiters do, and gains s / 3.
 */
#include "workload.h"

static long a_us = 3000, b_us = 500, herd = 6;
static const char *line = "leader";
static int is_herd;
static uint64_t a_iters, b_iters, round_nr;
static long left;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;

static void *run_waiter(void *argument)
{
	for (uint64_t seen = 0;; seen++) {
		pthread_mutex_lock(&lock);
		while (round_nr == seen)
			pthread_cond_wait(&go, &lock);
		pthread_mutex_unlock(&lock);
		if (is_herd)
			SPIN_LINE(b_iters); /* LINE_W */
		else
			SPIN(b_iters); /* LINE_B */
		pthread_mutex_lock(&lock);
		if (!--left)
			pthread_cond_signal(&done);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *lead(void *argument)
{
	for (;;) {
		if (is_herd)
			SPIN(a_iters); /* LINE_C */
		else
			SPIN_LINE(a_iters); /* LINE_A */
		pthread_mutex_lock(&lock);
		left = herd;
		round_nr++;
		pthread_cond_broadcast(&go);
		while (left)
			pthread_cond_wait(&done, &lock);
		pthread_mutex_unlock(&lock);
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"b-us", &b_us}, {"herd", &herd}, {"line", NULL, &line}, {NULL}};

	work_init(argc, argv, 1, options);
	is_herd = !strcmp(line, "herd");
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	for (long i = 0; i < herd; i++)
		work_thread(run_waiter, NULL);
	work_thread(lead, NULL);
	work_wait();
}
