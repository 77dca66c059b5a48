// SPDX-License-Identifier: BSD-3-Clause
/* What stands before the first run: the rooms joined, lines in scope, the kernel side. The profile
 * file is in run/recorder.c. */
#include "run/setup.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/places/syscalls.h"
#include "core/places/waits.h"
#include "kernel/kallsyms.h"
#include "run/calls.h"
#include "run/jit.h"
#include "run/spins.h"
#include "run/handlers.h"
#include "run/places.h"
#include "run/point_counters.h"
#include "run/point_pairs.h"
#include "run/point_sources.h"
#include "run/point_watch.h"
#include "run/processes.h"
#include "run/runner.h"
#include "run/unwinder.h"
#include "symbols/symbols.h"

/* room for objects that come later: libraries with -b, exec'd children */
#define SPARE_RANGES 262144
#define JIT_RANGES 262144 /* 4 MiB: code that the program makes, each stretch twice */
#define SPARE_LINES 65536
#define UNWIND_ROWS (1 << 20) /* 8 MiB: some twenty libraries */
#define PERIOD_NS 1000000
#define PERIOD_LATENCY_NS 330000
#define PERIOD_WATCH_NS 2000000 /* for the CPU time in a tenth of a second */
#define NAMES_S 10 /* for debug files from the network, before the target is started or touched */
#define MIN_DEBT_NS 50000 /* a signal costs about 3 us; smaller debts wait for the next sample */

static uint32_t find_in_kernel(struct runner *r, const char *text, struct error *e)
{
	const struct line_map *m = &r->files.lines;

	if (r->o.kernel == KERNEL_SYSCALLS)
		return syscall_find(m, r->kernel.first, text, e);
	if (r->fixed_wait >= 0) {
		error_set(e, EXIT_USAGE, "no waits are known by functions of the kernel");
		return 0;
	}
	return line_map_find_kernel(
	    m, r->kernel.first, r->kernel.end, text + strlen(KERNEL_PREFIX), e);
}

/* @text: FILE:LINE, a function, or what is in the kernel. The id, or 0 with @e. */
static uint32_t find_unit(struct runner *r, const char *text, struct error *e)
{
	const char *colon = strrchr(text, ':');
	char file[PATH_MAX], *end;
	unsigned long line;
	uint32_t id;
	bool is_line;

	if (kernel_units_of_unit(text) != KERNEL_NONE)
		return find_in_kernel(r, text, e);
	line = colon ? strtoul(colon + 1, &end, 10) : 0;
	is_line = line && line <= UINT32_MAX && !*end && colon != text &&
		  colon - text < (long)sizeof(file);
	if (!is_line || !scope_has_lines(&r->files.scope, true)) {
		id = line_map_find_function(&r->files.lines, text, e);
		if (id || !scope_has_lines(&r->files.scope, true))
			return id;
		error_set(e, EXIT_USAGE, "'%s' is not a line", text);
		error_hint(e, "give FILE:LINE, for example --fixed-line src/queue.c:217");
		return 0;
	}
	snprintf(file, sizeof(file), "%.*s", (int)(colon - text), text);
	return line_map_find(&r->files.lines, file, (uint32_t)line, e);
}

/* The unit that is named, as far as it runs: of "FILE:LINE [io]" FILE:LINE; of "[io]" none. */
static int resolve_fixed_line(struct runner *r, struct error *e)
{
	const char *text = r->o.fixed_line;
	char *unit;
	size_t length;

	r->fixed_wait = text ? wait_of_unit(text, &length) : -1;
	if (!text || (r->fixed_wait >= 0 && !length))
		return 0;
	unit = strndup(text, r->fixed_wait >= 0 ? length : strlen(text));
	if (!unit)
		return error_set(e, EXIT_OTHER, "out of memory");
	r->files.fixed_line = find_unit(r, unit, e);
	free(unit);
	return r->files.fixed_line ? 0 : -1;
}

/* Its waits are another unit. */
static int resolve_fixed_wait(struct runner *r, struct error *e)
{
	if (r->fixed_wait < 0)
		return 0;
	if (!(r->o.waits >> r->fixed_wait & 1)) {
		error_set(e, EXIT_USAGE, "'--fixed-line %s' is about waits", r->o.fixed_line);
		return error_hint(e, "add --off-cpu=%s", wait_name((unsigned)r->fixed_wait));
	}
	r->files.fixed_line = session_add_wait(
	    r->session, &r->files.lines, (unsigned)r->fixed_wait, r->files.fixed_line);
	return 0;
}

/*
 * What a request is credited with is told from samples: those that are served in about a period
 * come out too short, by 14 % at a speedup of 75 % with 1 ms, by 4 to 5 % with 500 us, by 2 % with
 * 330 us, and no less with 250 us (docs/accuracy.md).
 */
static void choose_period(struct runner *r)
{
	if (!r->o.period_ns)
		r->o.period_ns = point_pairs_any(&r->points) ? PERIOD_LATENCY_NS : PERIOD_NS;
}

/* Requests wait for each other: a server that samples make 4 % slower has them wait 4 to 8 % longer
 * (docs/accuracy.md). Throughput is compared with as slow a baseline. */
static void measure_samples(struct runner *r)
{
	bool latencies = point_pairs_any(&r->points);
	struct sample_cost cost = session_measure_samples(r->session, latencies);

	if (cost.whole_ns && r->o.verbose)
		console_say(&r->console,
		    "a sample costs %.1f us%s, %.1f of them on the way into it",
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
	console_say(&r->console,
	    "warning: '%s' holds runs of another build, %.12s: this one, %.12s, is appended, and "
	    "reports will not add them up",
	    r->o.output, other.theirs, other.ours);
	console_say(&r->console,
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
	    .runs = r->o.runs,
	    .lines_room = r->files.lines.n_lines + SPARE_LINES};
	const struct recorder_sources from = {.session = r->session,
	    .lines = &r->files.lines,
	    .lines_room = o.lines_room,
	    .has_ids = (!o.fixed_line && !o.end_to_end) || r->o.waits};

	r->experiments.session = r->session;
	r->experiments.points = &r->points;
	r->experiments.lines = &r->files.lines;
	r->experiments.recorder = &r->recorder;
	if (experiment_init(&r->experiments.machine, &o))
		return error_set(e, EXIT_OTHER, "out of memory");
	return recorder_count(&r->recorder, &from, e);
}

/* What the kernel's time counts for, where that is no line. */
static int add_kernel(struct runner *r, struct error *e)
{
	struct line_map *m = &r->files.lines;
	size_t n = COZBPF_SYSCALL_UNITS;

	r->kernel.first = (uint32_t)m->n_lines;
	if (r->o.kernel == KERNEL_NONE)
		return 0;
	if (r->o.kernel == KERNEL_FUNCTIONS && kallsyms_add(m, &n, e))
		return -1;
	if (r->o.kernel == KERNEL_SYSCALLS && !line_map_add_syscalls(m))
		return error_set(e, EXIT_OTHER, "out of memory");
	r->kernel.end = (uint32_t)m->n_lines;
	if (r->o.verbose)
		console_say(&r->console, "the kernel: %zu %s in scope", n,
		    r->o.kernel == KERNEL_FUNCTIONS ? "functions" : "system calls");
	return 0;
}

/* A function that is named counts with what it calls: most do little themselves. */
static void tell_kernel_units(struct runner *r, struct session_config *ret)
{
	uint32_t unit = r->files.fixed_line;

	if (r->o.kernel == KERNEL_SYSCALLS)
		ret->call_first = r->kernel.first;
	if (!r->o.fixed_line || kernel_units_of_unit(r->o.fixed_line) != KERNEL_FUNCTIONS)
		return;
	r->files.lines.lines[unit].inclusive = true;
	ret->kernel_unit = unit;
}

/* Its functions are found by addresses: they are the last object of the map until others come. */
static void tell_kernel(struct runner *r)
{
	const struct line_map *m = &r->files.lines;

	if (r->o.kernel == KERNEL_FUNCTIONS)
		session_set_kernel(r->session, m->objects[m->n_objects - 1].first,
		    m->objects[m->n_objects - 1].count);
}

/* What the rooms need of each other. */
static void join_rooms(struct runner *r)
{
	r->files.o = r->target.o = r->points.o = &r->o;
	r->files.console = r->target.console = r->points.console = &r->console;
	r->files.main_path = r->target.path;
	r->files.watcher = (struct file_watcher){places_mapped, &r->points};
	r->target.files = r->points.files = &r->files;
	r->points.target = &r->target;
}

/* Named files are open until all points are placed: several points may be in one. */
static int add_points(struct runner *r, struct error *e)
{
	int err = point_sources_add(&r->points, e);

	files_close(&r->files);
	return err;
}

void run_on_event(const struct cozbpf_counter_event *e, void *runner)
{
	struct runner *r = runner;

	if (e->event.kind == COZBPF_EVENT_COUNTER)
		point_counters_on_event(&r->points, e);
	else
		processes_on_event(&r->target, &e->event);
}

/* Nothing is to be delayed, and nothing recorded. */
static int prepare_watch(struct runner *r, struct error *e)
{
	r->points.is_open = true;
	return session_attach(r->session, PERIOD_WATCH_NS, e);
}

static void tell_pauses(struct runner *r)
{
	const struct pause_mode *mode = session_pause_mode(r->session);

	if (r->o.verbose)
		console_say(&r->console, "pauses: %s, %s", mode->name, mode->words);
	if (r->o.sleep_pauses && mode->quantum_ns)
		console_say(&r->console, "warning: pauses hold the CPU: on this kernel they are "
					 "made of quanta, which cannot sleep");
}

int run_setup(struct runner *r, struct error *e)
{
	struct session_config c = {.follow_children = !r->o.no_follow,
	    .sleep_pauses = r->o.sleep_pauses,
	    .any_stack = r->o.any_stack,
	    .sync_uprobe = r->o.sync_uprobe,
	    .inclusive = r->o.inclusive,
	    .pause = r->o.pause,
	    .min_debt_ns = MIN_DEBT_NS,
	    .watches_only = r->o.suggests,
	    .waits = r->o.waits,
	    .wait_disk = r->o.wait_disk,
	    .spare_ranges = SPARE_RANGES + JIT_RANGES,
	    .spare_lines = SPARE_LINES,
	    .unwind_rows = UNWIND_ROWS};

	join_rooms(r);
	debuginfod_start(&r->debuginfod, &r->console, r->o.verbose, NAMES_S);
	if (target_init(&r->target, e) || files_init(&r->files, e) ||
	    r->target.ops->read_lines(&r->target, e) || add_kernel(r, e) ||
	    resolve_fixed_line(r, e))
		return -1;
	tell_kernel_units(r, &c);
	if (c.waits) {
		c.wait_first = line_map_add_waits(&r->files.lines);
		if (!c.wait_first)
			return error_set(e, EXIT_OTHER, "out of memory");
	}
	c.signal = r->target.signal;
	c.latencies = r->o.latency.n || !r->o.progress.n; /* coz.h has them, too */
	if (session_create(&c, &r->files.lines, &r->session, e) || resolve_fixed_wait(r, e))
		return -1;
	r->files.session = r->target.session = r->points.session = r->session;
	tell_kernel(r);
	tell_pauses(r);
	if (r->o.suggests)
		return prepare_watch(r, e);
	spins_init(&r->files);
	if (add_points(r, e))
		return -1;
	choose_period(r);
	if (session_attach(r->session, r->o.period_ns, e) || open_output(r, e))
		return -1;
	if (r->o.verbose && !reading_is_filtered())
		console_say(&r->console, "files are read by children without rights, but no filter "
					 "of system calls: the kernel refused it");
	measure_samples(r);
	return prepare_experiments(r, e);
}

void run_teardown(struct runner *r)
{
	session_destroy(r->session);
	experiment_deinit(&r->experiments.machine);
	recorder_deinit(&r->recorder);
	processes_deinit(&r->target);
	point_watch_deinit(&r->points);
	places_deinit(&r->points);
	points_deinit(&r->points);
	calls_deinit(&r->files);
	spins_deinit(&r->files);
	jit_deinit(&r->files);
	unwinder_deinit(&r->files);
	files_deinit(&r->files);
	target_deinit(&r->target);
	debuginfod_stop(&r->debuginfod);
}
