// SPDX-License-Identifier: BSD-3-Clause
/* Why a run has no answer: the first reason that holds. */
#include "report/ending_private.h"

#include <inttypes.h>
#include <string.h>

/* A program's start and end alone can give this many samples in a whole run. */
#define FEW_SAMPLES 10
/* A run that is shorter has hardly time for one experiment. */
#define SHORT_RUN_NS 1000000000ULL
/* One that is shorter has been in the dynamic linker most of the time. */
#define START_NS 50000000ULL
/* of its time, one was spent on a CPU: a command that works, rather than waits for others */
#define BUSY_PARTS 4

size_t ending_unvisited(const struct ending_facts *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_points; i++)
		n += !f->points[i].visits;
	return n;
}

/* The command has ended, and what it began has not: as servers do that go to the background. */
static int fail_left(const struct ending_facts *f, struct error *e)
{
	error_set(e, EXIT_NO_RESULT,
	    "the command ended after %.2f s and left process %d (%s) in the background",
	    (double)f->last_run_ns / 1e9, f->left_pid, f->left_comm);
	return error_hint(e,
	    "profile that one: cozbpf -p %d; or have the command stay in the foreground",
	    f->left_pid);
}

/* No point has a visit. */
static int fail_points(const struct ending_facts *f, struct error *e)
{
	const struct ending_point *first = &f->points[0];

	if (first->missing) {
		error_set(e, EXIT_NO_RESULT, "progress point '%s' was never found: %s",
		    first->label, first->missing->cause);
		return error_hint(e, "the program has mapped no file that has it%s%s",
		    *first->missing->hint ? "; " : "", first->missing->hint);
	}
	error_set(e, EXIT_NO_RESULT, "progress point '%s' was never visited%s", first->label,
	    f->n_points > 1 ? ", nor any other" : "");
	return error_hint(e, "choose a place that the program passes once per unit of work; was it "
			     "inlined, or does another process run it?");
}

static uint64_t n_spoilt(const struct ending_spoilt *s)
{
	return s->stop + s->debt + s->busy + s->no_time + s->peers + s->cut;
}

/* The reason that most experiments were dropped for. */
static int fail_spoilt(const struct ending_spoilt *s, struct error *e)
{
	const struct {
		uint64_t n;
		const char *cause, *hint;
	} reasons[] = {
	    {s->stop, "the target or the machine was stopped meanwhile",
		"profile again, or longer: -d 60s"},
	    {s->debt, "threads could not be made to pause",
		"the warnings above name the processes and the reason"},
	    {s->busy, "other programs had the CPUs",
		"profile while the machine is less busy, or longer: -d 60s"},
	    {s->no_time,
		"what was made faster is nearly all that the program does, and no time was left to "
		"count in",
		"profile longer (-d 60s), or name lower speedups: --fixed-speedup 0,25,50,75"},
	    {s->peers, "another node was missing, or messages to or from it were",
		"the messages above name the nodes; is the network, or a node, overloaded?"},
	    {s->cut, "the command failed where it had succeeded before, or was told to end",
		"let it run to its end; is there memory enough for it?"},
	};
	size_t most = 0;

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		most = reasons[i].n > reasons[most].n ? i : most;
	if (n_spoilt(s) == 1)
		error_set(
		    e, EXIT_NO_RESULT, "the only experiment was spoilt: %s", reasons[most].cause);
	else
		error_set(e, EXIT_NO_RESULT,
		    "all %" PRIu64 " experiments were spoilt, most because %s", n_spoilt(s),
		    reasons[most].cause);
	return error_hint(e, "%s", reasons[most].hint);
}

int ending_fail_mapped(const char *binary, struct error *e)
{
	error_set(e, EXIT_NO_RESULT,
	    "nothing that the program has mapped is in scope: no file with line tables matches -b "
	    "'%s'",
	    binary ? binary : "");
	return error_hint(e, "patterns are matched with whole paths, for example -b "
			     "'%%/libz.so%%'; MAIN is the program's own file");
}

/* Nothing that the program executed can be experimented on. */
static int fail_scope(const struct ending_facts *f, struct error *e)
{
	if (!f->n_objects)
		return ending_fail_mapped(f->binary, e);
	error_set(e, EXIT_NO_RESULT, "%" PRIu64 " samples, but none in a %s in scope of '%s'",
	    f->samples, f->unit, f->path);
	return error_hint(e,
	    "is the work done in a library or a child? name it with -b PATTERN (%% is the "
	    "wildcard); `cozbpf lines %s` shows what is in scope",
	    f->path);
}

/* How many runs would tell, where whole runs are the units. */
static int hint_runs(const struct ending_facts *f, const char *before, struct error *e)
{
	char words[1024];

	ending_runs_words(f, f->advice.runs, f->advice.ns, before, "", words, sizeof(words));
	return error_hint(e, "%s", words);
}

/* Too short for one experiment within it. */
static int fail_short(const struct ending_facts *f, struct error *e)
{
	if (f->ended_by) {
		error_set(e, EXIT_NO_RESULT,
		    "the command was ended by signal %d (%s) after %.2f s, before one experiment "
		    "was done",
		    f->ended_by, strsignal(f->ended_by), (double)f->last_run_ns / 1e9);
		return error_hint(e, "does it end so without cozbpf, too?");
	}
	error_set(e, EXIT_NO_RESULT, "the %s ended after %.2f s, before one experiment was done",
	    f->command ? "command" : "process", (double)f->last_run_ns / 1e9);
	if (!f->command)
		return error_hint(e, "profile it while it has more work");
	return hint_runs(f,
	    f->is_end_to_end ? "give it more work, or more runs: "
			     : "give it more work, or take whole runs as units, ",
	    e);
}

static int fail_one_run(const struct ending_facts *f, struct error *e)
{
	if (f->is_cut) {
		error_set(e, EXIT_NO_RESULT,
		    "profiling was over after %.3g s, before the command came to its end: without "
		    "a progress point only a whole run tells",
		    (double)f->last_run_ns / 1e9);
		return error_hint(
		    e, "give a progress point with -P, or let the command end by itself");
	}
	error_set(e, EXIT_NO_RESULT,
	    "the command took %.3g s and ran %" PRIu64
	    " thread%s: one run tells nothing about what would make it faster",
	    (double)f->last_run_ns / 1e9, f->threads, f->threads == 1 ? "" : "s");
	return hint_runs(f, "give a progress point with -P, or more runs: ", e);
}

/* A single run that was too short to be seen often, yet not because it did nothing. */
static bool is_one_busy_run(const struct ending_facts *f)
{
	return f->is_end_to_end && f->runs == 1 && f->in_scope &&
	       f->samples * f->period_ns * BUSY_PARTS >= f->last_run_ns;
}

static int fail_empty(const struct ending_facts *f, struct error *e)
{
	bool has_begun = f->is_cut || f->last_run_ns >= START_NS;

	/* Before its length: no more work would help. */
	if (f->samples >= FEW_SAMPLES && (!f->n_objects || !f->in_scope))
		return has_begun || !f->n_objects ? fail_scope(f, e) : fail_short(f, e);
	if (f->runs && f->last_run_ns < SHORT_RUN_NS && !f->is_cut && !f->is_end_to_end)
		return fail_short(f, e);
	if (is_one_busy_run(f))
		return fail_one_run(f, e);
	if (f->samples < FEW_SAMPLES) {
		error_set(e, EXIT_NO_RESULT,
		    "the %s was hardly ever seen on a CPU: %" PRIu64 " samples",
		    f->command ? "command" : "process", f->samples);
		return error_hint(e,
		    "%sa program that only sleeps or waits for others has nothing "
		    "to speed up; profile the one that works",
		    f->command ? "" : "is there load? ");
	}
	if (n_spoilt(&f->spoilt))
		return fail_spoilt(&f->spoilt, e);
	if (f->is_end_to_end)
		return fail_one_run(f, e);
	error_set(e, EXIT_NO_RESULT, "profiling ended before one experiment was done");
	return error_hint(e, "profile longer: -d 60s");
}

int ending_reason(const struct ending_facts *f, struct error *e)
{
	if (!f->experiments && !f->is_cut && f->runs && f->last_run_ns < SHORT_RUN_NS) {
		if (f->ended_by)
			return fail_short(f, e);
		if (f->left_pid)
			return fail_left(f, e);
	}
	if (f->n_points && ending_unvisited(f) == f->n_points)
		return fail_points(f, e);
	/* A handful of samples may hit any line, so experiments on that line say nothing either. */
	return !f->experiments || f->samples < FEW_SAMPLES ? fail_empty(f, e) : 0;
}
