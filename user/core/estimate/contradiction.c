// SPDX-License-Identifier: BSD-3-Clause
/* See contradiction.h. */
#include "core/estimate/contradiction.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/estimate/shares.h"
#include "core/estimate/stats.h"

/* Differences are of one family, whichever the points. */
static const char family[] = "";

static int name_cmp(const void *a, const void *b)
{
	const struct estimate_line *const *x = a, *const *y = b;
	int by_name = strcmp((*x)->line, (*y)->line);

	return by_name ? by_name : strcmp((*x)->progress, (*y)->progress);
}

static bool is_known(const struct estimate_line *l)
{
	return !l->is_latency && l->slope_hi - l->slope_lo > 0 && !isnan(l->df);
}

/* The lines with an interval, by name. */
static size_t sort_lines(const struct estimate *e, const struct estimate_line **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < e->n_lines; i++)
		if (is_known(&e->lines[i]))
			ret[n++] = &e->lines[i];
	qsort(ret, n, sizeof(*ret), name_cmp);
	return n;
}

static double error_of(const struct estimate_line *l)
{
	return (l->slope_hi - l->slope_lo) / 2 / student_975(l->df);
}

/* That two lines without a true difference differ as much. */
static double chance_of(const struct estimate_line *a, const struct estimate_line *b)
{
	return student_chance(
	    (a->slope - b->slope) / hypot(error_of(a), error_of(b)), fmax(1, fmin(a->df, b->df)));
}

static bool contradicts(
    const struct estimate_line *a, const struct estimate_line *b, const struct shares *shares)
{
	return a->verdict == VERDICT_OPTIMIZE &&
	       (b->verdict == VERDICT_CONTENTION || b->verdict == VERDICT_NO_EFFECT) &&
	       a->slope_lo > b->slope_hi &&
	       chance_of(a, b) <= shares_chance(shares, family, a->samples);
}

static void take_larger(
    const struct estimate_line *a, const struct estimate_line *b, struct contradiction *ret)
{
	if (ret->worth && a->slope - b->slope <= ret->worth->slope - ret->not_worth->slope)
		return;
	*ret = (struct contradiction){a, b};
}

/* Index behind the last line of the same name as lines[i]. */
static size_t end_of(const struct estimate_line **lines, size_t n, size_t i)
{
	size_t end = i + 1;

	while (end < n && !strcmp(lines[end]->line, lines[i]->line))
		end++;
	return end;
}

static int add_pairs(const struct estimate_line **lines, size_t n, struct shares *shares)
{
	int err = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1, end = end_of(lines, n, i); !err && j < end; j++)
			err = shares_add(shares, family, lines[i]->samples);
	return err;
}

int estimate_contradiction(const struct estimate *e, struct contradiction *ret)
{
	const struct estimate_line **lines = calloc(e->n_lines + 1, sizeof(*lines));
	struct shares shares = {0};
	size_t n;
	int err;

	*ret = (struct contradiction){0};
	if (!lines)
		return -ENOMEM;
	n = sort_lines(e, lines);
	err = add_pairs(lines, n, &shares);
	for (size_t i = 0; !err && i < n; i++)
		for (size_t j = i + 1, end = end_of(lines, n, i); j < end; j++) {
			if (contradicts(lines[i], lines[j], &shares))
				take_larger(lines[i], lines[j], ret);
			if (contradicts(lines[j], lines[i], &shares))
				take_larger(lines[j], lines[i], ret);
		}
	shares_deinit(&shares);
	free(lines);
	return err;
}
