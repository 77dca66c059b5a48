// SPDX-License-Identifier: BSD-3-Clause
/* When to stop (--until): whether the leading lines of an estimate are known well enough. */
#include "core/estimate.h"

#include <math.h>
#include <string.h>

#define LARGE_SHARE 0.05 /* of the samples: a line that has as many is not passed over for want of data */

/* The highest lower end among a progress point's lines: what the leader gains at least. NaN: none is known. */
static double surest_gain(const struct estimate *e, const char *progress)
{
	double ret = NAN;

	for (size_t i = 0; i < e->n_lines; i++)
		if (e->lines[i].verdict != VERDICT_NOT_ENOUGH_DATA && !strcmp(e->lines[i].progress, progress))
			ret = fmax(ret, e->lines[i].slope_lo); /* fmax() passes over NaN */
	return ret;
}

bool estimate_settled(const struct estimate *e, double half_width)
{
	for (size_t i = 0; i < e->n_lines; i++) {
		const struct estimate_line *l = &e->lines[i];
		double surest;

		if (l->verdict == VERDICT_NOT_ENOUGH_DATA) {
			if ((double)l->samples >= LARGE_SHARE * (double)e->samples)
				return false;
			continue;
		}
		surest = surest_gain(e, l->progress);
		if (l->slope_hi >= surest && (l->slope_hi - l->slope_lo) / 2 > half_width)
			return false;
	}
	for (size_t i = 0; i < e->n_lines; i++)
		if (isnan(surest_gain(e, e->lines[i].progress)))
			return false;
	return e->n_lines > 0;
}
