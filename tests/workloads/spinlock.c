// SPDX-License-Identifier: BSD-3-Clause
/*
 * mutex.c with locks that are waited for by trying again: 4 ms inside (the line under test), 2 ms
 * outside, two threads, so the same truth of 25/50/62/75 %. --lock ticket: in user space, waiters
 * call sched_yield(). --lock pause: the same, waiters execute PAUSE. --lock look: they only look.
 * --lock plain: they do so in a function that nobody knows to spin. --lock exchange: waiters try
 * to set a flag, and whoever finds it free has the lock. --lock adaptive: libc's, which spins
 * before it sleeps.
 */
#include "workload.h"

static long inside_us = 4000, outside_us = 2000;
static const char *lock = "ticket";
static uint64_t inside_iters, outside_iters;
static uint32_t next_ticket, served, held;
static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static int is_adaptive, is_pausing, is_plain, is_looking, is_exchanging;

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

__attribute__((noinline)) static int is_served(uint32_t mine)
{
	return __atomic_load_n(&served, __ATOMIC_ACQUIRE) == mine;
}

static void take(void)
{
	uint32_t mine;

	if (is_adaptive) {
		pthread_mutex_lock(&adaptive);
		return;
	}
	if (is_exchanging) {
		while (__atomic_exchange_n(&held, 1, __ATOMIC_ACQUIRE))
			; /* LINE_E */
		return;
	}
	mine = __atomic_fetch_add(&next_ticket, 1, __ATOMIC_RELAXED);
	while (is_looking && __atomic_load_n(&served, __ATOMIC_ACQUIRE) != mine)
		; /* LINE_L */
	while (!is_served(mine))
		if (is_pausing)
			relax();
		else if (!is_plain)
			sched_yield(); /* LINE_C */
}

static void give(void)
{
	if (is_adaptive)
		pthread_mutex_unlock(&adaptive);
	else if (is_exchanging)
		__atomic_store_n(&held, 0, __ATOMIC_RELEASE);
	else
		__atomic_add_fetch(&served, 1, __ATOMIC_RELEASE);
}

static void *run(void *argument)
{
	for (;;) {
		take();
		SPIN_LINE(inside_iters); /* LINE_A */
		give();
		SPIN(outside_iters); /* LINE_B */
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"inside-us", &inside_us}, {"outside-us", &outside_us}, {"lock", NULL, &lock}, {NULL}};

	work_init(argc, argv, 2, options);
	is_adaptive = !strcmp(lock, "adaptive");
	is_pausing = !strcmp(lock, "pause");
	is_plain = !strcmp(lock, "plain");
	is_looking = !strcmp(lock, "look");
	is_exchanging = !strcmp(lock, "exchange");
	inside_iters = work_iters(inside_us);
	outside_iters = work_iters(outside_us);
	for (long i = 0; i < work.threads; i++)
		work_thread(run, NULL);
	work_wait();
}
