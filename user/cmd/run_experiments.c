// SPDX-License-Identifier: BSD-3-Clause
/*
 * The experiments of one run (design.md section 6) as a state machine: a line is picked by a sample, an experiment opens, closes, is written,
 * and the target cools off. Time comes in; the caller sleeps in between.
 */
#include "cmd/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/visits.h"

#define FITS 1.02                   /* times what the CPUs have time for, and it still fits */
#define POLL_NS 1000000ULL          /* for the sample that picks the line, and for the visit that closes an experiment */
#define COOL_OFF_PERIODS 3          /* of sampling: no sample of one experiment falls in the next (design.md 6) */
#define PAUSE_SLACK_NS 1000000ULL   /* after the latest end of a pause: the handler has returned */
#define CLOSE_WAIT_PCT 25           /* of the length: how long a close waits for the visit that it is to fall on */
#define CLOSE_BUCKETS 2ULL          /* between the visit that closes and the close: the window does not cut its burst */
#define CLOSE_WAIT_VISITS 100       /* with more visits than this one more or less is below 1 % */
#define SETTLE_NS 20000000ULL       /* what a speedup has left in the program's queues drains; measured with pipelines (docs/accuracy.md) */
#define WINDOW_MIN_NS SETTLE_NS     /* of virtual time to count visits in, */
#define WINDOW_WAIT_NS 500000000ULL /* for which an experiment goes on at most, where the speedup leaves hardly any time */
#define SAMPLED_VISIT_UNITS (1000000 / COZBPF_SAMPLED_UNIT_NS) /* a millisecond executed is a visit to a line that is a progress point */
#define PERIOD_SPREAD 0.1                                      /* of the sampling period, from one experiment to the next */
#define BUSY_SHARE 0.1     /* of the CPU time wanted: an experiment in which outsiders had more is dropped, */
#define BUSY_TIMES 2       /* if it is also that much above what they usually have: a machine that is always busy has experiments, too */
#define BUSY_EXPERIMENTS 4 /* before "usually" means anything */
#define SPOILT_DEBT_PCT 5  /* of the samples: threads that owe too much to be made to pay */

/* Visits to the point that the close waits for: the most visited one. */
static uint64_t most_visits(const struct runner *r)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < r->n_points; i++) {
		uint64_t n = session_point(r->session, i)->visits;

		if (r->points[i].is_sampled)
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
	struct opening o = {.line = line, .speedup_pct = schedule_next(&r->schedule, line)};

	if (!o.speedup_pct && !run_wants_baseline(r))
		o.speedup_pct = schedule_next(&r->schedule, line); /* the other half of the line's pair */
	r->line = line;
	r->speedup_pct = o.speedup_pct;
	r->planned_ns = run_latency_length_ns(r, r->length.ns);
	r->shift = r->o.end_to_end ? END_TO_END_SHIFT : bucket_shift(r->planned_ns + r->planned_ns * CLOSE_WAIT_PCT / 100 + 50 * POLL_NS);
	r->spoilt = SPOILT_NOT;
	r->closing = false;
	r->phase = PHASE_OPEN;
	r->visits_at_open = most_visits(r);
	r->n_points_open = r->n_points;
	for (unsigned i = 0; i < r->n_points; i++) {
		r->points[i].visits_at_open = session_point(r->session, i)->visits;
		r->points[i].paced_at_open = session_point(r->session, i)->paced;
	}
	o.shift = r->shift;
	o.period = 1 - PERIOD_SPREAD / 2 + PERIOD_SPREAD * (double)rng_below(&r->schedule.rng, 1000) / 1000;
	if (!r->o.end_to_end)
		o.settle_ns = run_latency_settle_ns(r, SETTLE_NS);
	run_baseline_open(r, now + o.settle_ns);
	session_open_experiment(r->session, &o);
	r->deadline_ns = r->o.end_to_end ? UINT64_MAX : now + o.settle_ns + r->planned_ns;
	r->extended_ns = r->deadline_ns + WINDOW_WAIT_NS; /* unused with end-to-end */
	return r->baseline.due_ns ? r->baseline.due_ns : r->deadline_ns;
}

/* Where most visits since the opening came from threads that a periodic timer paces, real visits in real time are what counts. */
static bool check_pace(struct runner *r, unsigned i, uint64_t *ret_visits)
{
	const struct cozbpf_point *now = session_point(r->session, i);

	*ret_visits = now->visits - r->points[i].visits_at_open;
	r->points[i].paced = (now->paced - r->points[i].paced_at_open) * 2 > *ret_visits;
	return r->points[i].paced;
}

static void fill_point(struct runner *r, unsigned i, uint64_t duration_ns, uint64_t real_ns, struct point_record *ret)
{
	uint64_t visits;

	visits_window(session_point(r->session, i)->buckets, COZBPF_BUCKETS, r->shift, duration_ns, ret);
	if (!check_pace(r, i, &visits))
		return;
	ret->delta = ret->bursts = visits;
	ret->span_delta = ret->span_ns = 0;
	ret->paced_ns = real_ns;
}

/* A pair is one record: what its ends have as visits, and its latency. */
static void fill_points(struct runner *r, uint64_t duration_ns, uint64_t real_ns, struct experiment_record *x)
{
	uint64_t visits;

	x->points = calloc(r->n_points_open ? r->n_points_open : 1, sizeof(*x->points));
	for (unsigned i = 0; x->points && i < r->n_points_open; i++) {
		struct point_record *p = &x->points[x->n_points++];
		bool is_pair = r->points[i].role == COZBPF_ROLE_BEGIN;

		p->name = strdup(r->points[i].name);
		fill_point(r, i + is_pair, duration_ns, real_ns, p);
		if (r->points[i].is_sampled)
			visits_scale(p, SAMPLED_VISIT_UNITS);
		if (!is_pair)
			continue;
		run_latency_record(r, i, duration_ns, p);
		check_pace(r, i++, &visits);
	}
}

static void keep_experiment(struct runner *r, const struct experiment_record *x)
{
	struct experiment_record *bigger = realloc(r->profile.experiments, (r->profile.n_experiments + 1) * sizeof(*x));
	uint32_t *lines;

	profile_write_experiment(r->out, x);
	fflush(r->out);
	if (!bigger) {
		r->dropped++;
		return;
	}
	r->profile.experiments = bigger;
	lines = realloc(r->experiment_lines, (r->profile.n_experiments + 1) * sizeof(*lines));
	if (!lines) {
		r->dropped++;
		return;
	}
	r->experiment_lines = lines;
	lines[r->profile.n_experiments] = r->line;
	bigger[r->profile.n_experiments++] = *x;
	r->n_baselines += !r->speedup_pct;
}

static char *line_name(const struct runner *r, uint32_t line)
{
	const struct source_line *l = &r->lines.lines[line];
	char *name = NULL;

	return asprintf(&name, "%s:%u", l->file, l->line) < 0 ? NULL : name;
}

/* Whether programs outside the target had an unusual share of the CPUs. */
static bool was_busy(struct runner *r, const struct cpu_use *use)
{
	double wanted = (double)(use->outsiders_ns + use->executed_ns), share = wanted > 0 ? (double)use->outsiders_ns / wanted : 0;
	bool busy = r->busy_n >= BUSY_EXPERIMENTS && share > BUSY_SHARE && share > BUSY_TIMES * r->busy_sum / r->busy_n;

	r->busy_sum += share;
	r->busy_n++;
	return busy;
}

/*
 * CPUs cannot execute more than their number times the time that passes, in virtual time neither; those count that the program was ever seen on, for it may be kept
 * from others. Where they seem to, the program would have needed longer by as much, and virtual time is stretched: a thread that executed in debt and then waited
 * for another need not pay, but it had a CPU that was, virtually, another one's. On saturated CPUs the two are equal to 0.2 % (tests/unit/test_delay_sim.c), in a
 * single experiment to 1 or 2: so much is no finding.
 */
static void fit_to_cpus(struct runner *r, const struct snapshot *snap, struct experiment_record *x)
{
	uint64_t elapsed = snap->closed_ns - snap->opened_ns, passed = elapsed > snap->required_ns ? elapsed - snap->required_ns : elapsed;
	double by = (double)snap->use.virtual_ns / ((double)passed * snap->use.cpus); /* not a number where none has executed */

	if (by > FITS) {
		experiment_stretch(x, by);
		r->stretched++;
	}
}

static bool owes_too_much(const struct runner *r, const struct snapshot *snap)
{
	return r->speedup_pct && snap->deep_debt * 100 > snap->samples * SPOILT_DEBT_PCT;
}

/* Whether the experiment counts; one that was spoilt before its close remains so. */
static void judge(struct runner *r, const struct snapshot *snap, uint64_t elapsed)
{
	bool busy = was_busy(r, &snap->use); /* learns from each experiment */

	if (r->spoilt)
		return;
	if (snap->closed_ns < snap->counted_ns || elapsed > 2 * r->planned_ns + 1000000000ULL)
		r->spoilt = SPOILT_STOP; /* nobody ran, or we did not: suspended machine, a stop that was not seen */
	else if (owes_too_much(r, snap))
		r->spoilt = SPOILT_DEBT;
	else if (snap->required_ns >= elapsed)
		r->spoilt = SPOILT_NO_TIME;
	else if (busy)
		r->spoilt = SPOILT_BUSY;
}

static void drop_experiment(struct runner *r)
{
	r->dropped++;
	r->spoilt_by[r->spoilt]++;
}

static void close_experiment(struct runner *r)
{
	uint64_t bursts[COZBPF_POINTS], elapsed;
	struct experiment_record x = {0};
	struct snapshot snap;

	session_close_experiment(r->session, &snap);
	if (r->speedup_pct)
		r->delayed_ns += snap.closed_ns - snap.opened_ns;
	elapsed = snap.closed_ns - snap.counted_ns;
	judge(r, &snap, elapsed);
	if (r->spoilt) {
		drop_experiment(r);
		return;
	}
	x.selected = line_name(r, r->line);
	x.speedup = r->speedup_pct / 100.0;
	x.duration_ns = elapsed - snap.required_ns;
	x.elapsed_ns = elapsed;
	x.start_ns = snap.opened_ns - r->started_ns;
	x.selected_samples = snap.selected_samples;
	x.fixed = r->fixed_line != 0;
	x.selected_ns = snap.selected_ns;
	x.has_selected_ns = x.fixed;
	x.run = r->run;
	fill_points(r, x.duration_ns, snap.closed_ns - snap.opened_ns, &x);
	fit_to_cpus(r, &snap, &x);
	for (size_t i = 0; i < x.n_points; i++)
		bursts[i] = x.points[i].bursts;
	run_baseline_close(r, snap.closed_ns, &x);
	keep_experiment(r, &x);
	length_update(&r->length, bursts, x.n_points);
}

/* A line for the whole run, end-to-end: drawn among the samples of earlier runs; 0 before there are any. */
static uint32_t draw_line(struct runner *r)
{
	const struct cozbpf_line_count *counts = session_line_counts(r->session);
	uint64_t total = 0, at;

	if (r->fixed_line)
		return r->fixed_line;
	for (size_t i = 1; i < r->lines.n_lines; i++)
		total += counts[i].all;
	if (!total)
		return 0;
	at = rng_below(&r->schedule.rng, total);
	for (size_t i = 1; i < r->lines.n_lines; i++) {
		if (at < counts[i].all)
			return (uint32_t)i;
		at -= counts[i].all;
	}
	return 0;
}

static void start_pick(struct runner *r)
{
	r->phase = PHASE_PICK;
	if (!r->fixed_line)
		session_ask_line(r->session);
}

void run_begin(struct runner *r, uint64_t now)
{
	uint32_t line;

	r->phase = PHASE_IDLE;
	r->deadline_ns = UINT64_MAX;
	run_latency_begin(r);
	if (!r->o.end_to_end) {
		if (!r->is_paused)
			start_pick(r);
		return;
	}
	line = draw_line(r);
	if (line)
		open_experiment(r, line, now);
}

static uint64_t step_pick(struct runner *r, uint64_t now)
{
	uint32_t line = r->fixed_line ? r->fixed_line : session_picked_line(r->session);

	/* A fixed line waits for the first sample of all: before that the program has not begun. */
	if (!line || line >= r->lines.n_lines || !session_control(r->session)->samples)
		return now + POLL_NS;
	if (!run_wants(r, line)) {
		start_pick(r);
		return now + POLL_NS;
	}
	return open_experiment(r, line, now);
}

/*
 * At high speedups of a line that is nearly all of the program virtual time hardly goes on: the length is over before there is a window, and what the chance of the
 * samples has left of it would be all that is counted. So such an experiment goes on. Returns the virtual time that it lacks: no less real time will do.
 */
static uint64_t lacking_ns(const struct runner *r, uint64_t now)
{
	const struct cozbpf_control *c = session_control(r->session);
	uint64_t least = r->planned_ns / 4 < WINDOW_MIN_NS ? r->planned_ns / 4 : WINDOW_MIN_NS;
	uint64_t until = c->counted_ns + least + __atomic_load_n(&c->required, __ATOMIC_RELAXED);

	return r->speedup_pct && !r->spoilt && now < r->extended_ns && now < until ? until - now : 0;
}

/*
 * A close falls on a visit where visits are rare: intervals are then whole, and their mean is free of the window's two ends (Wald). The window
 * ends some buckets after that visit, so that it does not cut the visit's own burst.
 */
static uint64_t step_open(struct runner *r, uint64_t now)
{
	uint64_t visits = most_visits(r), lacking;

	if (now < r->baseline.due_ns)
		return r->baseline.due_ns;
	if (r->baseline.due_ns)
		run_baseline_split(r);
	if (now < r->deadline_ns)
		return r->deadline_ns;
	lacking = r->closing ? 0 : lacking_ns(r, now);
	if (lacking)
		return now + (lacking > POLL_NS ? lacking : POLL_NS);
	if (!r->closing) {
		r->closing = true;
		r->visits_at_deadline = visits;
		r->give_up_ns = now + r->planned_ns * CLOSE_WAIT_PCT / 100;
	}
	if (visits - r->visits_at_open < CLOSE_WAIT_VISITS && now < r->give_up_ns) {
		if (visits == r->visits_at_deadline)
			return now + POLL_NS;
		r->give_up_ns = 0;
		return r->deadline_ns = now + POLL_NS + (CLOSE_BUCKETS << r->shift);
	}
	close_experiment(r);
	r->phase = PHASE_COOL;
	return r->deadline_ns = now + COOL_OFF_PERIODS * r->o.period_ns;
}

static uint64_t step_cool(struct runner *r, uint64_t now)
{
	uint64_t horizon = session_pause_horizon(r->session) + PAUSE_SLACK_NS;

	if (now < r->deadline_ns)
		return r->deadline_ns;
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
		switch (r->phase) {
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

/* The run's own virtual time is that of the thread that ended it, so a debt still unpaid then counts for nothing. */
static void record_run(struct runner *r)
{
	const struct cozbpf_bucket *exit_bucket = &session_point(r->session, COZBPF_POINT_EXIT)->buckets[0];
	struct experiment_record x = {0};
	struct snapshot snap;

	session_close_experiment(r->session, &snap);
	if (r->speedup_pct)
		r->delayed_ns += snap.closed_ns - snap.opened_ns;
	if (!r->spoilt && exit_bucket->count != 1)
		r->spoilt = snap.required_ns < snap.closed_ns - snap.opened_ns ? SPOILT_STOP : SPOILT_NO_TIME;
	if (!r->spoilt && owes_too_much(r, &snap))
		r->spoilt = SPOILT_DEBT;
	if (r->spoilt) {
		drop_experiment(r);
		return;
	}
	x.selected = line_name(r, r->line);
	x.speedup = r->speedup_pct / 100.0;
	x.duration_ns = exit_bucket->sum;
	fit_to_cpus(r, &snap, &x);
	x.elapsed_ns = snap.closed_ns - snap.opened_ns;
	x.selected_samples = snap.selected_samples;
	x.fixed = true; /* the whole run was observed: no phase was chosen */
	x.run = r->run;
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
	if (r->speedup_pct)
		r->delayed_ns += snap.closed_ns - snap.opened_ns;
}

void run_end(struct runner *r, uint64_t now, bool target_ended)
{
	(void)now;
	if (r->phase == PHASE_OPEN) {
		if (r->o.end_to_end && target_ended)
			record_run(r);
		else
			cut_off(r); /* by the end: the last visits may belong to the program's winding up */
	}
	r->phase = PHASE_IDLE;
}

void run_pause(struct runner *r)
{
	if (r->is_paused || r->o.end_to_end)
		return;
	r->is_paused = true;
	if (r->phase == PHASE_OPEN)
		cut_off(r);
	r->phase = PHASE_IDLE;
}

void run_resume(struct runner *r, uint64_t now)
{
	if (!r->is_paused)
		return;
	r->is_paused = false;
	r->phase = PHASE_COOL;
	r->deadline_ns = now + COOL_OFF_PERIODS * r->o.period_ns;
}
