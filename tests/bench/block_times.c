// SPDX-License-Identifier: BSD-3-Clause
/*
 * Blocks whose length and number are known, for tests/bench/block_times.py. `block_times ROUNDS`:
 * each round executes each of the functions so often that all take about as long. `block_times
 * alone`: prints for each one its executions in a round, and how many ns one takes alone. Of many
 * measurements the least one counts: other programs can only make it longer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIMES 40
#define ROUND_STEPS 40000

static volatile unsigned sink;

/* Each step waits for the one before: some 1.1 ns on x86-64, without a branch. The assembler
 * repeats them, for gcc 12 takes 97 s for 20,000 statements. */
#if defined(__aarch64__)
#define STEP "madd %w0, %w0, %w1, %w1\n"
#else
#define STEP "imul $1103515245, %0, %0\n\tadd %1, %0\n"
#endif
#define FUNCTION(steps)                                                                        \
	static void __attribute__((noinline)) steps_##steps(void)                              \
	{                                                                                      \
		unsigned x = sink;                                                             \
                                                                                               \
		__asm__ volatile(".rept " #steps "\n\t" STEP ".endr" : "+&r"(x) : "r"(12345)); \
		sink = x;                                                                      \
	}

FUNCTION(50)
FUNCTION(200)
FUNCTION(400)
FUNCTION(1000)
FUNCTION(4000)
FUNCTION(20000)

static const struct {
	const char *name;
	void (*run)(void);
	unsigned steps;
} functions[] = {
    {"steps_50", steps_50, 50},
    {"steps_200", steps_200, 200},
    {"steps_400", steps_400, 400},
    {"steps_1000", steps_1000, 1000},
    {"steps_4000", steps_4000, 4000},
    {"steps_20000", steps_20000, 20000},
};
#define N (sizeof(functions) / sizeof(functions[0]))

static void execute(unsigned i)
{
	for (unsigned n = ROUND_STEPS / functions[i].steps; n; n--)
		functions[i].run();
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double least_ns(unsigned i)
{
	double least = 1e18;

	for (unsigned n = 0; n < TIMES; n++) {
		double from = now_ns(), took;

		for (unsigned rounds = 0; rounds < 10; rounds++)
			execute(i);
		took = now_ns() - from;
		if (took < least)
			least = took;
	}
	return least / 10 / (ROUND_STEPS / functions[i].steps);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	if (!strcmp(argv[1], "alone")) {
		for (unsigned i = 0; i < N; i++)
			printf("%s %u %.2f\n", functions[i].name, ROUND_STEPS / functions[i].steps,
			    least_ns(i));
		return 0;
	}
	for (unsigned long round = strtoul(argv[1], NULL, 10); round; round--)
		for (unsigned i = 0; i < N; i++)
			execute(i);
	return 0;
}
