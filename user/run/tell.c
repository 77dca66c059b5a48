// SPDX-License-Identifier: BSD-3-Clause
/* What the loop carries from room to room: the run's figures to the answer and to the console, and
 * the console's actions to the experiments. */
#include "run/run.h"

#include <math.h>
#include <stdlib.h>

#include "core/profile/so_far.h"
#include "run/tell.h"

void run_so_far(const struct runner *r, uint64_t now, struct run_so_far *ret)
{
	const struct cozbpf_control *c = session_control(r->session);
	size_t lines = r->files.lines.n_lines;

	*ret = (struct run_so_far){.run = r->recorder.run,
	    .lines = r->files.lines.lines,
	    .counts = session_line_counts(r->session),
	    .counts_before = r->recorder.counts_before,
	    .free_before = r->recorder.free_before,
	    .n_lines = lines < r->recorder.counts_room ? lines : r->recorder.counts_room,
	    .has_ids = !r->files.fixed_line && !r->o.end_to_end,
	    .samples = c->samples - r->recorder.samples_before,
	    .in_scope = c->in_scope - r->recorder.in_scope_before,
	    .runtime_ns = now - r->recorder.started_ns,
	    .delayed_ns = r->experiments.delayed_ns};
}

/* The profile so far. 0 or -ENOMEM; so_far_deinit() is to be called in both cases. */
static int take_so_far(const struct runner *r, uint64_t now, struct so_far *ret)
{
	struct run_so_far this_run;

	if (!r->loop.profiling)
		return so_far_init(ret, &r->recorder.profile, NULL);
	run_so_far(r, now, &this_run);
	return so_far_init(ret, &r->recorder.profile, &this_run);
}

static void add_lost(int pid, const struct cozbpf_proc_stats *s, void *arg)
{
	uint64_t *lost = arg;

	(void)pid;
	*lost += s->withdrawn + s->not_sent;
}

uint64_t run_lost(struct runner *r)
{
	const struct cozbpf_control *c = session_control(r->session);
	uint64_t ret = c->events_lost + c->storage_lost;

	session_processes(r->session, add_lost, &ret);
	return ret;
}

static void want_lines(struct runner *r, const struct estimate *e)
{
	size_t n;
	struct wanted *wanted =
	    answer_wanted(e, &r->recorder.profile, r->recorder.experiment_lines, &n);

	if (!wanted)
		return;
	free(r->experiments.wanted);
	r->experiments.wanted = wanted;
	r->experiments.n_wanted = n;
}

static void tell_answer(struct runner *r, struct estimate *e)
{
	if (!r->files.fixed_line && !r->o.end_to_end)
		want_lines(r, e);
	/* A look at each process is too much for every picture. */
	if (console_is_open(&r->console) && !estimate_own_names(e))
		console_take(&r->console, e, run_lost(r));
	else
		estimate_deinit(e);
}

void run_look(struct runner *r, uint64_t now)
{
	enum sort_key sort = console_sort(&r->console);
	struct estimate e;
	struct so_far s;

	/* Between experiments: nothing closes late for it. */
	if (!answer_is_due(&r->answer, now, sort) || !r->recorder.profile.n_experiments ||
	    (r->experiments.phase == PHASE_OPEN && !r->o.end_to_end))
		return;
	if (!take_so_far(r, now, &s) && !answer_look(&r->answer, &s.profile, sort, &e))
		tell_answer(r, &e);
	so_far_deinit(&s);
	answer_looked(&r->answer, now, monotonic_ns());
}

bool run_settled(struct runner *r, uint64_t now)
{
	struct so_far s;

	if (!answer_may_settle(&r->answer, now, r->recorder.profile.n_experiments))
		return r->answer.settled;
	if (r->o.end_to_end && r->loop.profiling)
		return false; /* between runs */
	if (!take_so_far(r, now, &s) && answer_settle(&r->answer, &s.profile, now))
		console_say(&r->console, "the gains of the leading lines are known to within %s",
		    r->o.until);
	so_far_deinit(&s);
	return r->answer.settled;
}

void run_open_view(struct runner *r)
{
	struct console_target t = {
	    .command = r->target.attached ? NULL : r->o.command, .cgroup = r->o.cgroup};
	int *pids = calloc(r->target.n_attached + 1, sizeof(*pids));

	for (; pids && t.n_pids < r->target.n_attached; t.n_pids++)
		pids[t.n_pids] = r->target.attached[t.n_pids].pid;
	t.pids = pids;
	console_open(&r->console, &t);
	free(pids);
}

static size_t list_points(const struct runner *r, struct console_point *ret)
{
	for (unsigned i = 0; i < r->points.n_points; i++) {
		const struct point *p = &r->points.points[i];

		ret[i] = (struct console_point){.name = p->name,
		    .visits = session_point(r->session, i)->visits,
		    .is_begin = p->role == COZBPF_ROLE_BEGIN,
		    .is_sampled = p->is_sampled};
	}
	return r->points.n_points;
}

static void tell_experiment(const struct runner *r, struct console_status *s)
{
	const struct source_line *l = &r->files.lines.lines[r->experiments.line];
	uint64_t end = r->o.end_to_end ? 0 : r->experiments.deadline_ns;

	if (r->experiments.phase != PHASE_OPEN)
		return;
	s->file = l->file;
	s->line = l->line;
	s->speedup_pct = r->experiments.speedup_pct;
	s->opened_ns = session_control(r->session)->opened_ns;
	s->planned_ns = end < s->opened_ns ? 0 : end - s->opened_ns;
}

static void act(struct runner *r, enum run_action action, uint64_t now)
{
	if (action == RUN_ACTION_QUIT)
		r->loop.quit = true;
	else if (r->o.end_to_end)
		console_say(&r->console, "nothing can be paused: each run is one experiment");
	else if (action == RUN_ACTION_RESUME)
		run_resume(r, now);
	else
		run_pause(r);
}

void run_console(struct runner *r, uint64_t now, uint64_t due)
{
	const struct cozbpf_control *c = session_control(r->session);
	struct console_point points[COZBPF_POINTS];
	struct console_status s = {.started_ns = r->recorder.started_ns,
	    .run = r->recorder.run + 1,
	    .runs = (uint32_t)r->o.runs,
	    .leader = r->answer.leader,
	    .points = points};
	uint64_t late = monotonic_ns();
	enum run_action action;

	while ((action = console_keys(&r->console, r->experiments.is_paused)))
		act(r, action, late);
	s.experiments = r->recorder.profile.n_experiments;
	s.spoilt = r->experiments.dropped;
	s.samples = c->samples;
	s.in_scope = c->in_scope;
	s.noise =
	    r->experiments.busy_n ? r->experiments.busy_sum / r->experiments.busy_n : (double)NAN;
	s.is_paused = r->experiments.is_paused;
	s.n_points = list_points(r, points);
	tell_experiment(r, &s);
	console_draw(&r->console, &s, late, due);
	console_progress(&r->console, &s, now);
}
