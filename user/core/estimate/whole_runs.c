// SPDX-License-Identifier: BSD-3-Clause
/*
 * Lines where a whole run of the command is one experiment: a run is one observation, and there are
 * few. So nothing is left to a cell of its own: the runs of a line share a regression, and all runs
 * share what is known of their spread.
 *
 * - A run without a speedup is a baseline of every line: nothing was selected in it, whatever its
 *   record names.
 * - A run's time differs from the mean of its cell by the spread. Baselines have a spread, and runs
 *   with a speedup, of all lines together, have another one. Spread is relative to the cell's mean:
 *   measured, runs that are half as long differ by half as much. SCALE_MIN bounds that from below,
 *   since pauses err as well.
 * - The mean of a cell has the spread / its runs as variance. A slope is a weighted sum of such
 *   means, and Satterthwaite's formula gives its degrees of freedom: Student's t as with Welch.
 * - Residuals are those of cells, not of the regression: curves saturate, which is no spread.
 *
 * What outsiders take is no spread. While threads are in a pause outsiders run, and then less where
 * the run counts: a line without effect seemed to gain 0.14 to 0.20 where outsiders had 4 to 9 % of
 * the CPU time (docs/answers.md). So their share is added to an interval as it is, and not as a
 * part of the gain.
 */
#include "core/estimate/private.h"

#include <math.h>
#include <string.h>

#include "core/estimate/stats.h"

/* with fewer degrees of freedom a spread is no estimate */
#define MIN_DF 2
/* Below that a spread may be small by luck. Of runs with a speedup it is not taken to be smaller
 * than that of the others then. */
#define FEW_DF 6
/* of a line, with a speedup: a single run may have been disturbed by anything */
#define MIN_RUNS 3
/* of the baseline's period */
#define SCALE_MIN 0.5

static double time_of(const struct observation *o)
{
	return o->duration / o->delta;
}

/* Adds the squared distances of the @n runs of one cell to @squares, relative to their mean. */
static void add_spread(const struct observation *obs, size_t n, double mean, struct spread *to)
{
	for (size_t i = 0; i < n; i++)
		to->variance += pow(time_of(&obs[i]) / mean - 1, 2);
	to->df += (double)n - 1;
}

static double mean_of(const struct observation *obs, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += time_of(&obs[i]);
	return sum / (double)n;
}

/* The point's number; UINT32_MAX: no run is an experiment as a whole. */
static uint32_t find_point(const struct observations *o)
{
	uint32_t name = names_find(&o->points, END_TO_END);

	return name == UINT32_MAX ? name : 2 * name;
}

static size_t end_of_cell(const struct observations *o, size_t first)
{
	const struct observation *x = &o->items[first];
	size_t end = first + 1;

	while (end < o->n && o->items[end].line == x->line && o->items[end].point == x->point &&
	       o->items[end].fixed == x->fixed && o->items[end].permille == x->permille)
		end++;
	return end;
}

static void add_baselines(struct cell *c, const struct observation *obs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		c->time += time_of(&obs[i]);
	c->n += n;
}

static void finish_baseline(struct cell *c)
{
	c->count = c->visits = c->experiments = c->effective_n = (double)c->n;
	c->exposure = c->effective_time = c->time;
	c->period = c->raw_period = c->time / c->count;
}

/* Where one of the two is not known, the other one has to do for both. */
static void share_spread(struct whole_runs *w)
{
	struct spread both = {
	    w->baselines.variance + w->speedups.variance, w->baselines.df + w->speedups.df};

	both.variance /= fmax(both.df, 1);
	w->baselines.variance /= fmax(w->baselines.df, 1);
	w->speedups.variance /= fmax(w->speedups.df, 1);
	w->is_shared = w->baselines.df < MIN_DF || w->speedups.df < MIN_DF;
	if (w->is_shared)
		w->baselines = w->speedups = both;
	else if (w->speedups.df < FEW_DF)
		w->speedups.variance = fmax(w->speedups.variance, w->baselines.variance);
}

void whole_runs_init(struct whole_runs *w, const struct observations *o)
{
	uint32_t point = find_point(o);
	size_t end;

	memset(w, 0, sizeof(*w));
	for (size_t i = 0; point != UINT32_MAX && i < o->n; i = end) {
		const struct observation *x = &o->items[i];

		end = end_of_cell(o, i);
		if (x->point != point)
			continue;
		if (!x->permille)
			add_baselines(&w->baseline, x, end - i);
		else
			add_spread(x, end - i, mean_of(x, end - i), &w->speedups);
	}
	if (!w->baseline.n)
		return;
	finish_baseline(&w->baseline);
	for (size_t i = 0; i < o->n; i++)
		if (o->items[i].point == point && !o->items[i].permille)
			w->baselines.variance +=
			    pow(time_of(&o->items[i]) / w->baseline.period - 1, 2);
	w->baselines.df = (double)w->baseline.n - 1;
	share_spread(w);
}

/* A figure: @factors[i] times the program speedup of cell i, added up over the cells @from to @to.
 * Returns its standard error. */
static double error_of(const struct group *g, const struct whole_runs *w, const double *factors,
    size_t from, size_t to, double *ret_df)
{
	double baseline = 0, cells = 0, sum;

	for (size_t i = from; i < to; i++) {
		double ratio = g->cells[i].period / g->cells[0].period;

		baseline += factors[i] * ratio;
		cells += pow(factors[i] * fmax(ratio, SCALE_MIN), 2) / (double)g->cells[i].n;
	}
	cells *= w->speedups.variance;
	baseline *= baseline * w->baselines.variance / (double)g->cells[0].n;
	sum = cells + baseline;
	if (w->is_shared)
		*ret_df = w->speedups.df;
	else if (sum > 0)
		*ret_df = sum * sum /
			  (cells * cells / w->speedups.df + baseline * baseline / w->baselines.df);
	else
		*ret_df = INFINITY;
	return sqrt(sum);
}

/* The interval of such a figure, whose value is @value. Returns the chance that spread alone brings
 * a true 0 as far from 0. */
static double interval(const struct group *g, const struct estimate_options *o, double value,
    double error, double df, double *lo, double *hi)
{
	double half = student_975(df) * error;

	if (!o->scatter_only)
		half = hypot(half, method_error(g) * value) + OUTSIDERS_TIMES * g->outsiders;
	*lo = value - half;
	*hi = value + half;
	if (!(error > 0))
		return value != 0 ? 0 : 1;
	return student_chance(value / error, df);
}

/* The factors that make a slope of program speedups. */
static void slope_factors(const struct group *g, enum sort_key key, double *weights, double *ret)
{
	double xx = 0;

	regression_weights(g, key, weights);
	for (size_t i = 1; i < g->n_cells; i++)
		xx += weights[i] * g->cells[i].speedup * g->cells[i].speedup;
	for (size_t i = 1; i < g->n_cells; i++)
		ret[i] = weights[i] * g->cells[i].speedup / xx;
}

static void fill_points(const struct group *g, const struct whole_runs *w,
    const struct estimate_options *o, struct estimate_line *line)
{
	double factors[1001], df, error;

	line->rank_keys[SORT_MAX] = -INFINITY;
	for (size_t i = 1; i < g->n_cells; i++) {
		struct estimate_point *p = &line->points[i - 1];

		factors[i] = 1;
		error = error_of(g, w, factors, i, i + 1, &df);
		interval(g, o, p->program_speedup, error, df, &p->ci_lo, &p->ci_hi);
		p->ci_hi = fmin(p->ci_hi, 1); /* no run takes less than no time */
		line->rank_keys[SORT_MAX] = fmax(line->rank_keys[SORT_MAX], p->ci_lo);
	}
}

/* A regression's value and interval. */
static double fill_slope(const struct group *g, const struct whole_runs *w,
    const struct estimate_options *o, enum sort_key key, struct estimate_line *line)
{
	double weights[1001], factors[1001], value = 0, error, lo, hi, chance;

	slope_factors(g, key, weights, factors);
	for (size_t i = 1; i < g->n_cells; i++)
		value += factors[i] * line->points[i - 1].program_speedup;
	error = error_of(g, w, factors, 1, g->n_cells, &line->df);
	chance = interval(g, o, value, error, line->df, &lo, &hi);
	line->rank_keys[key] = lo;
	if (key != SORT_SLOPE)
		return chance;
	line->slope_lo = lo;
	line->slope_hi = hi;
	line->max_speedup = curve_maximum(g, weights, line->points);
	return chance;
}

/* Whether the runs of a line, @g, and those of all lines say how far runs differ. */
static bool tell(const struct group *g, const struct whole_runs *w)
{
	size_t n = 0;

	for (size_t i = 1; i < g->n_cells; i++)
		n += g->cells[i].n;
	return n >= MIN_RUNS && w->baselines.df >= MIN_DF && w->speedups.df >= MIN_DF;
}

void whole_runs_line(const struct group *g, const struct whole_runs *w,
    const struct estimate_options *o, struct estimate_line *line)
{
	if (!tell(g, w))
		return;
	fill_points(g, w, o, line);
	fill_slope(g, w, o, SORT_PAYBACK, line);
	fill_slope(g, w, o, SORT_IMPACT, line);
	line->chance = fill_slope(g, w, o, SORT_SLOPE, line);
}
