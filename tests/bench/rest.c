// SPDX-License-Identifier: BSD-3-Clause
/* What rest.py counts visits of: two threads that hand a word to each other on one CPU, or one that
 * computes there. Each round is a visit to progress(). A line on standard input is answered by the
 * CPU time and the rounds so far. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* of a chain of multiplications: some 5 us */
#define TURNS 2000

static _Atomic uint32_t turn;
static _Atomic uint64_t rounds;

__attribute__((noinline)) void progress(void)
{
	__asm__ volatile("nop"); /* the instruction of the round cannot be probed */
	atomic_fetch_add_explicit(&rounds, 1, memory_order_relaxed);
}

static void *hand_over(void *own)
{
	uint32_t mine = own != NULL;

	while (1) {
		while (atomic_load(&turn) != mine)
			syscall(SYS_futex, &turn, FUTEX_WAIT, !mine, NULL, NULL, 0);
		if (mine)
			progress();
		atomic_store(&turn, !mine);
		syscall(SYS_futex, &turn, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	return NULL;
}

static void *compute(void *none)
{
	uint64_t x = 3;

	(void)none;
	while (1) {
		for (int i = 0; i < TURNS; i++) {
			x *= x;
			__asm__ volatile("" : "+r"(x));
		}
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int switches = argc > 1 && !strcmp(argv[1], "switches");
	struct timespec now;
	pthread_t thread;
	cpu_set_t last;
	char line[16];

	/* Across CPUs a hand-over takes as long as an idle CPU wakes up. */
	CPU_ZERO(&last);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &last);
	sched_setaffinity(0, sizeof(last), &last);

	pthread_create(&thread, NULL, switches ? hand_over : compute, NULL);
	if (switches)
		pthread_create(&thread, NULL, hand_over, &thread);
	while (fgets(line, sizeof(line), stdin)) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		printf("%lld%09ld %llu\n", (long long)now.tv_sec, now.tv_nsec,
		    (unsigned long long)atomic_load(&rounds));
		fflush(stdout);
	}
	return 0;
}
