// SPDX-License-Identifier: BSD-3-Clause
/* What is said at the end of a run; see ending.h. Why there is no answer: ending_reason.c. */
#include "report/ending_private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In percent of the time profiled. Less than this has many harmless causes. */
#define THROTTLED_PCT 1
/* Some pauses fail at a program's start and end, and while libc blocks all signals to create a
 * thread. */
#define USUAL_FAILURES 10
/* Names of programs that are told apart. All further names share the last entry. */
#define UNPAUSED_NAMES 32
/* In percent of the target's CPU time. More than this bends what is measured. */
#define PROBES_PCT 5
/* In percent of the target's CPU time: a user may look for it in the lines. */
#define SPUN_PCT 10
/* switches of goroutines per second; see say_goroutines() */
#define GO_SWITCHES_MANY 100000
/* of the samples: code without a name, that programs have made */
#define MADE_PCT 5
#define MAP_WRITERS                                                                        \
	"`node --perf-basic-prof`, `python3 -X perf`, perf-map-agent for Java, .NET with " \
	"DOTNET_PerfMapEnabled=1"

void ending_say(struct ending *g, const char *format, ...)
{
	char **bigger = realloc(g->messages, (g->n_messages + 1) * sizeof(*bigger)), *text;
	va_list args;

	if (!bigger)
		return;
	g->messages = bigger;
	va_start(args, format);
	if (vasprintf(&text, format, args) >= 0)
		bigger[g->n_messages++] = text;
	va_end(args);
}

void ending_deinit(struct ending *g)
{
	for (size_t i = 0; i < g->n_messages; i++)
		free(g->messages[i]);
	free(g->messages);
	*g = (struct ending){0};
}

/* Processes of one name that could not be paused. A program may start thousands of short-lived
 * children. */
struct unpaused {
	struct cozbpf_proc_stats sum;
	int pid; /* the first */
	unsigned n;
};

struct unpaused_list {
	struct unpaused names[UNPAUSED_NAMES];
	unsigned n;
};

static void add_unpaused(struct unpaused_list *l, const struct ending_process *p)
{
	const struct cozbpf_proc_stats *s = &p->stats;
	unsigned i = 0;

	if (!(s->no_shim + s->blocked + s->small_stack + s->foreign_stack + s->filtered +
		s->not_sent + s->withdrawn))
		return;
	while (i < l->n && strncmp(l->names[i].sum.comm, s->comm, sizeof(s->comm)))
		i++;
	if (i == l->n && l->n < UNPAUSED_NAMES) {
		memcpy(l->names[i].sum.comm, s->comm, sizeof(s->comm));
		l->names[i].pid = p->pid;
		l->n++;
	} else if (i == l->n) {
		i--;
	}
	l->names[i].n++;
	l->names[i].sum.asked += s->asked;
	l->names[i].sum.no_shim += s->no_shim;
	l->names[i].sum.blocked += s->blocked;
	l->names[i].sum.small_stack += s->small_stack;
	l->names[i].sum.filtered += s->filtered;
	l->names[i].sum.foreign_stack += s->foreign_stack;
	l->names[i].sum.not_sent += s->not_sent;
	l->names[i].sum.withdrawn += s->withdrawn;
}

static void warn_unpaused(struct ending *g, const struct unpaused *u)
{
	const struct cozbpf_proc_stats *s = &u->sum;
	uint64_t not_asked = s->no_shim + s->blocked + s->small_stack + s->foreign_stack +
			     s->filtered + s->not_sent,
		 failed = not_asked + s->withdrawn;
	const char *why =
	    "the signal was not delivered in time (a busy machine, or the signal queue "
	    "limit: ulimit -i)";
	char others[64] = "";

	if (failed < USUAL_FAILURES || failed * 20 <= s->asked)
		return;
	if (s->no_shim * 2 > failed)
		why = "it has no pause handler (static, setuid, started without LD_PRELOAD, ended "
		      "before it had one, or it uses the signal itself)";
	else if (s->blocked * 2 > failed)
		why = "its threads block the pause signal";
	else if (s->small_stack * 2 > failed)
		why = "its stacks have no room for a signal";
	else if (s->filtered * 2 > failed)
		why = "its system calls are restricted (seccomp, or dispatch to itself as in "
		      "Wine), so that a pause might kill it";
	else if (s->foreign_stack * 2 > failed)
		why = "it runs on stacks that it has made itself (coroutines), which a pause may "
		      "overrun; if each has 4 kB to spare, use --any-stack";
	if (u->n > 1)
		snprintf(others, sizeof(others), " and %u more of that name", u->n - 1);
	ending_say(g,
	    "warning: process %d (%.16s)%s could not be paused %" PRIu64 " times of %" PRIu64
	    ": %s; predictions that depend on it are too low",
	    u->pid, s->comm, others, failed, not_asked + (uint64_t)s->asked, why);
}

/* Names the processes that could not be paused, with the reason. */
static void name_unpaused(const struct ending_facts *f, struct ending *g)
{
	struct unpaused_list list = {0};

	for (size_t i = 0; i < f->n_processes; i++) {
		const struct cozbpf_proc_stats *s = &f->processes[i].stats;

		if (f->is_verbose)
			ending_say(g,
			    "process %d (%.16s): %" PRIu64 " samples, %" PRIu64
			    " in scope, %" PRIu64 " pauses asked, %" PRIu64 " begun",
			    f->processes[i].pid, s->comm, (uint64_t)s->samples,
			    (uint64_t)s->in_scope, (uint64_t)s->asked, (uint64_t)s->begun);
		add_unpaused(&list, &f->processes[i]);
	}
	for (unsigned i = 0; i < list.n; i++)
		warn_unpaused(g, &list.names[i]);
}

/* Names the points without a visit, unless no point has one. */
static void name_unvisited(const struct ending_facts *f, struct ending *g)
{
	size_t unvisited = ending_unvisited(f);

	for (size_t i = 0; i < f->n_points && unvisited < f->n_points; i++) {
		const struct ending_point *p = &f->points[i];

		if (!p->visits)
			ending_say(g, "warning: progress point '%s' was never %s%s", p->label,
			    p->missing ? "found: " : "visited",
			    p->missing ? p->missing->cause : "");
	}
}

/* A clock outside the program paces these points, so no line can make them faster. */
static void warn_paced(const struct ending_facts *f, struct ending *g)
{
	for (size_t i = 0; i < f->n_points; i++) {
		const struct ending_point *p = &f->points[i];

		if (p->is_paced && p->is_begin)
			ending_say(g,
			    "warning: requests of '%s' are begun by a periodic timer, which no "
			    "delay holds back: gains in latency come out too low where they wait "
			    "for each other",
			    p->name);
		else if (p->is_paced)
			ending_say(g,
			    "warning: visits to '%s' are paced by a periodic timer: no %s makes "
			    "them come faster",
			    p->name, f->unit);
		else if (p->pace_ns)
			ending_say(g,
			    "warning: a periodic timer feeds the visits to '%s': no prediction has "
			    "more than one visit per expiry, each %.3g ms",
			    p->name, (double)p->pace_ns / 1e6);
	}
}

/* A quota holds the program back, and pauses that hold a CPU use up the quota. Gains come out too
 * small. */
static void warn_throttled(const struct ending_facts *f, struct ending *g)
{
	if (f->throttled_ns * 100 <= f->all_runs_ns * THROTTLED_PCT)
		return;
	ending_say(g,
	    "warning: a CPU quota held the program's control group back for %.1f s, CPUs added up, "
	    "of %.1f s%s; raise the quota "
	    "(cpu.max, cpu.cfs_quota_us) while profiling, or expect gains that are too small",
	    (double)f->throttled_ns / 1e9, (double)f->all_runs_ns / 1e9,
	    f->sleeps ? "" : ", and pauses use it up as well (--sleep-pauses does less)");
}

static void warn_probes(const struct ending_facts *f, struct ending *g)
{
	double cost =
	    f->executed_ns ? (double)f->calls * (double)f->probe_ns / (double)f->executed_ns : 0;
	bool is_much = cost * 100 > PROBES_PCT;

	if (!f->has_probes)
		return;
	if (!f->calls)
		ending_say(g,
		    "warning: no probed call was ever made: is the program static, or does it "
		    "synchronise by other means? use --sync=wake");
	else if (f->is_verbose || is_much)
		ending_say(g,
		    "%s%" PRIu64 " probes of calls were hit, at %" PRIu64
		    " ns each about %.0f %% of the program's CPU time%s",
		    is_much ? "warning: " : "", f->calls, f->probe_ns, 100 * cost,
		    is_much ? ": that bends what is measured; use --sync=wake" : "");
}

/* Without names a runtime's code is one unit: hardly an answer. */
static void warn_made(const struct ending_facts *f, struct ending *g)
{
	const struct ending_made *m = &f->made;

	if (!m->pid || m->samples * 100 < f->samples * MADE_PCT || !m->samples)
		return;
	if (!m->path) {
		ending_say(g,
		    "warning: %" PRIu64 " %% of the samples are in code that process %d (%.16s) "
		    "has made while it ran, which has no lines",
		    100 * m->samples / f->samples, m->pid, m->comm);
		ending_say(g, "hint: with --granularity function they count, by the names in "
			      "/tmp/perf-PID.map (" MAP_WRITERS ")");
		return;
	}
	ending_say(g,
	    "warning: %" PRIu64 " %% of the samples are in code that programs make while they run, "
	    "and no file %s names the functions of process %d (%.16s): they are one, '[jit]'",
	    100 * m->samples / f->samples, m->path, m->pid, m->comm);
	ending_say(g, "hint: that file is written by " MAP_WRITERS);
}

/* Their time tells nothing, and would look like a gain. */
static void warn_cut(const struct ending_facts *f, struct ending *g)
{
	uint64_t n = f->spoilt.cut;

	if (n)
		ending_say(g,
		    "warning: %" PRIu64 " run%s not count: the command failed where it had "
		    "succeeded before, or was told to end",
		    n, n == 1 ? " does" : "s do");
}

static void say_spun(const struct ending_facts *f, struct ending *g)
{
	uint64_t pct = f->executed_ns ? 100 * f->spun_ns / f->executed_ns : 0;

	if (pct >= SPUN_PCT || (f->is_verbose && f->spun_ns))
		ending_say(g,
		    "threads spun for %" PRIu64 " %% of their CPU time: that counts as waiting, "
		    "with --no-spin as work",
		    pct);
}

static void warn_waits(const struct ending_facts *f, struct ending *g)
{
	if (!f->asks_waits || f->wait_samples)
		return;
	ending_say(g,
	    "warning: no thread has waited so as '--off-cpu' asks, for as long as a sample "
	    "stands for");
	ending_say(g, "hint: --off-cpu without classes takes all of them");
}

/* A switch is three probes of 0.5 to 1 us: at this rate they take a fifth of a CPU or more. */
static void say_goroutines(const struct ending_facts *f, struct ending *g)
{
	double rate = f->all_runs_ns ? (double)f->go_switches * 1e9 / (double)f->all_runs_ns : 0;
	bool is_much = rate > GO_SWITCHES_MANY;

	if (!f->goroutines || !(f->is_verbose || is_much))
		return;
	ending_say(g, "%s%" PRIu64 " goroutines, %" PRIu64 " switches to them, %.0f per second%s",
	    is_much ? "warning: " : "", f->goroutines, f->go_switches, rate,
	    is_much ? ": the probes there slow the program down; --goroutines=off has none" : "");
}

static void say_counts(const struct ending_facts *f, struct ending *g)
{
	if (!f->is_verbose)
		return;
	for (size_t i = 0; i < f->n_points; i++)
		if (!f->points[i].is_sampled)
			ending_say(g, "progress point '%s': %" PRIu64 " visits in all",
			    f->points[i].name, f->points[i].visits);
	if (f->stretched)
		ending_say(g,
		    "in %u experiments threads executed more, virtually, than the CPUs have time "
		    "for: they count as longer",
		    f->stretched);
	ending_say(g,
	    "%" PRIu64 " wake-ups by threads of the program, %" PRIu64
	    " by timers, devices and other programs",
	    f->edges, f->other_wakes);
}

int ending_judge(const struct ending_facts *f, struct ending *ret, struct error *e)
{
	*ret = (struct ending){0};
	say_spun(f, ret);
	say_goroutines(f, ret);
	name_unpaused(f, ret);
	name_unvisited(f, ret);
	warn_made(f, ret);
	warn_waits(f, ret);
	if (ending_reason(f, e))
		return -1;
	warn_paced(f, ret);
	warn_cut(f, ret);
	warn_throttled(f, ret);
	warn_probes(f, ret);
	say_counts(f, ret);
	return 0;
}
