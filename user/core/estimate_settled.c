// SPDX-License-Identifier: BSD-3-Clause
/* What is known well enough: when to stop (--until), and where the next experiments are wanted. */
#include "core/estimate.h"

#include <math.h>
#include <string.h>

#define LARGE_SHARE 0.05           /* of the samples: a line that has as many is not passed over for want of data */
#define WANTED_BESIDE_LACKING 0.25 /* where such lines lack data all others have to wait */

/* The highest lower end among the lines of @at's progress point: what the leader gains at least. NaN: none is known. */
static double surest_gain(const struct estimate *e, const struct estimate_line *at)
{
	double ret = NAN;

	for (size_t i = 0; i < e->n_lines; i++)
		if (e->lines[i].verdict != VERDICT_NOT_ENOUGH_DATA && estimate_same_point(&e->lines[i], at))
			ret = fmax(ret, e->lines[i].slope_lo); /* fmax() passes over NaN */
	return ret;
}

static bool could_lead(const struct estimate *e, const struct estimate_line *l)
{
	return l->verdict != VERDICT_NOT_ENOUGH_DATA && l->slope_hi >= surest_gain(e, l);
}

static bool lacks_data(const struct estimate *e, const struct estimate_line *l)
{
	return l->verdict == VERDICT_NOT_ENOUGH_DATA && (double)l->samples >= LARGE_SHARE * (double)e->samples;
}

/* Without a verdict, but to the width that is asked for: whether a verdict is there hangs on the value. */
static bool is_known(const struct estimate_line *l, double half_width)
{
	return l->shortage == SHORT_INTERVAL && (l->slope_hi - l->slope_lo) / 2 <= half_width;
}

double estimate_wanted(const struct estimate *e, size_t i)
{
	const struct estimate_line *line = &e->lines[i];
	double widest = 0, wanted = 1;
	bool lacking = false;

	for (size_t j = 0; j < e->n_lines; j++) {
		lacking |= lacks_data(e, &e->lines[j]);
		if (could_lead(e, &e->lines[j]))
			widest = fmax(widest, e->lines[j].slope_hi - e->lines[j].slope_lo);
	}
	if (lacks_data(e, line))
		return 1;
	if (line->verdict != VERDICT_NOT_ENOUGH_DATA && !could_lead(e, line))
		return WANTED_MIN;
	if (line->verdict != VERDICT_NOT_ENOUGH_DATA && widest > 0) {
		wanted = (line->slope_hi - line->slope_lo) / widest;
		wanted *= wanted;
	}
	if (lacking)
		wanted *= WANTED_BESIDE_LACKING;
	return fmax(wanted, WANTED_MIN);
}

bool estimate_settled(const struct estimate *e, double half_width)
{
	for (size_t i = 0; i < e->n_lines; i++) {
		const struct estimate_line *l = &e->lines[i];
		double surest;

		if (l->verdict == VERDICT_NOT_ENOUGH_DATA) {
			if (lacks_data(e, l) && !is_known(l, half_width))
				return false;
			continue;
		}
		surest = surest_gain(e, l);
		if (l->slope_hi >= surest && (l->slope_hi - l->slope_lo) / 2 > half_width)
			return false;
	}
	for (size_t i = 0; i < e->n_lines; i++)
		if (isnan(surest_gain(e, &e->lines[i])))
			return false;
	return e->n_lines > 0;
}
