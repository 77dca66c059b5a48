// SPDX-License-Identifier: BSD-3-Clause
/* When experiments open and close; see experiment.h. Which line, which points, and whether they
 * count, are choice.c's, tally.c's and verdict.c's. */
#include "core/experiment/experiment.h"

#include <string.h>

/* for the sample that picks the line, and for the visit that closes an experiment */
#define POLL_NS 1000000ULL
/* of sampling: no sample of one experiment falls in the next */
#define COOL_OFF_PERIODS 3
/* after the latest end of a pause: the handler has returned */
#define PAUSE_SLACK_NS 1000000ULL
/* of the length: how long a close waits for the visit that it is to fall on */
#define CLOSE_WAIT_PCT 25
/* between the visit that closes and the close: the window does not cut its burst */
#define CLOSE_BUCKETS 2ULL
/* with more visits than this one more or less is below 1 % */
#define CLOSE_WAIT_VISITS 100
/* what a speedup has left in the program's queues drains; measured with pipelines
 * (docs/accuracy.md) */
#define SETTLE_NS 20000000ULL
/* The first visit that counts comes at random: after as long as this at most, a window no longer
 * begins at the moment of a turn at which the line was hit, or the window before has closed. */
#define SETTLE_SPREAD_NS 20000000ULL
/* of virtual time to count visits in, */
#define WINDOW_MIN_NS SETTLE_NS
/* for which an experiment goes on at most, where the speedup leaves hardly any time */
#define WINDOW_WAIT_NS 500000000ULL
/* of the sampling period, from one experiment to the next: samples of different experiments lock to
 * different things, so to nothing */
#define PERIOD_SPREAD 0.1
/* One virtual-time bucket takes in the whole run: end-to-end needs the sum only (2^42 ns are 73
 * minutes x 1024 buckets). */
#define END_TO_END_SHIFT 42

static const unsigned run_speedups[N_RUN_SPEEDUPS] = RUN_SPEEDUPS;

int experiment_init(struct experiment *x, const struct experiment_options *o)
{
	struct rng rng = {o->seed};

	memset(x, 0, sizeof(*x));
	x->period_ns = o->period_ns;
	memcpy(x->choice.fixed, (uint32_t[]){o->fixed_line, o->fixed_other, o->couple},
	    sizeof(x->choice.fixed));
	x->choice.n_fixed = o->couple ? FIXED_UNITS : o->fixed_line != 0;
	x->choice.n_turns = x->choice.n_fixed;
	x->choice.end_to_end = o->end_to_end;
	x->choice.runs.planned = o->runs;
	x->baseline.room = o->lines_room;
	length_init(&x->length, o->length_ns,
	    o->fixed_line || o->end_to_end ? LENGTH_BURSTS_MANY : LENGTH_BURSTS_MANY_LINES);
	if (o->end_to_end && !o->speedups_pct)
		return schedule_init(&x->choice.schedule, &rng, run_speedups, N_RUN_SPEEDUPS);
	return schedule_init(&x->choice.schedule, &rng, o->speedups_pct, o->n_speedups);
}

void experiment_deinit(struct experiment *x)
{
	choice_deinit(&x->choice);
	baseline_deinit(&x->baseline);
}

/* The answer is drawn from a period's samples: each CPU has had its turn then. */
static enum experiment_action ask(struct experiment *x, uint64_t now)
{
	x->phase = PHASE_PICK;
	x->deadline_ns = x->choice.n_fixed ? now : now + x->period_ns;
	return x->choice.n_fixed ? EXPERIMENT_NONE : EXPERIMENT_ASK;
}

static unsigned bucket_shift(uint64_t length_ns)
{
	unsigned shift = 10;

	while (((uint64_t)COZBPF_BUCKETS << shift) < length_ns)
		shift++;
	return shift;
}

/* What is selected in an experiment on @unit. */
static void select_lines(struct experiment *x, const struct readings *in, uint32_t unit)
{
	const struct choice *c = &x->choice;
	bool is_couple = c->n_fixed == FIXED_UNITS && unit == c->fixed[2];
	uint32_t line = is_couple ? c->fixed[0] : unit, other = is_couple ? c->fixed[1] : 0;

	x->opening = (struct opening){
	    .unit = unit, .line = line, .n_lines = 1, .other = other, .n_others = other != 0};
	if (!in->units)
		return;
	x->opening.n_lines += in->units[line].n_lines;
	x->opening.n_others += other ? in->units[other].n_lines : 0;
}

static void choose_opening(struct experiment *x, const struct readings *in, uint32_t unit)
{
	struct opening *o = &x->opening;

	select_lines(x, in, unit);
	o->speedup_pct = choice_speedup(&x->choice, unit);
	x->planned_ns = tally_length_ns(&x->tally, x->length.ns);
	o->shift =
	    bucket_shift(x->planned_ns + x->planned_ns * CLOSE_WAIT_PCT / 100 + 50 * POLL_NS);
	o->period = 1 - PERIOD_SPREAD / 2 +
		    PERIOD_SPREAD * (double)rng_below(&x->choice.schedule.rng, 1000) / 1000;
	o->settle_ns = tally_settle_ns(&x->tally, SETTLE_NS) +
		       rng_below(&x->choice.schedule.rng, SETTLE_SPREAD_NS);
	if (!x->choice.end_to_end)
		return;
	o->shift = END_TO_END_SHIFT;
	o->settle_ns = 0;
}

static enum experiment_action open_experiment(
    struct experiment *x, const struct readings *in, uint32_t line, uint64_t now)
{
	uint64_t counted_ns;

	choose_opening(x, in, line);
	counted_ns = now + x->opening.settle_ns;
	x->phase = PHASE_OPEN;
	x->spoilt = SPOILT_NOT;
	x->is_cut = false;
	x->is_closing = false;
	x->visits_at_open = tally_most_visits(in);
	tally_open(&x->tally, in);
	if (x->opening.speedup_pct || x->choice.n_fixed || x->choice.end_to_end)
		baseline_none(&x->baseline);
	else
		baseline_open(&x->baseline, in, counted_ns);
	x->deadline_ns = x->choice.end_to_end ? UINT64_MAX : counted_ns + x->planned_ns;
	x->extended_ns = x->deadline_ns + WINDOW_WAIT_NS; /* unused with end-to-end */
	return EXPERIMENT_OPEN;
}

static enum experiment_action begin_run(
    struct experiment *x, const struct readings *in, uint64_t now)
{
	const struct run_samples samples = {in->lines, in->n_lines, x->period_ns, x->ran_ns};
	uint32_t line = choice_run(&x->choice, &samples);

	return line ? open_experiment(x, in, line, now) : EXPERIMENT_NONE;
}

enum experiment_action experiment_begin(
    struct experiment *x, const struct readings *in, uint64_t now)
{
	x->phase = PHASE_IDLE;
	x->ran_ns += x->started_ns ? now - x->started_ns : 0;
	x->started_ns = now;
	x->dropped = 0;
	x->delayed_ns = 0;
	tally_begin(&x->tally, in);
	if (!x->choice.end_to_end)
		return x->is_paused ? EXPERIMENT_NONE : ask(x, now);
	return begin_run(x, in, now);
}

static enum experiment_action step_pick(
    struct experiment *x, const struct readings *in, uint64_t now, uint64_t *ret_due)
{
	uint32_t line = x->choice.n_fixed ? x->choice.fixed[0] : in->counters.picked_line;

	*ret_due = now < x->deadline_ns ? x->deadline_ns : now + POLL_NS;
	if (now < x->deadline_ns)
		return EXPERIMENT_NONE;
	/* A fixed line waits for the first sample of all: before that the program has not begun. */
	if (!line || line >= in->n_lines || !in->counters.samples)
		return EXPERIMENT_NONE;
	line = choice_unit(&x->choice, in, line);
	if (!choice_takes(&x->choice, in, line))
		return ask(x, now);
	open_experiment(x, in, line, now);
	*ret_due = x->baseline.due_ns ? x->baseline.due_ns : x->deadline_ns;
	return EXPERIMENT_OPEN;
}

/*
 * At high speedups of a line that is nearly all of the program, virtual time hardly goes on. At the
 * end of the length there is no window yet to count visits in, so such an experiment goes on.
 * Returns the virtual time that it lacks: no less real time will do.
 */
static uint64_t lacking_ns(const struct experiment *x, const struct counters *c, uint64_t now)
{
	uint64_t quarter = x->planned_ns / 4,
		 least = quarter < WINDOW_MIN_NS ? quarter : WINDOW_MIN_NS,
		 until = c->counted_ns + least + c->required_ns;

	if (!x->opening.speedup_pct || x->spoilt || now >= x->extended_ns)
		return 0;
	return now < until ? until - now : 0;
}

static enum experiment_action wait_in_phase(struct experiment *x, uint64_t due, uint64_t *ret_due)
{
	*ret_due = x->deadline_ns = due;
	return EXPERIMENT_NONE;
}

/*
 * A close falls on a visit where visits are rare: intervals are then whole, and their mean is free
 * of the window's two ends (Wald). The window ends some buckets after that visit, so that it does
 * not cut the visit's own burst.
 */
static enum experiment_action step_close(
    struct experiment *x, const struct readings *in, uint64_t now, uint64_t *ret_due)
{
	uint64_t visits = tally_most_visits(in);

	if (!x->is_closing) {
		x->is_closing = true;
		x->visits_at_deadline = visits;
		x->give_up_ns = now + x->planned_ns * CLOSE_WAIT_PCT / 100;
	}
	if (visits - x->visits_at_open < CLOSE_WAIT_VISITS && now < x->give_up_ns) {
		if (visits == x->visits_at_deadline) {
			*ret_due = now + POLL_NS;
			return EXPERIMENT_NONE;
		}
		x->give_up_ns = 0;
		return wait_in_phase(
		    x, now + POLL_NS + (CLOSE_BUCKETS << x->opening.shift), ret_due);
	}
	x->phase = PHASE_COOL;
	wait_in_phase(x, now + COOL_OFF_PERIODS * x->period_ns, ret_due);
	return EXPERIMENT_CLOSE;
}

static enum experiment_action step_open(
    struct experiment *x, const struct readings *in, uint64_t now, uint64_t *ret_due)
{
	uint64_t lacking;

	*ret_due = x->baseline.due_ns ? x->baseline.due_ns : x->deadline_ns;
	if (now < *ret_due)
		return EXPERIMENT_NONE;
	if (x->baseline.due_ns)
		return EXPERIMENT_SPLIT;
	lacking = x->is_closing ? 0 : lacking_ns(x, &in->counters, now);
	if (!lacking)
		return step_close(x, in, now, ret_due);
	*ret_due = now + (lacking > POLL_NS ? lacking : POLL_NS);
	return EXPERIMENT_NONE;
}

static enum experiment_action step_cool(
    struct experiment *x, const struct readings *in, uint64_t now, uint64_t *ret_due)
{
	uint64_t horizon = in->counters.pause_horizon_ns + PAUSE_SLACK_NS;

	*ret_due = now < x->deadline_ns ? x->deadline_ns : horizon;
	if (now < *ret_due)
		return EXPERIMENT_NONE;
	*ret_due = now;
	x->phase = PHASE_ASK;
	return EXPERIMENT_COOLED;
}

enum experiment_action experiment_step(
    struct experiment *x, const struct readings *in, uint64_t now, uint64_t *ret_due)
{
	*ret_due = UINT64_MAX;
	switch (x->phase) {
	case PHASE_ASK:
		*ret_due = now;
		return ask(x, now);
	case PHASE_PICK:
		return step_pick(x, in, now, ret_due);
	case PHASE_OPEN:
		return x->choice.end_to_end ? EXPERIMENT_NONE : step_open(x, in, now, ret_due);
	case PHASE_COOL:
		return step_cool(x, in, now, ret_due);
	case PHASE_IDLE:
		break;
	}
	return EXPERIMENT_NONE;
}

void experiment_split(struct experiment *x, const struct readings *in, uint64_t now)
{
	baseline_split(&x->baseline, in, now);
}

/* Shorter waits for CPUs are what more of them would bring: what there are is no bound then. */
static void stretch(struct experiment *x, const struct snapshot *snap, const struct readings *in,
    struct experiment_record *ret)
{
	const struct opening *o = &x->opening;
	bool more_cpus =
	    in->units && (in->units[o->line].wait == 1 + COZBPF_WAIT_SCHED ||
			     (o->n_others && in->units[o->other].wait == 1 + COZBPF_WAIT_SCHED));
	double by = more_cpus ? 1 : verdict_stretch(&x->verdicts, snap);

	if (by > 1)
		experiment_stretch(ret, by);
}

/* How the machine was meanwhile. Outsiders are known since the opening, so they get their part of
 * the time in which visits counted. */
static void fill_machine(const struct snapshot *snap, struct experiment_record *ret)
{
	uint64_t real_ns = snap->closed_ns - snap->opened_ns;
	double part = real_ns ? (double)ret->elapsed_ns / (double)real_ns : 0;

	ret->loops = snap->loops;
	ret->loop_ns = snap->loop_ns;
	ret->outsiders_ns = (uint64_t)((double)snap->use.outsiders_ns * part);
}

static void fill_window(struct experiment *x, const struct snapshot *snap,
    const struct readings *in, struct experiment_record *ret)
{
	uint64_t bursts[COZBPF_POINTS], elapsed = snap->closed_ns - snap->counted_ns;
	const struct tally_window window = {.duration_ns = elapsed - snap->required_ns,
	    .real_ns = snap->closed_ns - snap->opened_ns,
	    .shift = x->opening.shift};

	ret->duration_ns = window.duration_ns;
	ret->elapsed_ns = elapsed;
	ret->start_ns = snap->opened_ns - x->started_ns;
	ret->fixed = x->choice.n_fixed > 0;
	ret->selected_ns = snap->selected_ns;
	ret->has_selected_ns = ret->fixed;
	fill_machine(snap, ret);
	tally_close(&x->tally, in, &window, ret);
	stretch(x, snap, in, ret);
	for (size_t i = 0; i < ret->n_points; i++)
		bursts[i] = ret->points[i].bursts;
	baseline_close(&x->baseline, in, snap->closed_ns, ret);
	length_update(&x->length, bursts, ret->n_points);
}

/* The run's own virtual time is that of the thread that ended it, so a debt still unpaid then
 * counts for nothing. */
static void fill_run(struct experiment *x, const struct snapshot *snap, const struct readings *in,
    struct experiment_record *ret)
{
	ret->duration_ns = in->exit->sum;
	stretch(x, snap, in, ret);
	ret->elapsed_ns = snap->closed_ns - snap->opened_ns;
	/* the whole run was observed: no phase was chosen */
	ret->fixed = true;
	tally_whole(ret);
}

bool experiment_close(struct experiment *x, const struct snapshot *snap, const struct readings *in,
    struct experiment_record *ret)
{
	struct judged judged = {snap, x->opening.speedup_pct, x->planned_ns, x->spoilt};

	*ret = (struct experiment_record){0};
	if (x->opening.speedup_pct)
		x->delayed_ns += snap->closed_ns - snap->opened_ns;
	if (x->is_cut)
		return false;
	x->spoilt = x->choice.end_to_end ? verdict_run(&judged, in->exit->count)
					 : verdict_window(&x->verdicts, &judged);
	if (x->spoilt) {
		x->dropped++;
		x->verdicts.spoilt_by[x->spoilt]++;
		return false;
	}
	ret->speedup = x->opening.speedup_pct / 100.0;
	ret->selected_samples = snap->selected_samples;
	if (x->choice.end_to_end)
		fill_run(x, snap, in, ret);
	else
		fill_window(x, snap, in, ret);
	choice_count(&x->choice, x->opening.unit, x->opening.speedup_pct);
	return true;
}

/* An experiment that is open is closed, and does not count. */
static enum experiment_action cut_off(struct experiment *x)
{
	bool was_open = x->phase == PHASE_OPEN;

	x->phase = PHASE_IDLE;
	x->is_cut = true;
	return was_open ? EXPERIMENT_CLOSE : EXPERIMENT_NONE;
}

enum experiment_action experiment_end(struct experiment *x, bool target_ended)
{
	enum experiment_action ret = cut_off(x);

	x->is_cut = !x->choice.end_to_end || !target_ended;
	return ret;
}

enum experiment_action experiment_pause(struct experiment *x)
{
	if (x->is_paused || x->choice.end_to_end)
		return EXPERIMENT_NONE;
	x->is_paused = true;
	return cut_off(x);
}

void experiment_resume(struct experiment *x, uint64_t now)
{
	if (!x->is_paused)
		return;
	x->is_paused = false;
	x->phase = PHASE_COOL;
	x->deadline_ns = now + COOL_OFF_PERIODS * x->period_ns;
}

void experiment_spoil(struct experiment *x, enum spoilt why)
{
	x->spoilt = why;
}

void experiment_followed(struct experiment *x, const struct snapshot *snap, unsigned speedup_pct)
{
	if (speedup_pct)
		x->delayed_ns += snap->closed_ns - snap->opened_ns;
}

void experiment_want(struct experiment *x, struct wanted *wanted, size_t n)
{
	choice_want(&x->choice, wanted, n);
}

uint64_t experiment_pace_ns(const struct experiment *x, unsigned point)
{
	return x->tally.points[point].pace_ns;
}

bool experiment_is_paced(const struct experiment *x, unsigned point)
{
	return x->tally.points[point].is_paced;
}
