/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast each CPU executes now: a fixed loop of about a millisecond, turn by turn, in a thread on
 * each CPU. Prints CPU, begin (ns, CLOCK_MONOTONIC), time and CPU time (ns) of each turn.
 */
#include "workload.h"

#define TURNS_MAX 100000
#define LOOP 400000ull /* multiplications, twice, of some three cycles each */

static unsigned turns;

struct turn {
	uint64_t begin_ns, took_ns, executed_ns;
};

static uint64_t executed_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void *measure(void *cpu)
{
	struct turn *done = (struct turn *)calloc(turns, sizeof(*done));

	if (!done)
		work_fail("calloc");
	work_pin((long)(intptr_t)cpu);
	for (unsigned i = 0; i < turns; i++) {
		uint64_t executed = executed_ns();

		done[i].begin_ns = work_now_ns();
		SPIN(LOOP);
		done[i].took_ns = work_now_ns() - done[i].begin_ns;
		done[i].executed_ns = executed_ns() - executed;
	}
	return done;
}

int main(int argc, char **argv)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[n];

	turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	if (!turns || turns > TURNS_MAX) {
		fprintf(stderr, "usage: speed TURNS (1 to %d)\n", TURNS_MAX);
		return 2;
	}
	for (long cpu = 0; cpu < n; cpu++)
		threads[cpu] = work_thread(measure, (void *)(intptr_t)cpu);
	for (long cpu = 0; cpu < n; cpu++) {
		void *done;

		pthread_join(threads[cpu], &done);
		for (unsigned i = 0; i < turns; i++) {
			const struct turn *t = (struct turn *)done + i;

			printf("%ld %llu %llu %llu\n", cpu, (unsigned long long)t->begin_ns,
			    (unsigned long long)t->took_ns, (unsigned long long)t->executed_ns);
		}
		free(done);
	}
	return 0;
}
