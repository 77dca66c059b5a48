// SPDX-License-Identifier: BSD-3-Clause
/*
 * How noisy it was, and what that cost: how far experiments of one line speedup differ, and how
 * much wider intervals are by that than those of a steady program on a quiet machine.
 *
 * What a quiet machine would show is the smaller of two bounds:
 * - Visits at random: n of them scatter by 1 / sqrt(n). Steady visits scatter less.
 * - This machine at its quiet moments. Experiments that follow each other differ by little else
 *   than visits, unless something begins or ends just then. So the quietest quarter of those
 *   differences tells the scatter. Noise that never pauses is in them, too.
 */
#include "core/estimate/private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/estimate/stats.h"

#define MIN_EXPERIMENTS 16
/* Standard deviation / the distance below which a quarter of pairs of normal numbers are. */
#define NORMAL_QUARTER (1 / 0.31864 / M_SQRT2)

/* An experiment's period by its cell's, less 1. */
struct off {
	uint32_t index;
	double raw, left; /* as measured; after control.c */
	double weight, visits;
};

static int by_index(const void *a, const void *b)
{
	const struct off *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

/* Of a sum (sums.h): as far as each of its experiments is off, if they are independent. */
static struct off off_of(const struct observation *o, const struct cell *c)
{
	double wider = sqrt(o->experiments);

	return (struct off){.index = o->index,
	    .raw = wider * (o->raw_time / o->count / c->raw_period - 1),
	    .left = wider * (o->time / o->count / c->period - 1),
	    .weight = o->weight,
	    .visits = o->visits / o->experiments};
}

static size_t fill(const struct group *g, struct off *offs, double *ret_cells)
{
	size_t n = 0;

	for (size_t k = 0; k < g->n_cells; k++) {
		const struct cell *c = &g->cells[k];

		*ret_cells += c->n > 1;
		for (size_t i = 0; c->n > 1 && i < c->n; i++) {
			const struct observation *o = &c->obs[i];

			if (o->raw_time > 0 && o->count > 0)
				offs[n++] = off_of(o, c);
		}
	}
	return n;
}

/* How far experiments that follow each other differ at quiet moments, as a standard deviation. */
static double quiet(const struct off *offs, double *room, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++)
		room[i] = fabs(offs[i + 1].raw - offs[i].raw);
	return NORMAL_QUARTER * select_kth(room, n - 1, (n - 1) / 4);
}

int group_noise(const struct group *g, struct estimate_line *line)
{
	struct off *offs = calloc(g->n + 1, sizeof(*offs));
	double *room = calloc(g->n + 1, sizeof(*room)), cells = 0, raw = 0, left = 0, weight = 0,
	       visits = 0;
	size_t n;

	if (!offs || !room) {
		free(offs);
		free(room);
		return -ENOMEM;
	}
	n = fill(g, offs, &cells);
	if (n >= MIN_EXPERIMENTS && (double)n > 2 * cells) {
		double own = (double)n / ((double)n - cells), still;

		qsort(offs, n, sizeof(*offs), by_index);
		for (size_t i = 0; i < n; i++) {
			raw += own * offs[i].raw * offs[i].raw / (double)n;
			left += own * offs[i].weight * offs[i].left * offs[i].left;
			weight += offs[i].weight;
			visits += offs[i].visits;
		}
		still = fmin(quiet(offs, room, n), sqrt((double)n / visits));
		line->scatter = sqrt(raw);
		if (still > 0 && weight > 0)
			line->wider = fmax(sqrt(left / weight) / still, 1);
	}
	free(offs);
	free(room);
	return 0;
}
