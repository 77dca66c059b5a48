// SPDX-License-Identifier: BSD-3-Clause
/*
 * Latencies of cells: mean, quantiles and their intervals; and what is known of each latency point
 * as a whole.
 *
 * Quantiles are those of the histograms of a cell's experiments, added up. Requests of one
 * experiment are not independent: a queue is long for all of them or for none. So an interval takes
 * experiments as clusters (Woodruff). The share of values below the quantile scatters from
 * experiment to experiment, which tells the error of that share. The quantiles at both ends of the
 * share's interval are the ends of the quantile's interval.
 */
#include "core/estimate/private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/experiment/latency.h"
#include "core/estimate/stats.h"

#define MIN_CLUSTERS 3  /* experiments; with fewer, their scatter is unknown */
#define GROWTH_MIN 0.02 /* arrivals outrun departures by a fiftieth, */
/* in as many experiments, and by Student's test not by chance; without growth the difference has
 * either sign */
#define GROWTH_EXPERIMENTS 4

static void add_up(const struct cell *c, double *counts)
{
	for (size_t i = 0; i < COZBPF_LATENCY_CELLS; i++)
		counts[i] = 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct point_record *r = c->obs[i].record;

		for (size_t j = 0; j < r->n_cells; j++)
			counts[r->cells[j].index] += c->obs[i].weight * (double)r->cells[j].count;
	}
}

static struct latency_figure quantile(const struct cell *c, const double *counts, double q)
{
	struct latency_figure ret = {latency_quantile(counts, q), NAN, NAN};
	double squares = 0, all = 0, n = 0, wide;
	size_t end;

	if (isnan(ret.value))
		return ret;
	for (size_t i = 0; i < c->n; i = end) {
		double error = 0, pairs = 0;

		for (end = i; end < c->n && c->obs[end].piece == c->obs[i].piece; end++) {
			const struct point_record *r = c->obs[end].record;
			double here = c->obs[end].weight * (double)r->pairs;

			if (!r->pairs)
				continue;
			error += here * (latency_share_below(r->cells, r->n_cells, ret.value) - q);
			pairs += here;
		}
		squares += error * error;
		all += pairs;
		n += pairs > 0;
	}
	if (n < MIN_CLUSTERS)
		return ret;
	wide = student_975(n - 1) * sqrt(squares * n / (n - 1)) / all;
	ret.lo = latency_quantile(counts, fmax(q - wide, 0));
	ret.hi = latency_quantile(counts, fmin(q + wide, 1));
	return ret;
}

static void fill_figures(const struct cell *c, double *counts, struct latency_figures *ret)
{
	double pairs = 0, sum = 0;

	*ret = (struct latency_figures){.mean = {c->period, NAN, NAN}};
	for (size_t i = 0; i < c->n; i++) {
		const struct point_record *r = c->obs[i].record;

		pairs += c->obs[i].weight * (double)r->pairs;
		sum += c->obs[i].weight * (double)r->pairs_ns;
		ret->pairs += r->pairs;
	}
	ret->pairs_mean = pairs > 0 ? sum / pairs : NAN;
	add_up(c, counts);
	ret->p50 = quantile(c, counts, 0.5);
	ret->p90 = quantile(c, counts, 0.9);
	ret->p99 = quantile(c, counts, 0.99);
}

int latency_fill_line(const struct group *g, struct estimate_line *line)
{
	double *counts = calloc(COZBPF_LATENCY_CELLS, sizeof(*counts));

	line->latencies = calloc(g->n_cells, sizeof(*line->latencies));
	if (!counts || !line->latencies) {
		free(counts);
		return -ENOMEM;
	}
	for (size_t i = 0; i < g->n_cells; i++)
		fill_figures(&g->cells[i], counts, &line->latencies[i]);
	free(counts);
	return 0;
}

/* How far arrivals outrun departures; 0 where chance may explain it. */
static double growth(const struct observation *obs, size_t n, const struct estimate_latency *l)
{
	double sum = 0, squares = 0, k = 0, mean, error;

	for (size_t i = 0; i < n; i++) {
		const struct point_record *r = obs[i].record;
		double by = r->arrivals ? ((double)r->arrivals - (double)r->departures) /
					      (double)r->arrivals
					: 0;

		sum += by;
		squares += by * by;
		k += r->arrivals > 0;
	}
	if (k < GROWTH_EXPERIMENTS || !l->departures ||
	    (double)l->arrivals < (1 + GROWTH_MIN) * (double)l->departures)
		return 0;
	mean = sum / k;
	error = sqrt(fmax(squares / k - mean * mean, 0) / (k - 1));
	return mean > student_975(k - 1) * error ? (double)l->arrivals / (double)l->departures - 1
						 : 0;
}

/* From the scatter of pieces. */
static void set_interval(const struct cell *now, struct latency_figure *mean)
{
	double squares = 0, k = 0, wide;
	size_t end;

	for (size_t i = 0; i < now->n; i = end, k++) {
		double error = 0;

		for (end = i; end < now->n && now->obs[end].piece == now->obs[i].piece; end++)
			error += now->obs[end].in_flight -
				 now->period * (double)now->obs[end].record->arrivals;
		squares += error * error;
	}
	if (k < MIN_CLUSTERS || !(now->time > 0))
		return;
	wide = student_975(k - 1) * sqrt(squares * k / (k - 1)) / now->time;
	mean->lo = now->period * exp(-wide);
	mean->hi = now->period * exp(wide);
}

/* The @n observations are all of one point. Its baselines show the program as it is now, each line
 * weighted by how often it was picked. */
static int fill_point(const struct observation *obs, size_t n, size_t n_lines,
    struct observation *baselines, double *counts, struct estimate_latency *ret)
{
	struct cell now = {.obs = baselines};
	double duration = 0, experiments = 0;

	for (size_t i = 0; i < n; i++) {
		const struct point_record *r = obs[i].record;

		ret->arrivals += r->arrivals;
		ret->departures += r->departures;
		ret->pairs += r->pairs;
		ret->unmatched += r->unmatched;
		ret->abandoned += r->abandoned;
		ret->lost += r->lost;
		experiments += obs[i].own;
		if (r->has_integral && !obs[i].permille && -r->least > ret->missing)
			ret->missing = -r->least;
		if (obs[i].permille)
			continue;
		duration += obs[i].duration;
		baselines[now.n++] = obs[i];
		now.time += obs[i].in_flight;
		now.count += (double)r->arrivals;
	}
	if (observations_number_pieces(baselines, now.n, n_lines))
		return -ENOMEM;
	ret->experiments = (uint64_t)experiments;
	ret->in_flight = duration > 0 ? now.time / duration : 0;
	ret->growth = growth(obs, n, ret);
	now.period = now.count > 0 ? now.time / now.count : NAN;
	fill_figures(&now, counts, &ret->now);
	set_interval(&now, &ret->now.mean);
	return 0;
}

int latency_fill_all(const struct observations *o, struct estimate *e)
{
	struct observation *all = calloc(2 * o->n + 1, sizeof(*all)), *scratch = all + o->n;
	double *counts = calloc(COZBPF_LATENCY_CELLS, sizeof(*counts));
	size_t n = 0, end;
	int err;

	e->latencies = calloc(o->points.n + 1, sizeof(*e->latencies));
	for (size_t i = 0; all && i < o->n; i++)
		if (is_latency_point(o->items[i].point))
			all[n++] = o->items[i];
	if (n)
		qsort(all, n, sizeof(*all), observations_by_point);
	err = all && counts && e->latencies ? 0 : -ENOMEM;
	for (size_t i = 0; !err && i < n; i = end) {
		struct estimate_latency *l = &e->latencies[e->n_latencies++];

		for (end = i; end < n && all[end].point == all[i].point; end++)
			;
		l->name = o->points.items[all[i].point / 2];
		err = fill_point(&all[i], end - i, o->lines.n, scratch, counts, l);
	}
	free(all);
	free(counts);
	return err;
}
