// SPDX-License-Identifier: BSD-3-Clause
/*
 * What of the scatter between experiments comes from how much the line ran in them, taken out (a control variate).
 *
 * Experiments on a line that the user named fall on all of the program, whatever it does at the moment. In a program of phases some meet the line and
 * some do not, and of a few experiments each speedup's have more or less of it by chance. How long the line runs per visit, x, is measured in
 * each of them, and virtual speedups do not change it: pauses stretch neither. So the mean of x over all of the group's experiments is better
 * known than that over one cell's, and a cell's period is the one that its regression on x has at the common mean. Phases of 2 s, 10 experiments of 0.5 s a cell:
 * 5.8/17.4/29.6/21.4 of 7.5/15/22.5/30 become 7.8/15.2/22.1/27.9.
 *
 * It is left alone where there is nothing to take out (a slope that might be 0: in a steady program x scatters by how samples fall), and where x differs between
 * cells by more than chance: then speedups do change it, as they do in a loop that waits by spinning, and no mean is common.
 */
#include "core/estimate_private.h"

#include <math.h>

#include "core/stats.h"

#define MIN_FITTED 5     /* observations of a cell: two parameters are fitted to them */
#define MAX_CHANCE 0.01  /* of a slope as steep where there is none */
#define MAX_STRANGE 1e-3 /* chance of a cell's mean as far from the common one, where it is common */

/* Weighted by visits: sums of squares and products are about the means. */
struct moments {
	double n, weight, x, y, xx, xy, yy;
};

static bool counts(const struct observation *o)
{
	return o->time > 0 && o->count > 0 && o->duration > 0;
}

/* Time of the line per visit, in the part of the experiment that the period is made of. */
static double line_per_visit(const struct observation *o)
{
	return o->line_time * (o->time / o->duration) / o->count;
}

static struct moments moments_of(const struct observation *obs, size_t n)
{
	struct moments m = {0};

	for (size_t i = 0; i < n; i++) {
		double w = obs[i].count, dx, dy;

		if (!counts(&obs[i]))
			continue;
		m.n++;
		m.weight += w;
		dx = line_per_visit(&obs[i]) - m.x;
		dy = obs[i].time / obs[i].count - m.y;
		m.x += dx * w / m.weight;
		m.y += dy * w / m.weight;
		m.xx += w * dx * dx * (1 - w / m.weight);
		m.xy += w * dx * dy * (1 - w / m.weight);
		m.yy += w * dy * dy * (1 - w / m.weight);
	}
	return m;
}

static size_t cell_end(const struct observation *obs, size_t n, size_t first)
{
	size_t end = first;

	while (end < n && obs[end].permille == obs[first].permille)
		end++;
	return end;
}

/* Whether each cell has the mean @x but for chance. */
static bool is_common(const struct observation *obs, size_t n, double x)
{
	for (size_t first = 0, end; first < n; first = end) {
		struct moments m;

		end = cell_end(obs, n, first);
		m = moments_of(&obs[first], end - first);
		if (m.n >= 2 && student_chance((m.x - x) / sqrt(m.xx / m.weight / (m.n - 1)), m.n - 1) < MAX_STRANGE)
			return false;
	}
	return true;
}

static bool has_slope(const struct moments *m)
{
	double left;

	if (m->n < MIN_FITTED || m->xx <= 0)
		return false;
	left = m->yy - m->xy * m->xy / m->xx;
	return left <= 0 || student_chance(m->xy / sqrt(m->xx * left / (m->n - 2)), m->n - 2) < MAX_CHANCE;
}

static void control_cell(struct observation *obs, size_t n, double x)
{
	struct moments m = moments_of(obs, n);
	double slope, widen;

	if (!has_slope(&m))
		return;
	slope = m.xy / m.xx;
	/* Two parameters leave n - 2 degrees of freedom, and the slope's own error counts as far as the cell's mean is off. */
	widen = sqrt((m.n - 1) / (m.n - 2) * (1 + m.weight * (x - m.x) * (x - m.x) / m.xx));
	for (size_t i = 0; i < n; i++)
		if (counts(&obs[i]) && obs[i].time <= slope * (line_per_visit(&obs[i]) - x) * obs[i].count)
			return; /* no straight line */
	for (size_t i = 0; i < n; i++) {
		obs[i].widen = widen;
		if (!counts(&obs[i]))
			continue;
		obs[i].time -= slope * (line_per_visit(&obs[i]) - x) * obs[i].count;
		obs[i].exposure = obs[i].time;
	}
}

void observations_control(struct observation *obs, size_t n)
{
	struct moments all = moments_of(obs, n);

	if (all.x <= 0 || !is_common(obs, n, all.x))
		return;
	for (size_t first = 0, end; first < n; first = end) {
		end = cell_end(obs, n, first);
		control_cell(&obs[first], end - first, all.x);
	}
}
