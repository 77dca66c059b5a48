// SPDX-License-Identifier: BSD-3-Clause
/*
 * Opens windows on known blocks of a program, which is this file once more, and checks what the
 * session tells of them (user/kernel/blocks.h). `blocks hold` loads the programs and waits;
 * `blocks costs` prints what visits cost.
 */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cozbpf/perturb.h>
#include "core/places/linemap.h"
#include "kernel/blocks.h"
#include "kernel/nops.h"

#include "block_program.h"

#define SIGNAL 44
#define PERIOD_NS 1000000
#define ROUNDS 15
/* Shorter blocks whose instructions are stepped cannot be timed: that takes 10 us, give or take 2.
 */
#define STEPPED_LEAST_NS 20000

enum slot { SPIN, STEPPED_SPIN, CALLED, COUNTED };

static unsigned passed, failed, skipped;
static bool is_emulated;
static struct session *s;
static struct line_map lines;
static struct error error;
static pid_t pid;

static void check(bool good, const char *what)
{
	printf("%s %s\n", good ? "ok  " : "FAIL", what);
	passed += good;
	failed += !good;
}

/* A check of a time, which an emulated machine does not keep. */
static void check_ns(double is, double should, double tolerance_ns, const char *what)
{
	char text[200];

	snprintf(
	    text, sizeof(text), "%s: %.0f ns, within %.0f of %.0f", what, is, tolerance_ns, should);
	if (is_emulated) {
		printf("skip %s\n", text);
		skipped++;
		return;
	}
	check(is > should - tolerance_ns && is < should + tolerance_ns, text);
}

/* A mean of blocks: a tenth of it, and a fifth of what probes take in it, @probes_ns, which changes
 * as much with the state that a probe finds the CPU in. @drift_ns: by how much more it may err. */
static void check_mean(
    double is, double should, double probes_ns, double drift_ns, const char *what)
{
	check_ns(is, should, should / 10 + probes_ns / 5 + drift_ns, what);
}

static void check_share(double is, double should, double tolerance, const char *what)
{
	check_ns(is, should, should * tolerance, what);
}

static void check_count(uint64_t is, uint64_t should, const char *what)
{
	char text[200];

	snprintf(text, sizeof(text), "%s: %llu of %llu", what, (unsigned long long)is,
	    (unsigned long long)should);
	check(is == should, text);
}

static int fail(const char *what)
{
	printf("FAIL %s: %s\n%u passed, %u failed\n", what, error.cause, passed, failed + 1);
	return 1;
}

static void tell(enum order order, uint64_t turns, uint64_t n)
{
	char c = 0;

	words->order = order;
	words->turns = turns;
	words->n = n;
	if (write(orders[1], &c, 1) != 1)
		exit(fail("the program lives"));
}

static void wait_for_answer(void)
{
	char c;

	if (read(answers[0], &c, 1) != 1)
		exit(fail("the program answers"));
}

static void ask(enum order order, uint64_t turns, uint64_t n)
{
	tell(order, turns, n);
	wait_for_answer();
}

/* The shim pauses the program. */
static void be_started(int hold, int memory)
{
	char shim[4096], in[3][12], c, *argv[] = {"blocks", "program", in[0], in[1], in[2], NULL};
	char *end;
	ssize_t n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	n = readlink("/proc/self/exe", shim, sizeof(shim) - 64);

	if (n < 0 || read(hold, &c, 1) != 1)
		_exit(1);
	shim[n] = 0;
	end = strstr(shim, "/tests/bpf/");
	if (end)
		strcpy(end, "/libcozbpf-shim.so");
	setenv("LD_PRELOAD", shim, 1);
	setenv("COZBPF_SIGNAL", "44", 1);
	snprintf(in[0], sizeof(in[0]), "%u", session_pause_mode(s)->quantum_ns);
	setenv("COZBPF_QUANTUM", in[0], 1);
	snprintf(in[0], sizeof(in[0]), "%d", memory);
	snprintf(in[1], sizeof(in[1]), "%d", orders[0]);
	snprintf(in[2], sizeof(in[2]), "%d", answers[1]);
	execv("/proc/self/exe", argv);
	_exit(1);
}

/* Loads the programs, and makes a program of its own the target, with blocks calibrated. @pause: a
 * mode of pausing, NULL: the best. */
static int begin(uint32_t perturb, const char *pause)
{
	const struct session_config c = {.signal = SIGNAL,
	    .follow_children = true,
	    .blocks = true,
	    .perturb = perturb,
	    .perturb_seed = 1,
	    .pause = pause,
	    .watches_only = true,
	    .min_debt_ns = 50000};
	int memory = memfd_create("blocks", 0), hold[2], pidfd;
	char c0 = 0;

	if (line_map_init(&lines) || session_create(&c, &lines, &s, &error) ||
	    session_calibrate_blocks(s, &error))
		return -1;
	if (memory < 0 || ftruncate(memory, sizeof(*words)) || pipe(hold) || pipe(orders) ||
	    pipe(answers))
		return -1;
	words = mmap(NULL, sizeof(*words), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	pid = fork();
	if (!pid)
		be_started(hold[0], memory);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (session_add_process(s, pid, pidfd, "blocks", &error) ||
	    session_attach(s, PERIOD_NS, &error) || write(hold[1], &c0, 1) != 1)
		return -1;
	close(pidfd);
	close(hold[0]);
	close(hold[1]);
	close(memory);
	return 0;
}

static void end(void)
{
	tell(DO_END, 0, 0);
	waitpid(pid, NULL, 0);
	session_destroy(s);
	line_map_deinit(&lines);
	for (int i = 0; i < 2; i++) {
		close(orders[i]);
		close(answers[i]);
	}
	munmap(words, sizeof(*words));
}

#define PROBE(code, at, cheap)                          \
	((struct block_probe){.path = "/proc/self/exe", \
	    .entry = own_code_offset(code##_entry),     \
	    .exit = own_code_offset(code##_exit),       \
	    .entry_is_cheap = cheap,                    \
	    .exit_is_cheap = cheap,                     \
	    .slot = at})

static int open_all(void)
{
	struct block_probe probes[] = {PROBE(spin, SPIN, true), PROBE(stepped, STEPPED_SPIN, false),
	    PROBE(call, CALLED, true), PROBE(plain, COUNTED, true)};
	int window;

	probes[COUNTED].exit = probes[COUNTED].entry;
	for (unsigned i = 0; i < sizeof(probes) / sizeof(*probes); i++)
		session_clear_block(s, i);
	window = session_open_blocks(s, probes, COUNTED, &error);
	if (window < 0)
		exit(fail("a window opens"));
	return window;
}

static struct block_reading reading(unsigned slot)
{
	struct block_reading ret;

	session_read_block(s, slot, &ret);
	return ret;
}

static double mean(const struct block_reading *r)
{
	return r->timed ? (double)r->sum_ns / (double)r->timed : -1;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2];
}

/* Turns of the loop that take @ns, where it is not probed. */
static uint64_t turns_of(double ns)
{
	ask(DO_TIME, 100000, 100);
	return (uint64_t)(ns * 100000 / words->plain_ns) + 1;
}

/* What the probes of a timed block take, as calibrated. */
static double cost_ns(bool is_cheap)
{
	const struct block_probe p = {
	    .entry = 1, .exit = 2, .entry_is_cheap = is_cheap, .exit_is_cheap = is_cheap};

	return (double)session_block_cost_ns(s, &p);
}

/*
 * Means of blocks of some @ns against the same loops without probes, in each of some rounds. The
 * machine may be slower than when probes were calibrated, or faster. Then what the probes took
 * differs from their calibrated cost, and half of the difference is taken to be between a block's
 * readings. It may be none or all of it, so a mean may err by as much again.
 */
static void check_times(double ns, uint64_t n)
{
	double cheap[ROUNDS], dear[ROUNDS], truth[ROUNDS], took[ROUNDS], took_dear[ROUNDS], of;
	uint64_t turns = turns_of(ns);
	struct block_reading r;
	char what[100];

	for (int i = 0; i < ROUNDS; i++) {
		int window = open_all();

		ask(DO_TIME, turns, n);
		session_close_blocks(s, window);
		truth[i] = words->plain_ns;
		took_dear[i] = words->stepped_ns - truth[i];
		r = reading(STEPPED_SPIN);
		dear[i] = mean(&r) - (took_dear[i] - cost_ns(false)) / 2;
		took[i] = words->cheap_ns - truth[i];
		r = reading(SPIN);
		cheap[i] = mean(&r) - (took[i] - cost_ns(true)) / 2;
	}
	check_count(r.entries, n, "entries");
	check_count(r.timed, n, "timed");
	of = median(truth);
	snprintf(what, sizeof(what), "a block of %.0f ns", ns);
	check_mean(
	    median(cheap), of, cost_ns(true) / 2, fabs(median(took) - cost_ns(true)) / 2, what);
	if (ns < STEPPED_LEAST_NS)
		return;
	snprintf(what, sizeof(what), "a block of %.0f ns, stepped", ns);
	check_mean(median(dear), of, cost_ns(false) / 2,
	    fabs(median(took_dear) - cost_ns(false)) / 2, what);
}

static void check_nesting(void)
{
	double is[ROUNDS], truth[ROUNDS], cost = 6 * cost_ns(true);
	uint64_t turns = turns_of(1000);
	struct block_reading r;

	for (int i = 0; i < ROUNDS; i++) {
		int window = open_all();

		ask(DO_NEST, turns, 200);
		session_close_blocks(s, window);
		r = reading(CALLED);
		truth[i] = words->plain_ns;
		/* all but half of the outer block's own */
		is[i] = mean(&r) - (words->cheap_ns - truth[i] - cost) * 11 / 12;
	}
	check_count(r.timed, 200, "blocks around others");
	check_mean(median(is), median(truth), cost * 11 / 12, 0, "a block around five others");
}

static void check_rules(void)
{
	int window = open_all();
	struct block_reading r;

	ask(DO_RECURSE, 9, 50);
	r = reading(CALLED);
	check_count(r.entries, 500, "entries within themselves");
	check_count(r.timed, 50, "the outermost are timed");
	ask(DO_JUMP, 0, 20);
	r = reading(CALLED);
	check_count(r.entries, 520, "entries left by longjmp()");
	check_count(r.timed, 51, "timed: the one that was not");
	ask(DO_FORK, 100, 30);
	r = reading(SPIN);
	check_count(r.entries, 30, "entries in a child");
	check_count(r.timed, 30, "timed there");
	session_close_blocks(s, window);
	check_count(reading(STEPPED_SPIN).entries, 30, "readings stay when the window is closed");
	ask(DO_TIME, 100, 30);
	check_count(reading(SPIN).entries, 30, "entries behind the window");
}

/* The thread is in the block while windows close and open. */
static void check_borders(void)
{
	int window = open_all();

	tell(DO_WAIT, 0, 0);
	wait_for_answer();
	session_close_blocks(s, window);
	check_count(reading(CALLED).entries, 1, "entered before the window's end");
	tell(DO_WAIT, 0, 0);
	wait_for_answer();
	check_count(reading(CALLED).timed, 0, "left behind it: timed");
	tell(DO_WAIT, 0, 0);
	wait_for_answer();
	window = open_all();
	tell(DO_WAIT, 0, 0);
	wait_for_answer();
	check_count(reading(CALLED).entries, 0, "entered before the window: entries");
	check_count(reading(CALLED).timed, 0, "left in it: timed");
	tell(DO_WAIT, 0, 0);
	wait_for_answer();
	session_close_blocks(s, window);
	window = open_all();
	tell(DO_WAIT, 0, 0);
	wait_for_answer();
	check_count(reading(CALLED).timed, 0, "entered in one window, left in the next: timed");
	session_close_blocks(s, window);
}

static void check_counted(void)
{
	struct block_probe probes[] = {PROBE(plain, COUNTED, true), PROBE(spin, SPIN, true)};
	struct block_reading r;
	int window, other;

	probes[0].exit = probes[0].entry;
	session_clear_block(s, COUNTED);
	session_clear_block(s, SPIN);
	window = session_open_blocks(s, probes, 1, &error);
	check(session_open_blocks(s, probes, 2, &error) < 0, "a slot is in one window at a time");
	other = session_open_blocks(s, probes + 1, 1, &error);
	check(window >= 0 && other >= 0 && other != window, "two windows at a time");
	ask(DO_COUNT, 0, 1000);
	session_close_blocks(s, window);
	session_close_blocks(s, other);
	r = reading(COUNTED);
	check_count(r.entries, 1000, "entries of a block that is counted only");
	check_count(r.timed, 0, "timed");
	check(r.probe_ns == 1000 * session_block_cost_ns(s, &probes[0]), "its probes' cost");
	check_count(reading(SPIN).entries, 0, "entries of another window's block");
}

static pid_t start_neighbour(void)
{
	pid_t ret = fork();

	if (ret)
		return ret;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		plain(1000000);
}

/* A neighbour has half of the CPU: blocks of 20 ms last twice as long, and take as much of the
 * CPU. */
static void check_preemption(void)
{
	uint64_t turns = turns_of(20e6), own, before;
	struct block_reading r;
	cpu_set_t one, all;
	pid_t neighbour;
	int window;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	neighbour = start_neighbour();
	sched_setaffinity(pid, sizeof(one), &one);
	sched_setaffinity(0, sizeof(all), &all);
	window = open_all();
	before = session_executed_ns(s);
	ask(DO_CPU_TIME, turns, 25);
	own = session_executed_ns(s) - before;
	session_close_blocks(s, window);
	r = reading(SPIN);
	kill(neighbour, SIGKILL);
	waitpid(neighbour, NULL, 0);
	sched_setaffinity(pid, sizeof(all), &all);
	check_count(r.timed, 25, "blocks that are preempted");
	check_share((double)r.sum_ns, (double)words->cpu_ns, 0.05, "their CPU time");
	check_share((double)own, (double)words->cpu_ns, 0.05, "executed, as the session tells");
	check(is_emulated || (double)r.wall_ns > 1.5 * (double)r.sum_ns,
	    "they last longer than they execute");
	check(r.min_ns <= r.max_ns && r.min_ns > 0, "least and greatest");
}

/* Each second sample makes the thread pause: that is neither its blocks' time nor executed. */
static void check_perturbation(void)
{
	uint64_t turns = turns_of(50e6), before, own;
	struct perturbation p0, p;
	struct block_reading r;
	int window;

	window = open_all();
	session_watch(s);
	p0 = session_perturbation(s);
	before = session_executed_ns(s);
	ask(DO_CPU_TIME, turns, 10);
	own = session_executed_ns(s) - before;
	p = session_perturbation(s);
	p.pauses -= p0.pauses;
	p.paused_ns -= p0.paused_ns;
	session_close_blocks(s, window);
	r = reading(SPIN);
	printf("     %llu pauses of %llu us on average\n", (unsigned long long)p.pauses,
	    (unsigned long long)(p.paused_ns / 1000 / (p.pauses ? p.pauses : 1)));
	check(p.pauses > 50, "the thread is made to pause");
	check_count(r.timed, 10, "blocks with pauses in them");
	/* Turns of other programs come on top. */
	check(is_emulated || (double)r.wall_ns - (double)r.sum_ns > 0.9 * (double)p.paused_ns,
	    "they last longer than they execute by their pauses at least");
	check_share((double)own, (double)r.sum_ns, 0.05, "executed, as the session tells");
	/* The kernel's time has the pauses in it, which hold the CPU. */
	check_share(
	    (double)r.sum_ns, (double)words->cpu_ns - (double)p.paused_ns, 0.05, "their CPU time");
}

static int print_costs(void)
{
	const char *sorts[] = {"stepped", "cheap"};

	if (begin(0, NULL))
		return fail("a session");
	for (int i = 0; i < 2; i++) {
		struct block_probe p = {
		    .entry = 1, .exit = 1, .entry_is_cheap = i, .exit_is_cheap = i};

		printf("%s: %llu ns counted", sorts[i],
		    (unsigned long long)session_block_cost_ns(s, &p));
		p.exit = 2;
		printf(", %llu ns timed, both ends\n",
		    (unsigned long long)session_block_cost_ns(s, &p));
	}
	end();
	return 0;
}

int main(int argc, char **argv)
{
	const char *slow = getenv("COZBPF_TEST_SLOWNESS"), *modes[] = {NULL, "quanta"};

	if (argc == 5 && !strcmp(argv[1], "program"))
		return be_program(argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	is_emulated = slow && strcmp(slow, "1") != 0;
	if (argc == 2 && !strcmp(argv[1], "costs"))
		return print_costs();
	if (begin(argc == 2 ? 1 : 0, NULL)) {
		if (!strstr(error.cause, "many at once"))
			return fail("a session");
		check(strstr(error.hint, "Linux 6.6") != NULL, "refused, with what to use");
		goto done;
	}
	if (argc == 2 && !strcmp(argv[1], "hold")) {
		printf("ready %d\n", pid);
		pause();
	}
	check_times(1000, 500);
	check_times(200, 1000);
	check_times(20000, 50);
	check_nesting();
	check_rules();
	check_borders();
	check_counted();
	check_preemption();
	check(session_probes_ns(s) > 0, "probes have cost something");
	end();
	for (unsigned i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		if (begin(COZBPF_PERTURB_ONE / 2, modes[i]))
			return fail("a session that perturbs");
		check_perturbation();
		end();
	}
done:
	printf("%u passed, %u failed", passed, failed);
	printf(skipped ? ", %u skipped\n" : "\n", skipped);
	return failed != 0;
}
