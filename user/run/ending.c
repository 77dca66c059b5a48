// SPDX-License-Identifier: BSD-3-Clause
/* The end of `cozbpf run`: collects the facts, says the warnings, and shows the answer or the
 * reason why there is none (report/ending.h). */
#include "run/ending.h"

#include <stdlib.h>

#include "report/ending.h"
#include "report/say.h"
#include "run/jit.h"
#include "run/places.h"
#include "run/runner.h"
#include "run/spins.h"
#include "target/procfs.h"

struct process_list {
	struct ending_process *items;
	size_t n, room;
};

static void add_process(int pid, const struct cozbpf_proc_stats *stats, void *arg)
{
	struct process_list *l = arg;

	if (l->n == l->room) {
		size_t room = 2 * l->room + 16;
		struct ending_process *bigger = realloc(l->items, room * sizeof(*bigger));

		if (!bigger)
			return;
		l->items = bigger;
		l->room = room;
	}
	l->items[l->n++] = (struct ending_process){pid, *stats};
}

static size_t list_points(const struct runner *r, struct ending_point *ret)
{
	for (unsigned i = 0; i < r->points.n_points; i++) {
		const struct point *p = &r->points.points[i];

		ret[i] = (struct ending_point){.name = p->name,
		    .label = p->label,
		    .visits = session_visits(r->session, i),
		    .is_begin = p->role == COZBPF_ROLE_BEGIN,
		    .is_sampled = p->is_sampled,
		    .is_paced = experiment_is_paced(&r->experiments.machine, i),
		    .pace_ns = experiment_pace_ns(&r->experiments.machine, i)};
		if (!ret[i].visits)
			ret[i].missing = places_missing(&r->points, i);
	}
	return r->points.n_points;
}

static void add_experiments(const struct runner *r, struct ending_facts *f)
{
	const struct profile *p = &r->recorder.profile;
	const uint64_t *by = r->experiments.machine.verdicts.spoilt_by;

	f->experiments = p->n_experiments;
	f->spoilt = (struct ending_spoilt){.stop = by[SPOILT_STOP],
	    .debt = by[SPOILT_DEBT],
	    .busy = by[SPOILT_BUSY],
	    .no_time = by[SPOILT_NO_TIME],
	    .peers = by[SPOILT_PEERS],
	    .cut = by[SPOILT_CUT]};
	f->stretched = r->experiments.machine.verdicts.stretched;
	f->runs = p->n_runs;
	for (size_t i = 0; i < p->n_runs; i++) {
		f->last_run_ns = p->runs[i].runtime_ns;
		f->all_runs_ns += p->runs[i].runtime_ns;
	}
}

/* Where lines are selected: the process with most samples in code that has none. */
static void add_lineless(const struct process_list *l, struct ending_facts *f)
{
	uint64_t most = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct ending_process *p = &l->items[i];

		f->made.samples += p->stats.made;
		if (p->stats.made <= most)
			continue;
		most = p->stats.made;
		f->made.pid = p->pid;
		f->made.comm = p->stats.comm;
	}
}

/* The facts, and the memory of their parts. */
struct facts {
	struct ending_facts f;
	struct ending_point points[COZBPF_POINTS];
	struct process_list processes;
	struct jit_unnamed unnamed;
};

static void add_counters(const struct runner *r, struct ending_facts *f)
{
	struct counters c;
	struct cpu_use use;

	session_read(r->session, &c);
	f->samples = c.samples;
	f->in_scope = c.in_scope;
	f->asks_waits = r->o.waits;
	f->wait_samples = c.wait_samples;
	f->calls = c.sync_calls;
	f->threads = c.born;
	for (size_t i = 0; i < r->recorder.profile.n_runs; i++) {
		f->goroutines += r->recorder.profile.runs[i].goroutines;
		f->go_switches += r->recorder.profile.runs[i].go_switches;
	}
	session_cpu_use(r->session, &use);
	f->executed_ns = use.executed_ns;
	f->spun_ns = use.spun_ns;
	f->edges = use.edges;
	f->other_wakes = use.other_wakes;
}

/* How the target has ended, and what it has left. */
static void add_end(const struct runner *r, struct ending_facts *f)
{
	struct cozbpf_proc_stats stats;

	f->is_cut = !r->has_ended || r->is_interrupted;
	if (f->is_cut || !r->target.ops->restarts)
		return;
	f->ended_by = r->target.ended_by;
	for (const struct process *p = r->target.processes; p; p = p->next)
		if (procfs_live_thread(p->pid)) {
			session_process(r->session, p->pid, &stats);
			f->left_pid = p->pid;
			snprintf(f->left_comm, sizeof(f->left_comm), "%s", stats.comm);
		}
}

static void add_advice(const struct runner *r, struct ending_facts *f)
{
	const struct run_samples samples = {.lines = session_line_counts(r->session),
	    .n_lines = session_lines(r->session, &r->files.lines),
	    .period_ns = r->o.period_ns,
	    .ran_ns = f->all_runs_ns};

	f->period_ns = r->o.period_ns;
	f->again = r->o.again;
	f->command = r->target.ops->restarts ? r->o.command : NULL;
	f->advice = run_choice_advise(&samples, f->runs);
}

/* Samples in code that was made at run time, and that nothing names. */
static void add_made(const struct runner *r, struct facts *ret)
{
	const struct jit_unnamed *u = &ret->unnamed;

	jit_unnamed(&r->files, &ret->unnamed);
	if (u->pid)
		ret->f.made = (struct ending_made){u->pid, u->comm, u->path, u->samples};
	else if (scope_has_lines(&r->files.scope, true))
		add_lineless(&ret->processes, &ret->f);
}

static void collect(const struct runner *r, struct facts *ret)
{
	struct ending_facts *f = &ret->f;

	*f = (struct ending_facts){.is_verbose = r->o.verbose,
	    .is_end_to_end = r->o.end_to_end,
	    .sleeps = r->o.sleep_pauses,
	    .has_probes = r->o.sync_uprobe,
	    .path = r->target.path,
	    .unit = scope_unit(&r->files.scope, scope_has_lines(&r->files.scope, true)),
	    .binary = r->files.scope.n_binaries ? r->files.scope.binaries[0] : NULL,
	    .n_objects = r->files.lines.n_objects,
	    .throttled_ns = r->recorder.throttled_ns,
	    .probe_ns = r->files.probe_cost_ns,
	    .points = ret->points};
	add_counters(r, f);
	f->n_points = list_points(r, ret->points);
	add_experiments(r, f);
	add_advice(r, f);
	ret->processes = (struct process_list){0};
	session_processes(r->session, add_process, &ret->processes);
	f->processes = ret->processes.items;
	f->n_processes = ret->processes.n;
	add_end(r, f);
	add_made(r, ret);
}

static void say_all(const struct runner *r, struct ending *g)
{
	for (size_t i = 0; i < g->n_messages; i++)
		console_say(&r->console, "%s", g->messages[i]);
	ending_deinit(g);
}

static void show_report(const struct runner *r, const struct ending_facts *f)
{
	struct estimate_options o = {.seed = ESTIMATE_SEED, .waiting = true};
	struct ending more = {0};
	struct estimate e;

	if (r->o.quiet || estimate_profile(&r->recorder.profile, &o, &e))
		return;
	console_report(&r->console, &e);
	ending_say_more(f, &e, &more);
	say_all(r, &more);
	estimate_deinit(&e);
}

/* Without experiments of its own: where they are, or why there are none. False: neither is known.
 */
static bool judge_peers(const struct runner *r, int *ret_err, struct error *e)
{
	const char *missing = run_peers_missing(r->peers), *where = run_peers_elsewhere(r->peers);

	*ret_err = 0;
	if (missing) {
		*ret_err = error_set(e, EXIT_NO_RESULT, "no experiments: %s", missing);
		error_hint(e, "all nodes run the same builds with the same --peers and key, and "
			      "reach each other's ports by UDP");
		return true;
	}
	if (where)
		console_say(
		    &r->console, "the run's experiments are in the profile of node '%s'", where);
	return where;
}

/* With --duty: it was ended in its first rest. */
static int fail_no_series(const struct runner *r)
{
	uint64_t refusals = r->series.duty.refusals;
	struct error e = {0};

	if (!r->points.n_points) {
		error_set(&e, EXIT_NO_RESULT,
		    "no progress point was found, so no series of experiments has begun");
		error_hint(&e, "name one with -P; 'cozbpf suggest' shows what was looked at");
		return say_error(&e);
	}
	error_set(&e, EXIT_NO_RESULT, "no series of experiments has begun%s",
	    refusals ? ": load or the command of --pause-if did not let one begin" : "");
	error_hint(&e,
	    "with --duty %s there is one in %.0f s, at a random moment; let it run for "
	    "longer, or give a larger share",
	    r->o.duty, (double)DUTY_SERIES_NS / 1e9 / r->o.duty_share);
	return say_error(&e);
}

int run_finish(struct runner *r)
{
	const char *missing = spins_missing(&r->files);
	struct facts facts;
	struct ending ending;
	struct error e = {0}, lost = {0};
	int err, is_lost = recorder_finish(&r->recorder, &lost);

	console_clear_progress(&r->console);
	if (r->peers && r->o.verbose)
		run_peers_tell_losses(r->peers);
	if (r->peers && !r->recorder.profile.n_experiments && judge_peers(r, &err, &e))
		return err ? say_error(&e) : is_lost ? say_error(&lost) : r->target.exit_status;
	if (r->o.duty && !r->series.duty.series)
		return fail_no_series(r);
	if (missing)
		console_say(&r->console,
		    "warning: no file that the program maps has the function '%s' of --spin",
		    missing);
	collect(r, &facts);
	err = ending_judge(&facts.f, &ending, &e);
	say_all(r, &ending);
	if (err)
		say_error(&e);
	else
		show_report(r, &facts.f);
	free(facts.processes.items);
	/* The ranking is in memory. That the file lacks a part of it is said last, and decides. */
	if (is_lost)
		return say_error(&lost);
	return err ? e.status : r->target.exit_status;
}
