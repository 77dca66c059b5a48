// SPDX-License-Identifier: BSD-3-Clause
/*
 * The way out of a signal handler, which a pause must not charge to the program (PAUSE_EXIT_NS of
 * user/kernel/load.c). It is the time from the handler's last look at the clock to the first one
 * after it, less the cost of a look. Prints the median in ns.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TIMES 100001

static volatile uint64_t left_at;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static void handle(int sig)
{
	(void)sig;
	left_at = now_ns();
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median(uint64_t *v)
{
	qsort(v, TIMES, sizeof(*v), compare);
	return v[TIMES / 2];
}

int main(void)
{
	static uint64_t out[TIMES], look[TIMES];
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};

	if (sigaction(SIGRTMIN, &action, NULL))
		return 1;
	for (int i = 0; i < TIMES; i++) {
		raise(SIGRTMIN);
		out[i] = now_ns() - left_at;
		left_at = now_ns();
		look[i] = now_ns() - left_at;
	}
	printf("%lld\n", (long long)(median(out) - median(look)));
	return 0;
}
