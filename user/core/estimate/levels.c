// SPDX-License-Identifier: BSD-3-Clause
/*
 * Levels runs of different speed: replicas on faster and slower machines, or with more and less to
 * do.
 *
 * A cell adds up experiments of all runs. Where runs differ, a cell would depend on how many of its
 * experiments came from which run. Intervals that know of that scatter are wide: those of eight
 * replicas whose speeds differ by 10 % are 1.8 times as narrow as one's, not 2.8 times
 * (tests/unit/test_merged.c). The wanted figure is a ratio, which is the same in each run. So each
 * run's times are divided by its own period in baselines and multiplied by that of all.
 *
 * The error of a run's period is then in all of its experiments. So runs are levelled only where
 * they differ by more than such errors, and only if their baselines tell their period well. With
 * fewer baselines, as in runs of one visit each, nothing is changed.
 *
 * Simulated: 150 merged profiles each, two or eight runs of 60 experiments, Erlang's visits, speeds
 * that differ by 0, 2, 5, 10 and 30 %; standard error 2. 93 to 98 in 100 intervals of the slope
 * hold the truth, as many as without levelling. Those of eight runs have half a width of 0.008
 * whatever the spread. Without levelling it is 0.008, 0.008, 0.010, 0.015 and 0.040. With baselines
 * in one experiment of five the common error is too large (82 to 95 hold): hence MIN_SHARE, at
 * which 92 to 97 hold.
 */
#include "core/estimate/private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* baselines of all runs per experiment on the line that has most of them */
#define MIN_SHARE 0.9
/* of the chi-squared statistic: equal runs are levelled in less than one profile of a hundred */
#define MANY_SIGMA 4

/* A run at one progress point, in its baselines. */
struct level {
	double time, count, visits, squares;
	size_t n;                /* baselines */
	bool there;              /* it has experiments at the point, of any speedup */
	double period, variance; /* variance: relative, of the period */
	double factor;
};

/* The runs at one progress point. Profiles can have many of both, and most points have few runs. */
struct levels {
	struct level *by_run; /* zeroed except for runs that are there */
	uint32_t *runs;       /* those runs, in the order of their observations */
	size_t n;
};

static bool is_known(const struct level *l)
{
	return l->n >= MIN_BASELINES && l->visits >= MIN_RUN_VISITS && l->time > 0 && l->count > 0;
}

/* Sums of the baselines of @n observations, all of one point, by line; then their residuals.
 * Returns whether there are enough of them per experiment on any line. */
static bool add_up(struct observation *const *at_point, size_t n, struct levels *levels)
{
	double baselines = 0, on_line = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		const struct observation *x = at_point[i];
		struct level *l = &levels->by_run[x->run];

		if (!l->there)
			levels->runs[levels->n++] = x->run;
		l->there = true;
		if (i && x->line != at_point[i - 1]->line)
			on_line = 0;
		if (x->permille) {
			on_line += x->experiments;
			most = fmax(most, on_line);
			continue;
		}
		baselines += x->experiments;
		l->time += observation_time(x);
		l->count += x->delta;
		l->visits += x->visits;
		l->n++;
	}
	for (size_t i = 0; i < n; i++) {
		const struct observation *x = at_point[i];
		struct level *l = &levels->by_run[x->run];

		if (!x->permille && is_known(l)) {
			double e = observation_time(x) - l->time / l->count * x->delta;

			l->squares += e * e;
		}
	}
	return baselines >= MIN_SHARE * most;
}

/* Fills the factors; false when the runs do not differ. */
static bool find_factors(struct levels *levels)
{
	double time = 0, count = 0, differ = 0, known = 0;

	for (size_t i = 0; i < levels->n; i++) {
		struct level *l = &levels->by_run[levels->runs[i]];

		l->factor = 1;
		if (!is_known(l))
			continue;
		known++;
		time += l->time;
		count += l->count;
		l->period = l->time / l->count;
		l->variance = l->squares / (l->time * l->time) * (double)l->n / ((double)l->n - 1);
	}
	for (size_t i = 0; i < levels->n; i++) {
		struct level *l = &levels->by_run[levels->runs[i]];
		double off;

		if (!is_known(l))
			continue;
		l->factor = time / count / l->period;
		off = log(l->factor);
		differ += off != 0 ? off * off / l->variance : 0;
	}
	return known >= 2 && differ > known - 1 + MANY_SIGMA * sqrt(2 * (known - 1));
}

static void apply(struct observation *const *at_point, size_t n, const struct levels *levels)
{
	for (size_t i = 0; i < n; i++) {
		struct observation *x = at_point[i];
		double factor = levels->by_run[x->run].factor;

		/* The duration of a latency's observation is the time in which it was counted, and
		 * stays. */
		if (is_latency_point(x->point)) {
			x->in_flight *= factor;
			continue;
		}
		x->duration *= factor;
		x->span *= factor;
		x->line_time *= factor;
	}
}

static int compare_points(const void *a, const void *b)
{
	const struct observation *x = *(struct observation *const *)a,
				 *y = *(struct observation *const *)b;

	if (x->point != y->point)
		return x->point < y->point ? -1 : 1;
	return x < y ? -1 : x > y; /* by line, in the order that they have */
}

static void level_point(struct observation *const *at_point, size_t n, struct levels *levels)
{
	if (add_up(at_point, n, levels) && find_factors(levels))
		apply(at_point, n, levels);
	for (size_t i = 0; i < levels->n; i++)
		levels->by_run[levels->runs[i]] = (struct level){0};
	levels->n = 0;
}

int observations_level_runs(struct observations *o, size_t n_runs, struct machine_tally *machines)
{
	struct observation **by_point;
	struct levels levels = {0};
	size_t end;
	int ret = -ENOMEM;

	if ((n_runs < 2 && !machines) || !o->n)
		return 0;
	by_point = malloc(o->n * sizeof(struct observation *));
	levels.by_run = calloc(n_runs, sizeof(*levels.by_run));
	levels.runs = malloc(n_runs * sizeof(*levels.runs));
	if (by_point && levels.by_run && levels.runs) {
		for (size_t i = 0; i < o->n; i++)
			by_point[i] = &o->items[i];
		qsort(by_point, o->n, sizeof(struct observation *), compare_points);
		ret = 0;
		for (size_t i = 0; !ret && i < o->n; i = end) {
			for (end = i + 1; end < o->n && by_point[end]->point == by_point[i]->point;
			     end++)
				;
			if (machines)
				ret = machine_tally_speeds(machines, o, &by_point[i], end - i);
			level_point(&by_point[i], end - i, &levels);
		}
	}
	free(by_point);
	free(levels.by_run);
	free(levels.runs);
	return ret;
}
