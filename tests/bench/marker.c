// SPDX-License-Identifier: BSD-3-Clause
/* What a marker of coz.h costs without a profiler: a loop with a marker against the same loop
 * without. marker.sh builds and runs it. */
#include <coz.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TURNS 100000000L
#define ROUNDS 7

/* Both loops turn the same chain, which latency limits, as in real work. So neither loop is limited
 * by the branch predictor. */
#define LOOP(name, marker)                                                     \
	__attribute__((noinline, aligned(64))) static unsigned long name(void) \
	{                                                                      \
		unsigned long x = 1;                                           \
                                                                               \
		for (long i = 0; i < TURNS; i++) {                             \
			x += x >> 1;                                           \
			__asm__ volatile("" : "+r"(x));                        \
			marker;                                                \
		}                                                              \
		return x;                                                      \
	}

LOOP(without, (void)0)
LOOP(with, COZ_PROGRESS)

static double timed(unsigned long (*loop)(void))
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	loop();
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
}

static int cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(void)
{
	double cost[ROUNDS], bare[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		bare[i] = timed(without) / TURNS;
		cost[i] = timed(with) / TURNS - bare[i];
	}
	qsort(cost, ROUNDS, sizeof(*cost), cmp);
	qsort(bare, ROUNDS, sizeof(*bare), cmp);
	printf("turn %.3f ns, marker %.3f ns (median of %d; %.3f to %.3f)\n", bare[ROUNDS / 2],
	    cost[ROUNDS / 2], ROUNDS, cost[0], cost[ROUNDS - 1]);
	return 0;
}
