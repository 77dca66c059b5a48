// SPDX-License-Identifier: BSD-3-Clause
/*
 * What two units gain together; see interaction.h.
 *
 * The intervals are made of those of the three gains, which come from the bootstrap. Each unit that
 * was named has baselines of its own, so the three are independent. Then the ends of a sum's
 * interval lie as far from the value as the root of the sum of squares of the parts' distances
 * (MOVER: Zou and Donner, Statistics in Medicine 27, 2008), and those of a ratio follow by the same
 * method (Donner and Zou, Statistical Methods in Medical Research 21, 2012). Unlike a normal
 * approximation it keeps what is lopsided in the bootstrap's intervals. Whole runs share their
 * baselines: there intervals come out somewhat too wide. tests/unit/test_interaction.c has the
 * coverage.
 */
#include "core/estimate/interaction.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/places/couple.h"

/* nobody has measured more; a file of others may name any number */
#define COUPLES_MAX 100

/* @a + @sign x @b, for a sign of 1 or -1. */
static struct gain combine(struct gain a, double sign, struct gain b)
{
	double down = sign > 0 ? b.value - b.lo : b.hi - b.value,
	       up = sign > 0 ? b.hi - b.value : b.value - b.lo, value = a.value + sign * b.value;

	return (struct gain){
	    value, value - hypot(a.value - a.lo, down), value + hypot(a.hi - a.value, up)};
}

/* @a / @b; NaN unless @b is known to be above 0, and not from afar. */
static struct gain divide(struct gain a, struct gain b)
{
	double ab = a.value * b.value, below = b.lo * (2 * b.value - b.lo),
	       above = b.hi * (2 * b.value - b.hi), lo = a.lo > 0 ? above : below,
	       hi = a.hi > 0 ? below : above;

	if (!(b.lo > 0) || !(above > 0))
		return (struct gain){NAN, NAN, NAN};
	return (struct gain){a.value / b.value,
	    (ab - sqrt(fmax(ab * ab - a.lo * (2 * a.value - a.lo) * lo, 0))) / lo,
	    (ab + sqrt(fmax(ab * ab - a.hi * (2 * a.value - a.hi) * hi, 0))) / hi};
}

/* The gain at a line speedup. False: there is no interval. */
static bool find_gain(const struct estimate_line *l, double line_speedup, struct gain *ret)
{
	for (size_t i = 0; i < l->n_points; i++) {
		const struct estimate_point *p = &l->points[i];

		if (fabs(p->line_speedup - line_speedup) >= 0.0005)
			continue;
		*ret = (struct gain){p->program_speedup, p->ci_lo, p->ci_hi};
		return isfinite(p->ci_lo) && isfinite(p->ci_hi);
	}
	return false;
}

static void judge(struct interaction_point *p)
{
	struct gain after = combine(p->both, -1, p->first);

	p->interaction = combine(after, -1, p->second);
	p->worth = divide(after, p->second);
	p->dependence = p->interaction.lo > 0   ? DEPENDENCE_MORE
			: p->interaction.hi < 0 ? DEPENDENCE_LESS
						: DEPENDENCE_UNKNOWN;
}

static int fill_points(struct interaction *x)
{
	x->points = calloc(x->both->n_points + 1, sizeof(*x->points));
	if (!x->points)
		return -ENOMEM;
	for (size_t i = 0; i < x->both->n_points; i++) {
		struct interaction_point *p = &x->points[x->n_points];

		p->line_speedup = x->both->points[i].line_speedup;
		if (!find_gain(x->first, p->line_speedup, &p->first) ||
		    !find_gain(x->second, p->line_speedup, &p->second) ||
		    !find_gain(x->both, p->line_speedup, &p->both))
			continue;
		judge(p);
		x->n_points++;
	}
	return 0;
}

/* The estimate of the unit of that name at the point of @like; NULL: there is none. */
static const struct estimate_line *find_line(
    const struct estimate *e, const char *name, size_t length, const struct estimate_line *like)
{
	for (size_t i = 0; i < e->n_lines; i++) {
		const struct estimate_line *l = &e->lines[i];

		if (!strncmp(l->line, name, length) && !l->line[length] &&
		    estimate_same_point(l, like))
			return l;
	}
	return NULL;
}

static bool find_units(
    const struct estimate *e, const struct estimate_line *both, struct interaction *ret)
{
	const char *second = NULL;
	size_t length;

	while ((second = couple_split(both->line, second, &length))) {
		*ret = (struct interaction){find_line(e, both->line, length, both),
		    find_line(e, second, strlen(second), both), both, NULL, 0};
		if (ret->first && ret->second)
			return true;
	}
	return false;
}

int interactions_init(struct interactions *x, const struct estimate *e)
{
	size_t n = 0;

	*x = (struct interactions){0};
	for (size_t i = 0; i < e->n_lines; i++)
		n += e->lines[i].is_couple && n < COUPLES_MAX;
	x->items = calloc(n + 1, sizeof(*x->items));
	if (!x->items)
		return -ENOMEM;
	for (size_t i = 0; i < e->n_lines && x->n < n; i++) {
		struct interaction *item = &x->items[x->n];

		if (!e->lines[i].is_couple || !find_units(e, &e->lines[i], item))
			continue;
		x->n++;
		if (fill_points(item)) {
			interactions_deinit(x);
			return -ENOMEM;
		}
		if (item->n_points)
			continue;
		free(item->points);
		x->n--;
	}
	return 0;
}

void interactions_deinit(struct interactions *x)
{
	for (size_t i = 0; i < x->n; i++)
		free(x->items[i].points);
	free(x->items);
	*x = (struct interactions){0};
}

/* What a unit's line gains its function does, too. */
static bool are_apart(const struct estimate_line *a, const struct estimate_line *b)
{
	return a->holder != b && b->holder != a;
}

bool interaction_offer(const struct estimate *e, const struct estimate_line *ret[2])
{
	const struct estimate_line *first = NULL, *second = NULL;

	for (size_t i = 0; i < e->n_lines; i++) {
		const struct estimate_line *l = &e->lines[i];

		if (l->is_couple)
			return false;
		if (l->verdict != VERDICT_OPTIMIZE || estimate_is_below(l))
			continue;
		if (!first)
			first = l;
		else if (!second && estimate_same_point(l, first) && are_apart(l, first))
			second = l;
	}
	ret[0] = first;
	ret[1] = second;
	return second && second->slope_hi >= first->slope / 2 &&
	       first->slope_hi >= second->slope / 2;
}
