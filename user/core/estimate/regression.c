// SPDX-License-Identifier: BSD-3-Clause
/*
 * The curve of a line in one number: the regression through 0 that ranks it, in three weightings,
 * and its largest gain.
 *
 * Curves saturate: once another thread is the slowest, a faster line gains nothing more
 * (20/30/30/30 % at 25/50/75/100 %). The slope summarises the whole curve; the points tell the
 * rest.
 */
#include "core/estimate/private.h"

#include <math.h>

#define SMOOTH_WIDTH 0.1 /* line speedup: cells nearer than this help each other */
/* limits a weight: a cell with a period of nearly 0 is odd, not certain */
#define MIN_PERIOD_RATIO 0.1

static double amount(const struct group *g, const struct cell *c)
{
	return g->is_latency ? c->exposure : c->count;
}

/*
 * A cell's weight is the inverse of its variance. y = 1 - p / p_0 varies with (p / p_0)^2 times the
 * relative variance of p, which falls with the observed time. A cell of a few experiments cannot
 * tell its own variance: weights that follow the noise bias the slope and its interval. So the
 * relative variance per time is taken as one for all cells of a line, and p / p_0 comes from a
 * first regression. All cells share the baseline's error, which hardly changes the weights' ratio,
 * and the bootstrap sees that error.
 *
 * Time is taken as count x p_0 x (p / p_0), so the slope is made of sums of count - time / p_0,
 * which are right on the average. By time it would be a mean of time / count, which scatter makes
 * too large. With that, lines without effect seemed to lose 2 to 7 times as often as to gain
 * (test_intervals.c).
 *
 * The keys that lean to payback rate or to maximum impact weigh points of low or of high line
 * speedup more (an earlier draft of the paper, "Ranking Optimization Opportunities"). The factors
 * are 1/x^2, which gives the mean of y / x, and x^2.
 */
void regression_weights(const struct group *g, enum sort_key key, double *weights)
{
	double xy = 0, xx = 0;

	for (size_t i = 1; i < g->n_cells; i++) {
		const struct cell *c = &g->cells[i];

		xy += amount(g, c) * c->speedup * (1 - c->period / g->cells[0].period);
		xx += amount(g, c) * c->speedup * c->speedup;
	}
	for (size_t i = 1; i < g->n_cells; i++) {
		const struct cell *c = &g->cells[i];
		double ratio = fmax(1 - xy / xx * c->speedup, MIN_PERIOD_RATIO);

		/* A latency's relative variance falls with the duration, which does not depend on
		 * p. */
		weights[i] = amount(g, c) / (g->is_latency ? ratio * ratio : ratio);
		if (key == SORT_PAYBACK)
			weights[i] /= c->speedup * c->speedup;
		else if (key == SORT_IMPACT)
			weights[i] *= c->speedup * c->speedup;
	}
}

double regression_slope(const struct group *g, const double *weights, const double *y)
{
	double xy = 0, xx = 0;

	for (size_t i = 1; i < g->n_cells; i++) {
		xy += weights[i] * g->cells[i].speedup * y[i];
		xx += weights[i] * g->cells[i].speedup * g->cells[i].speedup;
	}
	return xy / xx;
}

/*
 * The largest gain: the highest place of the curve among points whose interval says that they gain
 * at all. The curve is a running weighted mean. On the 5 % grid of random speedups it spans a point
 * and its two neighbours. So the maximum is not just the luckiest of twenty. Points of a list stand
 * farther apart and are taken as they are. No shape is forced on the curve: it may fall again.
 */
double curve_maximum(
    const struct group *g, const double *weights, const struct estimate_point *points)
{
	double best = 0;

	for (size_t i = 1; i < g->n_cells; i++) {
		double sum = 0, weight = 0;

		if (!(points[i - 1].ci_lo > 0))
			continue;
		for (size_t j = 1; j < g->n_cells; j++) {
			double near =
			    1 - fabs(g->cells[i].speedup - g->cells[j].speedup) / SMOOTH_WIDTH;

			/* Neighbours on a grid of 0.1 are SMOOTH_WIDTH apart, up to rounding. */
			if (near < 1e-9)
				continue;
			sum += near * weights[j] * points[j - 1].program_speedup;
			weight += near * weights[j];
		}
		best = fmax(best, sum / weight);
	}
	return best;
}
