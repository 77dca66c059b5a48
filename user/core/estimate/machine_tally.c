// SPDX-License-Identifier: BSD-3-Clause
/*
 * From experiments to sums by machine; see machine_tally.h. core/estimate/machines.c judges.
 *
 * A machine's speed is its period in baselines. How far that is known comes from four scatters,
 * each of which sees what the one before it misses: that of experiments, those of quarters and
 * halves of a run, which know of a speed that wanders from experiment to experiment, and that of
 * runs.
 *
 * A line's slope on a machine needs no levels of runs, since the line's experiments are held
 * against the machine's own baselines. With periods p = p0 (1 - b s), the sum of s (p0 count -
 * time) is b p0 times the sum of s s count. The order of experiments is random, so what wanders
 * hits all speedups alike, and the scatter of experiments is enough.
 *
 * A run with less than two baselines at a point tells nothing of its scatter, and is left out. So
 * whole runs as experiments are not compared by machine.
 */
#include "core/estimate/machine_tally.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/private.h"

#define PIECES 4 /* of a run */
#define NONE UINT32_MAX

struct machine_run {
	double time, count, squares, times[PIECES], counts[PIECES];
	uint64_t n;
};

struct machine_sum {
	bool there;
	/* its speed */
	double time, count, n, runs, run_squares;
	struct {
		double variance, df;
	} experiments, quarters, halves;
	/* a line's baselines, with weights, and its other experiments */
	double weights, weights_squares, base_squares;
	double s_count, s_time, s_square, squares;
};

/* Entries */

static struct machine_entry *push(struct machine_table *t)
{
	struct machine_entry *all = profile_grow(t->entries, t->n, sizeof(*all));

	if (!all)
		return NULL;
	t->entries = all;
	all[t->n] = (struct machine_entry){.line = NO_LINE};
	return &all[t->n++];
}

static int compare_entries(const void *a, const void *b)
{
	const struct machine_entry *x = a, *y = b;

#define ORDER_BY(field)           \
	if (x->field != y->field) \
	return x->field < y->field ? -1 : 1
	ORDER_BY(line);
	ORDER_BY(point);
	ORDER_BY(kind);
	ORDER_BY(machine);
#undef ORDER_BY
	return 0;
}

static void add(uint64_t *to, uint64_t n)
{
	*to = whole((double)*to + (double)n);
}

static void add_error(uint64_t *to, uint64_t error)
{
	*to = whole(hypot((double)*to, (double)error));
}

static void add_speed(struct node_speed *to, const struct node_speed *s)
{
	add(&to->baselines, s->baselines);
	add(&to->time_ns, s->time_ns);
	add(&to->count, s->count);
	add_error(&to->error_ns, s->error_ns);
	add(&to->df, s->df);
	add_error(&to->quarter_error_ns, s->quarter_error_ns);
	add(&to->quarter_df, s->quarter_df);
	add_error(&to->half_error_ns, s->half_error_ns);
	add(&to->half_df, s->half_df);
	add_error(&to->run_error_ns, s->run_error_ns);
	add(&to->run_df, s->run_df);
}

static void add_gain(struct node_gain *to, const struct node_gain *g)
{
	add(&to->base_ns, g->base_ns);
	add(&to->base_count, g->base_count);
	add_error(&to->base_error_ns, g->base_error_ns);
	add(&to->base_df, g->base_df);
	add(&to->experiments, g->experiments);
	add(&to->count, g->count);
	add(&to->time, g->time);
	add(&to->square, g->square);
	add_error(&to->error, g->error);
}

void machine_table_settle(struct machine_table *t)
{
	size_t n = 0;

	if (t->n)
		qsort(t->entries, t->n, sizeof(*t->entries), compare_entries);
	for (size_t i = 0; i < t->n; i++) {
		const struct machine_entry *e = &t->entries[i];

		if (!n || compare_entries(&t->entries[n - 1], e))
			t->entries[n++] = *e;
		else if (e->line == NO_LINE)
			add_speed(&t->entries[n - 1].speed, &e->speed);
		else
			add_gain(&t->entries[n - 1].gain, &e->gain);
	}
	t->n = n;
}

/* Records */

static int take_records(struct machine_table *t, const struct profile *p, const uint32_t *kinds)
{
	for (size_t i = 0; i < p->n_nodes; i++) {
		const struct node_record *r = &p->nodes[i];
		struct machine_entry *e = push(t);

		if (!e || names_id(&t->machines, r->node, &e->machine) ||
		    names_id(&t->points, r->point, &e->point) ||
		    (r->line && names_id(&t->lines, r->line, &e->line)))
			return -ENOMEM;
		e->point = 2 * e->point + r->is_latency;
		e->kind = kinds ? kinds[r->run] : 0;
		if (r->line)
			e->gain = r->gain;
		else
			e->speed = r->speed;
	}
	return 0;
}

/* Entries of one line and point. */
struct part {
	size_t first, n;
	uint64_t experiments;
	bool is_line;
};

/* Speeds first, then lines with most experiments. */
static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->is_line != y->is_line)
		return x->is_line ? 1 : -1;
	if (x->experiments != y->experiments)
		return x->experiments > y->experiments ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static size_t list_parts(const struct machine_table *t, struct part *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct machine_entry *e = &t->entries[i];

		if (!i || e->line != e[-1].line || e->point != e[-1].point)
			ret[n++] = (struct part){.first = i, .is_line = e->line != NO_LINE};
		ret[n - 1].n++;
		ret[n - 1].experiments +=
		    e->line == NO_LINE ? e->speed.baselines : e->gain.experiments;
	}
	return n;
}

static int copy(struct profile *p, const char *name, char **ret)
{
	uint32_t id;
	int err = names_copy(&p->names, name, &id);

	*ret = err ? NULL : (char *)p->names.items[id];
	return err;
}

static int put(const struct machine_table *t, const struct machine_entry *e, struct profile *p)
{
	struct node_record r = {.is_latency = e->point & 1, .run = e->kind}, *all;

	if (copy(p, t->machines.items[e->machine], &r.node) ||
	    copy(p, t->points.items[e->point / 2], &r.point) ||
	    (e->line != NO_LINE && copy(p, t->lines.items[e->line], &r.line)))
		return -ENOMEM;
	if (r.line)
		r.gain = e->gain;
	else
		r.speed = e->speed;
	all = profile_grow(p->nodes, p->n_nodes, sizeof(*all));
	if (!all)
		return -ENOMEM;
	p->nodes = all;
	all[p->n_nodes++] = r;
	return 0;
}

static int compare_runs(const void *a, const void *b)
{
	const struct node_record *x = a, *y = b;

	return x->run < y->run ? -1 : x->run > y->run;
}

int machine_table_put(const struct machine_table *t, size_t most, struct profile *p)
{
	struct part *parts = calloc(t->n + 1, sizeof(*parts));
	size_t n = parts ? list_parts(t, parts) : 0, left = most;
	int err = parts ? 0 : -ENOMEM;

	if (n)
		qsort(parts, n, sizeof(*parts), compare_parts);
	for (size_t i = 0; !err && i < n && parts[i].n <= left; i++) {
		left -= parts[i].n;
		for (size_t j = 0; !err && j < parts[i].n; j++)
			err = put(t, &t->entries[parts[i].first + j], p);
	}
	if (!err && p->n_nodes)
		qsort(p->nodes, p->n_nodes, sizeof(*p->nodes), compare_runs);
	free(parts);
	return err;
}

/* Runs */

/* The member that a run of the kind @kind on the machine @node is. */
static int member_of(struct machine_tally *t, const char *node, uint32_t kind, uint32_t *ret)
{
	uint32_t machine;
	char key[24];

	if (names_id(&t->table.machines, node, &machine))
		return -ENOMEM;
	snprintf(key, sizeof(key), "%u/%u", kind, machine);
	if (names_copy(&t->members, key, ret))
		return -ENOMEM;
	t->of_member[*ret] = machine;
	t->kind_of_member[*ret] = kind;
	return 0;
}

int machine_tally_init(struct machine_tally *t, const struct profile *p, const uint32_t *kinds)
{
	size_t n = p->n_runs + 1;

	*t = (struct machine_tally){.p = p};
	t->by_run = calloc(n, sizeof(*t->by_run));
	t->of_member = calloc(n, sizeof(*t->of_member));
	t->kind_of_member = calloc(n, sizeof(*t->kind_of_member));
	t->first = calloc(n, sizeof(*t->first));
	t->runs = calloc(n, sizeof(*t->runs));
	t->sums = calloc(n, sizeof(*t->sums));
	t->there = calloc(n, sizeof(*t->there));
	if (!t->by_run || !t->of_member || !t->kind_of_member || !t->first || !t->runs ||
	    !t->sums || !t->there || take_records(&t->table, p, kinds))
		return -ENOMEM;
	for (size_t i = 0; i < p->n_experiments; i++)
		t->first[p->experiments[i].run + 1] = i + 1;
	for (uint32_t i = 0; i < p->n_runs; i++) {
		if (t->first[i + 1] < t->first[i])
			t->first[i + 1] = t->first[i];
		t->by_run[i] = NONE;
		if (p->runs[i].node && !p->runs[i].runs &&
		    member_of(t, p->runs[i].node, kinds ? kinds[i] : 0, &t->by_run[i]))
			return -ENOMEM;
	}
	return 0;
}

void machine_tally_deinit(struct machine_tally *t)
{
	names_deinit(&t->table.machines);
	names_deinit(&t->table.points);
	names_deinit(&t->table.lines);
	free(t->table.entries);
	names_deinit(&t->members);
	free(t->by_run);
	free(t->of_member);
	free(t->kind_of_member);
	free(t->first);
	free(t->runs);
	free(t->sums);
	free(t->there);
	*t = (struct machine_tally){0};
}

/* A new entry of @member at the point of @o. */
static struct machine_entry *new_entry(struct machine_tally *t, const struct observations *all,
    const struct observation *o, uint32_t member)
{
	struct machine_entry *e = push(&t->table);

	if (!e || names_id(&t->table.points, all->points.items[o->point / 2], &e->point))
		return NULL;
	e->point = 2 * e->point + is_latency_point(o->point);
	e->machine = t->of_member[member];
	e->kind = t->kind_of_member[member];
	return e;
}

/* Speeds */

static bool is_baseline(const struct machine_tally *t, const struct observation *o)
{
	return !o->permille && t->by_run[o->run] != NONE && o->duration > 0;
}

static void add_baseline(const struct machine_tally *t, const struct observation *o)
{
	struct machine_run *r = &t->runs[o->run];
	size_t first = t->first[o->run],
	       piece = (o->index - first) * PIECES / (t->first[o->run + 1] - first);

	r->n++;
	r->time += observation_time(o);
	r->count += o->delta;
	r->times[piece] += observation_time(o);
	r->counts[piece] += o->delta;
}

/* The variance of a sum whose @n parts have the squares @squares about what was fitted to them. */
static double variance(double squares, double n)
{
	return n > 1 ? squares * n / (n - 1) : 0;
}

static bool is_known(const struct machine_run *r)
{
	return r->n > 1 && r->time > 0 && r->count > 0;
}

/* The variance of a run's time by that of its pieces, each of @step quarters. A run of one piece
 * knows nothing better than @one. */
static double piece_variance(const struct machine_run *r, int step, double one, double *ret_df)
{
	double squares = 0, n = 0;

	for (int i = 0; i < PIECES; i += step) {
		double time = 0, count = 0, e;

		for (int j = i; j < i + step; j++) {
			time += r->times[j];
			count += r->counts[j];
		}
		e = time - r->time / r->count * count;
		squares += e * e;
		n += time > 0;
	}
	*ret_df += fmax(n - 1, 0);
	return n > 1 ? variance(squares, n) : one;
}

static void add_run(struct machine_sum *s, const struct machine_run *r)
{
	double one = variance(r->squares, (double)r->n);

	s->runs++;
	s->n += (double)r->n;
	s->time += r->time;
	s->count += r->count;
	s->experiments.variance += one;
	s->experiments.df += (double)r->n - 1;
	s->quarters.variance += piece_variance(r, 1, one, &s->quarters.df);
	s->halves.variance += piece_variance(r, 2, one, &s->halves.df);
}

static int put_speed(struct machine_tally *t, const struct observations *all,
    const struct observation *o, uint32_t member)
{
	const struct machine_sum *s = &t->sums[member];
	struct machine_entry *e = new_entry(t, all, o, member);

	if (!e)
		return -ENOMEM;
	e->speed = (struct node_speed){.baselines = whole(s->n),
	    .time_ns = whole(s->time),
	    .count = whole(s->count),
	    .error_ns = whole(sqrt(s->experiments.variance)),
	    .df = whole(s->experiments.df),
	    .quarter_error_ns = whole(sqrt(s->quarters.variance)),
	    .quarter_df = whole(s->quarters.df),
	    .half_error_ns = whole(sqrt(s->halves.variance)),
	    .half_df = whole(s->halves.df),
	    .run_error_ns = whole(sqrt(variance(s->run_squares, s->runs))),
	    .run_df = whole(s->runs - 1)};
	return 0;
}

/* Sets `there` to the runs with baselines, and adds these up. Returns their number. */
static size_t add_baselines(
    const struct machine_tally *t, struct observation *const *at_point, size_t n)
{
	size_t ret = 0;

	for (size_t i = 0; i < n; i++) {
		const struct observation *o = at_point[i];

		if (!is_baseline(t, o))
			continue;
		if (!t->runs[o->run].n)
			t->there[ret++] = o->run;
		add_baseline(t, o);
	}
	for (size_t i = 0; i < n; i++) {
		const struct observation *o = at_point[i];
		struct machine_run *r = &t->runs[o->run];

		if (is_baseline(t, o) && is_known(r)) {
			double e = observation_time(o) - r->time / r->count * o->delta;

			r->squares += e * e;
		}
	}
	return ret;
}

int machine_tally_speeds(struct machine_tally *t, const struct observations *o,
    struct observation *const *at_point, size_t n)
{
	size_t n_runs = add_baselines(t, at_point, n);
	int err = 0;

	for (size_t i = 0; i < n_runs; i++)
		if (is_known(&t->runs[t->there[i]]))
			add_run(&t->sums[t->by_run[t->there[i]]], &t->runs[t->there[i]]);
	for (size_t i = 0; i < n_runs; i++) {
		const struct machine_run *r = &t->runs[t->there[i]];
		struct machine_sum *s = &t->sums[t->by_run[t->there[i]]];

		if (is_known(r)) {
			double e = r->time - s->time / s->count * r->count;

			s->run_squares += e * e;
		}
	}
	for (size_t i = 0; i < n_runs; i++) {
		uint32_t member = t->by_run[t->there[i]];

		if (!err && t->sums[member].n > 0)
			err = put_speed(t, o, at_point[0], member);
		t->sums[member] = (struct machine_sum){0};
		t->runs[t->there[i]] = (struct machine_run){0};
	}
	return err;
}

/* Lines */

static struct machine_sum *sum_of(const struct machine_tally *t, const struct observation *o)
{
	uint32_t member = t->by_run[o->run];

	return member == NONE || !(o->time > 0) ? NULL : &t->sums[member];
}

static size_t add_line(const struct machine_tally *t, const struct observation *obs, size_t n)
{
	size_t ret = 0;

	for (size_t i = 0; i < n; i++) {
		const struct observation *o = &obs[i];
		struct machine_sum *s = sum_of(t, o);
		double speedup = o->permille;

		if (!s)
			continue;
		if (!s->there)
			t->there[ret++] = t->by_run[o->run];
		s->there = true;
		if (o->permille) {
			s->n++;
			s->s_count += speedup * o->count;
			s->s_time += speedup * o->time;
			s->s_square += speedup * speedup * o->count / 1000;
			continue;
		}
		s->time += o->weight * o->time;
		s->count += o->weight * o->count;
		s->weights += o->weight;
		s->weights_squares += o->weight * o->weight;
	}
	return ret;
}

static void add_residuals(const struct machine_tally *t, const struct observation *obs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct observation *o = &obs[i];
		struct machine_sum *s = sum_of(t, o);
		double speedup = o->permille, period, slope, e;

		if (!s || !(s->count > 0))
			continue;
		period = s->time / s->count;
		if (!o->permille) {
			e = o->weight * (o->time - period * o->count);
			s->base_squares += e * e;
			continue;
		}
		slope = (s->s_count - s->s_time / period) / s->s_square;
		e = speedup * (period * o->count * (1 - slope * speedup / 1000) - o->time);
		s->squares += e * e;
	}
}

static int put_line(struct machine_tally *t, const struct observations *all,
    const struct observation *o, uint32_t member)
{
	const struct machine_sum *s = &t->sums[member];
	struct machine_entry *e = new_entry(t, all, o, member);
	double effective = s->weights * s->weights / s->weights_squares;
	uint64_t count = whole(s->count);

	if (!e || names_id(&t->table.lines, all->lines.items[o->line], &e->line))
		return -ENOMEM;
	/* A count becomes whole, so the time is changed in the same proportion. */
	e->gain = (struct node_gain){.base_ns = whole(s->time * (double)count / s->count),
	    .base_count = count,
	    .base_error_ns = whole(sqrt(variance(s->base_squares, effective))),
	    .base_df = whole(effective - 1),
	    .experiments = whole(s->n),
	    .count = whole(s->s_count),
	    .time = whole(s->s_time),
	    .square = whole(s->s_square),
	    .error = whole(sqrt(variance(s->squares, s->n)))};
	return 0;
}

int machine_tally_line(
    struct machine_tally *t, const struct observations *o, const struct observation *obs, size_t n)
{
	size_t n_there = add_line(t, obs, n);
	int err = 0;

	add_residuals(t, obs, n);
	for (size_t i = 0; i < n_there; i++) {
		struct machine_sum *s = &t->sums[t->there[i]];

		/* Two experiments tell a scatter. */
		if (!err && s->n > 1 && s->s_square > 0 && whole(s->count) && s->weights > 0)
			err = put_line(t, o, obs, t->there[i]);
		*s = (struct machine_sum){0};
	}
	return err;
}
