// SPDX-License-Identifier: BSD-3-Clause
/* What stands before the first run: lines in scope, the kernel side. */
#include "run/run.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* room for objects that come later: libraries with -b, exec'd children */
#define SPARE_RANGES 262144
#define SPARE_LINES 65536
#define UNWIND_ROWS (1 << 20) /* 8 MiB: some twenty libraries */
#define PERIOD_NS 1000000
#define PERIOD_LATENCY_NS 330000
#define MIN_DEBT_NS 50000 /* a signal costs about 3 us; smaller debts wait for the next sample */

static bool is_script(const char *path)
{
	char magic[2] = "";
	FILE *f = fopen(path, "re");

	if (f) {
		if (fread(magic, 1, 2, f) != 2)
			magic[0] = 0;
		fclose(f);
	}
	return magic[0] == '#' && magic[1] == '!';
}

/* Says which files there are when the scope has taken none of them. */
static int fail_no_lines(struct runner *r, struct error *e)
{
	struct source_file *files = NULL;
	char names[600] = "";
	size_t n = 0;

	if (object_source_files(r->files.main_object, &r->files.scope, &files, &n, e))
		return -1;
	for (size_t i = 0; i < n && i < 4; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s'%.120s'",
		    i ? ", " : "", files[i].path);
	error_set(e, EXIT_NO_RESULT, "no line of '%s' is in scope", r->target.path);
	if (n)
		error_hint(e,
		    "its %zu source files are %s%s; choose with -s PATTERN (%% is the wildcard), "
		    "see `cozbpf lines %s`",
		    n, names, n > 4 ? " and others" : "", r->target.path);
	else
		error_hint(e, "build it with -g");
	source_files_free(files, n);
	return -1;
}

static int load_lines(struct runner *r, struct error *e)
{
	uint64_t start = monotonic_ns();
	size_t n = 0;

	if (line_map_init(&r->files.lines))
		return error_set(e, EXIT_OTHER, "out of memory");
	if (r->target.attached) {
		if (run_attach_lines(r, e))
			return -1;
		return r->files.lines.n_ranges || r->files.scope.n_binaries ? 0
									    : fail_no_lines(r, e);
	}
	if (is_script(r->target.path)) {
		if (r->files.scope.n_binaries)
			return 0; /* the binaries come with the exec of its children */
		error_set(e, EXIT_USAGE,
		    "'%s' is a script, whose interpreter is hardly what is to be profiled",
		    r->target.path);
		return error_hint(
		    e, "name the binaries that it starts, for example -b '%%/%s'", "myprogram");
	}
	if (object_open(r->target.path, "", &r->files.main_object, e))
		return -1;
	if (!scope_has_binary(&r->files.scope, r->target.path, true))
		return 0;
	if (object_add_lines(r->files.main_object, &r->files.scope, &r->files.lines, &n, e))
		return -1;
	if (!n && !r->files.scope.n_binaries)
		return fail_no_lines(r, e);
	if (r->o.verbose)
		run_say(r, "%zu lines, %zu address ranges in scope, read in %.0f ms", n,
		    r->files.lines.n_ranges, (double)(monotonic_ns() - start) / 1e6);
	return 0;
}

static int resolve_fixed_line(struct runner *r, struct error *e)
{
	const char *text = r->o.fixed_line, *colon = text ? strrchr(text, ':') : NULL;
	char file[PATH_MAX], *end;
	unsigned long line;

	if (!text)
		return 0;
	line = colon ? strtoul(colon + 1, &end, 10) : 0;
	if (!line || line > UINT32_MAX || *end || colon == text ||
	    colon - text >= (long)sizeof(file)) {
		error_set(e, EXIT_USAGE, "'%s' is not a line", text);
		return error_hint(e, "give FILE:LINE, for example --fixed-line src/queue.c:217");
	}
	snprintf(file, sizeof(file), "%.*s", (int)(colon - text), text);
	r->files.fixed_line = line_map_find(&r->files.lines, file, (uint32_t)line, e);
	return r->files.fixed_line ? 0 : -1;
}

static int find_target(struct runner *r, struct error *e)
{
	if (r->o.pids.n || r->o.cgroup)
		return run_attach_resolve(r, e);
	r->target.signal = INJECT_FIRST_SIGNAL;
	return launch_find(r->o.command[0], r->target.path, sizeof(r->target.path), e) ||
		       launch_find_shim(r->target.shim, sizeof(r->target.shim), e)
		   ? -1
		   : 0;
}

/*
 * What a request is credited with is told from samples: those that are served in about a period
 * come out too short, by 14 % at a speedup of 75 % with 1 ms, by 4 to 5 % with 500 us, by 2 % with
 * 330 us, and no less with 250 us (docs/accuracy.md).
 */
static void choose_period(struct runner *r)
{
	if (!r->o.period_ns)
		r->o.period_ns = run_has_pairs(r) ? PERIOD_LATENCY_NS : PERIOD_NS;
}

/* Requests wait for each other: a server that samples make 4 % slower has them wait 4 to 8 % longer
 * (docs/accuracy.md). Throughput is compared with as slow a baseline. */
static void measure_samples(struct runner *r)
{
	bool latencies = run_has_pairs(r);
	struct sample_cost cost = session_measure_samples(r->session, latencies);

	if (cost.whole_ns && r->o.verbose)
		run_say(r, "a sample costs %.1f us%s, %.1f of them on the way into it",
		    (double)cost.whole_ns / 1e3, latencies ? ", which latencies are without" : "",
		    (double)cost.entry_ns / 1e3);
}

/*
 * Warned of, not refused: a program that is built and profiled again and again appends to the
 * default file, and its reports can have the runs of any one build. Without --build they refuse,
 * which is to be known before a run, not after it.
 */
static int open_output(struct runner *r, struct error *e)
{
	struct other_build other;

	if (recorder_open(
		&r->recorder, &r->target.identity, r->o.output, r->files.main_object, &other, e))
		return -1;
	if (!other.theirs[0])
		return 0;
	run_say(r,
	    "warning: '%s' holds runs of another build, %.12s: this one, %.12s, is appended, and "
	    "reports will not add them up",
	    r->o.output, other.theirs, other.ours);
	run_say(r,
	    "hint: 'cozbpf report --build %.12s' takes the runs of this build only; -o FILE keeps "
	    "builds apart",
	    other.ours);
	return 0;
}

static int prepare_experiments(struct runner *r, struct error *e)
{
	const struct experiment_options o = {.seed = r->o.seed,
	    .period_ns = r->o.period_ns,
	    .length_ns = r->o.length_ns,
	    .speedups_pct = r->o.speedups,
	    .n_speedups = r->o.n_speedups,
	    .fixed_line = r->files.fixed_line,
	    .end_to_end = r->o.end_to_end,
	    .lines_room = r->files.lines.n_lines + SPARE_LINES};
	const struct recorder_sources from = {.session = r->session,
	    .lines = &r->files.lines,
	    .lines_room = o.lines_room,
	    .has_ids = !o.fixed_line && !o.end_to_end};

	r->experiments.session = r->session;
	r->experiments.points = &r->points;
	r->experiments.lines = &r->files.lines;
	r->experiments.recorder = &r->recorder;
	if (experiment_init(&r->experiments.machine, &o))
		return error_set(e, EXIT_OTHER, "out of memory");
	return recorder_count(&r->recorder, &from, e);
}

int run_setup(struct runner *r, struct error *e)
{
	struct session_config c = {.follow_children = !r->o.no_follow,
	    .sleep_pauses = r->o.sleep_pauses,
	    .sync_uprobe = r->o.sync_uprobe,
	    .min_debt_ns = MIN_DEBT_NS,
	    .spare_ranges = SPARE_RANGES,
	    .spare_lines = SPARE_LINES,
	    .unwind_rows = UNWIND_ROWS};

	r->files.scope = (struct scope){
	    r->o.sources.items, r->o.sources.n, r->o.binaries.items, r->o.binaries.n};
	if (identity_resolve(r->o.user, &r->target.identity, e) || find_target(r, e) ||
	    load_lines(r, e) || resolve_fixed_line(r, e))
		return -1;
	c.signal = r->target.signal;
	c.latencies = r->o.latency.n || !r->o.progress.n; /* coz.h has them, too */
	if (session_create(&c, &r->files.lines, &r->session, e) || run_add_points(r, e))
		return -1;
	choose_period(r);
	if (session_attach(r->session, r->o.period_ns, e) || open_output(r, e))
		return -1;
	measure_samples(r);
	return prepare_experiments(r, e);
}

void run_teardown(struct runner *r)
{
	run_inject_settle(r);
	session_destroy(r->session);
	object_close(r->files.main_object);
	line_map_deinit(&r->files.lines);
	experiment_deinit(&r->experiments.machine);
	recorder_deinit(&r->recorder);
	run_forget_processes(r);
	run_points_deinit(r);
	run_sync_deinit(r);
	run_unwind_deinit(r);
	run_attach_deinit(r);
	quota_deinit(&r->target.quota);
}
