// SPDX-License-Identifier: BSD-3-Clause
/* When enough is known to stop (--until), and where the next experiments are wanted. */
#include "core/estimate/estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/text/names.h"

/* of the samples; lack of data on such a line is not passed over */
#define LARGE_SHARE 0.05
#define WANTED_BESIDE_LACKING 0.25 /* factor for all other lines while such lines lack data */

/* The least that the leader of each progress point gains. */
struct surest {
	struct names points;
	/* by twice the id of the point, plus 1 for a latency: the highest lower end among its
	 * lines; NaN: none is known */
	double *gains;
};

static double *surest_at(const struct surest *s, const struct estimate_line *l)
{
	return &s->gains[2 * names_find(&s->points, l->progress) + l->is_latency];
}

static void surest_deinit(struct surest *s)
{
	names_deinit(&s->points);
	free(s->gains);
}

static int surest_init(struct surest *s, const struct estimate *e)
{
	uint32_t id;

	*s = (struct surest){.gains = malloc((2 * e->n_lines + 1) * sizeof(*s->gains))};
	for (size_t i = 0; s->gains && i < e->n_lines; i++) {
		s->gains[2 * i] = s->gains[2 * i + 1] = NAN;
		if (names_id(&s->points, e->lines[i].progress, &id)) {
			surest_deinit(s);
			return -ENOMEM;
		}
	}
	for (size_t i = 0; s->gains && i < e->n_lines; i++) {
		const struct estimate_line *l = &e->lines[i];

		if (l->verdict != VERDICT_NOT_ENOUGH_DATA)
			*surest_at(s, l) =
			    fmax(*surest_at(s, l), l->slope_lo); /* fmax() ignores NaN */
	}
	return s->gains ? 0 : -ENOMEM;
}

static bool could_lead(const struct surest *s, const struct estimate_line *l)
{
	return l->verdict != VERDICT_NOT_ENOUGH_DATA && l->slope_hi >= *surest_at(s, l);
}

static bool lacks_data(const struct estimate *e, const struct estimate_line *l)
{
	return l->verdict == VERDICT_NOT_ENOUGH_DATA &&
	       (double)l->samples >= LARGE_SHARE * (double)e->samples;
}

/* Known to the wanted width, with a verdict or without: a verdict depends on the value. */
static bool is_known(const struct estimate_line *l, double half_width)
{
	return l->shortage == SHORT_INTERVAL && (l->slope_hi - l->slope_lo) / 2 <= half_width;
}

/* @widest: the interval of those that could lead. @lacking: lines with many samples lack data. */
static double wanted(const struct estimate *e, const struct surest *s,
    const struct estimate_line *line, double widest, bool lacking)
{
	double ret = 1;

	if (lacks_data(e, line))
		return 1;
	if (line->verdict != VERDICT_NOT_ENOUGH_DATA && !could_lead(s, line))
		return WANTED_MIN;
	if (line->verdict != VERDICT_NOT_ENOUGH_DATA && widest > 0) {
		ret = (line->slope_hi - line->slope_lo) / widest;
		ret *= ret;
	}
	if (lacking)
		ret *= WANTED_BESIDE_LACKING;
	return fmax(ret, WANTED_MIN);
}

int estimate_wanted(const struct estimate *e, double *ret)
{
	struct surest s;
	double widest = 0;
	bool lacking = false;

	if (surest_init(&s, e))
		return -ENOMEM;
	for (size_t i = 0; i < e->n_lines; i++) {
		lacking |= lacks_data(e, &e->lines[i]);
		if (could_lead(&s, &e->lines[i]))
			widest = fmax(widest, e->lines[i].slope_hi - e->lines[i].slope_lo);
	}
	for (size_t i = 0; i < e->n_lines; i++)
		ret[i] = wanted(e, &s, &e->lines[i], widest, lacking);
	surest_deinit(&s);
	return 0;
}

static bool is_settled(const struct estimate *e, const struct surest *s,
    const struct estimate_line *l, double half_width)
{
	if (isnan(*surest_at(s, l)))
		return false;
	if (l->verdict == VERDICT_NOT_ENOUGH_DATA)
		return !lacks_data(e, l) || is_known(l, half_width);
	return !could_lead(s, l) || (l->slope_hi - l->slope_lo) / 2 <= half_width;
}

bool estimate_settled(const struct estimate *e, double half_width)
{
	bool ret = e->n_lines > 0;
	struct surest s;

	if (surest_init(&s, e))
		return false;
	for (size_t i = 0; ret && i < e->n_lines; i++)
		ret = is_settled(e, &s, &e->lines[i], half_width);
	surest_deinit(&s);
	return ret;
}
