// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs of one command tell of each other. A frequency from a few windows may be off by half, and
 * the greatest one of many runs is then the one that is most wrong. So figures that agree within
 * their errors become one: their mean, by logarithms, each with the weight of its error. A figure
 * that is more than AGREES standard errors from the median of the runs is that run's own, and so is
 * what was counted all the time.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/blocks/analyse_private.h"

#define AGREES 3
/* Relative error of what was counted all the time, as a witness for other runs. */
#define COUNTED 0.01
/* Relative error that all runs have in common: what probes cost (docs/blocks.md, How exact). */
#define COMMON 0.05

/* Weights, and weighted logarithms, of the figures that agree. */
struct pool {
	double n, weight, sum, squares;
};

static double log_variance(const struct block_in_run *in)
{
	double relative = fmax(in->frequency_se / in->frequency, COUNTED);

	return log1p(relative * relative);
}

static void add(struct pool *p, const struct block_in_run *in)
{
	double weight = 1 / log_variance(in), figure = log(in->frequency);

	p->n++;
	p->weight += weight;
	p->sum += weight * figure;
	p->squares += weight * figure * figure;
}

static bool agrees(const struct block_in_run *in, double median)
{
	double distance = log(in->frequency / median);

	return distance * distance <= AGREES * AGREES * log_variance(in);
}

/* Where figures differ by more than their errors, the mean's error is larger by as much. */
static void take_mean(const struct pool *p, struct block_in_run *in)
{
	double mean = p->sum / p->weight,
	       excess = p->n > 1 ? (p->squares - p->weight * mean * mean) / (p->n - 1) : 1;

	in->frequency = exp(mean);
	in->frequency_se = in->frequency * hypot(sqrt(fmax(excess, 1) / p->weight), COMMON);
}

/* A run of the block. */
struct ordered {
	struct block_in_run *in;
	uint32_t command;
};

static int compare_ordered(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->command != y->command)
		return x->command < y->command ? -1 : 1;
	if (x->in->is_known != y->in->is_known)
		return x->in->is_known ? -1 : 1;
	return (x->in->frequency > y->in->frequency) - (x->in->frequency < y->in->frequency);
}

/* Of the @n that are known, by frequency: which ones agree with the median. */
static struct pool agreed(const struct ordered *of, uint32_t n)
{
	struct pool ret = {0};
	double median;

	if (!n)
		return ret;
	median = sqrt(of[(n - 1) / 2].in->frequency * of[n / 2].in->frequency);
	for (uint32_t i = 0; i < n; i++) {
		of[i].in->is_own = !agrees(of[i].in, median);
		if (!of[i].in->is_own)
			add(&ret, of[i].in);
	}
	return ret;
}

/* What is not known is as in other runs, or else at least as often as in any of them. @of: those
 * that are known first, each part by frequency. */
static void pool_command(const struct ordered *of, uint32_t n)
{
	double most = of[n - 1].in->frequency;
	uint32_t known = 0;
	struct pool p;

	while (known < n && of[known].in->is_known)
		known++;
	p = agreed(of, known);
	for (uint32_t i = 0; i < n; i++) {
		struct block_in_run *in = of[i].in;

		if (p.n > 0 && !in->is_own && in->frequency_se > 0) {
			take_mean(&p, in);
			in->is_known = true;
		} else if (!in->is_known) {
			in->frequency_se *= most / in->frequency;
			in->frequency = most;
		}
	}
}

int block_pool_runs(const struct block_analysis *a, struct block_in_run *in, uint32_t n)
{
	struct ordered *of = malloc(n * sizeof(*of));
	uint32_t kept = 0, first = 0;

	if (!of)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (in[i].frequency > 0)
			of[kept++] = (struct ordered){&in[i], a->commands[in[i].run]};
	qsort(of, kept, sizeof(*of), compare_ordered);
	for (uint32_t i = 1; i <= kept; i++) {
		if (i < kept && of[i].command == of[first].command)
			continue;
		pool_command(of + first, i - first);
		first = i;
	}
	free(of);
	return 0;
}
