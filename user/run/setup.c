// SPDX-License-Identifier: BSD-3-Clause
/* What stands before the first run: the rooms joined, lines in scope, the kernel side. The profile
 * file is in run/recorder.c. */
#include "run/setup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cozbpf/perturb.h>
#include "kernel/kallsyms.h"
#include "kernel/sampling.h"
#include "run/calls.h"
#include "run/goroutines.h"
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
#include "run/series.h"
#include "run/unwinder.h"
#include "symbols/symbols.h"
#include "target/process_checks.h"

/* room for objects that come later: libraries with -b, exec'd children */
#define SPARE_RANGES 262144
#define JIT_RANGES 262144 /* 4 MiB: code that the program makes, each stretch twice */
#define SPARE_LINES 65536
#define UNWIND_ROWS (1 << 20) /* 8 MiB: some twenty libraries */
/* Tried in turn where the default is too short. */
#define PERIOD_LONGER_NS 500000
#define PERIOD_LONGEST_NS 1000000
#define SAMPLES_PART 8           /* samples are dear that take more than one part in so many */
#define PERIOD_BLOCKS_NS 1000000 /* as docs/blocks.md was measured */
#define PERIOD_WATCH_NS 2000000  /* for the CPU time in a tenth of a second */
#define NAMES_S 10 /* for debug files from the network, before the target is started or touched */
#define MIN_DEBT_NS 50000 /* a signal costs about 3 us; smaller debts wait for the next sample */

/*
 * The fewer samples tell how long a line ran, the more that scatters: tasks go to the wrong thread
 * (docs/accuracy.md). Requests that are served in about a period come out too short, by 14 % at a
 * speedup of 75 % with 1 ms, by 2 % with 330 us, and no less with 250 us (docs/answers.md). So only
 * where there is no latency the default may be too short.
 */
static bool is_too_short(uint64_t period_ns, uint64_t sample_ns)
{
	return !sample_ns || sample_ns * SAMPLES_PART > period_ns ||
	       sampling_shortest_period() > period_ns;
}

static void tell_dropped_samples(struct runner *r)
{
	if (sampling_shortest_period() <= r->o.period_ns)
		return;
	console_say(&r->console,
	    "warning: the kernel drops samples that are taken each %" PRIu64
	    " us: kernel.perf_event_max_sample_rate is too low",
	    r->o.period_ns / 1000);
	console_say(&r->console, "hint: " SAMPLING_RATE_HINT);
}

/* Requests wait for each other: a server that samples make 4 % slower has them wait 4 to 8 % longer
 * (docs/answers.md). Throughput is compared with as slow a baseline. */
static void measure_samples(struct runner *r, bool may_lengthen)
{
	bool latencies = point_pairs_any(&r->points);
	struct sample_cost cost = session_measure_samples(r->session, latencies);

	while (may_lengthen && !latencies && r->o.period_ns < PERIOD_LONGEST_NS &&
	       is_too_short(r->o.period_ns, cost.whole_ns)) {
		r->o.period_ns =
		    r->o.period_ns < PERIOD_LONGER_NS ? PERIOD_LONGER_NS : PERIOD_LONGEST_NS;
		session_set_period(r->session, r->o.period_ns);
		cost = session_measure_samples(r->session, latencies);
	}
	if (!r->o.verbose)
		return;
	if (cost.whole_ns)
		console_say(&r->console,
		    "a sample costs %.1f us%s, %.1f of them on the way into it",
		    (double)cost.whole_ns / 1e3, latencies ? ", which latencies are without" : "",
		    (double)cost.entry_ns / 1e3);
	else
		console_say(&r->console, "what a sample costs cannot be told: others have the CPU");
	console_say(&r->console, "a sample each %" PRIu64 " us", r->o.period_ns / 1000);
}

/* Nodes may share a directory: of all but the first one the profile has the node's number in its
 * name. NULL: no memory. */
static const char *output_of(struct runner *r)
{
	const char *name = r->o.output, *slash = strrchr(name, '/'), *dot = strrchr(name, '.');
	unsigned node = r->peers ? run_peers_self(r->peers) : 0;
	int n = dot && (!slash || dot > slash) ? (int)(dot - name) : (int)strlen(name);

	if (!node)
		return name;
	return asprintf(&r->output, "%.*s.%u%s", n, name, node, name + n) < 0 ? NULL : r->output;
}

/* What --metrics and --pprof replace is not to be the profile. */
static int check_exports(const struct runner *r, const char *path, struct error *e)
{
	const char *const exports[] = {r->o.metrics, r->o.pprof};
	struct stat own, other;

	for (size_t i = 0; i < sizeof(exports) / sizeof(*exports); i++) {
		bool is_it = exports[i] && !strcmp(exports[i], path);

		if (exports[i] && !stat(path, &own) && !stat(exports[i], &other))
			is_it = own.st_dev == other.st_dev && own.st_ino == other.st_ino;
		if (!is_it)
			continue;
		error_set(e, EXIT_USAGE, "'%s' is the profile itself", exports[i]);
		return error_hint(e, "give --metrics, --pprof and -o files of their own");
	}
	return 0;
}

/*
 * Warned of, not refused: a program that is built and profiled again and again appends to the
 * default file, and its reports can have the runs of any one build. Without --build they refuse,
 * which is to be known before a run, not after it.
 */
static int open_output(struct runner *r, struct error *e)
{
	const char *path = output_of(r);
	struct other_build other;

	if (!path)
		return error_set(e, EXIT_OTHER, "out of memory");
	if (check_exports(r, path, e))
		return -1;
	if (recorder_open(&r->recorder, &r->target.identity, path, r->files.main_object, &other, e))
		return -1;
	if (!other.theirs[0])
		return 0;
	console_say(&r->console,
	    "warning: '%s' holds runs of another build, %.12s: this one, %.12s, is appended, and "
	    "reports will not add them up",
	    path, other.theirs, other.ours);
	console_say(&r->console,
	    "hint: 'cozbpf report --build %.12s' takes the runs of this build only; -o FILE keeps "
	    "builds apart",
	    other.ours);
	return 0;
}

static int prepare_experiments(struct runner *r, struct error *e)
{
	const uint32_t *fixed = r->fixed.units;
	const struct experiment_options o = {.seed = r->o.seed,
	    .period_ns = r->o.period_ns,
	    .length_ns = r->o.length_ns,
	    .speedups_pct = r->o.speedups,
	    .n_speedups = r->o.n_speedups,
	    .fixed_line = fixed[0],
	    .fixed_other = fixed[1],
	    .couple = r->fixed.couple,
	    .end_to_end = r->o.end_to_end,
	    .runs = r->o.runs,
	    .lines_room =
		r->files.lines.n_lines + session_spare_lines(r->session, &r->files.lines)};
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

	r->files.kernel.first = (uint32_t)m->n_lines;
	if (r->o.kernel == KERNEL_NONE)
		return 0;
	if (r->o.kernel == KERNEL_FUNCTIONS && kallsyms_add(m, &n, e))
		return -1;
	if (r->o.kernel == KERNEL_SYSCALLS && !line_map_add_syscalls(m))
		return error_set(e, EXIT_OTHER, "out of memory");
	r->files.kernel.end = (uint32_t)m->n_lines;
	if (r->o.verbose)
		console_say(&r->console, "the kernel: %zu %s in scope", n,
		    r->o.kernel == KERNEL_FUNCTIONS ? "functions" : "system calls");
	return 0;
}

/* A function that is named counts with what it calls: most do little themselves. */
static void tell_kernel_units(struct runner *r, struct session_config *ret)
{
	const struct string_list *names = &r->o.fixed_lines;

	if (r->o.kernel == KERNEL_SYSCALLS)
		ret->call_first = r->files.kernel.first;
	for (size_t i = 0; i < names->n; i++) {
		if (kernel_units_of_unit(names->items[i]) != KERNEL_FUNCTIONS)
			continue;
		r->files.lines.lines[r->fixed.units[i]].inclusive = true;
		ret->kernel_unit = r->fixed.units[i];
	}
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

/* What probes cost is measured before there are samples. */
static int prepare_blocks(struct runner *r, struct error *e)
{
	const struct blocks_rooms rooms = {
	    &r->o, &r->console, r->session, &r->files, &r->points, &r->target};

	r->points.is_open = true;
	return blocks_open(&rooms, &r->blocks, e) || session_attach(r->session, PERIOD_BLOCKS_NS, e)
		   ? -1
		   : 0;
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

/* They begin to speak when this node could open an experiment. */
static int start_peers(struct runner *r, struct error *e)
{
	if (!r->peers)
		return 0;
	r->experiments.peers = r->peers;
	return run_peers_start(r->peers, r->session, recorder_build(&r->recorder), e);
}

static int start_sampling(struct runner *r, struct error *e)
{
	bool is_default = !r->o.period_ns;

	if (is_default)
		r->o.period_ns = SAMPLING_PERIOD_NS;
	if (session_attach(r->session, r->o.period_ns, e) || open_output(r, e))
		return -1;
	if (r->o.verbose && !reading_is_filtered())
		console_say(&r->console, "files are read by children without rights, but no filter "
					 "of system calls: the kernel refused it");
	measure_samples(r, is_default);
	tell_dropped_samples(r);
	return 0;
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
	    .sleeps = r->o.duty,
	    .waits = r->o.waits,
	    .wait_disk = r->o.wait_disk,
	    .spare_ranges = SPARE_RANGES + JIT_RANGES,
	    .spare_lines = SPARE_LINES,
	    .unwind_rows = UNWIND_ROWS};

	join_rooms(r);
	debuginfod_start(&r->debuginfod, &r->console, r->o.verbose, NAMES_S);
	if (process_clock(e) || target_init(&r->target, e) || files_init(&r->files, e) ||
	    r->target.ops->read_lines(&r->target, e) || add_kernel(r, e) ||
	    fixed_find(&r->fixed, &r->files, &r->o.fixed_lines, e))
		return -1;
	tell_kernel_units(r, &c);
	goroutines_decide(&r->files, &c);
	if (c.waits) {
		c.wait_first = line_map_add_waits(&r->files.lines);
		if (!c.wait_first)
			return error_set(e, EXIT_OTHER, "out of memory");
	}
	if (r->o.peers) {
		c.peers = true;
		if (run_peers_create(&r->o, &r->console, &r->peers, e))
			return -1;
	}
	if (r->o.blocks) {
		c.blocks = true;
		c.perturb = (uint32_t)(r->o.blocks->perturb * COZBPF_PERTURB_ONE);
		c.perturb_seed = r->o.seed;
	}
	c.signal = r->target.signal;
	c.n_cpus = target_cpus(&r->target);
	c.latencies = r->o.latency.n || !r->o.progress.n; /* coz.h has them, too */
	if (session_create(&c, &r->files.lines, &r->session, e))
		return -1;
	r->files.session = r->target.session = r->points.session = r->session;
	if (fixed_find_waits(&r->fixed, &r->files, e))
		return -1;
	tell_kernel(r);
	tell_pauses(r);
	if (r->o.suggests)
		return prepare_watch(r, e);
	if (r->o.blocks)
		return prepare_blocks(r, e);
	spins_init(&r->files);
	if (add_points(r, e))
		return -1;
	if (start_sampling(r, e))
		return -1;
	return prepare_experiments(r, e) || start_peers(r, e) ? -1 : 0;
}

void run_teardown(struct runner *r)
{
	blocks_close(r->blocks);
	run_peers_destroy(r->peers);
	free(r->output);
	session_destroy(r->session);
	experiment_deinit(&r->experiments.machine);
	recorder_deinit(&r->recorder);
	series_deinit(&r->series);
	processes_deinit(&r->target);
	point_watch_deinit(&r->points);
	places_deinit(&r->points);
	points_deinit(&r->points);
	calls_deinit(&r->files);
	spins_deinit(&r->files);
	goroutines_deinit(&r->files);
	jit_deinit(&r->files);
	unwinder_deinit(&r->files);
	files_deinit(&r->files);
	target_deinit(&r->target);
	debuginfod_stop(&r->debuginfod);
}
