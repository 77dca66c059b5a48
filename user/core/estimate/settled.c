// SPDX-License-Identifier: BSD-3-Clause
/* When enough is known to stop (--until), how much is lacking, and where the next experiments are
 * wanted. */
#include "core/estimate/estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/names.h"

/* of the samples; lack of data on such a line is not passed over */
#define LARGE_SHARE 0.05
/* of the command, before anything is known; and what is worth a further command line */
#define RUNS_FIRST 20
#define MORE_RUNS_MIN 5

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

/* Lines are asked about once their function is known to matter. */
static bool is_due(const struct estimate_line *l)
{
	return !l->holder || estimate_matters(l->holder);
}

static bool lacks_data(const struct estimate *e, const struct estimate_line *l)
{
	return l->verdict == VERDICT_NOT_ENOUGH_DATA && is_due(l) &&
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
	double relative;

	if (lacking)
		return lacks_data(e, line) ? 1 : WANTED_MIN;
	if (line->verdict == VERDICT_NOT_ENOUGH_DATA)
		return 1;
	if (!could_lead(s, line))
		return WANTED_MIN;
	relative = widest > 0 ? (line->slope_hi - line->slope_lo) / widest : 1;
	return fmax(relative * relative, WANTED_MIN);
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

double estimate_times(const struct estimate_line *l)
{
	double width = l->slope_hi - l->slope_lo, wanted = fmax(0.1, 1.8 * fabs(l->slope));

	return fmax(1, width * width / (wanted * wanted));
}

uint64_t estimate_more_runs(const struct estimate *e)
{
	const struct estimate_line *hottest = NULL;
	double runs = (double)e->runs;

	for (size_t i = 0; i < e->n_lines; i++) {
		const struct estimate_line *l = &e->lines[i];

		if (l->is_latency || strcmp(l->progress, END_TO_END))
			continue;
		if (l->verdict != VERDICT_NOT_ENOUGH_DATA)
			return 0;
		if (!hottest || l->samples > hottest->samples)
			hottest = l;
	}
	if (!hottest)
		return 0;
	/* Too few to know how far they scatter: as many as are advised before the first. */
	if (hottest->shortage != SHORT_INTERVAL)
		return (uint64_t)fmax(RUNS_FIRST - runs, MORE_RUNS_MIN);
	return (uint64_t)fmax(ceil(runs * (estimate_times(hottest) - 1)), MORE_RUNS_MIN);
}
