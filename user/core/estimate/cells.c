// SPDX-License-Identifier: BSD-3-Clause
/*
 * From experiments to cells: observations, grouped by line and progress point, then by speedup.
 *
 * The period of a cell is a ratio of sums over its experiments, sum of times / sum of counts, never
 * a mean of ratios (paper 3.2). Two pairs of time and count are on record:
 * - duration and delta. They are unbiased when the window opens and closes without regard to
 *   visits. But with regular visits a window of n visits counts n - 1, n or n + 1 of them. A window
 *   that closes at a visit counts half a visit too many.
 * - span and span_delta: the time from the first burst of visits to the last one, and the visits
 *   after the first. Each term is a whole number of periods.
 *
 * Where an experiment closes at a visit, spans are consistent. It closes at the first visit after
 * the intended time, so only the periods seen so far decide whether it goes on. Their number is a
 * stopping time, and by Wald's equation E[span] = E[span_delta] x period for any distribution of
 * periods. The time before the first visit is left out: a gap that is met at random is longer than
 * most. But the wait for the closing visit is bounded, and the last visits may lie in the bucket
 * that the close cuts (visits.h).
 *
 * Where the clock closes, the gaps that fit in are the shorter ones. The period then comes out low
 * by c^2 / visits, with c^2 the squared coefficient of variation of the gaps. So spans are taken
 * when visits are regular enough: c^2 <= MAX_GAP_VARIATION, as seen in the scatter of the spans.
 * Then spans have as little as a third of the error, and no bias. With irregular visits, their own
 * scatter outweighs that of the window's ends. Then duration and delta are as good, and no way of
 * closing biases them. test_intervals.c, periods_compared, holds the simulation that decided it.
 *
 * The choice is one for all cells of a group, since small biases cancel only against themselves. It
 * is duration and delta when spans are unknown for more than a small part of the group's time.
 */
#include "core/estimate/private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_SPAN_SHARE 0.95 /* of a group's time has to be in experiments of known span */
/* squared coefficient of variation of gaps up to which spans are used */
#define MAX_GAP_VARIATION 0.25
/* per run; in a run with more points a missing point record does not mean 'no visits' */
#define MAX_FILLED_POINTS 64

/* Observations */

static bool is_end_to_end(const char *point)
{
	return !strcmp(point, END_TO_END);
}

static int push(struct observations *o, const struct observation *item)
{
	if (!(o->n & (o->n - 1))) {
		struct observation *items =
		    realloc(o->items, (o->n ? o->n * 2 : 1) * sizeof(*items));

		if (!items)
			return -ENOMEM;
		o->items = items;
	}
	o->items[o->n++] = *item;
	return 0;
}

/* A point that occurs in a run. */
struct run_point {
	uint32_t id;
	int64_t least; /* of a latency: requests in flight; 0 or less */
	int64_t
	    paced;   /* number of experiments with visits paced from outside, less those without */
	double pace; /* the longest period of a timer that feeds the visits */
	double time, visits; /* of its baselines */
};

/* A latency is a point apart from its throughput. */
struct run_points {
	struct run_point items[MAX_FILLED_POINTS + 1];
	size_t n;
	double slower; /* with_samples() */
};

static int point_id(
    struct observations *o, const struct point_record *r, bool is_latency, uint32_t *ret)
{
	uint32_t name;

	if (names_id(&o->points, r->name, &name))
		return -ENOMEM;
	*ret = 2 * name + is_latency;
	return 0;
}

/* NULL: there is none, or there were too many. */
static const struct run_point *find_point(const struct run_points *points, uint32_t id)
{
	for (size_t i = 0; i < points->n; i++)
		if (points->items[i].id == id)
			return &points->items[i];
	return NULL;
}

/* NULL: there are too many. */
static struct run_point *take_point(struct run_points *points, uint32_t id)
{
	const struct run_point *known = find_point(points, id);

	if (known)
		return &points->items[known - points->items];
	if (points->n > MAX_FILLED_POINTS)
		return NULL;
	points->items[points->n] = (struct run_point){.id = id};
	return &points->items[points->n++];
}

/* The smallest number in flight is looked for in baselines only. With a speedup, a thread ahead by
 * its debt may hand over to one without debt; then the request seems to end before it began. */
static int note_point(struct observations *o, const struct experiment_record *x,
    const struct point_record *r, bool is_latency, struct run_points *points)
{
	bool is_baseline = !speedup_permille(x->speedup);
	struct run_point *at;
	uint32_t id;

	if (point_id(o, r, is_latency, &id))
		return -ENOMEM;
	at = take_point(points, id);
	if (!at)
		return 0;
	at->paced += r->paced_ns ? 1 : -1;
	at->pace = fmax(at->pace, (double)r->pace_ns);
	if (!is_baseline)
		return 0;
	at->time += (double)x->duration_ns;
	at->visits += (double)r->delta;
	if (is_latency && r->has_integral && r->least < at->least)
		at->least = r->least;
	return 0;
}

static int note_points(
    struct observations *o, const struct experiment_record *x, struct run_points *points)
{
	for (size_t i = 0; i < x->n_points; i++) {
		const struct point_record *r = &x->points[i];
		if (is_end_to_end(r->name) && !r->is_latency)
			continue;
		if (note_point(o, x, r, false, points) ||
		    (r->is_latency && note_point(o, x, r, true, points)))
			return -ENOMEM;
	}
	return 0;
}

/* PACE_BOUND: the shortest time between visits; 0: no timer feeds them, or more than one visit at
 * a time, since the program as it is visits more often. Samples make the program slower, and the
 * timer not. */
static double least_period(const struct run_point *p, double slower)
{
	if (p->pace <= 0 || p->visits <= 0 || p->time <= p->pace * p->visits)
		return 0;
	return fmin(p->pace * slower, p->time / p->visits);
}

/* Virtual time passes a timer's expiries faster than real time, but none comes early. */
static void bound_visits(struct observation *item, double least)
{
	if (item->permille && item->duration > 0 && item->duration < least * item->delta)
		item->duration = least * item->delta;
	if (item->permille && item->span > 0 && item->span < least * item->span_delta)
		item->span = least * item->span_delta;
}

/*
 * Visits paced from outside do not slow down with the program. So neither delays (docs/design.md,
 * Progress) nor what visits owe to the line are subtracted from their time. @is_paced: most
 * experiments of the run have such visits. Then experiments with visits that were not yet seen as
 * paced tell nothing: a timer is recognised only after some expiries.
 */
static void fill_visits(struct observation *item, const struct point_record *r, bool is_paced)
{
	if (is_paced && !r->paced_ns && r->delta) {
		item->duration = 0;
		return;
	}
	item->delta = (double)r->delta;
	item->visits = (double)(r->bursts ? r->bursts : r->delta);
	if (r->paced_ns) {
		item->duration = (double)r->paced_ns;
		item->line_time = -1;
		return;
	}
	if (r->bursts >= 2 && r->span_ns && r->span_delta) {
		item->span = (double)r->span_ns;
		item->span_delta = (double)r->span_delta;
	}
}

/*
 * Little's law (paper 3.3): mean latency = mean number in flight / rate of arrivals = in-flight x
 * time / arrivals. Coz knows the number only at the close. Requests that were in flight before we
 * looked are added, as far as the number was ever below 0 without them.
 */
static void fill_latency(struct observation *item, const struct point_record *r, int64_t least)
{
	item->record = r;
	item->delta = item->visits = (double)r->arrivals;
	if (r->has_integral)
		item->in_flight = (double)r->integral_ns - (double)least * item->duration;
	else
		item->in_flight = (double)r->difference * item->duration;
}

static int add_visits(struct observations *o, const struct observation *x,
    const struct point_record *r, const struct run_points *points)
{
	struct observation item = *x;
	const struct run_point *known;

	/* a run whose end was not seen */
	if (is_end_to_end(r->name) && !r->is_latency && !r->delta)
		return 0;
	if (point_id(o, r, false, &item.point))
		return -ENOMEM;
	known = find_point(points, item.point);
	fill_visits(&item, r, known && known->paced > 0);
	if (!r->paced_ns && known)
		bound_visits(&item, least_period(known, points->slower));
	return push(o, &item);
}

/* In a sum the ends of a latency point are a point of their own, and the smallest number in flight
 * is accounted for. */
static int add_point(struct observations *o, const struct observation *x, bool is_sum,
    const struct point_record *r, const struct run_points *points)
{
	struct observation item = *x;
	const struct run_point *known;

	if (!(is_sum && r->is_latency) && add_visits(o, x, r, points))
		return -ENOMEM;
	if (!r->is_latency)
		return 0;
	if (point_id(o, r, true, &item.point))
		return -ENOMEM;
	known = find_point(points, item.point);
	fill_latency(&item, r, known && !is_sum ? known->least : 0);
	return push(o, &item);
}

static int add_experiment(
    struct observations *o, const struct profile *p, size_t index, const struct run_points *points)
{
	const struct experiment_record *x = &p->experiments[index];
	struct observation item = {.permille = speedup_permille(x->speedup),
	    .run = x->run,
	    .index = (uint32_t)index,
	    .piece = (uint32_t)index,
	    .fixed = x->fixed,
	    .is_sum = experiment_is_sum(x),
	    .own = experiment_is_sum(x) ? (double)x->experiments : 1,
	    .experiments =
		experiment_is_sum(x) ? fmax((double)x->served, (double)x->experiments) : 1,
	    .duration = (double)x->duration_ns,
	    .samples = (double)x->selected_samples,
	    .line_time = x->has_selected_ns ? (double)x->selected_ns : -1,
	    .loop = x->loops ? (double)x->loop_ns / (double)x->loops : -1,
	    .outsiders =
		x->loops && x->elapsed_ns ? (double)x->outsiders_ns / (double)x->elapsed_ns : -1,
	    .beside = -1,
	    .sampled = (double)(experiment_is_sum(x) ? x->observed_ns : x->duration_ns),
	    .weight = 1,
	    .widen = 1};
	size_t first = o->n;

	/* An experiment without time tells nothing. One without any point is a truncated record. */
	if (!x->duration_ns || !x->n_points)
		return 0;
	if (names_id(&o->lines, x->selected, &item.line))
		return -ENOMEM;
	for (size_t i = 0; i < x->n_points; i++) {
		if (add_point(o, &item, experiment_is_sum(x), &x->points[i], points))
			return -ENOMEM;
	}
	/* Coz writes a point only once it has been visited. A point of the run that is missing here
	 * had no visit, and the time counts. */
	for (size_t i = 0; !experiment_is_sum(x) && points->n <= MAX_FILLED_POINTS && i < points->n;
	     i++) {
		bool there = false;

		for (size_t j = first; j < o->n; j++)
			there |= o->items[j].point == points->items[i].id;
		item.point = points->items[i].id;
		if (!there && !is_latency_point(item.point) && push(o, &item))
			return -ENOMEM;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct observation *x = a, *y = b;

#define ORDER_BY(field)           \
	if (x->field != y->field) \
	return x->field < y->field ? -1 : 1
	ORDER_BY(line);
	ORDER_BY(point);
	ORDER_BY(fixed);
	ORDER_BY(permille);
	ORDER_BY(index);
#undef ORDER_BY
	return 0;
}

int observations_by_point(const void *a, const void *b)
{
	const struct observation *x = a, *y = b;

	if (x->point != y->point)
		return x->point < y->point ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* By which factor samples make a thread slower: each has its part of a period, below a third. */
static double with_samples(const struct profile *p, uint32_t run)
{
	const struct run_record *r = run < p->n_runs ? &p->runs[run] : NULL;

	if (!r || !r->sample_ns || r->sample_ns > r->period_ns / 3)
		return 1;
	return (double)r->period_ns / (double)(r->period_ns - r->sample_ns);
}

int observations_init(struct observations *o, const struct profile *p)
{
	size_t end;

	memset(o, 0, sizeof(*o));
	/* Experiments of a run stand together. */
	for (size_t i = 0; i < p->n_experiments; i = end) {
		struct run_points points = {.slower = with_samples(p, p->experiments[i].run)};

		for (end = i;
		     end < p->n_experiments && p->experiments[end].run == p->experiments[i].run;
		     end++) {
			if (note_points(o, &p->experiments[end], &points))
				goto fail;
		}
		for (size_t j = i; j < end; j++) {
			if (add_experiment(o, p, j, &points))
				goto fail;
		}
	}
	if (o->n)
		qsort(o->items, o->n, sizeof(*o->items), compare);
	return 0;
fail:
	observations_deinit(o);
	return -ENOMEM;
}

void observations_deinit(struct observations *o)
{
	free(o->items);
	names_deinit(&o->lines);
	names_deinit(&o->points);
	memset(o, 0, sizeof(*o));
}

/* Groups */

/* The factor by which weights have to be multiplied to count observations. Their sum is then the
 * number of unweighted observations with the same scatter. */
static double weight_scale(const struct observation *obs, size_t n)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		if (obs[i].span > 0) {
			sum += obs[i].weight;
			squares += obs[i].weight * obs[i].weight;
		}
	}
	return squares > 0 ? sum / squares : 0;
}

/* The squared coefficient of variation of the gaps between bursts: how irregular visits are. It
 * comes from how far spans lie from their cell's period. The variance of a sum of m gaps is m times
 * theirs, so (error / span)^2 x m estimates it. Returns 0 where it cannot be told. */
static double gap_variation(const struct observation *obs, size_t n)
{
	double sum = 0, df = 0;
	size_t end;

	for (size_t i = 0; i < n; i = end) {
		double span = 0, count = 0, known = 0, scale;

		for (end = i; end < n && obs[end].permille == obs[i].permille; end++) {
			span += obs[end].weight * obs[end].span;
			count += obs[end].weight * obs[end].span_delta;
		}
		scale = weight_scale(&obs[i], end - i);
		for (size_t j = i; j < end; j++)
			known += obs[j].span > 0 ? scale * obs[j].weight : 0;
		for (size_t j = i; known >= 2 && j < end; j++) {
			double error = obs[j].span - span / count * obs[j].span_delta;

			if (obs[j].span > 0)
				sum += scale * obs[j].weight * error * error /
				       (obs[j].span * obs[j].span) *
				       (obs[j].visits - obs[j].experiments);
		}
		df += known >= 2 ? known - 1 : 0;
	}
	return df > 0 ? sum / df : 0;
}

static bool use_spans(const struct observation *obs, size_t n, enum estimate_period period)
{
	double known = 0, all = 0;

	if (period != PERIOD_AUTO)
		return period == PERIOD_SPAN;
	for (size_t i = 0; i < n; i++) {
		all += obs[i].weight * obs[i].duration;
		if (obs[i].span > 0)
			known += obs[i].weight * obs[i].duration;
	}
	return known >= MIN_SPAN_SHARE * all && gap_variation(obs, n) <= MAX_GAP_VARIATION;
}

bool observations_choose_period(struct observation *obs, size_t n, enum estimate_period period)
{
	bool span = use_spans(obs, n, period);

	for (size_t i = 0; i < n; i++) {
		obs[i].time = span ? obs[i].span : obs[i].duration;
		obs[i].count = span ? obs[i].span_delta : obs[i].delta;
		obs[i].exposure = obs[i].time;
		if (is_latency_point(obs[i].point))
			obs[i].time = obs[i].in_flight;
		obs[i].raw_time = obs[i].time;
	}
	return span;
}

/*
 * The worth of a weighted cell. With n observations of weight 1 and total time T, a period has the
 * relative variance v / T. n - 1 degrees of freedom are left to tell v. With weights the variance
 * is v sum(w^2 t) / sum(w t)^2. A sum of squares with weights w^2 has Satterthwaite's degrees of
 * freedom: its square / the sum of its terms' squares.
 */
static void weigh_cell(struct cell *c)
{
	double squares = 0, fourth = 0;

	for (size_t i = 0; i < c->n; i++) {
		double v = c->obs[i].weight * c->obs[i].weight * c->obs[i].exposure;

		squares += v;
		fourth += v * v;
	}
	c->effective_n = fourth > 0 ? squares * squares / fourth : 0;
	c->effective_time = squares > 0 ? c->exposure * c->exposure / squares : 0;
}

static bool sum_cell(const struct group *g, struct cell *c)
{
	double weighted = 0, squares = 0, raw_time = 0;

	c->speedup = c->obs[0].permille / 1000.0;
	for (size_t i = 0; i < c->n; i++) {
		const struct observation *o = &c->obs[i];

		c->time += o->weight * o->time;
		raw_time += o->weight * o->raw_time;
		c->count += o->weight * o->count;
		c->exposure += o->weight * o->exposure;
		c->visits += o->visits;
		c->experiments += o->experiments;
		weighted += o->weight * o->visits;
		squares += o->weight * o->weight * o->visits;
		c->is_weighted |= o->weight != 1;
	}
	c->period = c->time / c->count;
	c->raw_period = raw_time / c->count;
	c->effective_n = (double)c->n;
	c->effective_time = c->exposure;
	if (c->is_weighted)
		weigh_cell(c);
	/* Many visits of little weight are as good as a few of full weight. */
	return c->count > 0 && c->time > 0 &&
	       weighted * weighted >= squares * (g->end_to_end ? 1 : MIN_VISITS);
}

/* Takes the observations that count from the @n of @own. Experiments on a line that the user named
 * measure the whole program. Those on a line that a sample picked measure only the phases in which
 * it runs. The two do not mix, so the larger group is taken. */
static const struct observation *choose_sort(const struct observation *own, size_t *n)
{
	size_t random = 0;
	double more = 0;

	for (size_t i = 0; i < *n; i++) {
		random += !own[i].fixed;
		more += own[i].fixed ? own[i].experiments : -own[i].experiments;
	}
	if (more > 0) {
		*n -= random;
		return own + random;
	}
	*n = random;
	return own;
}

/* Any run without a speedup is a baseline: they are one cell, whose runs are not copied. */
static void add_whole_runs(struct group *g, const struct whole_runs *w)
{
	g->baselines = g->served = w->baseline.n;
	g->has_baseline = w->baseline.n;
	if (g->has_baseline)
		g->cells[g->n_cells++] = w->baseline;
}

static int collect(
    struct group *g, const struct observation *own, size_t n, const struct baselines *b)
{
	struct collected all;

	if (baselines_collect(g->end_to_end ? NULL : b, own, n, &all))
		return -ENOMEM;
	g->obs = all.obs;
	g->n = all.n;
	g->baselines = all.baselines;
	g->cells = calloc(n + 1, sizeof(*g->cells));
	if (!g->cells) {
		group_deinit(g);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		g->visits += own[i].delta;
		g->experiments += (uint64_t)own[i].own;
	}
	for (size_t i = 0; i < g->baselines; i++)
		g->served += (uint64_t)g->obs[i].experiments;
	return 0;
}

int group_init(struct group *g, const struct observations *o, const struct shared *s, size_t first,
    size_t n, enum estimate_period period)
{
	const struct observation *own = choose_sort(&o->items[first], &n);
	size_t end;

	memset(g, 0, sizeof(*g));
	g->line_id = own->line;
	g->line = o->lines.items[own->line];
	g->progress = o->points.items[own->point / 2];
	g->is_latency = is_latency_point(own->point);
	g->end_to_end = is_end_to_end(g->progress) && !g->is_latency;
	g->is_fixed = own->fixed;
	g->phase = 1;
	if (collect(g, own, n, &s->baselines))
		return -ENOMEM;
	if (g->end_to_end)
		add_whole_runs(g, &s->runs);
	observations_choose_period(g->obs, g->n, g->end_to_end ? PERIOD_DURATION : period);
	if (s->machines && !g->end_to_end && machine_tally_line(s->machines, o, g->obs, g->n)) {
		group_deinit(g);
		return -ENOMEM;
	}
	if (!g->is_latency && !g->end_to_end) {
		observations_control(g->obs, g->n, &g->control);
		if (observations_trust(g->obs, g->n, &g->doubtful)) {
			group_deinit(g);
			return -ENOMEM;
		}
	}
	for (size_t i = 0; i < g->n; i = end) {
		struct cell c = {.obs = &g->obs[i]};

		for (end = i + 1; end < g->n && g->obs[end].permille == g->obs[i].permille; end++)
			;
		c.n = end - i;
		if (!sum_cell(g, &c))
			continue;
		g->has_baseline |= !c.obs->permille;
		g->cells[g->n_cells++] = c;
	}
	return 0;
}

void group_deinit(struct group *g)
{
	free(g->obs);
	free(g->cells);
	memset(g, 0, sizeof(*g));
}
