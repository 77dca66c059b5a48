/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all workloads share: options, counted work, progress and its true rate. Each workload is one
 * source file that includes this once. Work is a counted number of turns of a register-only loop,
 * never a stretch of time. So it slows down with the machine, like other code.
 */
#ifndef COZBPF_WORKLOAD_H
#define COZBPF_WORKLOAD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_COZ
#include <coz.h>
#endif

/*
 * Turns a dependent chain @turns times. A macro, so all of its instructions belong to the source
 * line that uses it. Latency limits the chain: neither alignment nor a busy hyperthread changes its
 * speed much.
 */
#if defined(__x86_64__)
#define SPIN(turns)                                                                                \
	do {                                                                                       \
		uint64_t left_ = (turns), chain_ = 3;                                              \
		asm volatile(                                                                      \
		    "test %0, %0\n\tjz 2f\n1:\timul %1, %1\n\timul %1, %1\n\tdec %0\n\tjnz 1b\n2:" \
		    : "+r"(left_), "+r"(chain_)::"cc");                                            \
	} while (0)
#elif defined(__aarch64__)
#define SPIN(turns)                                                                             \
	do {                                                                                    \
		uint64_t left_ = (turns), chain_ = 3;                                           \
		asm volatile("cbz %0, 2f\n1:\tmul %1, %1, %1\n\tmul %1, %1, %1\n\tsub %0, %0, " \
			     "#1\n\tcbnz %0, 1b\n2:"                                            \
			     : "+r"(left_), "+r"(chain_));                                      \
	} while (0)
#else
#define SPIN(turns)                                    \
	for (uint64_t left_ = (turns); left_; left_--) \
	asm volatile("" : "+r"(left_))
#endif

/* An option beside the common ones: --NAME NUMBER when @number is set, else --NAME TEXT. */
struct work_option {
	const char *name;
	long *number;
	const char **text;
};

#define WORK_CHILDREN_MAX 8
#define WORK_WHOLE 65536 /* of work_counters.line_share */

/* In shared memory, so several processes count together. */
struct work_counters {
	uint64_t visits, first_ns, last_ns;
	uint64_t waits, waited_ns, shortest_ns; /* of the wait under test, where there is one */
	uint32_t line_share; /* what --line-speedup or the turn leaves of the line's work */
};

/* --turns: line speedups in turns, and the periods between visits at each. */
static const unsigned work_speedups[] = {0, 25, 50, 75, 100};
#define WORK_SPEEDUPS 5

static struct {
	double line_speedup_pct, seconds, iters_per_ms; /* seconds 0: for ever */
	uint64_t rounds;       /* visits after which the program ends; 0: never */
	long threads, turn_ms; /* of a turn; 0: the line's speed does not change */
	struct {
		uint64_t periods, ns, waits, waited_ns;
	} at[WORK_SPEEDUPS];
	uint64_t start_ns;
	struct work_counters *counters;
	pid_t children[WORK_CHILDREN_MAX];
	int n_children;
	void (*report)(void); /* prints more than the visits at the end; may be NULL */
} work;

static inline uint64_t work_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* A clock that stands still while the calling thread executes: waits are timed by it, since a
 * faster disk or peer leaves what their call executes. */
static inline uint64_t work_off_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return work_now_ns() - ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec);
}

static inline struct timespec work_span(double us)
{
	uint64_t ns = (uint64_t)(us * 1e3);
	struct timespec t = {
	    .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

	return t;
}

static inline void work_fail(const char *what)
{
	fprintf(stderr, "workload: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* What a line speedup has left of the wait under test: a wait takes longer than is asked for. */
static inline void work_print_wait(double speedup_pct, uint64_t waits, uint64_t waited_ns)
{
	dprintf(1, "waits %.0f count %llu seconds %.9f\n", speedup_pct, (unsigned long long)waits,
	    waited_ns / 1e9);
}

static inline void work_print_waits(void)
{
	const struct work_counters *c = work.counters;

	if (c->waits && !work.turn_ms) {
		work_print_wait(work.line_speedup_pct, c->waits, c->waited_ns);
		dprintf(1, "shortest_us %.1f\n", c->shortest_ns / 1e3);
	}
	for (int i = 0; c->waits && work.turn_ms && i < WORK_SPEEDUPS; i++)
		work_print_wait(work_speedups[i], work.at[i].waits, work.at[i].waited_ns);
}

/* Ends the program. The period is measured from the first to the last visit: exact in short runs
 * too. */
static inline void work_finish(void)
{
	const struct work_counters *c = work.counters;
	uint64_t visits = c->visits, first = c->first_ns, last = c->last_ns;
	double period_us = visits > 1 ? (last - first) / 1e3 / (visits - 1) : 0;

	for (int i = 0; work.turn_ms && i < WORK_SPEEDUPS; i++)
		dprintf(1, "turns %u periods %llu seconds %.9f\n", work_speedups[i],
		    (unsigned long long)work.at[i].periods, work.at[i].ns / 1e9);
	work_print_waits();
	dprintf(1, "visits %llu seconds %.6f period_us %.4f\n", (unsigned long long)visits,
	    (work_now_ns() - work.start_ns) / 1e9, period_us);
	if (work.report)
		work.report();
	for (int i = 0; i < work.n_children; i++) {
		kill(work.children[i], SIGKILL);
		waitpid(work.children[i], NULL, 0);
	}
	_exit(0);
}

static inline void work_visit(void)
{
	uint64_t now = work_now_ns(),
		 nth = __atomic_add_fetch(&work.counters->visits, 1, __ATOMIC_RELAXED);

	if (nth == 1)
		__atomic_store_n(&work.counters->first_ns, now, __ATOMIC_RELAXED);
	__atomic_store_n(&work.counters->last_ns, now, __ATOMIC_RELAXED);
	if (nth == work.rounds)
		work_finish();
}

/* The wait under test has taken @ns. */
static inline void work_waited(uint64_t ns)
{
	uint64_t *shortest = &work.counters->shortest_ns, known;

	known = __atomic_load_n(shortest, __ATOMIC_RELAXED);
	while ((!known || ns < known) && !__atomic_compare_exchange_n(shortest, &known, ns, 1,
					     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	__atomic_add_fetch(&work.counters->waits, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&work.counters->waited_ns, ns, __ATOMIC_RELAXED);
}

/* The progress point: one visit per unit of work. It begins with a nop, so a uprobe need not
 * single-step. */
__attribute__((noinline, patchable_function_entry(1))) void progress(void);
void progress(void)
{
#ifdef WITH_COZ
	COZ_PROGRESS_NAMED("progress");
#endif
	work_visit();
}

/* Turns per millisecond: the best of many tries, since disturbances can only slow. */
static inline double work_calibrate(void)
{
	const uint64_t turns = 200000;
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 50; i++) {
		uint64_t t0 = work_now_ns();

		SPIN(turns);
		uint64_t took = work_now_ns() - t0;
		best = took < best ? took : best;
	}
	return turns * 1e6 / best;
}

/* Turns that take @us at the calibrated speed. */
static inline uint64_t work_iters(double us)
{
	return us * work.iters_per_ms / 1000 + 0.5;
}

/* What is left of the line under test, or of the wait under test: 0 to 1. */
static inline double work_share(void)
{
	return (double)__atomic_load_n(&work.counters->line_share, __ATOMIC_RELAXED) / WORK_WHOLE;
}

static inline void work_set_line(double speedup_pct)
{
	__atomic_store_n(&work.counters->line_share,
	    (uint32_t)(WORK_WHOLE * (100 - speedup_pct) / 100 + 0.5), __ATOMIC_RELAXED);
}

/* The line under test: what is left of its turns now. WORK_LINE_FUNCTION: it is a function, for
 * programs without lines. */
#define WORK_LINE(turns)                                                                         \
	SPIN((turns) * (uint64_t)__atomic_load_n(&work.counters->line_share, __ATOMIC_RELAXED) / \
	     WORK_WHOLE)
#ifdef WORK_LINE_FUNCTION
__attribute__((noinline)) static void work_line(uint64_t turns)
{
	WORK_LINE(turns);
}
#define SPIN_LINE(turns) work_line(turns)
#else
#define SPIN_LINE(turns) WORK_LINE(turns)
#endif

static inline void work_usage(const char *program, const struct work_option *options)
{
	fprintf(stderr,
	    "usage: %s [--line-speedup PCT] [--turns MS] [--seconds S] [--rounds N] "
	    "[--threads N] [--iters-per-ms N] [--calibrate]",
	    program);
	for (; options->name; options++)
		fprintf(stderr, " [--%s %s]", options->name, options->number ? "N" : "TEXT");
	fprintf(stderr, "\n");
	exit(2);
}

/* Sets the common option @name; false when there is no such option. */
static inline int work_common_option(const char *name, const char *value)
{
	if (!strcmp(name, "line-speedup"))
		work.line_speedup_pct = atof(value);
	else if (!strcmp(name, "turns"))
		work.turn_ms = atol(value);
	else if (!strcmp(name, "seconds"))
		work.seconds = atof(value);
	else if (!strcmp(name, "rounds"))
		work.rounds = strtoull(value, NULL, 10);
	else if (!strcmp(name, "threads"))
		work.threads = atol(value);
	else if (!strcmp(name, "iters-per-ms"))
		work.iters_per_ms = atof(value);
	else
		return 0;
	return 1;
}

/* Of an outsider, which reads what is left of its service there (tests/bench/outsider.c), or new.
 */
static inline struct work_counters *work_map_counters(void)
{
	const char *path = getenv("WORK_COUNTERS");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *at = path && fd < 0 ? MAP_FAILED
				  : mmap(NULL, sizeof(struct work_counters), PROT_READ | PROT_WRITE,
					MAP_SHARED | (path ? 0 : MAP_ANONYMOUS), fd, 0);

	if (at == MAP_FAILED)
		work_fail(path ? path : "mmap");
	if (path)
		close(fd);
	return (struct work_counters *)at;
}

/* Parses options, calibrates without --iters-per-ms, and blocks the signals that work_wait() waits
 * for. Call it first in main(). @options ends with an entry without a name. */
static inline void work_init(int argc, char **argv, long threads, const struct work_option *options)
{
	sigset_t set;

	work.threads = threads;
	for (int i = 1; i < argc; i += 2) {
		const char *name = argv[i] + 2, *value = argv[i + 1];
		const struct work_option *o = options;

		if (!strcmp(argv[i], "--calibrate")) {
			printf("%.0f\n", work_calibrate());
			exit(0);
		}
		if (strncmp(argv[i], "--", 2) || !value)
			work_usage(argv[0], options);
		if (work_common_option(name, value))
			continue;
		while (o->name && strcmp(o->name, name))
			o++;
		if (!o->name)
			work_usage(argv[0], options);
		if (o->number)
			*o->number = atol(value);
		else
			*o->text = value;
	}
	if (!work.iters_per_ms)
		work.iters_per_ms = work_calibrate();
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	work.counters = work_map_counters();
	work_set_line(work.line_speedup_pct);
	work.start_ns = work_now_ns();
}

static inline pthread_t work_thread(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, run, argument);
	if (errno)
		work_fail("pthread_create");
	return thread;
}

/* Computes, and has nothing to do with anybody's progress. */
static inline void *work_stand_by(void *argument)
{
	uint64_t turns = work_iters(1000);

	for (;;)
		SPIN(turns);
	return argument;
}

static inline void work_bystanders(long n)
{
	for (long i = 0; i < n; i++)
		work_thread(work_stand_by, NULL);
}

/* Forks a process that ends with this one. True in the child. */
static inline int work_fork(void)
{
	pid_t pid = work.n_children < WORK_CHILDREN_MAX ? fork() : -1;

	if (pid < 0)
		work_fail("fork");
	if (pid) {
		work.children[work.n_children++] = pid;
		return 0;
	}
	work.n_children = 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return 1;
}

/* Waits for @ns, or for ever. True when a signal ends the program. */
static inline int work_sleep(const sigset_t *set, uint64_t ns)
{
	uint64_t end = work_now_ns() + ns, now;

	while ((now = work_now_ns()) < end || !ns) {
		struct timespec t = {.tv_sec = (time_t)((end - now) / 1000000000),
		    .tv_nsec = (long)((end - now) % 1000000000)};

		if (sigtimedwait(set, NULL, ns ? &t : NULL) >= 0)
			return 1;
	}
	return 0;
}

/* The visits so far, and the time of the last one. */
static inline uint64_t work_read(uint64_t *last_ns)
{
	uint64_t n;

	do {
		n = __atomic_load_n(&work.counters->visits, __ATOMIC_ACQUIRE);
		*last_ns = __atomic_load_n(&work.counters->last_ns, __ATOMIC_ACQUIRE);
	} while (n != __atomic_load_n(&work.counters->visits, __ATOMIC_ACQUIRE));
	return n;
}

/* One turn: a fifth of its time for the program to settle, then its visits count, from the last one
 * before to the last one within. So both ends are at any moment of a period alike: from the first
 * one within on, long gaps between visits would be left out more often than short ones. */
static inline int work_turn(const sigset_t *set, int speedup)
{
	uint64_t ns = work.turn_ms * 1000000ull, n, begin, end, waits, waited_ns;
	const struct work_counters *c = work.counters;

	work_set_line(work_speedups[speedup]);
	if (work_sleep(set, ns / 5))
		return 1;
	n = work_read(&begin);
	waits = c->waits;
	waited_ns = c->waited_ns;
	if (work_sleep(set, ns - ns / 5))
		return 1;
	work.at[speedup].waits += c->waits - waits;
	work.at[speedup].waited_ns += c->waited_ns - waited_ns;
	if (n) {
		work.at[speedup].periods += work_read(&end) - n;
		work.at[speedup].ns += end - begin;
	}
	return 0;
}

/* All line speedups, each as often, in an order that is drawn anew each time. */
static inline void work_take_turns(const sigset_t *set)
{
	uint64_t end = work.start_ns + (uint64_t)(work.seconds * 1e9), seed = work.start_ns | 1;
	int order[WORK_SPEEDUPS] = {0, 1, 2, 3, 4};

	for (unsigned nth = 0; !work.seconds || work_now_ns() < end; nth++) {
		int i = nth % WORK_SPEEDUPS, other, speedup;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		other = i + seed % (WORK_SPEEDUPS - i);
		speedup = order[other];
		order[other] = order[i];
		order[i] = speedup;
		if (work_turn(set, speedup))
			return;
	}
}

/* main() ends here once its threads run: SIGTERM, SIGINT or the end of --seconds end the
 * program. */
static inline void work_wait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (work.turn_ms)
		work_take_turns(&set);
	else
		work_sleep(&set, (uint64_t)(work.seconds * 1e9));
	work_finish();
}

/* Binds the calling thread to @cpu, unless @cpu is negative. */
static inline void work_pin(long cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		work_fail("sched_setaffinity");
}

/* The calling thread's figures, or -1 where the kernel has none. */
static inline int work_open_schedstat(void)
{
	return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

/* Nanoseconds that the thread of @file has waited for a CPU. */
static inline uint64_t work_delayed_ns(int file)
{
	unsigned long long executed, delayed = 0;
	char text[96] = "";

	if (file >= 0 && pread(file, text, sizeof(text) - 1, 0) > 0)
		sscanf(text, "%llu %llu", &executed, &delayed);
	return delayed;
}

/* The first two CPUs that the program may use. */
static inline void work_two_cpus(long cpus[2])
{
	cpu_set_t allowed;
	int found = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		work_fail("sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			cpus[found++] = cpu;
	errno = EINVAL;
	if (found < 2)
		work_fail("two CPUs are the least");
}

static inline long work_futex(uint32_t *word, int operation, uint32_t value)
{
	return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

#endif
