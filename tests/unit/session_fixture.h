/* SPDX-License-Identifier: BSD-3-Clause */
/* A session without a kernel: a program whose lines and visits follow from the clock, and the loop
 * that does what the machine of core/experiment answers. Include in one file per test binary. */
#ifndef COZBPF_SESSION_FIXTURE_H
#define COZBPF_SESSION_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "core/experiment/experiment.h"

#define MS 1000000ULL
#define S (1000 * MS)
#define LINES 64
#define RECORDS 4096
/* the loop looks around at least that often */
#define TICK_NS (250 * MS)

/*
 * One thread that executes all the time, from start_ns on. Line i has share[i] of the time, in
 * turns of a period; what the selected line would save is not executed, virtually. Visits come
 * every `visit_ns` of real time.
 */
struct program {
	uint64_t start_ns, visit_ns;
	double share[LINES];
	/* lines take turns of that long, each alone; 0: all run at any time */
	uint64_t phase_ns;
};

struct session {
	struct experiment x;
	struct program p;
	uint64_t now;
	struct readings in;
	struct point_reading points[4];
	struct cozbpf_bucket buckets[4][COZBPF_BUCKETS], exit;
	struct cozbpf_latency latency;
	struct cozbpf_line_count lines[LINES];
	/* what the snapshot of the next close has beside times and R */
	struct snapshot next;
	/* what was done: how often, and when last */
	unsigned n[EXPERIMENT_COOLED + 1];
	uint64_t at[EXPERIMENT_COOLED + 1];
	/* the next sample that may answer comes that much after the question, */
	uint64_t answer_ns;
	/* which is then */
	uint64_t sample_ns;
	/* no thread is in a pause any more, that long after a close */
	uint64_t pause_ns;
	uint64_t due;
	struct experiment_record records[RECORDS];
	uint32_t record_lines[RECORDS];
	size_t n_records;
};

static inline void session_init(struct session *s, struct experiment_options *o)
{
	memset(s, 0, sizeof(*s));
	o->period_ns = o->period_ns ? o->period_ns : MS;
	o->seed = o->seed ? o->seed : 1;
	o->lines_room = LINES;
	CHECK(!experiment_init(&s->x, o));
	s->now = 1 * S;
	s->p = (struct program){.start_ns = s->now, .visit_ns = 10 * MS};
	s->answer_ns = 2 * MS;
	s->exit.count = 1;
	s->points[0] = (struct point_reading){.name = "done", .unit = 1, .buckets = s->buckets[0]};
	s->in = (struct readings){.points = s->points,
	    .n_points = 1,
	    .lines = s->lines,
	    .n_lines = LINES,
	    .exit = &s->exit};
}

static inline void session_forget_records(struct session *s)
{
	for (size_t i = 0; i < s->n_records; i++) {
		for (size_t j = 0; j < s->records[i].n_points; j++) {
			free(s->records[i].points[j].name);
			free(s->records[i].points[j].cells);
		}
		free(s->records[i].points);
		free(s->records[i].lines);
		free(s->records[i].selected);
	}
	s->n_records = 0;
}

static inline void session_deinit(struct session *s)
{
	session_forget_records(s);
	experiment_deinit(&s->x);
}

static inline uint64_t ran_ns(const struct session *s, uint64_t now)
{
	return now > s->p.start_ns ? now - s->p.start_ns : 0;
}

/* What line @line has executed up to @now. */
static inline double line_ns(const struct session *s, uint32_t line, uint64_t now)
{
	uint64_t ran = ran_ns(s, now), turn = s->p.phase_ns, whole, rest;

	if (!turn)
		return s->p.share[line] * (double)ran;
	/* odd lines run in the even phases, even ones in the odd ones */
	whole = ran / (2 * turn);
	rest = ran % (2 * turn);
	if (line % 2)
		rest = rest < turn ? rest : turn;
	else
		rest = rest > turn ? rest - turn : 0;
	return s->p.share[line] * (double)(whole * turn + rest);
}

/* R at @now. */
static inline uint64_t required_ns(const struct session *s, uint64_t now)
{
	const struct counters *c = &s->in.counters;
	double line =
	    line_ns(s, s->x.opening.line, now) - line_ns(s, s->x.opening.line, c->opened_ns);

	return c->opened_ns ? (uint64_t)(line * s->x.opening.speedup_pct / 100) : 0;
}

/* The line that runs at @now: the one drawn among those that do. */
static inline uint32_t line_at(const struct session *s, uint64_t now)
{
	struct rng rng = {now};
	double at = (double)rng_below(&rng, 1000000) / 1000000;
	bool even_phase = !s->p.phase_ns || ran_ns(s, now) / s->p.phase_ns % 2 == 0;

	for (uint32_t i = 1; i < LINES; i++) {
		if (s->p.phase_ns && even_phase != (i % 2 == 1))
			continue;
		if (at < s->p.share[i])
			return i;
		at -= s->p.share[i];
	}
	return 0;
}

static inline void session_read(struct session *s)
{
	struct counters *c = &s->in.counters;

	c->samples = c->in_scope = ran_ns(s, s->now) / MS;
	c->required_ns = required_ns(s, s->now);
	for (uint32_t i = 1; i < LINES; i++)
		s->lines[i].all = (uint64_t)(line_ns(s, i, s->now) / (double)MS);
	s->points[0].visits = ran_ns(s, s->now) / s->p.visit_ns * s->points[0].unit;
	for (; s->n[EXPERIMENT_ASK] && !c->picked_line && s->sample_ns <= s->now;
	     s->sample_ns += MS)
		c->picked_line = line_at(s, s->sample_ns);
}

static inline void fill_buckets(struct session *s)
{
	const struct counters *c = &s->in.counters;
	struct cozbpf_bucket *buckets = s->buckets[0];

	memset(buckets, 0, sizeof(s->buckets[0]));
	for (uint64_t n = ran_ns(s, c->opened_ns) / s->p.visit_ns + 1;; n++) {
		uint64_t at = s->p.start_ns + n * s->p.visit_ns, v, i;

		if (at > s->now)
			return;
		if (at < c->counted_ns + required_ns(s, at))
			continue;
		v = at - c->counted_ns - required_ns(s, at);
		i = v >> s->x.opening.shift;
		if (i >= COZBPF_BUCKETS)
			continue;
		buckets[i].count += s->points[0].unit;
		buckets[i].sum += v * s->points[0].unit;
	}
}

static inline void session_close(struct session *s)
{
	const struct counters *c = &s->in.counters;
	struct experiment_record *x = &s->records[s->n_records];
	struct snapshot snap = s->next;
	uint64_t elapsed = s->now - c->opened_ns;

	snap.opened_ns = c->opened_ns;
	snap.counted_ns = c->counted_ns;
	snap.closed_ns = s->now;
	snap.required_ns = required_ns(s, s->now);
	snap.samples = elapsed / MS;
	snap.use.executed_ns = elapsed;
	snap.use.virtual_ns =
	    snap.use.virtual_ns ? snap.use.virtual_ns : elapsed - snap.required_ns;
	snap.use.cpus = 1;
	s->in.counters.pause_horizon_ns = s->now + s->pause_ns;
	fill_buckets(s);
	session_read(s);
	CHECK(s->n_records < RECORDS);
	s->record_lines[s->n_records] = s->x.opening.unit;
	s->n_records += experiment_close(&s->x, &snap, &s->in, x);
}

static inline void session_apply(struct session *s, enum experiment_action action)
{
	s->n[action]++;
	s->at[action] = s->now;
	switch (action) {
	case EXPERIMENT_ASK:
		s->in.counters.picked_line = 0;
		s->sample_ns = s->now + s->answer_ns;
		break;
	case EXPERIMENT_OPEN:
		s->in.counters.opened_ns = s->now;
		s->in.counters.counted_ns = s->now + s->x.opening.settle_ns;
		break;
	case EXPERIMENT_SPLIT:
		experiment_split(&s->x, &s->in, s->now);
		break;
	case EXPERIMENT_CLOSE:
		session_close(s);
		break;
	case EXPERIMENT_NONE:
	case EXPERIMENT_COOLED:
		break;
	}
}

static inline void session_begin(struct session *s)
{
	session_read(s);
	session_apply(s, experiment_begin(&s->x, &s->in, s->now));
}

/* One look at what is due, without a wait. */
static inline void session_step(struct session *s)
{
	do {
		session_read(s);
		session_apply(s, experiment_step(&s->x, &s->in, s->now, &s->due));
	} while (s->due <= s->now);
}

/* The loop, for @ns. */
static inline void session_run(struct session *s, uint64_t ns)
{
	uint64_t end = s->now + ns;

	while (s->now < end) {
		session_step(s);
		s->now = s->due < s->now + TICK_NS ? s->due : s->now + TICK_NS;
	}
}

/* The loop, until @action has been done once more; false: not within ten minutes. */
static inline bool session_until(struct session *s, enum experiment_action action)
{
	uint64_t end = s->now + 600 * S;
	unsigned before = s->n[action];

	while (s->now < end) {
		session_step(s);
		if (s->n[action] > before)
			return true;
		s->now = s->due < s->now + TICK_NS ? s->due : s->now + TICK_NS;
	}
	return false;
}

#define HOT 1
#define COLD 2

/* An ordinary program: line 1 has 60 % of it, line 2 has the rest. */
static inline void begin(struct session *s, struct experiment_options o)
{
	session_init(s, &o);
	s->p.share[HOT] = 0.6;
	s->p.share[COLD] = 0.4;
	session_begin(s);
}

/* Like it, with an experiment open on the hot line at @pct. */
static inline void begin_open(struct session *s, unsigned pct, uint64_t length_ns)
{
	const unsigned list[] = {pct};
	struct experiment_options o = {
	    .fixed_line = HOT, .length_ns = length_ns, .speedups_pct = list, .n_speedups = 1};

	begin(s, o);
	do
		CHECK(session_until(s, EXPERIMENT_OPEN));
	while (s->x.opening.speedup_pct != pct);
}

/* --until and the leader: the estimate wants some lines more than others. */
static inline void want(struct session *s, uint32_t line, double share, size_t others)
{
	struct wanted *wanted = calloc(others + 1, sizeof(*wanted));

	wanted[0] = (struct wanted){.line = line, .share = share};
	for (size_t i = 1; i <= others; i++)
		wanted[i] = (struct wanted){.line = (uint32_t)(LINES + i), .share = 1};
	experiment_want(&s->x, wanted, others + 1);
}

static inline double period_of(const struct experiment_record *x)
{
	return (double)x->duration_ns / (double)x->points[0].delta;
}

#endif
