// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a line's curve had predicted, beside what its optimisation did; see compare.h.
 *
 * Between two measured speedups the curve is a straight line, and so are the ends of its interval.
 * Two points whose errors have all in common (they share their baseline) have such an interval. Any
 * others have a narrower one, so this interval is never too narrow.
 */
#include "core/estimate/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/text/paths.h"
#include "core/estimate/stats.h"
#include "core/profile/counters.h"

#define MIN_SAMPLES 30 /* of the line in delay-free time; fewer tell its speed to 18 % at best */
/* half an interval of program speedup that suffices for 'no effect', as in estimate.c */
#define MIN_TOLD 0.05
#define SAME 0.0005 /* speedups are written with two decimals */

const char *compare_agreement_name(enum compare_agreement a)
{
	static const char *const names[] = {"unknown", "agrees", "more", "less"};

	return names[a];
}

/* The CPU time that a line takes per ns of the program. Taken from its samples in delay-free time,
 * where the runs say how long that was. */
struct cost {
	double samples, free_ns;
	double per_sample; /* CPU time of a sample, ns; 0: unknown */
};

/* A function's samples are those of its lines. */
static bool is_of(const struct samples_record *s, const char *line)
{
	return !strcmp(s->location, line) || (s->function && !strcmp(s->function, line));
}

static struct cost cost_of(const struct profile *p, const char *line)
{
	struct run_record total;
	struct cost c = {0};

	runs_total(p, &total);
	c.free_ns = (double)total.free_ns;
	for (size_t i = 0; i < p->n_samples; i++) {
		if (p->samples[i].has_free && p->runs[p->samples[i].run].free_ns &&
		    is_of(&p->samples[i], line))
			c.samples += (double)p->samples[i].free;
	}
	if (total.executed_ns && total.samples)
		c.per_sample = (double)total.executed_ns / (double)total.samples;
	return c;
}

/*
 * How much faster the line became, by its samples per visit. The interval holds the scatter of
 * counts only; the prediction's interval ignores it. Where both profiles know the CPU time that
 * samples stand for, samples are weighted with it.
 */
static struct compare_figure speedup_of_line(
    const struct cost *before, const struct cost *after, const struct compare_point *visits)
{
	double ratio, half;

	if (!(before->free_ns > 0 && after->free_ns > 0) || before->samples < MIN_SAMPLES ||
	    after->samples < MIN_SAMPLES)
		return (struct compare_figure){NAN, NAN, NAN};
	ratio = after->samples / after->free_ns / (before->samples / before->free_ns) *
		visits->after.period / visits->before.period;
	if (before->per_sample > 0 && after->per_sample > 0)
		ratio *= after->per_sample / before->per_sample;
	half = NORMAL_975 * sqrt(1 / before->samples + 1 / after->samples);
	return (struct compare_figure){1 - ratio, 1 - ratio * exp(half), 1 - ratio * exp(-half)};
}

static double between(double x, double x0, double y0, double x1, double y1)
{
	return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

static void read_curve(struct compare_prediction *p)
{
	const struct estimate_line *l = p->line;
	struct estimate_point zero = {0}, *a = &zero;
	double x = p->at.value;

	p->by_slope = (struct compare_figure){l->slope * x, fmin(l->slope_lo * x, l->slope_hi * x),
	    fmax(l->slope_lo * x, l->slope_hi * x)};
	p->predicted = (struct compare_figure){NAN, NAN, NAN};
	/* A line that became slower is on no curve, and a line that lacks data has no curve yet. */
	if (!(x > 0 && x <= 1) || !l->n_points)
		return;
	for (size_t i = 0; i < l->n_points; a = &l->points[i++]) {
		struct estimate_point *b = &l->points[i];

		if (b->line_speedup < x - SAME)
			continue;
		p->source = b->line_speedup <= x + SAME ? CURVE_POINT : CURVE_BETWEEN;
		x = fmin(x, b->line_speedup);
		p->predicted =
		    (struct compare_figure){between(x, a->line_speedup, a->program_speedup,
						b->line_speedup, b->program_speedup),
			between(x, a->line_speedup, a->ci_lo, b->line_speedup, b->ci_lo),
			between(x, a->line_speedup, a->ci_hi, b->line_speedup, b->ci_hi)};
		return;
	}
	p->source = CURVE_SLOPE;
	p->predicted = p->by_slope;
}

static void judge(struct compare_prediction *p)
{
	const struct compare_figure *m = &p->point->speedup, *y = &p->predicted;

	p->difference.value = m->value - y->value;
	p->difference.lo = p->difference.value - hypot(m->value - m->lo, y->hi - y->value);
	p->difference.hi = p->difference.value + hypot(m->hi - m->value, y->value - y->lo);
	if (isnan(p->difference.lo) || isnan(p->difference.hi))
		p->agreement = AGREE_UNKNOWN;
	else if (p->difference.lo > 0)
		p->agreement = AGREE_MORE;
	else if (p->difference.hi < 0)
		p->agreement = AGREE_LESS;
	/* A figure that cannot tell the prediction from 0 does not confirm it. */
	else if ((p->difference.hi - p->difference.lo) / 2 < fmax(fabs(y->value), MIN_TOLD))
		p->agreement = AGREE_YES;
	else
		p->agreement = AGREE_UNKNOWN;
}

static const struct compare_point *find_point(
    const struct comparison *c, const char *progress, bool is_latency)
{
	const struct compare_point key = {.progress = progress, .is_latency = is_latency};

	return c->n_points ? bsearch(&key, c->points, c->n_points, sizeof(key), compare_point_names)
			   : NULL;
}

/* A line by the end of its path, a function or a block without its module. */
static bool is_called(const char *unit, const char *wanted)
{
	const char *colon = strchr(unit, ':');
	size_t number;

	if (path_of_line(unit, &number))
		return path_has_suffix(unit, wanted);
	return colon && !strcmp(colon + 1, wanted);
}

/* The line of that name; a full match goes before a partial one. Returns 0, -ENOENT or -EEXIST. */
static int find_line(const struct estimate *e, const char *wanted, const char **ret)
{
	*ret = NULL;
	for (size_t i = 0; i < e->n_lines; i++) {
		const char *line = e->lines[i].line;

		if (!strcmp(line, wanted)) {
			*ret = line;
			return 0;
		}
	}
	for (size_t i = 0; i < e->n_lines; i++) {
		if (!is_called(e->lines[i].line, wanted))
			continue;
		if (*ret && strcmp(*ret, e->lines[i].line) != 0)
			return -EEXIST;
		*ret = e->lines[i].line;
	}
	return *ret ? 0 : -ENOENT;
}

static int compare_predictions(const void *a, const void *b)
{
	const struct compare_prediction *x = a, *y = b;
	int ret = strcmp(x->line->progress, y->line->progress);

	return ret ? ret : x->line->is_latency - y->line->is_latency;
}

int compare_predict(struct comparison *c, const struct compare_side *before,
    const struct compare_side *after, const char *line, double by)
{
	const struct estimate *e = before->estimate;
	struct cost then, now;
	const char *name;
	int err = find_line(e, line, &name);

	if (err)
		return err;
	free(c->predictions);
	c->n_predictions = 0;
	c->predictions = calloc(e->n_lines, sizeof(*c->predictions));
	if (!c->predictions)
		return -ENOMEM;
	then = cost_of(before->profile, name);
	now = cost_of(after->profile, name);
	for (size_t i = 0; i < e->n_lines; i++) {
		struct compare_prediction *p = &c->predictions[c->n_predictions];
		const struct compare_point *visits;

		if (strcmp(e->lines[i].line, name) != 0)
			continue;
		*p = (struct compare_prediction){.line = &e->lines[i],
		    .point = find_point(c, e->lines[i].progress, e->lines[i].is_latency),
		    .at = {by, NAN, NAN},
		    .difference = {NAN, NAN, NAN}};
		visits = find_point(
		    c, e->lines[i].progress, false); /* a latency's ends are visits too */
		if (isnan(by) && visits)
			p->at = speedup_of_line(&then, &now, visits);
		read_curve(p);
		if (p->point)
			judge(p);
		c->n_predictions++;
	}
	qsort(c->predictions, c->n_predictions, sizeof(*c->predictions), compare_predictions);
	return 0;
}
