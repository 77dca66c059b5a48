// SPDX-License-Identifier: BSD-3-Clause
/*
 * Leaves out the few experiments that something outside the program has disturbed.
 *
 * A period is a ratio of sums, which one experiment can move to anywhere. Here the median of a
 * cell's experiments says where the others lie. The median of how far experiments lie off, over all
 * of a group's cells, says how far they usually do. An experiment counts in full up to FAR of that,
 * and not at all from TOO_FAR on. In between its weight falls evenly, so that no figure jumps. Of
 * 16,000 undisturbed experiments with normal scatter one counts less.
 *
 * The breakdown point is MAX_LEFT_OUT. Where more would be left out nothing is, since what is met
 * so often is no disturbance but the program's or the machine's way.
 *
 * A program has rare phases of its own, which must not be lost. What tells is the line, which is
 * why this serves lines that the user named, whose time is known:
 * - The line had its usual share of the time. Then the gain is the same there, whoever was slow.
 * - The line had its usual time per visit, but not of the whole: visits were of the usual kind, and
 *   waited. If that was the program's doing the gain is smaller by the share of such time, which
 *   the interval is told (struct group).
 * - Neither: another phase of the program. It is never left out.
 */
#include "core/estimate/private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/estimate/stats.h"

#define FAR 4.0 /* standard deviations of normal scatter */
#define TOO_FAR 6.0
#define MAX_LEFT_OUT 0.25 /* of a group's time */
#define MIN_CELL 5        /* experiments whose median says where they lie */
#define MIN_GROUP 10      /* experiments in such cells, which tell how far they usually lie off */
/* Standard deviation of a count of regular visits in a window that opens and closes anywhere. */
#define COUNT_ERROR 0.41
#define NORMAL_MAD 1.4826 /* standard deviation / median distance, of normal scatter */

enum figure { PERIOD, SHARE, PER_VISIT, N_FIGURES };

/* How far an observation lies off its cell's median, relative to that. */
struct look {
	struct observation *o;
	double off[N_FIGURES];
};

struct looks {
	struct look *items;
	double *room; /* for medians */
	size_t n;
	double count_error;      /* sum over the items: of a period, by counting whole visits */
	double usual[N_FIGURES]; /* a standard deviation of the undisturbed ones */
};

static bool is_known(const struct observation *o)
{
	return o->time > 0 && o->count > 0 && o->delta > 0;
}

static void add_cell(struct looks *l, struct observation *obs, size_t n)
{
	struct look *cell = l->items + l->n;
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		if (is_known(&obs[i]))
			cell[known++] = (struct look){&obs[i],
			    {obs[i].time / obs[i].count, obs[i].line_time / obs[i].duration,
				obs[i].line_time / obs[i].delta}};
	if (known < MIN_CELL)
		return;
	for (size_t f = 0; f < N_FIGURES; f++) {
		double middle;

		for (size_t i = 0; i < known; i++)
			l->room[i] = cell[i].off[f];
		middle = median(l->room, known);
		/* Scatter falls with the time. */
		for (size_t i = 0; i < known; i++)
			cell[i].off[f] = middle > 0 ? fabs(cell[i].off[f] / middle - 1) *
							  sqrt(cell[i].o->exposure)
						    : 0;
	}
	for (size_t i = 0; i < known; i++)
		l->count_error += COUNT_ERROR / cell[i].o->count * sqrt(cell[i].o->exposure);
	l->n += known;
}

static void find_usual(struct looks *l)
{
	for (size_t f = 0; f < N_FIGURES; f++) {
		for (size_t i = 0; i < l->n; i++)
			l->room[i] = l->items[i].off[f];
		l->usual[f] = NORMAL_MAD * median(l->room, l->n);
	}
	/* Where visits are so regular that most experiments count the same number. */
	l->usual[PERIOD] = fmax(l->usual[PERIOD], l->count_error / (double)l->n);
}

static bool is_usual(const struct looks *l, const struct look *look, enum figure f)
{
	return look->off[f] <= FAR * l->usual[f];
}

/* What is left of the observation's weight. */
static double trust_of(const struct looks *l, const struct look *look)
{
	if (!is_usual(l, look, SHARE) && !is_usual(l, look, PER_VISIT))
		return 1;
	return fmin(fmax((TOO_FAR - look->off[PERIOD] / l->usual[PERIOD]) / (TOO_FAR - FAR), 0), 1);
}

/* Returns the share of the time that may have been the program's doing. */
static double leave_out(const struct looks *l)
{
	double left_out = 0, doubtful = 0, all = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct look *look = &l->items[i];
		double less = look->o->exposure * (1 - trust_of(l, look));

		all += look->o->exposure;
		left_out += less;
		doubtful += is_usual(l, look, SHARE) ? 0 : less;
	}
	if (left_out > MAX_LEFT_OUT * all)
		return 0;
	for (size_t i = 0; i < l->n; i++)
		l->items[i].o->weight *= trust_of(l, &l->items[i]);
	return doubtful / all;
}

int observations_trust(struct observation *obs, size_t n, double *ret_doubtful)
{
	struct looks l = {0};
	size_t end;

	*ret_doubtful = 0;
	for (size_t i = 0; i < n; i++)
		if (obs[i].line_time < 0)
			return 0;
	l.items = calloc(n + 1, sizeof(*l.items));
	l.room = calloc(n + 1, sizeof(*l.room));
	if (!l.items || !l.room) {
		free(l.items);
		free(l.room);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && obs[end].permille == obs[i].permille; end++)
			;
		add_cell(&l, &obs[i], end - i);
	}
	if (l.n >= MIN_GROUP) {
		find_usual(&l);
		*ret_doubtful = leave_out(&l);
	}
	free(l.items);
	free(l.room);
	return 0;
}
