// SPDX-License-Identifier: BSD-3-Clause
/* Takes readings from the session, applies the machine's actions, hands experiments to the
 * recorder; see experiments.h. No rule lives here. */
#include "run/experiments.h"

#include <stdlib.h>

#include "kernel/session.h"
#include "run/clock.h"
#include "run/peers.h"
#include "run/points.h"
#include "run/recorder.h"

/* An order wakes the loop; this is for what no order tells: nodes that are gone. */
#define FOLLOW_NS 20000000ULL

/* Readings, and the memory of their points. */
struct reading {
	struct readings in;
	struct point_reading points[COZBPF_POINTS];
};

static void read_point(const struct experiments *x, unsigned i, struct point_reading *ret)
{
	const struct point *p = &x->points->points[i];

	*ret = (struct point_reading){.name = p->name, .unit = p->unit};
	session_read_point(x->session, i, ret);
	if (p->role == COZBPF_ROLE_BEGIN)
		ret->latency = session_latency(x->session, i);
}

static void read_all(const struct experiments *x, struct reading *ret)
{
	struct point_reading exit;

	session_name_waits(x->session, x->lines);
	session_read(x->session, &ret->in.counters);
	session_read_point(x->session, COZBPF_POINT_EXIT, &exit);
	for (unsigned i = 0; i < x->points->n_points; i++)
		read_point(x, i, &ret->points[i]);
	ret->in.points = ret->points;
	ret->in.n_points = x->points->n_points;
	ret->in.lines = session_line_counts(x->session);
	ret->in.n_lines = session_lines(x->session, x->lines);
	ret->in.units = x->lines->lines;
	ret->in.exit = &exit.buckets[0];
}

static void close_experiment(struct experiments *x)
{
	uint32_t unit = x->machine.opening.unit;
	struct experiment_record record;
	struct reading now;
	struct snapshot snap;

	if (!x->peers)
		session_close_experiment(x->session, &snap);
	else if (!run_peers_close(x->peers, &snap))
		experiment_spoil(&x->machine, SPOILT_PEERS);
	read_all(x, &now);
	for (unsigned i = 0; i < now.in.n_points; i++)
		if (now.points[i].latency)
			now.points[i].in_flight = session_in_flight(x->session, i);
	if (!experiment_close(&x->machine, &snap, &now.in, &record))
		return;
	record.selected = source_line_name(&x->lines->lines[unit]);
	recorder_add(x->recorder, &record, unit);
}

static void apply(struct experiments *x, enum experiment_action action)
{
	struct reading now;

	switch (action) {
	case EXPERIMENT_ASK:
		session_ask_line(x->session);
		break;
	case EXPERIMENT_OPEN:
		if (x->peers)
			run_peers_open(x->peers, &x->machine.opening, x->lines);
		else
			session_open_experiment(x->session, &x->machine.opening);
		break;
	case EXPERIMENT_SPLIT:
		read_all(x, &now);
		experiment_split(&x->machine, &now.in, monotonic_ns());
		break;
	case EXPERIMENT_CLOSE:
		close_experiment(x);
		break;
	case EXPERIMENT_NONE:
	case EXPERIMENT_COOLED:
		break;
	}
}

void experiments_begin(struct experiments *x, uint64_t now)
{
	struct reading before;

	read_all(x, &before);
	apply(x, experiment_begin(&x->machine, &before.in, now));
}

/* Another node opens and closes, or nobody does. */
static void follow(struct experiments *x, uint64_t now, uint64_t *ret_due)
{
	struct snapshot snap;
	unsigned pct;

	*ret_due = now + FOLLOW_NS;
	if (!x->is_led)
		apply(x, experiment_pause(&x->machine));
	x->is_led = true;
	if (run_peers_follow(x->peers, x->lines, &snap, &pct))
		experiment_followed(&x->machine, &snap, pct);
}

static void lead(struct experiments *x, uint64_t now)
{
	if (!x->is_led)
		return;
	run_peers_drop(x->peers);
	experiment_resume(&x->machine, now);
	x->is_led = false;
}

bool experiments_step(struct experiments *x, uint64_t now, uint64_t *ret_due)
{
	bool leads = !x->peers || run_peers_leads(x->peers, now);
	enum experiment_action action;
	struct reading reading;

	session_watch(x->session);
	if (!leads) {
		follow(x, now, ret_due);
		return false;
	}
	lead(x, now);
	do {
		read_all(x, &reading);
		action = experiment_step(&x->machine, &reading.in, now, ret_due);
		apply(x, action);
	} while (*ret_due <= now && action != EXPERIMENT_COOLED);
	return action == EXPERIMENT_COOLED;
}

void experiments_end(struct experiments *x, bool target_ended)
{
	apply(x, experiment_end(&x->machine, target_ended));
	if (x->peers)
		run_peers_drop(x->peers);
}

void experiments_pause(struct experiments *x)
{
	apply(x, experiment_pause(&x->machine));
}

void experiments_resume(struct experiments *x, uint64_t now)
{
	experiment_resume(&x->machine, now);
}
