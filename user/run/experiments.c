// SPDX-License-Identifier: BSD-3-Clause
/*
 * The experiments of one run (design.md section 6) as a state machine: a line is picked by a
 * sample, an experiment opens, closes, is written, and the target cools off. Time comes in; the
 * caller sleeps in between.
 */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/experiment/visits.h"
#include <cozbpf/delay_rules.h>

#define FITS 1.02 /* times what the CPUs have time for, and it still fits */
/* for the sample that picks the line, and for the visit that closes an experiment */
#define POLL_NS 1000000ULL
/* of sampling: no sample of one experiment falls in the next (design.md 6) */
#define COOL_OFF_PERIODS 3
#define PAUSE_SLACK_NS 1000000ULL /* after the latest end of a pause: the handler has returned */
/* of the length: how long a close waits for the visit that it is to fall on */
#define CLOSE_WAIT_PCT 25
/* between the visit that closes and the close: the window does not cut its burst */
#define CLOSE_BUCKETS 2ULL
#define CLOSE_WAIT_VISITS 100 /* with more visits than this one more or less is below 1 % */
/* what a speedup has left in the program's queues drains; measured with pipelines
 * (docs/accuracy.md) */
#define SETTLE_NS 20000000ULL
#define WINDOW_MIN_NS SETTLE_NS /* of virtual time to count visits in, */
/* for which an experiment goes on at most, where the speedup leaves hardly any time */
#define WINDOW_WAIT_NS 500000000ULL
#define SAMPLED_VISIT_UNITS                                                                       \
	(1000000 / COZBPF_SAMPLED_UNIT_NS) /* a millisecond executed is a visit to a line that is \
					      a progress point */
#define PERIOD_SPREAD 0.1 /* of the sampling period, from one experiment to the next */
/* of the CPU time wanted: an experiment in which outsiders had more is dropped, */
#define BUSY_SHARE 0.1
/* if it is also that much above what they usually have: a machine that is always busy has
 * experiments, too */
#define BUSY_TIMES 2
#define BUSY_EXPERIMENTS 4 /* before "usually" means anything */
#define SPOILT_DEBT_PCT 5  /* of the samples: threads that owe too much to be made to pay */

/* Visits to the point that the close waits for: the most visited one. */
static uint64_t most_visits(const struct runner *r)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < r->points.n_points; i++) {
		uint64_t n = session_point(r->session, i)->visits;

		if (r->points.points[i].is_sampled)
			n /= SAMPLED_VISIT_UNITS;
		most = n > most ? n : most;
	}
	return most;
}

static unsigned bucket_shift(uint64_t length_ns)
{
	unsigned shift = 10;

	while (((uint64_t)COZBPF_BUCKETS << shift) < length_ns)
		shift++;
	return shift;
}

static uint64_t open_experiment(struct runner *r, uint32_t line, uint64_t now)
{
	struct opening o = {
	    .line = line, .speedup_pct = schedule_next(&r->experiments.schedule, line)};

	if (!o.speedup_pct && !run_wants_baseline(r))
		o.speedup_pct = schedule_next(
		    &r->experiments.schedule, line); /* the other half of the line's pair */
	r->experiments.line = line;
	r->experiments.speedup_pct = o.speedup_pct;
	r->experiments.planned_ns = run_latency_length_ns(r, r->experiments.length.ns);
	r->experiments.shift =
	    r->o.end_to_end
		? END_TO_END_SHIFT
		: bucket_shift(r->experiments.planned_ns +
			       r->experiments.planned_ns * CLOSE_WAIT_PCT / 100 + 50 * POLL_NS);
	r->experiments.spoilt = SPOILT_NOT;
	r->experiments.closing = false;
	r->experiments.phase = PHASE_OPEN;
	r->experiments.visits_at_open = most_visits(r);
	r->experiments.n_points_open = r->points.n_points;
	for (unsigned i = 0; i < r->points.n_points; i++) {
		r->points.points[i].visits_at_open = session_point(r->session, i)->visits;
		r->points.points[i].paced_at_open = session_point(r->session, i)->paced;
	}
	o.shift = r->experiments.shift;
	o.period = 1 - PERIOD_SPREAD / 2 +
		   PERIOD_SPREAD * (double)rng_below(&r->experiments.schedule.rng, 1000) / 1000;
	if (!r->o.end_to_end)
		o.settle_ns = run_latency_settle_ns(r, SETTLE_NS);
	run_baseline_open(r, now + o.settle_ns);
	session_open_experiment(r->session, &o);
	r->experiments.deadline_ns =
	    r->o.end_to_end ? UINT64_MAX : now + o.settle_ns + r->experiments.planned_ns;
	r->experiments.extended_ns =
	    r->experiments.deadline_ns + WINDOW_WAIT_NS; /* unused with end-to-end */
	return r->experiments.baseline.due_ns ? r->experiments.baseline.due_ns
					      : r->experiments.deadline_ns;
}

/* Where most visits since the opening came from threads that a periodic timer paces, real visits in
 * real time are what counts. */
static bool check_pace(struct runner *r, unsigned i, uint64_t *ret_visits)
{
	const struct cozbpf_point *now = session_point(r->session, i);

	*ret_visits = now->visits - r->points.points[i].visits_at_open;
	r->points.points[i].paced =
	    (now->paced - r->points.points[i].paced_at_open) * 2 > *ret_visits;
	return r->points.points[i].paced;
}

static void fill_point(
    struct runner *r, unsigned i, uint64_t duration_ns, uint64_t real_ns, struct point_record *ret)
{
	uint64_t visits;

	visits_window(session_point(r->session, i)->buckets, COZBPF_BUCKETS, r->experiments.shift,
	    duration_ns, ret);
	if (!check_pace(r, i, &visits))
		return;
	ret->delta = ret->bursts = visits;
	ret->span_delta = ret->span_ns = 0;
	ret->paced_ns = real_ns;
}

/* A pair is one record: what its ends have as visits, and its latency. */
static void fill_points(
    struct runner *r, uint64_t duration_ns, uint64_t real_ns, struct experiment_record *x)
{
	uint64_t visits;

	x->points = calloc(
	    r->experiments.n_points_open ? r->experiments.n_points_open : 1, sizeof(*x->points));
	for (unsigned i = 0; x->points && i < r->experiments.n_points_open; i++) {
		struct point_record *p = &x->points[x->n_points++];
		bool is_pair = r->points.points[i].role == COZBPF_ROLE_BEGIN;

		p->name = strdup(r->points.points[i].name);
		fill_point(r, i + is_pair, duration_ns, real_ns, p);
		if (r->points.points[i].is_sampled)
			visits_scale(p, SAMPLED_VISIT_UNITS);
		if (!is_pair)
			continue;
		run_latency_record(r, i, duration_ns, p);
		check_pace(r, i++, &visits);
	}
}

static void keep_experiment(struct runner *r, const struct experiment_record *x)
{
	struct experiment_record *bigger = realloc(
	    r->recorder.profile.experiments, (r->recorder.profile.n_experiments + 1) * sizeof(*x));
	uint32_t *lines;

	profile_write_experiment(r->recorder.out, x);
	fflush(r->recorder.out);
	if (!bigger) {
		r->experiments.dropped++;
		return;
	}
	r->recorder.profile.experiments = bigger;
	lines = realloc(
	    r->recorder.experiment_lines, (r->recorder.profile.n_experiments + 1) * sizeof(*lines));
	if (!lines) {
		r->experiments.dropped++;
		return;
	}
	r->recorder.experiment_lines = lines;
	lines[r->recorder.profile.n_experiments] = r->experiments.line;
	bigger[r->recorder.profile.n_experiments++] = *x;
	r->experiments.n_baselines += !r->experiments.speedup_pct;
}

static char *line_name(const struct runner *r, uint32_t line)
{
	const struct source_line *l = &r->files.lines.lines[line];
	char *name = NULL;

	return asprintf(&name, "%s:%u", l->file, l->line) < 0 ? NULL : name;
}

/* Whether programs outside the target had an unusual share of the CPUs. */
static bool was_busy(struct runner *r, const struct cpu_use *use)
{
	double wanted = (double)(use->outsiders_ns + use->executed_ns),
	       share = wanted > 0 ? (double)use->outsiders_ns / wanted : 0;
	bool busy = r->experiments.busy_n >= BUSY_EXPERIMENTS && share > BUSY_SHARE &&
		    share > BUSY_TIMES * r->experiments.busy_sum / r->experiments.busy_n;

	r->experiments.busy_sum += share;
	r->experiments.busy_n++;
	return busy;
}

/*
 * CPUs cannot execute more than their number times the time that passes, in virtual time neither;
 * those count that the program was ever seen on, for it may be kept from others. Where they seem
 * to, the program would have needed longer by as much, and virtual time is stretched: a thread that
 * executed in debt and then waited for another need not pay, but it had a CPU that was, virtually,
 * another one's. On saturated CPUs the two are equal to 0.2 % (tests/unit/test_delay_sim.c), in a
 * single experiment to 1 or 2: so much is no finding.
 */
static void fit_to_cpus(struct runner *r, const struct snapshot *snap, struct experiment_record *x)
{
	uint64_t elapsed = snap->closed_ns - snap->opened_ns,
		 passed = elapsed > snap->required_ns ? elapsed - snap->required_ns : elapsed;
	double by = (double)snap->use.virtual_ns /
		    ((double)passed * snap->use.cpus); /* not a number where none has executed */

	if (DELAY_RULE(FIT_CPUS) && by > FITS) {
		experiment_stretch(x, by);
		r->experiments.stretched++;
	}
}

static bool owes_too_much(const struct runner *r, const struct snapshot *snap)
{
	return r->experiments.speedup_pct &&
	       snap->deep_debt * 100 > snap->samples * SPOILT_DEBT_PCT;
}

/* Whether the experiment counts; one that was spoilt before its close remains so. */
static void judge(struct runner *r, const struct snapshot *snap, uint64_t elapsed)
{
	bool busy = was_busy(r, &snap->use); /* learns from each experiment */

	if (r->experiments.spoilt)
		return;
	if (snap->closed_ns < snap->counted_ns ||
	    elapsed > 2 * r->experiments.planned_ns + 1000000000ULL)
		r->experiments.spoilt = SPOILT_STOP; /* nobody ran, or we did not: suspended
					    machine, a stop that was not seen */
	else if (owes_too_much(r, snap))
		r->experiments.spoilt = SPOILT_DEBT;
	else if (snap->required_ns >= elapsed)
		r->experiments.spoilt = SPOILT_NO_TIME;
	else if (busy)
		r->experiments.spoilt = SPOILT_BUSY;
}

static void drop_experiment(struct runner *r)
{
	r->experiments.dropped++;
	r->experiments.spoilt_by[r->experiments.spoilt]++;
}

static void close_experiment(struct runner *r)
{
	uint64_t bursts[COZBPF_POINTS], elapsed;
	struct experiment_record x = {0};
	struct snapshot snap;

	session_close_experiment(r->session, &snap);
	if (r->experiments.speedup_pct)
		r->experiments.delayed_ns += snap.closed_ns - snap.opened_ns;
	elapsed = snap.closed_ns - snap.counted_ns;
	judge(r, &snap, elapsed);
	if (r->experiments.spoilt) {
		drop_experiment(r);
		return;
	}
	x.selected = line_name(r, r->experiments.line);
	x.speedup = r->experiments.speedup_pct / 100.0;
	x.duration_ns = elapsed - snap.required_ns;
	x.elapsed_ns = elapsed;
	x.start_ns = snap.opened_ns - r->recorder.started_ns;
	x.selected_samples = snap.selected_samples;
	x.fixed = r->files.fixed_line != 0;
	x.selected_ns = snap.selected_ns;
	x.has_selected_ns = x.fixed;
	x.run = r->recorder.run;
	fill_points(r, x.duration_ns, snap.closed_ns - snap.opened_ns, &x);
	fit_to_cpus(r, &snap, &x);
	for (size_t i = 0; i < x.n_points; i++)
		bursts[i] = x.points[i].bursts;
	run_baseline_close(r, snap.closed_ns, &x);
	keep_experiment(r, &x);
	length_update(&r->experiments.length, bursts, x.n_points);
}

/* A line for the whole run, end-to-end: drawn among the samples of earlier runs; 0 before there are
 * any. */
static uint32_t draw_line(struct runner *r)
{
	const struct cozbpf_line_count *counts = session_line_counts(r->session);
	uint64_t total = 0, at;

	if (r->files.fixed_line)
		return r->files.fixed_line;
	for (size_t i = 1; i < r->files.lines.n_lines; i++)
		total += counts[i].all;
	if (!total)
		return 0;
	at = rng_below(&r->experiments.schedule.rng, total);
	for (size_t i = 1; i < r->files.lines.n_lines; i++) {
		if (at < counts[i].all)
			return (uint32_t)i;
		at -= counts[i].all;
	}
	return 0;
}

static void start_pick(struct runner *r)
{
	r->experiments.phase = PHASE_PICK;
	if (!r->files.fixed_line)
		session_ask_line(r->session);
}

void run_begin(struct runner *r, uint64_t now)
{
	uint32_t line;

	r->experiments.phase = PHASE_IDLE;
	r->experiments.deadline_ns = UINT64_MAX;
	run_latency_begin(r);
	if (!r->o.end_to_end) {
		if (!r->experiments.is_paused)
			start_pick(r);
		return;
	}
	line = draw_line(r);
	if (line)
		open_experiment(r, line, now);
}

static uint64_t step_pick(struct runner *r, uint64_t now)
{
	uint32_t line = r->files.fixed_line ? r->files.fixed_line : session_picked_line(r->session);

	/* A fixed line waits for the first sample of all: before that the program has not begun. */
	if (!line || line >= r->files.lines.n_lines || !session_control(r->session)->samples)
		return now + POLL_NS;
	if (!run_wants(r, line)) {
		start_pick(r);
		return now + POLL_NS;
	}
	return open_experiment(r, line, now);
}

/*
 * At high speedups of a line that is nearly all of the program virtual time hardly goes on: the
 * length is over before there is a window, and what the chance of the samples has left of it would
 * be all that is counted. So such an experiment goes on. Returns the virtual time that it lacks: no
 * less real time will do.
 */
static uint64_t lacking_ns(const struct runner *r, uint64_t now)
{
	const struct cozbpf_control *c = session_control(r->session);
	uint64_t least = r->experiments.planned_ns / 4 < WINDOW_MIN_NS
			     ? r->experiments.planned_ns / 4
			     : WINDOW_MIN_NS;
	uint64_t until = c->counted_ns + least + __atomic_load_n(&c->required, __ATOMIC_RELAXED);

	return r->experiments.speedup_pct && !r->experiments.spoilt &&
		       now < r->experiments.extended_ns && now < until
		   ? until - now
		   : 0;
}

/*
 * A close falls on a visit where visits are rare: intervals are then whole, and their mean is free
 * of the window's two ends (Wald). The window ends some buckets after that visit, so that it does
 * not cut the visit's own burst.
 */
static uint64_t step_open(struct runner *r, uint64_t now)
{
	uint64_t visits = most_visits(r), lacking;

	if (now < r->experiments.baseline.due_ns)
		return r->experiments.baseline.due_ns;
	if (r->experiments.baseline.due_ns)
		run_baseline_split(r);
	if (now < r->experiments.deadline_ns)
		return r->experiments.deadline_ns;
	lacking = r->experiments.closing ? 0 : lacking_ns(r, now);
	if (lacking)
		return now + (lacking > POLL_NS ? lacking : POLL_NS);
	if (!r->experiments.closing) {
		r->experiments.closing = true;
		r->experiments.visits_at_deadline = visits;
		r->experiments.give_up_ns = now + r->experiments.planned_ns * CLOSE_WAIT_PCT / 100;
	}
	if (visits - r->experiments.visits_at_open < CLOSE_WAIT_VISITS &&
	    now < r->experiments.give_up_ns) {
		if (visits == r->experiments.visits_at_deadline)
			return now + POLL_NS;
		r->experiments.give_up_ns = 0;
		return r->experiments.deadline_ns =
			   now + POLL_NS + (CLOSE_BUCKETS << r->experiments.shift);
	}
	close_experiment(r);
	r->experiments.phase = PHASE_COOL;
	return r->experiments.deadline_ns = now + COOL_OFF_PERIODS * r->o.period_ns;
}

static uint64_t step_cool(struct runner *r, uint64_t now)
{
	uint64_t horizon = session_pause_horizon(r->session) + PAUSE_SLACK_NS;

	if (now < r->experiments.deadline_ns)
		return r->experiments.deadline_ns;
	if (now < horizon)
		return horizon;
	run_inject_unblock(r, now);
	start_pick(r);
	return now;
}

uint64_t run_step(struct runner *r, uint64_t now)
{
	uint64_t due = now;

	while (due <= now) {
		switch (r->experiments.phase) {
		case PHASE_PICK:
			due = step_pick(r, now);
			break;
		case PHASE_OPEN:
			due = r->o.end_to_end ? UINT64_MAX : step_open(r, now);
			break;
		case PHASE_COOL:
			due = step_cool(r, now);
			break;
		default:
			due = UINT64_MAX;
		}
	}
	return due;
}

/* The run's own virtual time is that of the thread that ended it, so a debt still unpaid then
 * counts for nothing. */
static void record_run(struct runner *r)
{
	const struct cozbpf_bucket *exit_bucket =
	    &session_point(r->session, COZBPF_POINT_EXIT)->buckets[0];
	struct experiment_record x = {0};
	struct snapshot snap;

	session_close_experiment(r->session, &snap);
	if (r->experiments.speedup_pct)
		r->experiments.delayed_ns += snap.closed_ns - snap.opened_ns;
	if (!r->experiments.spoilt && exit_bucket->count != 1)
		r->experiments.spoilt = snap.required_ns < snap.closed_ns - snap.opened_ns
					    ? SPOILT_STOP
					    : SPOILT_NO_TIME;
	if (!r->experiments.spoilt && owes_too_much(r, &snap))
		r->experiments.spoilt = SPOILT_DEBT;
	if (r->experiments.spoilt) {
		drop_experiment(r);
		return;
	}
	x.selected = line_name(r, r->experiments.line);
	x.speedup = r->experiments.speedup_pct / 100.0;
	x.duration_ns = exit_bucket->sum;
	fit_to_cpus(r, &snap, &x);
	x.elapsed_ns = snap.closed_ns - snap.opened_ns;
	x.selected_samples = snap.selected_samples;
	x.fixed = true; /* the whole run was observed: no phase was chosen */
	x.run = r->recorder.run;
	x.points = calloc(1, sizeof(*x.points));
	if (x.points) {
		x.n_points = 1;
		x.points[0].name = strdup("end-to-end");
		x.points[0].delta = 1;
	}
	keep_experiment(r, &x);
}

/* Neither recorded nor counted as spoilt: nothing was wrong with it. */
static void cut_off(struct runner *r)
{
	struct snapshot snap;

	session_close_experiment(r->session, &snap);
	if (r->experiments.speedup_pct)
		r->experiments.delayed_ns += snap.closed_ns - snap.opened_ns;
}

void run_end(struct runner *r, uint64_t now, bool target_ended)
{
	(void)now;
	if (r->experiments.phase == PHASE_OPEN) {
		if (r->o.end_to_end && target_ended)
			record_run(r);
		else
			cut_off(r); /* by the end: the last visits may belong to the program's
				       winding up */
	}
	r->experiments.phase = PHASE_IDLE;
}

void run_pause(struct runner *r)
{
	if (r->experiments.is_paused || r->o.end_to_end)
		return;
	r->experiments.is_paused = true;
	if (r->experiments.phase == PHASE_OPEN)
		cut_off(r);
	r->experiments.phase = PHASE_IDLE;
}

void run_resume(struct runner *r, uint64_t now)
{
	if (!r->experiments.is_paused)
		return;
	r->experiments.is_paused = false;
	r->experiments.phase = PHASE_COOL;
	r->experiments.deadline_ns = now + COOL_OFF_PERIODS * r->o.period_ns;
}
