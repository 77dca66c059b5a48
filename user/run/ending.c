// SPDX-License-Identifier: BSD-3-Clause
/* The end of `cozbpf run`: collects the facts, says the warnings, and shows the answer or the
 * reason why there is none (report/ending.h). */
#include "run/ending.h"

#include <stdlib.h>

#include "report/ending.h"
#include "report/say.h"
#include "run/places.h"
#include "run/runner.h"
#include "run/spins.h"

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
	    .no_time = by[SPOILT_NO_TIME]};
	f->stretched = r->experiments.machine.verdicts.stretched;
	f->runs = p->n_runs;
	for (size_t i = 0; i < p->n_runs; i++) {
		f->last_run_ns = p->runs[i].runtime_ns;
		f->all_runs_ns += p->runs[i].runtime_ns;
	}
}

static int judge(struct runner *r, struct ending *ret, struct error *e)
{
	struct ending_point points[COZBPF_POINTS];
	struct process_list processes = {0};
	struct counters c;
	struct cpu_use use;
	struct ending_facts f = {.is_verbose = r->o.verbose,
	    .is_end_to_end = r->o.end_to_end,
	    .sleeps = r->o.sleep_pauses,
	    .has_probes = r->o.sync_uprobe,
	    .path = r->target.path,
	    .binary = r->files.scope.n_binaries ? r->files.scope.binaries[0] : NULL,
	    .n_objects = r->files.lines.n_objects,
	    .throttled_ns = r->recorder.throttled_ns,
	    .probe_ns = r->files.probe_cost_ns,
	    .points = points};
	int err;

	session_read(r->session, &c);
	f.samples = c.samples;
	f.in_scope = c.in_scope;
	f.calls = c.sync_calls;
	session_cpu_use(r->session, &use);
	f.executed_ns = use.executed_ns;
	f.spun_ns = use.spun_ns;
	f.edges = use.edges;
	f.other_wakes = use.other_wakes;
	f.n_points = list_points(r, points);
	add_experiments(r, &f);
	session_processes(r->session, add_process, &processes);
	f.processes = processes.items;
	f.n_processes = processes.n;
	err = ending_judge(&f, ret, e);
	free(processes.items);
	return err;
}

static void show_report(const struct runner *r)
{
	struct estimate_options o = {.seed = r->o.seed};
	struct estimate e;

	if (r->o.quiet || estimate_profile(&r->recorder.profile, &o, &e))
		return;
	console_report(&r->console, &e);
	estimate_deinit(&e);
}

int run_finish(struct runner *r)
{
	const char *missing = spins_missing(&r->files);
	struct ending ending;
	struct error e = {0}, lost = {0};
	int err, is_lost = recorder_finish(&r->recorder, &lost);

	console_clear_progress(&r->console);
	if (missing)
		console_say(&r->console,
		    "warning: no file that the program maps has the function '%s' of --spin",
		    missing);
	err = judge(r, &ending, &e);
	for (size_t i = 0; i < ending.n_messages; i++)
		console_say(&r->console, "%s", ending.messages[i]);
	ending_deinit(&ending);
	if (err)
		say_error(&e);
	else
		show_report(r);
	/* The ranking is in memory. That the file lacks a part of it is said last, and decides. */
	if (is_lost)
		return say_error(&lost);
	return err ? e.status : r->target.exit_status;
}
