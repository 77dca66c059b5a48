// SPDX-License-Identifier: BSD-3-Clause
/* An estimate in sentences; see words.h. */
#include "report/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define EXAMPLE_SPEEDUP 0.25 /* of the line, in the sentences: within what a programmer may hope for */
#define MAX_GAIN 100         /* times; a period near 0 promises more than that and means that it is not known */

const char *verdict_words(enum verdict v)
{
	static const char *const words[] = {"optimize", "contention", "no effect", "not enough data"};

	return words[v];
}

/* A program speedup is the share by which the period shrinks; throughput is the period's inverse. */
static double throughput_gain(double program_speedup)
{
	return program_speedup < 1 ? fmin(1 / (1 - program_speedup) - 1, MAX_GAIN) : MAX_GAIN;
}

/* The measured point nearest to the example, when its interval is on the same side of 0 as the slope; else NULL, and the regression
 * has to do. The point is not chosen by what it shows: of twenty noisy points the best one to tell about would be a lucky one. */
static const struct estimate_point *example_point(const struct estimate_line *l)
{
	const struct estimate_point *best = NULL;

	for (size_t i = 0; i < l->n_points; i++) {
		const struct estimate_point *p = &l->points[i];

		if (!best || fabs(p->line_speedup - EXAMPLE_SPEEDUP) < fabs(best->line_speedup - EXAMPLE_SPEEDUP))
			best = p;
	}
	return best && (l->slope > 0 ? best->ci_lo > 0 : best->ci_hi < 0) ? best : NULL;
}

void effect_words(const struct estimate_line *l, const char *label, char *buf, size_t size)
{
	const struct estimate_point *p = example_point(l);
	bool whole_run = !strcmp(l->progress, "end-to-end");
	double at = EXAMPLE_SPEEDUP, v = l->slope * at, lo = l->slope_lo * at, hi = l->slope_hi * at;

	buf[0] = 0;
	if (l->verdict != VERDICT_OPTIMIZE && l->verdict != VERDICT_CONTENTION)
		return;
	if (p) {
		at = p->line_speedup;
		v = p->program_speedup;
		lo = p->ci_lo;
		hi = p->ci_hi;
	}
	if (!whole_run) {
		v = throughput_gain(v);
		lo = throughput_gain(lo);
		hi = throughput_gain(hi);
	}
	if (l->verdict == VERDICT_OPTIMIZE)
		snprintf(buf, size, "making %s %.0f %% faster would %s by %.1f %% (%.1f to %.1f)", label, at * 100,
		    whole_run ? "shorten the run" : "raise throughput", v * 100, lo * 100, hi * 100);
	else
		snprintf(buf, size,
		    "speeding %s up would slow the program down, contention: %.0f %% faster would %s by %.1f %% (%.1f to %.1f)", label,
		    at * 100, whole_run ? "lengthen the run" : "lower throughput", -v * 100, -hi * 100, -lo * 100);
}

/* Intervals narrow with the root of the number of experiments: how many times as many would tell. */
static int times_as_many(const struct estimate_line *l)
{
	double width = l->slope_hi - l->slope_lo;
	double wanted = fmax(0.1, 1.8 * fabs(l->slope));

	return (int)fmin(fmax(2, ceil(width * width / (wanted * wanted))), 1000);
}

void shortage_words(const struct estimate *e, const struct estimate_line *l, char *buf, size_t size)
{
	switch (l->shortage) {
	case SHORT_NONE:
		buf[0] = 0;
		break;
	case SHORT_BASELINE:
		if (!l->baselines)
			snprintf(buf, size, "no baseline (speedup 0) in which it ran, %" PRIu64 " experiments so far", l->experiments);
		else
			snprintf(buf, size, "fewer than 5 visits in its baselines, %" PRIu64 " so far", l->baselines);
		break;
	case SHORT_VISITS:
		snprintf(buf, size, "no speedup with 5 visits or more: %" PRIu64 " visits in %" PRIu64 " experiments", l->visits,
		    l->experiments);
		break;
	case SHORT_SPEEDUPS:
		snprintf(buf, size, "%zu of %zu speedups measured", l->n_points, e->need_speedups);
		break;
	case SHORT_EXPERIMENTS:
		snprintf(buf, size, "%" PRIu64 " experiments, too few to tell how far they scatter", l->experiments);
		break;
	case SHORT_INTERVAL:
		snprintf(buf, size, "slope %+.2f, between %+.2f and %+.2f: about %d times as many experiments would tell", l->slope,
		    l->slope_lo, l->slope_hi, times_as_many(l));
		break;
	}
}
