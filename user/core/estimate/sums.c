// SPDX-License-Identifier: BSD-3-Clause
/*
 * Adds up the experiments of many runs; see sums.h.
 *
 * The estimator needs experiments one by one for two things only: to find what belongs to a period,
 * and to tell how far periods scatter. The first is done here, by its own functions, while the
 * records are there: runs are levelled, paced visits and latencies are sorted out, and baselines
 * are shared among lines by what was sampled in them. For the second a few dozen sums serve as well
 * as a million experiments. So the experiments are cut into SUM_PIECES pieces that follow each
 * other, and those of a piece are added up, by line, progress point and line speedup. A piece is a
 * stretch of many runs, or of one. So the intervals of sums know of what experiments next to each
 * other have in common, too.
 *
 * A sum is at one progress point, for what belongs to a period differs from point to point. The
 * ends of a latency point are a point of their own in it. Baselines stand for the line that they
 * serve, with their weights: they have no `lines`.
 *
 * What sums no longer tell: single experiments that something disturbed (trust.c) are not left out.
 * Whole runs as experiments (whole_runs.c) are not added up, since each is an observation.
 */
#include "core/estimate/sums.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cozbpf/latency.h>

#include "core/estimate/private.h"
#include "core/profile/counters.h"
#include "core/profile/runs.h"
#include "core/profile/sum_samples.h"

#define MOST_KINDS 64          /* runs that are left; with more, nothing is gained */
#define MOST_OF_MACHINES 65536 /* sums by machine, point and line: 12 MB with their text */

/* One line, progress point and line speedup, in one piece. Weighted, but for `experiments` and
 * `own`. */
struct sum {
	double experiments, own, duration, delta, visits, span, span_delta, samples, sampled;
	double line_time, loops, loop, elapsed, outsiders; /* loop, outsiders: times duration */
	bool line_unknown, loop_unknown, outsiders_unknown;
	double in_flight, arrivals, departures, pairs, pairs_ns, unmatched, abandoned, lost;
	int64_t least;
	double *cells; /* of a latency; in the adder's */
};

struct adder {
	const struct profile *p;
	struct observations o;
	struct baselines b;
	uint32_t *kinds;  /* by run: which run of `ret` it becomes */
	uint32_t *slots;  /* by experiment: its kind and piece */
	uint32_t *used;   /* the slots that have something of a cell */
	struct sum *sums; /* by slot; zeroed between cells */
	double *cells;    /* by slot and latency cell; zeroed likewise */
	uint32_t *at;     /* by experiment of `ret`: its slot */
	struct machine_tally machines;
	struct profile ret;
};

/* Runs */

/* Whether both may be in one sum: no figure that reports show of runs would get lost. */
static bool is_of_kind(const struct run_record *a, const struct run_record *b)
{
	return !strcmp(a->build_id, b->build_id) && a->period_ns == b->period_ns &&
	       !strcmp(a->pause, b->pause) && a->fixed_speedups == b->fixed_speedups &&
	       !a->free_ns == !b->free_ns;
}

static int add_kind(struct adder *a, const struct run_record *run)
{
	struct profile *q = &a->ret;
	struct run_record *runs;

	if (q->n_runs == MOST_KINDS)
		return -E2BIG;
	runs = profile_grow(q->runs, q->n_runs, sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	q->runs = runs;
	runs[q->n_runs] = *run;
	runs[q->n_runs].runs = runs[q->n_runs].experiments = runs[q->n_runs].runtime_ns = 0;
	runs[q->n_runs].node = NULL;
	runs[q->n_runs].sample_ns = 0; /* PACE_BOUND holds in what was added up */
#define COUNTER(name, ...) runs[q->n_runs].name = 0;
#include "core/profile/counters.def"
	q->n_runs++;
	return 0;
}

/* free_ns is a counter, and so looked for in the first run of the kind. */
static int find_kinds(struct adder *a)
{
	const struct profile *p = a->p;
	uint32_t *firsts = calloc(p->n_runs + 1, sizeof(*firsts));
	int err = firsts ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < p->n_runs; i++) {
		uint32_t kind = 0;

		while (kind < a->ret.n_runs && !is_of_kind(&p->runs[firsts[kind]], &p->runs[i]))
			kind++;
		a->kinds[i] = kind;
		if (kind < a->ret.n_runs)
			continue;
		firsts[kind] = i;
		err = add_kind(a, &p->runs[i]);
	}
	free(firsts);
	for (size_t i = 0; !err && i < p->n_runs; i++) {
		struct run_record *sum = &a->ret.runs[a->kinds[i]];

		run_add(sum, &p->runs[i]);
		sum->runs += p->runs[i].runs ? p->runs[i].runs : 1;
		sum->experiments += p->runs[i].experiments;
	}
	return err;
}

static double number_of(const struct experiment_record *x)
{
	return experiment_is_sum(x) ? fmax((double)x->experiments, (double)x->served) : 1;
}

/* Pieces of a kind have as many experiments each, up to one experiment. */
static int find_slots(struct adder *a)
{
	const struct profile *p = a->p;
	double *all = calloc(2 * (a->ret.n_runs + 1), sizeof(*all)), *before;

	if (!all)
		return -ENOMEM;
	before = all + a->ret.n_runs;
	for (size_t i = 0; i < p->n_experiments; i++) {
		const struct experiment_record *x = &p->experiments[i];
		uint32_t kind = a->kinds[x->run];

		all[kind] += number_of(x);
		a->ret.runs[kind].experiments += !experiment_is_sum(x);
	}
	for (size_t i = 0; i < p->n_experiments; i++) {
		uint32_t kind = a->kinds[p->experiments[i].run];
		double piece = SUM_PIECES * before[kind] / all[kind];

		a->slots[i] = kind * SUM_PIECES + (uint32_t)fmin(piece, SUM_PIECES - 1);
		before[kind] += number_of(&p->experiments[i]);
	}
	free(all);
	return 0;
}

static int push_member(struct adder *a, struct member_record m)
{
	struct profile *q = &a->ret;
	struct member_record *all = profile_grow(q->members, q->n_members, sizeof(*all));

	if (!all)
		return -ENOMEM;
	q->members = all;
	m.run = a->kinds[m.run];
	all[q->n_members++] = m;
	return 0;
}

static int compare_members(const void *a, const void *b)
{
	const struct member_record *x = a, *y = b;

	return x->run < y->run ? -1 : x->run > y->run;
}

static int list_members(struct adder *a)
{
	const struct profile *p = a->p;
	size_t at = 0;

	for (size_t i = 0; i < p->n_members; i++)
		if (push_member(a, p->members[i]))
			return -ENOMEM;
	for (uint32_t i = 0; i < p->n_runs; i++) {
		uint64_t first = runs_first(runs_next_first(p, i, &at));

		if (!p->runs[i].runs && p->runs[i].startup_time_ns &&
		    push_member(a, (struct member_record){p->runs[i].startup_time_ns, first, i}))
			return -ENOMEM;
	}
	if (a->ret.n_members)
		qsort(a->ret.members, a->ret.n_members, sizeof(*a->ret.members), compare_members);
	return 0;
}

/* Experiments */

static void add_latency(struct sum *s, const struct observation *o)
{
	const struct point_record *r = o->record;
	double w = o->weight;

	s->in_flight += w * o->in_flight;
	s->arrivals += w * (double)r->arrivals;
	s->departures += w * (double)r->departures;
	s->pairs += w * (double)r->pairs;
	s->pairs_ns += w * (double)r->pairs_ns;
	s->unmatched += w * (double)r->unmatched;
	s->abandoned += w * (double)r->abandoned;
	s->lost += w * (double)r->lost;
	if (r->has_integral && r->least < s->least)
		s->least = r->least;
	for (size_t i = 0; i < r->n_cells; i++)
		s->cells[r->cells[i].index] += w * (double)r->cells[i].count;
}

/* @own: the experiment was on the line, it does not just serve it. */
static void add(
    struct sum *s, const struct observation *o, const struct experiment_record *x, bool own)
{
	double w = o->weight, t = o->duration;

	s->experiments += o->experiments;
	s->own += own ? o->own : 0;
	if (o->record)
		add_latency(s, o);
	if (!(t > 0))
		return;
	s->duration += w * t;
	s->delta += w * o->delta;
	s->visits += w * o->visits;
	s->span += w * o->span;
	s->span_delta += w * o->span_delta;
	s->samples += w * o->samples;
	s->sampled += w * o->sampled;
	s->line_time += w * o->line_time;
	s->loops += w * (double)x->loops;
	s->loop += w * o->loop * t;
	s->elapsed += w * (double)x->elapsed_ns;
	s->outsiders += w * o->outsiders * t;
	s->line_unknown |= o->line_time < 0;
	s->loop_unknown |= o->loop < 0;
	s->outsiders_unknown |= o->outsiders < 0;
}

static void add_to(const struct adder *a, struct sum *s, const struct observation *o)
{
	const struct experiment_record *x = &a->p->experiments[o->index];

	/* Equal names of a profile that was read are one. */
	add(s, o, x, x->selected == a->o.lines.items[o->line]);
}

/* whole() of either sign. */
static int64_t rounded(double v)
{
	return llround(fmax(fmin(v, MOST), -MOST));
}

/* A time whose count becomes whole, changed in the same proportion: periods are what matters. */
static uint64_t as_counted(double time, double count)
{
	return whole(count > 0 ? time * (double)whole(count) / count : time);
}

/* Makes the latencies of the @n slots in use whole numbers. Baselines serve a line by fractions,
 * and a tail has less than half a request in each place. So what rounding leaves goes on to the
 * next slot, and then to the next cell. */
static void round_cells(struct adder *a, size_t n)
{
	double sum = 0;

	for (size_t cell = 0; cell < COZBPF_LATENCY_CELLS; cell++)
		for (size_t i = 0; i < n; i++) {
			double *count = &a->sums[a->used[i]].cells[cell];
			uint64_t before = whole(sum);

			sum += *count;
			*count = (double)(whole(sum) - before);
		}
}

/* The latencies, by rising index. */
static int put_cells(struct point_record *r, const double *cells)
{
	for (uint32_t i = 0; i < COZBPF_LATENCY_CELLS; i++) {
		struct latency_cell *all;

		if (!whole(cells[i]))
			continue;
		all = profile_grow(r->cells, r->n_cells, sizeof(*all));
		if (!all)
			return -ENOMEM;
		r->cells = all;
		all[r->n_cells++] = (struct latency_cell){i, whole(cells[i])};
		r->pairs += whole(cells[i]);
	}
	return 0;
}

static int put_latency(struct point_record *r, const struct sum *s)
{
	r->is_latency = true;
	r->arrivals = whole(s->arrivals);
	r->delta = r->departures = whole(s->departures);
	r->bursts = r->span_delta = r->span_ns = 0;
	r->has_integral = true;
	r->integral_ns = (int64_t)as_counted(s->in_flight, s->arrivals);
	r->difference = rounded(s->in_flight / s->duration);
	r->least = s->least;
	r->unmatched = whole(s->unmatched);
	r->abandoned = whole(s->abandoned);
	r->lost = whole(s->lost);
	if (put_cells(r, s->cells))
		return -ENOMEM;
	r->pairs_ns = rounded(s->pairs > 0 ? s->pairs_ns * (double)r->pairs / s->pairs : 0);
	return 0;
}

static void put_beside(struct experiment_record *x, const struct sum *s)
{
	x->has_selected_ns = !s->line_unknown;
	x->selected_ns = s->line_unknown ? 0 : whole(s->line_time);
	if (s->loop_unknown)
		return;
	x->loops = whole(fmax(s->loops, 1));
	x->loop_ns = whole((double)x->loops * s->loop / s->duration);
	if (s->outsiders_unknown)
		return;
	x->elapsed_ns = whole(s->elapsed);
	x->outsiders_ns = whole((double)x->elapsed_ns * s->outsiders / s->duration);
}

static char *name_of(struct adder *a, const char *name)
{
	uint32_t id;

	return names_copy(&a->ret.names, name, &id) ? NULL : (char *)a->ret.names.items[id];
}

/* Takes @x and its point over, in the slot @slot. */
static int keep(struct adder *a, struct experiment_record *x, uint32_t slot)
{
	struct profile *q = &a->ret;
	struct experiment_record *all =
	    profile_grow(q->experiments, q->n_experiments, sizeof(*all));
	uint32_t *at;

	if (!all)
		return -ENOMEM;
	q->experiments = all;
	at = profile_grow(a->at, q->n_experiments, sizeof(*at));
	if (!at)
		return -ENOMEM;
	a->at = at;
	at[q->n_experiments] = slot;
	x->run = slot / SUM_PIECES;
	all[q->n_experiments++] = *x;
	return 0;
}

/* Makes @s, whose observations are like @o, a record. @span: spans count. */
static int put(
    struct adder *a, const struct sum *s, const struct observation *o, bool span, uint32_t slot)
{
	struct experiment_record x = {.selected = name_of(a, a->o.lines.items[o->line]),
	    .speedup = o->permille / 1000.0,
	    .duration_ns = as_counted(s->duration, s->delta),
	    .selected_samples = whole(s->samples),
	    .observed_ns = whole(s->sampled),
	    .fixed = o->fixed,
	    .experiments = whole(s->own),
	    .served = s->own < s->experiments ? whole(s->experiments) : 0,
	    .n_points = 1};
	struct point_record r = {.name = name_of(a, a->o.points.items[o->point / 2]),
	    .delta = whole(s->delta),
	    .bursts = whole(s->visits)};

	if (!x.selected || !r.name)
		return -ENOMEM;
	if (!x.duration_ns)
		return 0;
	if (span) {
		r.span_ns = as_counted(s->span, s->span_delta);
		r.span_delta = whole(s->span_delta);
	}
	put_beside(&x, s);
	x.points = malloc(sizeof(*x.points));
	if (x.points && !(is_latency_point(o->point) && put_latency(&r, s)) && !keep(a, &x, slot)) {
		*x.points = r;
		return 0;
	}
	free(r.cells);
	free(x.points);
	return -ENOMEM;
}

/* The sums of one cell, the @n observations of @obs. */
static int sum_cell(struct adder *a, const struct observation *obs, size_t n, bool span)
{
	bool is_latency = is_latency_point(obs->point);
	size_t n_used = 0;
	int err = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t slot = a->slots[obs[i].index];

		if (!(a->sums[slot].experiments > 0))
			a->used[n_used++] = slot;
		a->sums[slot].cells = &a->cells[slot * (size_t)COZBPF_LATENCY_CELLS];
		add_to(a, &a->sums[slot], &obs[i]);
	}
	if (is_latency)
		round_cells(a, n_used);
	for (size_t i = 0; i < n_used; i++) {
		struct sum *s = &a->sums[a->used[i]];

		if (!err)
			err = put(a, s, obs, span, a->used[i]);
		if (is_latency)
			memset(s->cells, 0, COZBPF_LATENCY_CELLS * sizeof(*s->cells));
		*s = (struct sum){0};
	}
	return err;
}

/* Each experiment for itself. */
static int keep_single(struct adder *a, const struct observation *obs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct sum s = {0};

		add_to(a, &s, &obs[i]);
		if (put(a, &s, &obs[i], false, a->slots[obs[i].index]))
			return -ENOMEM;
	}
	return 0;
}

/* Of the @n observations of one line and point that are all the user's choice, or none is. */
static int sum_sort(struct adder *a, const struct observation *own, size_t n)
{
	const char *point = a->o.points.items[own->point / 2];
	struct collected all;
	bool span;
	int err;

	if (!strcmp(point, END_TO_END) && !is_latency_point(own->point))
		return keep_single(a, own, n);
	if (baselines_collect(&a->b, own, n, &all))
		return -ENOMEM;
	span = observations_choose_period(all.obs, all.n, PERIOD_AUTO);
	err = machine_tally_line(&a->machines, &a->o, all.obs, all.n);
	for (size_t i = 0, end; !err && i < all.n; i = end) {
		const struct observation *first = &all.obs[i];

		for (end = i + 1; end < all.n && all.obs[end].permille == first->permille; end++)
			;
		err = sum_cell(a, first, end - i, span);
	}
	free(all.obs);
	return err;
}

static int sum_experiments(struct adder *a)
{
	const struct observation *o = a->o.items;
	int err = 0;

	for (size_t i = 0, end; !err && i < a->o.n; i = end) {
		for (end = i + 1; end < a->o.n && o[end].line == o[i].line &&
				  o[end].point == o[i].point && o[end].fixed == o[i].fixed;
		     end++)
			;
		err = sum_sort(a, &o[i], end - i);
	}
	return err;
}

/* Order */

static int compare_slots(const void *x, const void *y, void *context)
{
	const struct adder *a = context;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;

	if (a->at[i] != a->at[j])
		return a->at[i] < a->at[j] ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* By run, and in the order of time. */
static int sort_experiments(struct adder *a)
{
	struct profile *q = &a->ret;
	uint32_t *order = calloc(q->n_experiments + 1, sizeof(*order));
	struct experiment_record *all = NULL;
	size_t n = 0;

	for (; order && n < q->n_experiments; n++) {
		struct experiment_record *more = profile_grow(all, n, sizeof(*all));

		if (!more)
			break;
		all = more;
		order[n] = (uint32_t)n;
	}
	if (!order || n < q->n_experiments) {
		free(order);
		free(all);
		return -ENOMEM;
	}
	if (n)
		qsort_r(order, n, sizeof(*order), compare_slots, a);
	for (size_t i = 0; i < n; i++)
		all[i] = q->experiments[order[i]];
	free(order);
	free(q->experiments);
	q->experiments = all;
	return 0;
}

static int list_machines(struct adder *a)
{
	machine_table_settle(&a->machines.table);
	return machine_table_put(&a->machines.table, MOST_OF_MACHINES, &a->ret);
}

static int adder_init(struct adder *a, const struct profile *p)
{
	size_t n_slots;
	int err;

	*a = (struct adder){.p = p};
	a->kinds = calloc(p->n_runs + 1, sizeof(*a->kinds));
	a->slots = calloc(p->n_experiments + 1, sizeof(*a->slots));
	a->ret.max_bytes = p->max_bytes;
	a->ret.n_skipped = p->n_skipped;
	if (!a->kinds || !a->slots)
		return -ENOMEM;
	err = find_kinds(a);
	if (err)
		return err;
	n_slots = a->ret.n_runs * SUM_PIECES;
	a->used = calloc(n_slots + 1, sizeof(*a->used));
	a->sums = calloc(n_slots + 1, sizeof(*a->sums));
	a->cells = calloc(n_slots + 1, COZBPF_LATENCY_CELLS * sizeof(*a->cells));
	if (!a->used || !a->sums || !a->cells || find_slots(a) || observations_init(&a->o, p) ||
	    machine_tally_init(&a->machines, p, a->kinds) ||
	    observations_level_runs(&a->o, p->n_runs, &a->machines))
		return -ENOMEM;
	return baselines_init(&a->b, &a->o, p);
}

static void adder_deinit(struct adder *a)
{
	baselines_deinit(&a->b);
	observations_deinit(&a->o);
	free(a->kinds);
	free(a->slots);
	free(a->used);
	free(a->sums);
	free(a->cells);
	free(a->at);
	machine_tally_deinit(&a->machines);
}

/* Whether there is nothing to add to any run. */
static bool is_done(const struct adder *a)
{
	bool all = a->ret.n_runs == a->p->n_runs;

	for (size_t i = 0; i < a->p->n_runs; i++)
		all &= a->p->runs[i].runs > 0;
	return all;
}

int profile_sum(struct profile *p)
{
	struct adder a;
	int err = adder_init(&a, p);
	bool done = !err && is_done(&a);

	if (!err && !done)
		err = sum_experiments(&a) || sort_experiments(&a) || list_members(&a) ||
			      list_machines(&a) || sum_samples(p, a.kinds, &a.ret)
			  ? -ENOMEM
			  : 0;
	adder_deinit(&a);
	if (err || done) {
		profile_deinit(&a.ret);
		return err;
	}
	profile_deinit(p);
	*p = a.ret;
	p->bytes = profile_bytes(p);
	return 0;
}
