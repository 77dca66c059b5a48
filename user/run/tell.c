// SPDX-License-Identifier: BSD-3-Clause
/* What the loop carries from room to room: the run's figures to the answer and to the console. */
#include "run/tell.h"

#include <stdlib.h>

#include "core/profile/so_far.h"
#include "run/clock.h"
#include "run/runner.h"

/* The profile so far. 0 or -ENOMEM; so_far_deinit() is to be called in both cases. */
static int take_so_far(const struct runner *r, uint64_t now, struct so_far *ret)
{
	struct run_so_far this_run;

	if (!r->recorder.is_running)
		return so_far_init(ret, &r->recorder.profile, NULL);
	recorder_so_far(&r->recorder, now, r->experiments.machine.delayed_ns, &this_run);
	return so_far_init(ret, &r->recorder.profile, &this_run);
}

static void want_lines(struct runner *r, const struct estimate *e)
{
	size_t n;
	struct wanted *wanted =
	    answer_wanted(e, &r->recorder.profile, r->recorder.experiment_lines, &n);

	if (wanted)
		experiment_want(&r->experiments.machine, wanted, n);
}

static void tell_answer(struct runner *r, struct estimate *e)
{
	struct run_record counted;

	if (!r->o.fixed_lines.n && !r->o.end_to_end)
		want_lines(r, e);
	if (!console_is_open(&r->console) || estimate_own_names(e)) {
		estimate_deinit(e);
		return;
	}
	session_run_counters(r->session, &counted);
	console_take(&r->console, e, counted.lost);
}

void run_look(struct runner *r, uint64_t now)
{
	enum sort_key sort = console_sort(&r->console);
	struct estimate e;
	struct so_far s;

	/* Between experiments: nothing closes late for it. */
	if (!answer_is_due(&r->answer, now, sort) || !r->recorder.profile.n_experiments ||
	    (experiment_is_open(&r->experiments.machine) && !r->o.end_to_end))
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
	if (r->o.end_to_end && r->recorder.is_running)
		return false; /* between runs */
	if (!take_so_far(r, now, &s) && answer_settle(&r->answer, &s.profile, now))
		console_say(&r->console, "the leading gains are known to within %s", r->o.until);
	so_far_deinit(&s);
	return r->answer.settled;
}

void run_open_view(struct runner *r)
{
	struct console_target t = {
	    .command = r->target.ops->restarts ? r->o.command : NULL, .cgroup = r->o.cgroup};
	int *pids = calloc(r->target.attached.n + 1, sizeof(*pids));

	while (pids && (pids[t.n_pids] = target_pid_at(&r->target, (unsigned)t.n_pids)))
		t.n_pids++;
	t.pids = pids;
	console_open(&r->console, &t);
	free(pids);
}

static size_t list_points(const struct runner *r, struct console_point *ret)
{
	for (unsigned i = 0; i < r->points.n_points; i++) {
		const struct point *p = &r->points.points[i];

		ret[i] = (struct console_point){.name = p->name,
		    .visits = session_visits(r->session, i),
		    .is_begin = p->role == COZBPF_ROLE_BEGIN,
		    .is_sampled = p->is_sampled};
	}
	return r->points.n_points;
}

static void tell_experiment(
    const struct runner *r, const struct counters *c, struct console_status *s)
{
	const struct experiment *x = &r->experiments.machine;
	const struct source_line *l = &r->files.lines.lines[x->opening.unit];
	uint64_t end = r->o.end_to_end ? 0 : x->deadline_ns;

	if (!experiment_is_open(x))
		return;
	s->file = l->file;
	s->line = l->line;
	s->speedup_pct = x->opening.speedup_pct;
	s->opened_ns = c->opened_ns;
	s->planned_ns = end < s->opened_ns ? 0 : end - s->opened_ns;
}

void run_show(struct runner *r, uint64_t now, uint64_t due)
{
	const struct experiment *x = &r->experiments.machine;
	bool rests = r->o.duty && !r->series.is_working && r->series.duty.due_ns > now;
	struct console_point points[COZBPF_POINTS];
	struct counters c;
	struct console_status s = {
	    .started_ns = r->o.duty ? r->series.started_ns : r->recorder.started_ns,
	    .run = r->recorder.run + 1,
	    .runs = (uint32_t)r->o.runs,
	    .experiments = r->recorder.profile.n_experiments,
	    .spoilt = x->dropped,
	    .noise = verdict_noise(&x->verdicts),
	    .points = points,
	    .leader = r->answer.leader,
	    .is_paused = x->is_paused,
	    .rests_ns = rests ? r->series.duty.due_ns - now : 0};

	session_read(r->session, &c);
	s.samples = c.samples;
	s.in_scope = c.in_scope;
	s.n_points = list_points(r, points);
	tell_experiment(r, &c, &s);
	console_draw(&r->console, &s, now, due);
	console_progress(&r->console, &s, now);
}
