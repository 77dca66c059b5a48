// SPDX-License-Identifier: BSD-3-Clause
/*
 * Intervals of significance and range: what as many other runs would tell, on average. Runs are
 * drawn again with replacement, and what they have in common is drawn with its error (pool.c). A
 * greatest value is never above the greatest one that was seen, so draws tell only the distance
 * downwards, from the figure to their 2.5 % quantile. The interval is so long downwards, and longer
 * upwards by UPWARDS, which tests/unit/test_blocks_analyse.c has set by simulation. What happens in
 * fewer than one of the runs seen is beyond any interval.
 */
#include "core/blocks/analyse_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/estimate/stats.h"
#include "core/experiment/rng.h"

#define REPLICATES 1000
#define DRAWS 1000000 /* of runs, for a block: fewer replicates where there are many runs */
#define LEAST_REPLICATES 200
#define DOWNWARDS 1.25
#define UPWARDS 2

struct draws {
	const struct block_in_run **by_run; /* NULL: not executed in that run */
	double *significance, *range;
	size_t n;
	double error; /* relative, of the frequency that runs have in common */
};

/* By the sum of twelve uniform numbers. */
static double draw_normal(struct rng *rng)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)rng_below(rng, 1u << 30) / (1u << 30);
	return sum;
}

/* A run in which the block was not executed draws nothing: it has no time there. */
static void draw(const struct block_analysis *a, struct draws *d, size_t at, struct rng *rng)
{
	double frequency = 0, avg = NAN, min = NAN, max = NAN;
	double common = exp(d->error * draw_normal(rng));

	for (size_t i = 0; i < a->n_runs; i++) {
		const struct block_in_run *in = d->by_run[rng_below(rng, a->n_runs)];

		if (!in)
			continue;
		avg = fmax(avg, in->avg_ns / (in->is_sampled ? common : 1));
		frequency = fmax(frequency, in->frequency * (in->is_own ? 1 : common));
		min = fmin(min, in->min_ns);
		max = fmax(max, in->max_ns);
	}
	d->significance[at] = isnan(avg) ? 0 : frequency * avg;
	d->range[at] = isnan(avg) ? 0 : block_range_ns(a->options.range, frequency, min, max);
}

static struct block_interval interval_of(double value, double *draws, size_t n)
{
	double down = fmax(0, value - select_kth(draws, n, n / 40));

	return (struct block_interval){fmax(0, value - DOWNWARDS * down), value + UPWARDS * down};
}

static void resample(const struct block_analysis *a, struct block_result *r, struct draws *d)
{
	struct rng rng = {
	    a->options.seed * 0x9e3779b97f4a7c15ULL + (uint64_t)(r->place - a->logs->places)};

	for (uint32_t i = 0; i < r->n_in; i++) {
		const struct block_in_run *in = &r->in[i];

		d->by_run[in->run] = in;
		if (!in->is_own && in->frequency > 0)
			d->error = fmax(d->error, in->frequency_se / in->frequency);
	}
	for (size_t i = 0; i < d->n; i++)
		draw(a, d, i, &rng);
	r->significance = interval_of(r->significance_ns, d->significance, d->n);
	r->range = interval_of(r->range_ns, d->range, d->n);
}

int block_resample(const struct block_analysis *a, struct block_result *r)
{
	struct draws d = {.n = REPLICATES};
	int ret = 0;

	if (a->n_runs < LEAST_RUNS || !r->timed)
		return 0;
	if (d.n * a->n_runs > DRAWS)
		d.n = DRAWS / a->n_runs;
	if (d.n < LEAST_REPLICATES)
		d.n = LEAST_REPLICATES;
	d.by_run = calloc(a->n_runs, sizeof(*d.by_run));
	d.significance = calloc(d.n, sizeof(*d.significance));
	d.range = calloc(d.n, sizeof(*d.range));
	if (d.by_run && d.significance && d.range)
		resample(a, r, &d);
	else
		ret = -ENOMEM;
	free(d.by_run);
	free(d.significance);
	free(d.range);
	return ret;
}
