// SPDX-License-Identifier: BSD-3-Clause
/* The beginnings and ends of series, and of the rests between them; see series.h. */
#include "run/series.h"

#include <time.h>

#include "run/clock.h"
#include "run/handlers.h"
#include "run/processes.h"
#include "run/profiling.h"
#include "run/publish.h"
#include "run/runner.h"

/* between two questions to the guard while a series goes on */
#define ASK_NS 1000000000ULL

static void rest(struct runner *r)
{
	handlers_wait_for_pauses(&r->target);
	session_sleep(r->session);
	r->series.is_working = false;
}

static void say_rest(const struct runner *r)
{
	uint64_t now = monotonic_ns(), due = r->series.duty.due_ns;

	if (r->o.verbose)
		console_say(&r->console, "resting; experiments may be made again in %.1f s",
		    due > now ? (double)(due - now) / 1e9 : 0);
}

/* The disk may have room again. */
static void try_again(struct runner *r)
{
	struct error e = {0};

	if (!r->series.said_lost && recorder_finish(&r->recorder, &e))
		console_say(
		    &r->console, "warning: %s; it is tried again with each series", e.cause);
	r->series.said_lost = true;
	recorder_reopen(&r->recorder, &r->target.identity, &e);
}

/* The startup of a run; its counters begin at 0. */
static void work(struct runner *r)
{
	struct series *s = &r->series;
	struct error e = {0};

	if (session_wake(r->session, &e) && !s->wake_failed) {
		s->wake_failed = true;
		console_say(&r->console, "warning: after a rest: %s", e.cause);
	}
	processes_read_all(&r->target);
	recorder_skip(&r->recorder);
	if (r->recorder.is_lost)
		try_again(r);
	segments_begin_run(&s->segments);
	profiling_write_startup(r, &e);
	profiling_begin(r, monotonic_ns());
	s->is_working = true;
}

static void prepare(struct runner *r)
{
	struct series *s = &r->series;

	s->guard.command = r->o.pause_if;
	s->guard.load_most = r->o.load_most;
	s->guard.identity = s->segments.identity = &r->target.identity;
	s->guard.mask = &r->mask;
	s->guard.console = s->segments.console = &r->console;
	s->segments.path = r->o.output;
	s->segments.recorder = &r->recorder;
	s->segments.most = r->o.rotate_bytes;
}

void series_begin(struct runner *r, uint64_t now)
{
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	r->series.started_ns = now;
	r->series.started_real_ns = (uint64_t)wall.tv_sec * 1000000000ULL + (uint64_t)wall.tv_nsec;
	prepare(r);
	if (r->points.n_points && !r->o.rotate_bytes && !r->o.duration_ns)
		console_say(&r->console, "without --rotate the profile grows on, and so does what "
					 "is kept of it in memory");
	duty_init(&r->series.duty, r->o.duty_share, r->o.seed, now);
	rest(r);
	publish(r);
	say_rest(r);
}

static void stop(struct runner *r, uint64_t now, bool target_ended)
{
	profiling_end(r, now, target_ended);
	rest(r);
	duty_plan(&r->series.duty, r->experiments.machine.length.ns);
	duty_ended(&r->series.duty, monotonic_ns());
	publish(r);
	say_rest(r);
}

/* A series whose time is over goes on until its last experiment has closed. */
static bool may_stop(const struct runner *r)
{
	return r->series.duty.is_refused || !experiment_is_open(&r->experiments.machine);
}

/* What the guard says to the series that is due or under way; it is asked when that is due. */
static enum duty_guard ask(struct series *s, uint64_t now)
{
	enum duty_guard said = guard_answer(&s->guard, now);

	if (s->duty.phase == DUTY_RESTS)
		return DUTY_GUARD_OPEN;
	if (s->duty.phase == DUTY_ASKS ? s->is_asked : now < s->ask_ns)
		return said;
	s->is_asked = true;
	s->ask_ns = now + ASK_NS;
	guard_ask(&s->guard, now);
	return guard_answer(&s->guard, now);
}

static enum duty_phase step(struct series *s, uint64_t now, uint64_t *ret_due)
{
	enum duty_phase phase = duty_step(&s->duty, ask(s, now), now, ret_due);

	if (phase == DUTY_ASKS)
		phase = duty_step(&s->duty, ask(s, now), now, ret_due);
	s->is_asked = phase == DUTY_ASKS;
	if (guard_next(&s->guard) < *ret_due)
		*ret_due = guard_next(&s->guard);
	return phase;
}

bool series_rests(struct runner *r, uint64_t now, uint64_t *ret_due)
{
	struct series *s = &r->series;
	enum duty_phase phase = step(s, now, ret_due);

	if (phase == DUTY_WORKS && !s->is_working)
		work(r);
	if (phase == DUTY_ENDS && may_stop(r)) {
		stop(r, now, false);
		*ret_due = s->duty.due_ns;
	}
	return !s->is_working;
}

void series_end(struct runner *r, uint64_t now, bool target_ended)
{
	if (r->series.is_working)
		stop(r, now, target_ended);
}

void series_deinit(struct series *s)
{
	guard_deinit(&s->guard);
}
