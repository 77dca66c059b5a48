// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two threads alternate: A works 100 us and wakes B, which works 60 us and wakes A. Making A faster
 * by s gains s x A / (A + B + two wake-ups).
 * --via futex (default), cond or eventfd; --cpu-a and --cpu-b bind the threads.
 */
#include "workload.h"
#include <sys/eventfd.h>

static long a_us = 100, b_us = 60, cpu_a = -1, cpu_b = -1;
static const char *via = "futex";
static uint64_t a_iters, b_iters;
static uint32_t turn; /* 0: A's, 1: B's */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int events[2];

static void wait_futex(uint32_t me)
{
	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
		work_futex(&turn, FUTEX_WAIT, !me);
}

static void pass_futex(uint32_t me)
{
	__atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
	work_futex(&turn, FUTEX_WAKE, 1);
}

static void wait_cond(uint32_t me)
{
	pthread_mutex_lock(&mutex);
	while (turn != me)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void pass_cond(uint32_t me)
{
	pthread_mutex_lock(&mutex);
	turn = !me;
	pthread_mutex_unlock(&mutex);
	pthread_cond_signal(&changed);
}

static void wait_eventfd(uint32_t me)
{
	eventfd_t value;

	while (eventfd_read(events[me], &value) && errno == EINTR)
		;
}

static void pass_eventfd(uint32_t me)
{
	eventfd_write(events[!me], 1);
}

static void (*wait_turn)(uint32_t me) = wait_futex, (*pass_turn)(uint32_t me) = pass_futex;

static void *run_a(void *argument)
{
	work_pin(cpu_a);
	for (;;) {
		wait_turn(0);
		SPIN_LINE(a_iters); /* LINE_A */
		pass_turn(0);
		progress();
	}
	return NULL;
}

static void *run_b(void *argument)
{
	work_pin(cpu_b);
	for (;;) {
		wait_turn(1);
		SPIN(b_iters); /* LINE_B */
		pass_turn(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"a-us", &a_us}, {"b-us", &b_us}, {"cpu-a", &cpu_a},
	    {"cpu-b", &cpu_b}, {"via", NULL, &via}, {NULL}};

	work_init(argc, argv, 2, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	events[0] = eventfd(1, 0);
	events[1] = eventfd(0, 0);
	if (!strcmp(via, "cond"))
		wait_turn = wait_cond, pass_turn = pass_cond;
	else if (!strcmp(via, "eventfd"))
		wait_turn = wait_eventfd, pass_turn = pass_eventfd;
	else if (strcmp(via, "futex"))
		work_usage(argv[0], options);
	work_thread(run_a, NULL);
	work_thread(run_b, NULL);
	work_wait();
}
