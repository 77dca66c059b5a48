// SPDX-License-Identifier: BSD-3-Clause
/*
 * The slow runs of a block, and what else differed in them.
 *
 * A run is slow where the time in the block, or the logarithm of its longest execution, is more
 * than 3.5 + 60 / n^2 robust standard deviations (1.4826 MAD) above the median of the n runs: of
 * normal figures one set in twenty has such a run (simulated). It also has to be a hundredth of a
 * run's CPU time above the median. Median and MAD stay right while fewer than half of the runs are
 * slow.
 *
 * Features differ by the median distance of the slow runs. What counts is the largest distance of
 * all features, for each choice of as many runs (Westfall and Young): so much is left to chance,
 * however many features there are. One slow run needs 20 runs to stand out.
 */
#include "core/blocks/analyse_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/stats.h"
#include "core/experiment/rng.h"

#define MAD_SD 1.4826     /* of a normal distribution */
#define MEAN_SD 1.2533    /* the same for the mean distance from the median */
#define LEAST_EXCESS 0.01 /* of a run's CPU time */
#define LEAST_SD_TIME 0.01
#define LEAST_SD_LOG 0.05
#define CHANCE 0.05
#define OTHERS 50         /* other blocks whose frequency is looked at */
#define MOST_CHOICES 2000 /* up to here all of them are looked at, else that many at random */
#define MOST_STATES 5000000
#define LEAST_CHOICES 199
#define MOST_DIFFERENCES 8

static double median_of(double *scratch, const double *values, size_t n)
{
	memcpy(scratch, values, n * sizeof(*scratch));
	return median(scratch, n);
}

/* Median distance from the median, @middle. */
static double mad_of(double *scratch, const double *values, size_t n, double middle)
{
	for (size_t i = 0; i < n; i++)
		scratch[i] = fabs(values[i] - middle);
	return median(scratch, n);
}

/* Slow runs */

struct times {
	double *time, *longest; /* by run: in the block; logarithm of the longest execution */
	double *known, *scratch;
	bool *slow;
};

/* Above which value a run is slow. Runs whose figure is not known (NaN) are left out. */
static double bound_of(struct times *t, const double *values, size_t n, double least_sd,
    bool relative, double *ret_median)
{
	size_t known = 0;
	double sd;

	for (size_t i = 0; i < n; i++)
		if (!isnan(values[i]))
			t->known[known++] = values[i];
	if (known < LEAST_RUNS_SLOW)
		return INFINITY;
	*ret_median = median_of(t->scratch, t->known, known);
	sd = MAD_SD * mad_of(t->scratch, t->known, known, *ret_median);
	sd = fmax(sd, least_sd * (relative ? *ret_median : 1));
	return *ret_median + (3.5 + 60.0 / ((double)known * (double)known)) * sd;
}

static void fill_times(const struct block_result *r, size_t n, struct times *t)
{
	for (size_t i = 0; i < n; i++) {
		t->time[i] = 0;
		t->longest[i] = NAN;
	}
	for (uint32_t i = 0; i < r->n_in; i++) {
		const struct block_in_run *in = &r->in[i];

		t->time[in->run] = in->time_ns;
		t->longest[in->run] = isnan(in->max_ns) ? NAN : log(fmax(in->max_ns, 1));
	}
}

static void find_slow(const struct block_analysis *a, const struct block_result *r, struct times *t)
{
	double least = LEAST_EXCESS * a->cpu_ns, usual = 0, longest = 0, bound, bound_longest;

	fill_times(r, a->n_runs, t);
	bound = bound_of(t, t->time, a->n_runs, LEAST_SD_TIME, true, &usual);
	bound_longest = bound_of(t, t->longest, a->n_runs, LEAST_SD_LOG, false, &longest);
	for (size_t i = 0; i < a->n_runs; i++)
		t->slow[i] =
		    (t->time[i] > bound && t->time[i] - usual >= least) ||
		    (t->longest[i] > bound_longest && exp(t->longest[i]) - exp(longest) >= least);
}

static int keep_slow(const struct block_analysis *a, struct block_result *r, const struct times *t)
{
	struct block_slow *s = &r->slow;

	s->runs = calloc(a->n_runs, sizeof(*s->runs));
	if (!s->runs)
		return -ENOMEM;
	for (uint32_t i = 0; i < a->n_runs; i++) {
		size_t at = s->n;

		if (!t->slow[i])
			continue;
		/* There are few. */
		for (; at && t->time[i] > t->time[s->runs[at - 1]]; at--)
			s->runs[at] = s->runs[at - 1];
		s->runs[at] = i;
		s->n++;
	}
	return 0;
}

/* What differs */

struct feature {
	enum block_feature what;
	const struct block_place *other;
	double *values; /* by run */
	double *distances;
	double observed;
};

struct features {
	struct feature *items;
	size_t n, n_runs;
	double *room, *scratch;
};

static double run_feature(const struct block_run *r, enum block_feature f)
{
	switch (f) {
	case FEATURE_BLOCKED:
		return (double)r->blocked_ns;
	case FEATURE_RUNNABLE:
		return (double)r->runnable_ns;
	case FEATURE_SWITCHES:
		return (double)r->switches;
	case FEATURE_PREEMPTIONS:
		return (double)r->preemptions;
	case FEATURE_MIGRATIONS:
		return (double)r->migrations;
	case FEATURE_MINOR_FAULTS:
		return (double)r->minor_faults;
	default:
		return (double)r->major_faults;
	}
}

static int features_init(struct features *f, size_t n_runs)
{
	const size_t most = N_RUN_FEATURES + OTHERS;

	f->n_runs = n_runs;
	f->items = calloc(most, sizeof(*f->items));
	f->room = calloc(2 * most * n_runs, sizeof(*f->room));
	f->scratch = calloc(n_runs, sizeof(*f->scratch));
	if (!f->items || !f->room || !f->scratch)
		return -ENOMEM;
	for (size_t i = 0; i < most; i++) {
		f->items[i].values = f->room + 2 * i * n_runs;
		f->items[i].distances = f->items[i].values + n_runs;
	}
	return 0;
}

static void features_deinit(struct features *f)
{
	free(f->items);
	free(f->room);
	free(f->scratch);
}

static void fill_features(
    struct features *f, const struct block_analysis *a, const struct block_result *r)
{
	for (int i = 0; i < N_RUN_FEATURES; i++) {
		struct feature *x = &f->items[f->n++];

		x->what = (enum block_feature)i;
		for (size_t j = 0; j < a->n_runs; j++)
			x->values[j] = run_feature(&a->runs[j]->run, x->what);
	}
	for (size_t i = 0; i < a->n_results && f->n < N_RUN_FEATURES + OTHERS; i++) {
		const struct block_result *other = &a->results[i];
		struct feature *x = &f->items[f->n];

		if (other == r)
			continue;
		x->what = FEATURE_BLOCK;
		x->other = other->place;
		for (uint32_t j = 0; j < other->n_in; j++)
			x->values[other->in[j].run] = other->in[j].told;
		f->n++;
	}
}

/* In standard deviations, from the median. Where most runs agree the MAD is 0, and the mean
 * distance has to do. */
static void fill_distances(struct features *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct feature *x = &f->items[i];
		double middle = median_of(f->scratch, x->values, f->n_runs);
		double sd = MAD_SD * mad_of(f->scratch, x->values, f->n_runs, middle), sum = 0;

		for (size_t j = 0; j < f->n_runs; j++)
			sum += fabs(x->values[j] - middle);
		if (!(sd > 0))
			sd = MEAN_SD * sum / (double)f->n_runs;
		for (size_t j = 0; j < f->n_runs; j++)
			x->distances[j] = sd > 0 ? (x->values[j] - middle) / sd : 0;
	}
}

static double distance_of(
    struct features *f, const struct feature *x, const uint32_t *runs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		f->scratch[i] = x->distances[runs[i]];
	return median(f->scratch, n);
}

/* Choices of @n runs out of all. */
struct choices {
	uint32_t *runs;
	size_t n, n_runs;
	size_t count;   /* to be looked at */
	bool is_random; /* not all there are */
	struct rng rng;
};

static double number_of_choices(size_t n_runs, size_t n)
{
	double ret = 1;

	for (size_t i = 0; i < n && ret < 1e9; i++)
		ret *= (double)(n_runs - i) / (double)(i + 1);
	return ret;
}

static int choices_init(struct choices *c, const struct features *f, size_t n, uint64_t seed)
{
	double all = number_of_choices(f->n_runs, n);
	size_t states = f->n * n, count = MOST_STATES / (states ? states : 1);

	count = count > MOST_CHOICES ? MOST_CHOICES : count < LEAST_CHOICES ? LEAST_CHOICES : count;
	*c = (struct choices){.n = n, .n_runs = f->n_runs, .rng = {seed}};
	c->is_random = all > (double)count + 0.5;
	c->count = c->is_random ? count : (size_t)(all + 0.5);
	c->runs = calloc(f->n_runs, sizeof(*c->runs));
	if (!c->runs)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n_runs; i++)
		c->runs[i] = i;
	return 0;
}

/* The first ones of @runs are the next choice: at random, or in the order of the alphabet. */
static void choices_next(struct choices *c)
{
	size_t i = c->n;

	for (size_t j = 0; c->is_random && j < c->n; j++) {
		size_t with = j + rng_below(&c->rng, c->n_runs - j);
		uint32_t run = c->runs[j];

		c->runs[j] = c->runs[with];
		c->runs[with] = run;
	}
	if (c->is_random)
		return;
	while (i && c->runs[i - 1] == c->n_runs - c->n + i - 1)
		i--;
	if (!i)
		return;
	c->runs[i - 1]++;
	for (; i < c->n; i++)
		c->runs[i] = c->runs[i - 1] + 1;
}

/* How many choices have a feature as distant as each one is in the slow runs. */
static int count_chances(struct features *f, const struct block_slow *s, uint64_t seed,
    size_t *ret_counts, struct choices *c)
{
	int ret = choices_init(c, f, s->n, seed);

	for (size_t i = 0; !ret && i < f->n; i++)
		f->items[i].observed = distance_of(f, &f->items[i], s->runs, s->n);
	for (size_t i = 0; !ret && i < c->count; i++) {
		double most = 0;

		if (i || c->is_random)
			choices_next(c);
		for (size_t j = 0; j < f->n; j++)
			most = fmax(most, fabs(distance_of(f, &f->items[j], c->runs, s->n)));
		for (size_t j = 0; j < f->n; j++)
			ret_counts[j] += most >= fabs(f->items[j].observed);
	}
	free(c->runs);
	return ret;
}

static int compare_differences(const void *a, const void *b)
{
	const struct block_difference *x = a, *y = b;
	double dx = fabs(x->distance), dy = fabs(y->distance);

	return dx > dy ? -1 : dx < dy;
}

static double median_where(
    struct features *f, const struct feature *x, const bool *slow, bool which)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_runs; i++)
		if (slow[i] == which)
			f->scratch[n++] = x->values[i];
	return median(f->scratch, n);
}

static int keep_differences(
    struct features *f, struct block_slow *s, const bool *slow, uint64_t seed)
{
	size_t *counts = calloc(f->n, sizeof(*counts));
	struct choices c = {0};
	int ret = counts ? count_chances(f, s, seed, counts, &c) : -ENOMEM;

	s->differences = ret ? NULL : calloc(f->n, sizeof(*s->differences));
	if (!ret && !s->differences)
		ret = -ENOMEM;
	/* Choices at random need not meet the one that was seen, so it counts besides. */
	s->too_few = !ret && 1.0 / ((double)c.count + c.is_random) > CHANCE;
	for (size_t i = 0; !ret && i < f->n; i++) {
		const struct feature *x = &f->items[i];
		double chance = (double)(counts[i] + c.is_random) / (double)(c.count + c.is_random);

		if (chance <= CHANCE && x->observed != 0)
			s->differences[s->n_differences++] = (struct block_difference){x->what,
			    x->other, median_where(f, x, slow, true),
			    median_where(f, x, slow, false), x->observed, chance};
	}
	free(counts);
	if (ret)
		return ret;
	qsort(s->differences, s->n_differences, sizeof(*s->differences), compare_differences);
	if (s->n_differences > MOST_DIFFERENCES)
		s->n_differences = MOST_DIFFERENCES;
	return 0;
}

static int find_differences(
    const struct block_analysis *a, struct block_result *r, const bool *slow)
{
	struct features f = {0};
	int ret = features_init(&f, a->n_runs);

	if (!ret) {
		fill_features(&f, a, r);
		fill_distances(&f);
		ret = keep_differences(&f, &r->slow, slow, a->options.seed + 1);
	}
	features_deinit(&f);
	return ret;
}

/* Inputs */

static int compare_inputs(const void *a, const void *b)
{
	const struct block_input *x = a, *y = b;

	if (x->slow != y->slow)
		return x->slow > y->slow ? -1 : 1;
	return strcmp(x->command, y->command);
}

/* Equal command lines are one string (block_logs). */
static int find_inputs(const struct block_analysis *a, struct block_slow *s)
{
	if (a->n_commands < 2)
		return 0;
	s->inputs = calloc(s->n, sizeof(*s->inputs));
	if (!s->inputs)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++) {
		const char *command = a->runs[s->runs[i]]->run.command;
		size_t at = 0;

		while (at < s->n_inputs && s->inputs[at].command != command)
			at++;
		s->inputs[at].command = command;
		s->inputs[at].slow++;
		s->n_inputs += at == s->n_inputs;
	}
	for (size_t i = 0; i < s->n_inputs; i++)
		for (size_t j = 0; j < a->n_runs; j++)
			s->inputs[i].runs += a->runs[j]->run.command == s->inputs[i].command;
	qsort(s->inputs, s->n_inputs, sizeof(*s->inputs), compare_inputs);
	return 0;
}

static int times_init(struct times *t, size_t n)
{
	t->time = calloc(4 * n, sizeof(*t->time));
	t->slow = calloc(n, sizeof(*t->slow));
	if (!t->time || !t->slow)
		return -ENOMEM;
	t->longest = t->time + n;
	t->known = t->longest + n;
	t->scratch = t->known + n;
	return 0;
}

int block_find_slow(const struct block_analysis *a, struct block_result *r)
{
	struct times t = {0};
	int ret;

	if (a->n_runs < LEAST_RUNS_SLOW)
		return 0;
	ret = times_init(&t, a->n_runs);
	if (!ret) {
		find_slow(a, r, &t);
		ret = keep_slow(a, r, &t);
	}
	if (!ret && r->slow.n)
		ret = find_inputs(a, &r->slow);
	if (!ret && r->slow.n)
		ret = find_differences(a, r, t.slow);
	free(t.time);
	free(t.slow);
	return ret;
}
