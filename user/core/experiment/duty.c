// SPDX-License-Identifier: BSD-3-Clause
/* Stretches of time, and the moment in each at which its series begins; see duty.h. */
#include "core/experiment/duty.h"

/* The streams of this generator and of the one that draws speedups are not to be the same. */
#define OWN_STREAM 0xd1342543de82ef95ULL

static uint64_t random_between(struct duty *d, uint64_t from, uint64_t to)
{
	return from + rng_below(&d->rng, to - from + 1);
}

/* Uniform in its stretch: in step with no period of the target, and foreseen by nobody. */
static void begin_stretch(struct duty *d, uint64_t from)
{
	d->phase = DUTY_RESTS;
	d->series_ns = d->wanted_ns;
	d->from_ns = from;
	d->to_ns = from + (uint64_t)((double)d->series_ns / d->share);
	d->due_ns = random_between(d, from, d->to_ns - d->series_ns);
}

/* From the end of the last one on; where the caller was away for longer, from now on. */
static void next_stretch(struct duty *d, uint64_t now)
{
	begin_stretch(d, now > d->to_ns ? now : d->to_ns);
}

void duty_init(struct duty *d, double share, uint64_t seed, uint64_t now)
{
	*d = (struct duty){.share = share, .rng = {seed ^ OWN_STREAM}, .wanted_ns = DUTY_SERIES_NS};
	begin_stretch(d, now);
}

void duty_plan(struct duty *d, uint64_t experiment_ns)
{
	uint64_t wanted = DUTY_EXPERIMENTS * experiment_ns;

	d->wanted_ns = wanted > DUTY_SERIES_NS ? wanted : DUTY_SERIES_NS;
}

static bool has_room(const struct duty *d, uint64_t from)
{
	return from + d->series_ns <= d->to_ns;
}

/* Another moment of the same stretch, if there is one left. */
static void refuse(struct duty *d, uint64_t now)
{
	d->refusals++;
	if (!has_room(d, now + DUTY_RETRY_NS)) {
		next_stretch(d, now);
		return;
	}
	d->phase = DUTY_RESTS;
	d->due_ns = random_between(d, now + DUTY_RETRY_NS, d->to_ns - d->series_ns);
}

static void step_rest(struct duty *d, uint64_t now)
{
	if (now < d->due_ns)
		return;
	if (has_room(d, now))
		d->phase = DUTY_ASKS;
	else
		next_stretch(d, now);
}

static void step_ask(struct duty *d, enum duty_guard guard, uint64_t now)
{
	if (guard == DUTY_GUARD_NO) {
		refuse(d, now);
	} else if (!has_room(d, now)) {
		next_stretch(d, now);
	} else if (guard == DUTY_GUARD_YES) {
		d->phase = DUTY_WORKS;
		d->began_ns = now;
		d->due_ns = now + d->series_ns;
		d->series++;
	}
}

static void step_work(struct duty *d, enum duty_guard guard, uint64_t now)
{
	d->is_refused = guard == DUTY_GUARD_NO;
	d->refusals += d->is_refused;
	if (d->is_refused || now >= d->due_ns)
		d->phase = DUTY_ENDS;
}

enum duty_phase duty_step(struct duty *d, enum duty_guard guard, uint64_t now, uint64_t *ret_due)
{
	if (d->phase == DUTY_RESTS)
		step_rest(d, now);
	if (d->phase == DUTY_ASKS)
		step_ask(d, guard, now);
	else if (d->phase == DUTY_WORKS)
		step_work(d, guard, now);
	else if (d->phase == DUTY_ENDS && guard == DUTY_GUARD_NO)
		d->is_refused = true;
	*ret_due = d->phase == DUTY_RESTS || d->phase == DUTY_WORKS ? d->due_ns : UINT64_MAX;
	return d->phase;
}

void duty_ended(struct duty *d, uint64_t now)
{
	uint64_t took = now - d->began_ns, least = d->from_ns + (uint64_t)((double)took / d->share);

	d->spent_ns += took;
	if (d->to_ns < least)
		d->to_ns = least;
	next_stretch(d, now);
}
