// SPDX-License-Identifier: BSD-3-Clause
/* The beginnings and ends of series, and of the rests between them; see series.h. */
#include "run/series.h"

#include <time.h>

#include "run/clock.h"
#include "run/loop.h"
#include "run/processes.h"
#include "run/runner.h"

/* from the last sample program's end to the delivery of what it has sent; and that far apart is it
 * looked whether an experiment is over that the series waits for */
#define DRAIN_NS 2000000ULL

/* No thread of the target is in a pause any more. */
static void wait_for_pauses(const struct runner *r)
{
	uint64_t horizon = session_pause_horizon(r->session), now = monotonic_ns(),
		 wait = horizon > now ? horizon - now : 0;
	const struct timespec t = {
	    0, (long)((wait < COZBPF_PAUSE_MAX_NS ? wait : COZBPF_PAUSE_MAX_NS) + DRAIN_NS)};

	nanosleep(&t, NULL);
}

static void rest(struct runner *r)
{
	wait_for_pauses(r);
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

/* The startup of a run; its counters begin at 0. A file that takes no more is told of at the end.
 */
static void work(struct runner *r)
{
	struct series *s = &r->series;
	struct error e = {0};

	if (session_wake(r->session, &e) && !s->has_failed) {
		s->has_failed = true;
		console_say(&r->console, "warning: after a rest: %s", e.cause);
	}
	processes_read_all(&r->target);
	recorder_skip(&r->recorder);
	loop_write_startup(r, &e);
	loop_begin_profiling(r, monotonic_ns());
	s->is_working = true;
}

void series_begin(struct runner *r, uint64_t now)
{
	r->series.started_ns = now;
	duty_init(&r->series.duty, r->o.duty_share, r->o.seed, now);
	rest(r);
	say_rest(r);
}

static void stop(struct runner *r, uint64_t now, bool target_ended)
{
	loop_end_profiling(r, now, target_ended);
	rest(r);
	duty_plan(&r->series.duty, r->experiments.machine.length.ns);
	duty_ended(&r->series.duty, monotonic_ns());
	say_rest(r);
}

/* A series whose time is over goes on until its last experiment has closed. */
static bool may_stop(const struct runner *r)
{
	return r->series.duty.is_refused || !experiment_is_open(&r->experiments.machine);
}

bool series_rests(struct runner *r, uint64_t now, uint64_t *ret_due)
{
	struct series *s = &r->series;
	enum duty_phase phase = duty_step(&s->duty, DUTY_GUARD_YES, now, ret_due);

	if (phase == DUTY_WORKS && !s->is_working)
		work(r);
	if (phase == DUTY_ENDS && may_stop(r)) {
		stop(r, now, false);
		duty_step(&s->duty, DUTY_GUARD_OPEN, monotonic_ns(), ret_due);
	}
	return !s->is_working;
}

void series_end(struct runner *r, uint64_t now, bool target_ended)
{
	if (r->series.is_working)
		stop(r, now, target_ended);
}
