// SPDX-License-Identifier: BSD-3-Clause
/*
 * Intervals, by bootstrap over experiments.
 *
 * An experiment's residual is e = time - period x count, with its cell's period. To first order the
 * relative error of a cell's period is sum(e) / sum(time). A replicate draws as many residuals as
 * the cell has experiments, with replacement. It then recomputes periods, phase factor, program
 * speedups and slope.
 *
 * The plain percentile bootstrap fails with few experiments. By simulation its 95 % intervals for a
 * slope hold 86 to 89 % with 5 experiments a cell, 89 to 93 with 6, and 90 to 94 with 12. Three
 * things repair that:
 * - Residuals are smaller than errors, since the period was fitted to them. Each is divided by
 *   sqrt(1 - its share of the cell's time). This alone gives 90 to 92, 90 to 95 and 91 to 94 %.
 * - A cell of fewer than MIN_OWN experiments borrows: random speedups give many cells of one or
 *   two. It borrows residuals of the line's other cells, on the scale of its own time, and how far
 *   cells lie off the line between their two neighbours. Five to ten experiments tell little about
 *   their spread, and may by luck have missed what disturbed others. Where the baselines, which are
 *   many more, give the wider interval, they are believed instead. Mixed with the baselines the
 *   line's own scatter would drown: 80 % for a line of 5 to 7 experiments that scatter by 12 %
 *   beside baselines of 7 %.
 * - The spread itself is known from few residuals. So percentiles are stretched about the estimate
 *   by the ratio of Student's quantile to the normal one. Satterthwaite's formula gives the degrees
 *   of freedom for a sum of cells of different spread.
 *
 * Baselines that several lines share have weights. Each residual is drawn together with its own
 * weight, since baselines of other phases have large residuals and small weights. The sum of more
 * than MANY of them is drawn as a normal number. So it is with experiments that trust.c takes for
 * disturbed. Where control.c brought periods to a common time of the line per visit, that time's
 * error is drawn once for all cells.
 *
 * Experiments are drawn one by one, not in blocks of time. Their order is random, so each cell has
 * its part of a slow stretch: tests/unit/test_noise.c has the coverage.
 *
 * Experiments cannot tell by how much the method itself errs. method_error() is added, as the
 * square root of the sum of squares. Without that, and with all of the rest, 92 to 99 % hold: the
 * table is in the head of tests/unit/test_intervals.c. Experiments have to be in random order. Then
 * a machine whose speed wanders is noise like any other.
 */
#include "core/estimate/private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/stats.h"

#define DEFAULT_REPLICATES 1000
#define MIN_REPLICATES 40 /* fewer have no 2.5 % quantile */
#define MIN_OWN 5         /* from so many experiments on, a cell uses its own residuals */
#define MIN_DF 2          /* with fewer, the spread is unknown */
#define MANY 40           /* a sum of more terms is nearly normal */

/* Residuals per sqrt(exposure), so that experiments of different length are comparable. */
struct pool {
	double *z;
	size_t n;
	double df;
	double variance; /* mean of squares: a period's relative variance is variance / time */
};

/* Orders with regressions of their own, which lean to small or to large speedups. */
static const enum sort_key leaning[] = {SORT_PAYBACK, SORT_IMPACT};
#define N_LEANING (sizeof(leaning) / sizeof(leaning[0]))

struct bootstrap {
	const struct group *g;
	struct pool *own; /* by cell */
	struct pool shared;
	const struct pool **used; /* by cell: own or shared */
	/* relative standard deviation of the phase factor, if drawn as a normal number */
	double phase_error;
	double *weights, *key_weights; /* by cell; @key_weights once for each of `leaning` */
	double *y;                     /* of one replicate, by cell */
	/* n_cells - 1 rows of points, then slope, then `leaning`; @n values each */
	double *replicates;
	size_t n;
	double method_error; /* half of a 95 % interval, relative to the estimate */
};

static void pool_add(struct pool *p, double z)
{
	p->variance = (p->variance * (double)p->n + z * z) / (double)(p->n + 1);
	p->z[p->n++] = z;
}

/* The share of an observation's error variance that the fitted period has taken out of its
 * residual. */
static double leverage(const struct cell *c, const struct observation *o)
{
	double h = o->weight * o->exposure / c->exposure;

	return c->is_weighted ? 2 * h - o->exposure / c->effective_time : h;
}

/* The mean square of a weighted cell's residuals, each weighted as in the period's variance. */
static double weighted_variance(const struct pool *p, const struct cell *c)
{
	double sum = 0, weight = 0;

	for (size_t i = 0; i < c->n; i++) {
		double v = c->obs[i].weight * c->obs[i].weight * c->obs[i].exposure;

		sum += v * p->z[i] * p->z[i];
		weight += v;
	}
	return sum / weight;
}

static int pool_cell(struct pool *p, const struct cell *c)
{
	p->z = calloc(c->n, sizeof(*p->z));
	if (!p->z)
		return -ENOMEM;
	if (c->n < 2)
		return 0;
	for (size_t i = 0; i < c->n; i++) {
		/* Relative to the exposed time. */
		double t = c->obs[i].exposure,
		       e = (c->obs[i].time - c->period * c->obs[i].count) * (c->exposure / c->time);
		double left = 1 - leverage(c, &c->obs[i]);

		/* Where spans count, an experiment without a span has neither time nor count. */
		if (t > 0 && left > 0)
			pool_add(p, e * c->obs[i].widen / sqrt(t * left));
		else
			pool_add(p, 0);
	}
	p->df = c->effective_n - 1;
	if (c->is_weighted)
		p->variance = weighted_variance(p, c);
	return 0;
}

/* @c: the cell of @from. What was left out there is left out here. */
static void pool_append(struct pool *p, const struct pool *from, const struct cell *c)
{
	for (size_t i = 0; i < from->n; i++)
		if (c->obs[i].weight > 0)
			pool_add(p, from->z[i]);
	p->df += from->df;
}

/* How far the cell between @a and @b lies off their chord, in units of its standard error's
 * sqrt(time). That is the scatter of single experiments, plus the bend of the curve. */
static double interpolation_residual(
    const struct cell *a, const struct cell *c, const struct cell *b)
{
	double share = (c->speedup - a->speedup) / (b->speedup - a->speedup);
	double off = log(c->period) - (1 - share) * log(a->period) - share * log(b->period);

	return off / sqrt(1 / c->effective_time + (1 - share) * (1 - share) / a->effective_time +
			  share * share / b->effective_time);
}

/* The half width of an interval made of the pool, up to a factor. */
static double half_width(const struct pool *p)
{
	return student_975(p->df) * sqrt(p->variance);
}

static void pool_widen(struct pool *p, const struct pool *to)
{
	double scale = p->variance > 0 ? sqrt(to->variance / p->variance) : 0;

	for (size_t i = 0; i < p->n; i++)
		p->z[i] = scale > 0 ? p->z[i] * scale : sqrt(to->variance);
	p->variance = to->variance;
	p->df = to->df;
}

static int fill_shared(struct bootstrap *b)
{
	const struct group *g = b->g;
	bool needed = false;

	b->shared.z = calloc(g->n + g->n_cells, sizeof(*b->shared.z));
	if (!b->shared.z)
		return -ENOMEM;
	for (size_t i = 1; i < g->n_cells; i++) {
		pool_append(&b->shared, &b->own[i], &g->cells[i]);
		needed |= g->cells[i].effective_n < MIN_OWN;
	}
	/* Neighbouring chords share cells, so three of them count as two. */
	for (size_t i = 1; needed && i + 1 < g->n_cells; i++) {
		if (g->cells[i].effective_n >= MIN_OWN)
			continue;
		pool_add(&b->shared,
		    interpolation_residual(&g->cells[i - 1], &g->cells[i], &g->cells[i + 1]));
		b->shared.df += 2.0 / 3;
	}
	if (g->cells[0].effective_n < MIN_OWN || b->shared.df < MIN_DF)
		pool_append(&b->shared, &b->own[0], &g->cells[0]);
	else if (half_width(&b->shared) < half_width(&b->own[0]))
		pool_widen(&b->shared, &b->own[0]);
	return 0;
}

/* For many weighted baselines, to first order; 0 where baselines have to be drawn one by one. */
static double find_phase_error(const struct group *g)
{
	double sum = 0, all = 0;

	if (!g->has_phase || !g->n_cells || !g->cells[0].is_weighted || g->phase_baselines <= MANY)
		return 0;
	for (size_t i = 0; i < g->baselines; i++) {
		const struct observation *o = &g->obs[i];
		double error = o->weight * (o->samples - g->phase_rate * o->sampled);

		if (!g->phase_runs[o->run])
			continue;
		sum += error * error;
		all += o->weight * o->samples;
	}
	return sqrt(sum) / all;
}

static void bootstrap_deinit(struct bootstrap *b)
{
	for (size_t i = 0; b->own && i < b->g->n_cells; i++)
		free(b->own[i].z);
	free(b->own);
	free(b->shared.z);
	free(b->used);
	free(b->weights);
	free(b->key_weights);
	free(b->y);
	free(b->replicates);
}

double method_error(const struct group *g)
{
	return hypot(METHOD_ERROR, fmin(MISPLACED_TIMES * g->misplaced, MISPLACED_MOST));
}

static int bootstrap_init(
    struct bootstrap *b, const struct group *g, const struct estimate_options *o)
{
	memset(b, 0, sizeof(*b));
	b->g = g;
	b->method_error =
	    o->scatter_only
		? 0
		: hypot(method_error(g), fmin(OUTSIDERS_TIMES * g->outsiders, OUTSIDERS_MOST));
	b->n = (size_t)(o->replicates ? o->replicates : DEFAULT_REPLICATES);
	if (b->n < MIN_REPLICATES)
		b->n = MIN_REPLICATES;
	b->own = calloc(g->n_cells, sizeof(*b->own));
	b->used = calloc(g->n_cells, sizeof(*b->used));
	b->weights = calloc(g->n_cells, sizeof(*b->weights));
	b->key_weights = calloc(g->n_cells * N_LEANING, sizeof(*b->key_weights));
	b->y = calloc(g->n_cells, sizeof(*b->y));
	b->replicates = calloc(b->n * (g->n_cells + N_LEANING), sizeof(*b->replicates));
	if (!b->own || !b->used || !b->weights || !b->key_weights || !b->y || !b->replicates)
		goto fail;
	for (size_t i = 0; i < g->n_cells; i++) {
		if (pool_cell(&b->own[i], &g->cells[i]))
			goto fail;
	}
	if (fill_shared(b))
		goto fail;
	for (size_t i = 0; i < g->n_cells; i++)
		b->used[i] = g->cells[i].effective_n >= MIN_OWN ? &b->own[i] : &b->shared;
	b->phase_error = find_phase_error(g);
	regression_weights(g, SORT_SLOPE, b->weights);
	for (size_t k = 0; k < N_LEANING; k++)
		regression_weights(g, leaning[k], b->key_weights + k * g->n_cells);
	return 0;
fail:
	bootstrap_deinit(b);
	return -ENOMEM;
}

static double draw_normal(struct rng *rng)
{
	double u = ((double)(rng_next(rng) >> 11) + 0.5) * 0x1p-53,
	       v = (double)(rng_next(rng) >> 11) * 0x1p-53;

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* The same for a cell with weights that has residuals of its own. */
static double draw_weighted(const struct pool *p, const struct cell *c, struct rng *rng)
{
	double sum = 0;

	if (c->n > MANY)
		return draw_normal(rng) * sqrt(p->variance / c->effective_time);
	for (size_t i = 0; i < c->n; i++) {
		size_t j = rng_below(rng, c->n);

		sum += p->z[j] * c->obs[j].weight * sqrt(c->obs[j].exposure);
	}
	return sum / c->exposure;
}

/* A relative error of the cell's period. Errors that were not seen in this cell have no side, so
 * the sign is drawn too. */
static double draw_error(const struct bootstrap *b, size_t cell, struct rng *rng)
{
	const struct cell *c = &b->g->cells[cell];
	const struct pool *p = b->used[cell];
	double sum = 0;

	if (c->is_weighted && p == &b->own[cell])
		return draw_weighted(p, c, rng);
	for (size_t i = 0; i < c->n; i++) {
		uint64_t random = rng_next(rng);
		double z = p->z[((random >> 32) * p->n) >> 32] * sqrt(c->obs[i].exposure) *
			   c->obs[i].weight;

		sum += p == &b->shared && (random & 1) ? -z : z;
	}
	return sum / c->exposure;
}

/* A replicate of the cell's period. @off: error of the line's time per visit. */
static double draw_period(const struct bootstrap *b, size_t cell, double off, struct rng *rng)
{
	const struct cell *c = &b->g->cells[cell];

	return c->period * exp(draw_error(b, cell, rng)) +
	       off * control_slope(&b->g->control, c->speedup);
}

/* One of the baselines that the phase factor is made of. */
static const struct observation *draw_baseline(const struct group *g, struct rng *rng)
{
	const struct observation *o;

	do {
		o = &g->obs[rng_below(rng, g->baselines)];
	} while (!g->phase_runs[o->run]);
	return o;
}

/* A replicate of the phase factor. Its baselines are drawn apart from the period's, since their
 * errors have other causes. */
static double draw_phase(const struct bootstrap *b, struct rng *rng)
{
	const struct group *g = b->g;
	double time = 0, samples = 0;

	if (!g->has_phase)
		return g->phase;
	if (b->phase_error > 0)
		return fmin(g->phase_unclamped * exp(b->phase_error * draw_normal(rng)), 1);
	for (size_t i = 0; i < g->phase_baselines; i++) {
		const struct observation *o = draw_baseline(g, rng);

		time += o->weight * o->sampled;
		samples += o->weight * o->samples;
	}
	return samples > 0 ? fmin(g->phase_unclamped * g->phase_rate / (samples / time), 1) : 1;
}

static void replicate(struct bootstrap *b, size_t index, struct rng *rng)
{
	const struct group *g = b->g;
	size_t n = g->n_cells;
	double off = g->control.x_error > 0 ? g->control.x_error * draw_normal(rng) : 0;
	double baseline = draw_period(b, 0, off, rng), phase = draw_phase(b, rng);

	for (size_t i = 1; i < n; i++) {
		b->y[i] = phase * (1 - draw_period(b, i, off, rng) / baseline);
		b->replicates[(i - 1) * b->n + index] = b->y[i];
	}
	b->replicates[(n - 1) * b->n + index] = regression_slope(g, b->weights, b->y);
	for (size_t k = 0; k < N_LEANING; k++)
		b->replicates[(n + k) * b->n + index] =
		    regression_slope(g, b->key_weights + k * n, b->y);
}

/* Satterthwaite's degrees of freedom of a sum over cells. Cell i > 0 has the factor @a[i], and the
 * baseline has minus the sum of all. */
static double degrees(const struct bootstrap *b, const double *a, size_t from, size_t to)
{
	const struct group *g = b->g;
	double shared = 0, sum = 0, squares = 0, all = 0, v;

	for (size_t i = from; i < to; i++) {
		all += a[i];
		v = a[i] * a[i] * b->used[i]->variance / g->cells[i].effective_time;
		sum += v;
		/* All cells that borrow share one estimate. */
		if (b->used[i] == &b->shared)
			shared += v;
		else if (b->own[i].df > 0)
			squares += v * v / b->own[i].df;
	}
	v = all * all * b->used[0]->variance / g->cells[0].effective_time;
	sum += v;
	if (b->used[0] == &b->shared)
		shared += v;
	else
		squares += v * v / b->own[0].df;
	if (b->shared.df > 0)
		squares += shared * shared / b->shared.df;
	/* No scatter at all: the measured value is exact, and stretching changes nothing. */
	return squares > 0 ? sum * sum / squares : INFINITY;
}

/* Returns the probability that scatter alone brings a true 0 as far from 0. */
static double interval(
    struct bootstrap *b, size_t row, double estimate, double df, double *lo, double *hi)
{
	double *values = &b->replicates[row * b->n];
	double stretch = student_975(df) / NORMAL_975;
	size_t tail = (size_t)((double)(b->n + 1) * 0.025) - 1;
	/* The end nearer to 0: what was left out may have been the program's doing. */
	double half, less = hypot(b->method_error, b->g->doubtful);

	*lo = estimate + stretch * (fmin(select_kth(values, b->n, tail), estimate) - estimate);
	*hi = estimate +
	      stretch * (fmax(select_kth(values, b->n, b->n - 1 - tail), estimate) - estimate);
	half = estimate > 0 ? estimate - *lo : *hi - estimate;
	*lo = estimate - hypot(estimate - *lo, (estimate > 0 ? less : b->method_error) * estimate);
	*hi = estimate + hypot(*hi - estimate, (estimate > 0 ? b->method_error : less) * estimate);
	if (!(half > 0))
		return estimate != 0 ? 0 : 1;
	return student_chance(estimate / half * stretch * NORMAL_975, df);
}

/* Whether the spread of every cell is known. */
static bool has_spread(const struct bootstrap *b)
{
	for (size_t i = 0; i < b->g->n_cells; i++) {
		if (!b->used[i]->n || b->used[i]->df < MIN_DF)
			return false;
	}
	return true;
}

/* Intervals of the mean latencies themselves, which share no error with the baseline's. */
static void fill_means(const struct bootstrap *b, struct estimate_line *line)
{
	for (size_t i = 0; line->latencies && i < b->g->n_cells; i++) {
		struct latency_figure *mean = &line->latencies[i].mean;
		double wide = student_975(b->used[i]->df) *
			      sqrt(b->used[i]->variance / b->g->cells[i].effective_time);

		mean->lo = mean->value * exp(-wide);
		mean->hi = mean->value * exp(wide);
	}
}

static void fill_intervals(struct bootstrap *b, struct estimate_line *line)
{
	const struct group *g = b->g;
	size_t n = g->n_cells;
	double xx = 0, df, hi, *a = b->y, estimate;

	for (size_t i = 1; i < n; i++) {
		struct estimate_point *p = &line->points[i - 1];

		a[i] = g->cells[i].period / g->cells[0].period;
		interval(
		    b, i - 1, p->program_speedup, degrees(b, a, i, i + 1), &p->ci_lo, &p->ci_hi);
		/* An interval may be stretched, but no period is below 0. */
		p->ci_hi = fmin(p->ci_hi, fmax(g->phase, p->program_speedup));
	}
	for (size_t i = 1; i < n; i++)
		xx += b->weights[i] * g->cells[i].speedup * g->cells[i].speedup;
	for (size_t i = 1; i < n; i++)
		a[i] *= b->weights[i] * g->cells[i].speedup / xx;
	df = line->df = degrees(b, a, 1, n);
	line->chance = interval(b, n - 1, line->slope, df, &line->slope_lo, &line->slope_hi);
	for (size_t i = 1; i < n; i++)
		a[i] = line->points[i - 1].program_speedup;
	for (size_t k = 0; k < N_LEANING; k++) {
		estimate = regression_slope(g, b->key_weights + k * n, a);
		interval(b, n + k, estimate, df, &line->rank_keys[leaning[k]], &hi);
	}
	line->rank_keys[SORT_SLOPE] = line->slope_lo;
	line->rank_keys[SORT_MAX] = -INFINITY;
	for (size_t i = 0; i < line->n_points; i++)
		line->rank_keys[SORT_MAX] = fmax(line->rank_keys[SORT_MAX], line->points[i].ci_lo);
	line->max_speedup = curve_maximum(g, b->weights, line->points);
}

/* The same names give the same draws, whichever other lines there are. */
static uint64_t seed_of(const struct group *g, uint64_t seed)
{
	for (const char *s = g->line; *s; s++)
		seed = (seed ^ (unsigned char)*s) * 0x100000001b3ULL;
	for (const char *s = g->progress; *s; s++)
		seed = (seed ^ (unsigned char)*s) * 0x100000001b3ULL;
	return seed;
}

int bootstrap_line(
    const struct group *g, const struct estimate_options *o, struct estimate_line *line)
{
	struct rng rng = {.state = seed_of(g, o->seed)};
	struct bootstrap b;

	if (bootstrap_init(&b, g, o))
		return -ENOMEM;
	if (has_spread(&b)) {
		for (size_t i = 0; i < b.n; i++)
			replicate(&b, i, &rng);
		fill_intervals(&b, line);
		fill_means(&b, line);
	}
	bootstrap_deinit(&b);
	return 0;
}
