// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which machines differ, beyond chance; see machines.h. The sums are of machine_tally.c.
 *
 * The reference of speeds is the median machine. A mean of the others would make the rest look fast
 * where one is slow. The variance of a median of n normal numbers is pi / 2 that of their mean.
 *
 * Errors of a period come from the scatter of its experiments, which is known best. Quarters and
 * halves of runs, and runs, scatter more where speeds wander. A few of each tell little of one
 * machine, so all machines together tell by which factor. A machine whose own runs scatter still
 * more is believed. What is the same for all of a machine's only run is its speed, as far as that
 * run knows.
 *
 * With forty machines and a dozen lines, some differ by chance. So the chances of all comparisons
 * are judged together, by Benjamini and Hochberg (1995): of those that are told, one in twenty is
 * wrong on the average, and where all machines are equal, nothing is told in 95 of 100 reports.
 * Comparisons against one reference depend positively on each other, as the rule allows (Benjamini
 * and Yekutieli 2001). Speeds are one family, lines another.
 */
#include "core/estimate/machines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/estimate/machine_tally.h"
#include "core/estimate/private.h"
#include "core/estimate/stats.h"

#define FALSE_SHARE 0.05 /* of what is told, on the average */
#define MIN_SLOWER 0.02  /* less is of no interest, however sure */
#define MOST_GROWTH 3    /* from halves to the whole */
#define LITTLE 0.25      /* of the others' slope */
#define MIN_ON_LINE 8    /* experiments of a machine on a line */
#define MIN_DF 4         /* of its baselines there */

/* A figure, its standard error, and how well that is known. */
struct known {
	double value, error, df;
};

/* A comparison: chance is NaN where there is none. */
struct chance {
	double chance;
	size_t at;
};

static int compare_chances(const void *a, const void *b)
{
	double x = ((const struct chance *)a)->chance, y = ((const struct chance *)b)->chance;

	return x < y ? -1 : x > y;
}

/* Sorts the @n comparisons, and returns how many of the first hold together. */
static size_t hold(struct chance *all, size_t n)
{
	if (n)
		qsort(all, n, sizeof(*all), compare_chances);
	for (size_t i = n; i > 0; i--)
		if (all[i - 1].chance <= FALSE_SHARE * (double)i / (double)n)
			return i;
	return 0;
}

/* Satterthwaite's degrees of freedom of the sum of two variances. */
static double both_df(double a, double a_df, double b, double b_df)
{
	double squares = a * a / a_df + b * b / b_df;

	return squares > 0 ? (a + b) * (a + b) / squares : INFINITY;
}

/* Speeds */

/* By which factor variances of experiments are too small, and how well that is known. */
struct factor {
	double value, df;
};

static bool is_enough(const struct node_speed *s)
{
	return s->baselines >= MIN_BASELINES && s->df >= MIN_BASELINES / 2 &&
	       s->count >= MIN_RUN_VISITS && s->time_ns;
}

static double squared(double x)
{
	return x * x;
}

/* One that is the mean over machines of an error's square by that of experiments. */
static void add_factor(struct factor *f, const struct node_speed *s, uint64_t error_ns, uint64_t df)
{
	f->value += (double)df * squared((double)error_ns / (double)s->error_ns);
	f->df += (double)df;
}

static double mean_of(const struct factor *f)
{
	return f->df > 0 ? f->value / f->df : 1;
}

/*
 * A speed that wanders is seen better by halves than by quarters of a run, and best by the whole,
 * of which there is but one. From halves to the whole the variance grows once more as it did from
 * quarters to halves.
 */
static struct factor find_factor(const struct machine_entry *e, size_t n)
{
	struct factor quarters = {0}, halves = {0}, runs = {0};
	double grows;

	for (size_t i = 0; i < n; i++) {
		const struct node_speed *s = &e[i].speed;

		if (!is_enough(s) || !s->error_ns)
			continue;
		add_factor(&quarters, s, s->quarter_error_ns, s->quarter_df);
		add_factor(&halves, s, s->half_error_ns, s->half_df);
		add_factor(&runs, s, s->run_error_ns, s->run_df);
	}
	grows = fmin(fmax(mean_of(&halves) / mean_of(&quarters), 1), MOST_GROWTH);
	quarters.value = mean_of(&quarters);
	halves.value = mean_of(&halves) * grows;
	runs.value = mean_of(&runs);
	if (runs.value >= fmax(halves.value, quarters.value) && runs.value > 1)
		return runs;
	if (halves.value >= quarters.value && halves.value > 1)
		return halves;
	return quarters.value > 1 ? quarters : (struct factor){1, INFINITY};
}

/* The logarithm of the machine's period. */
static struct known period_of(const struct node_speed *s, const struct factor *f)
{
	double own = squared((double)s->error_ns) * f->value,
	       runs = squared((double)s->run_error_ns);

	return (struct known){.value = log((double)s->time_ns / (double)s->count),
	    .error = sqrt(fmax(own, runs)) / (double)s->time_ns,
	    .df = 1 / (1 / (double)s->df + 1 / f->df)};
}

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The median of the @n periods, which are at least two; @room is for as many. */
static struct known median_of(const struct known *periods, size_t n, double *room)
{
	double certain = 0;

	for (size_t i = 0; i < n; i++) {
		room[i] = periods[i].value;
		certain += 1 / fmax(periods[i].error, 1e-9);
	}
	qsort(room, n, sizeof(*room), compare_numbers);
	return (struct known){.value = (room[(n - 1) / 2] + room[n / 2]) / 2,
	    .error = sqrt(M_PI_2) / certain,
	    .df = INFINITY};
}

/* The machine's speed against @of. Returns the chance that scatter alone makes a difference of
 * MIN_SLOWER look as large. */
static double hold_against(
    struct machine_speed *s, const struct known *period, const struct known *of)
{
	double off = period->value - of->value, error = hypot(period->error, of->error),
	       df = both_df(squared(period->error), period->df, squared(of->error), of->df),
	       wide = student_975(df) * error, more = fmax(fabs(off) - log1p(MIN_SLOWER), 0);

	s->slower = expm1(off);
	s->lo = expm1(off - wide);
	s->hi = expm1(off + wide);
	return error > 0 ? student_chance(more / error, df) : more > 0 ? 0 : 1;
}

struct speeds {
	const struct machine_table *t;
	struct machines *ret;
	struct chance *chances; /* at: into ret->speeds */
	size_t n;
	struct known *periods; /* of one point */
	size_t *at;
	double *room;
};

/* The name that the profile has, which outlives the table. */
static const char *name_of(const struct names *names, uint32_t id)
{
	return names->items[id];
}

/* The @n entries of one progress point. */
static void compare_at_point(struct speeds *s, const struct machine_entry *e, size_t n)
{
	struct factor f = find_factor(e, n);
	struct known middle;
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		struct machine_speed *speed = &s->ret->speeds[s->ret->n_speeds];

		*speed = (struct machine_speed){.machine = e[i].machine,
		    .progress = name_of(&s->t->points, e[i].point / 2),
		    .is_latency = e[i].point & 1,
		    .baselines = e[i].speed.baselines,
		    .other = UINT32_MAX,
		    .slower = NAN,
		    .lo = NAN,
		    .hi = NAN};
		if (is_enough(&e[i].speed)) {
			s->at[known] = s->ret->n_speeds;
			s->periods[known++] = period_of(&e[i].speed, &f);
		}
		s->ret->n_speeds++;
	}
	if (known < 2)
		return;
	if (known == 2) {
		s->ret->speeds[s->at[0]].other = s->ret->speeds[s->at[1]].machine;
		s->ret->speeds[s->at[1]].other = s->ret->speeds[s->at[0]].machine;
	}
	middle = median_of(s->periods, known, s->room);
	for (size_t i = 0; i < known; i++) {
		const struct known *of = known == 2 ? &s->periods[1 - i] : &middle;
		double chance = hold_against(&s->ret->speeds[s->at[i]], &s->periods[i], of);

		/* Two machines are one comparison: it is the slower one that is told. */
		if (known > 2 || s->periods[i].value > of->value)
			s->chances[s->n++] = (struct chance){chance, s->at[i]};
	}
}

static int compare_speeds(const void *a, const void *b)
{
	const struct machine_speed *x = a, *y = b;
	double slower_x = isnan(x->slower) ? -INFINITY : x->slower,
	       slower_y = isnan(y->slower) ? -INFINITY : y->slower;

	if (x->progress != y->progress || x->is_latency != y->is_latency)
		return 0;
	if (slower_x != slower_y)
		return slower_x > slower_y ? -1 : 1;
	return x->machine < y->machine ? -1 : x->machine > y->machine;
}

/* Each progress point's, which stand together. */
static void sort_speeds(struct machines *m)
{
	size_t end;

	for (size_t i = 0; i < m->n_speeds; i = end) {
		for (end = i + 1;
		     end < m->n_speeds && m->speeds[end].progress == m->speeds[i].progress &&
		     m->speeds[end].is_latency == m->speeds[i].is_latency;
		     end++)
			;
		qsort(&m->speeds[i], end - i, sizeof(*m->speeds), compare_speeds);
	}
}

static void tell_speeds(struct speeds *s)
{
	size_t told = hold(s->chances, s->n);

	for (size_t i = 0; i < told; i++)
		s->ret->speeds[s->chances[i].at].differs = true;
	sort_speeds(s->ret);
}

static int find_speeds(struct machines *ret, const struct machine_table *t)
{
	struct speeds s = {.t = t,
	    .ret = ret,
	    .chances = calloc(t->n + 1, sizeof(*s.chances)),
	    .periods = calloc(t->n + 1, sizeof(*s.periods)),
	    .at = calloc(t->n + 1, sizeof(*s.at)),
	    .room = calloc(t->n + 1, sizeof(*s.room))};
	bool enough = s.chances && s.periods && s.at && s.room;
	size_t end;

	ret->speeds = calloc(t->n + 1, sizeof(*ret->speeds));
	enough &= ret->speeds != NULL;
	for (size_t i = 0; enough && i < t->n; i = end) {
		end = i + 1;
		while (end < t->n && t->entries[end].line == t->entries[i].line &&
		       t->entries[end].point == t->entries[i].point)
			end++;
		if (t->entries[i].line == NO_LINE)
			compare_at_point(&s, &t->entries[i], end - i);
	}
	if (enough)
		tell_speeds(&s);
	free(s.chances);
	free(s.periods);
	free(s.at);
	free(s.room);
	return enough ? 0 : -ENOMEM;
}

/* Lines */

/* Machines at a line are weighed by their time, which no scatter has chosen. */
struct gains {
	double weights, weighted, variance, squares;
};

static bool is_enough_on_line(const struct node_gain *g)
{
	return g->experiments >= MIN_ON_LINE && g->base_df >= MIN_DF && g->base_count &&
	       g->base_ns && g->square;
}

static double weight_of(const struct node_gain *g)
{
	return (double)g->base_ns / (double)g->base_count * (double)g->square;
}

/* The slope that the machine alone has. @phase: the line's factor. */
static struct known slope_of(const struct node_gain *g, double phase)
{
	double period = (double)g->base_ns / (double)g->base_count, weight = weight_of(g),
	       own = squared((double)g->error / weight),
	       base = squared(
		   (double)g->time / weight * (double)g->base_error_ns / (double)g->base_ns);

	return (struct known){
	    .value = phase * ((double)g->count * period - (double)g->time) / weight,
	    .error = phase * sqrt(own + base),
	    .df = both_df(own, (double)g->experiments - 1, base, (double)g->base_df)};
}

static void add_gains(struct gains *to, const struct known *slope, double weight, int sign)
{
	double part = squared(weight * slope->error);

	to->weights += sign * weight;
	to->weighted += sign * weight * slope->value;
	to->variance += sign * part;
	to->squares += sign * part * part / slope->df;
}

/* @all without @own. */
static struct known others_of(struct gains all, const struct known *own, double weight)
{
	double variance;

	add_gains(&all, own, weight, -1);
	variance = fmax(all.variance, 0);
	return (struct known){.value = all.weighted / all.weights,
	    .error = sqrt(variance) / all.weights,
	    .df = all.squares > 0 ? variance * variance / all.squares : INFINITY};
}

/* The entries of the line and point of @of, and their number. */
static size_t find_entries(
    const struct machine_table *t, const struct estimate_line *of, const struct machine_entry **ret)
{
	uint32_t line = names_find(&t->lines, of->line),
		 point = names_find(&t->points, of->progress);
	size_t at = 0, end = t->n, n = 0;

	if (line == NO_LINE || point == UINT32_MAX)
		return 0;
	point = 2 * point + of->is_latency;
	while (at < end) {
		size_t middle = at + (end - at) / 2;
		const struct machine_entry *e = &t->entries[middle];

		if (e->line < line || (e->line == line && e->point < point))
			at = middle + 1;
		else
			end = middle;
	}
	*ret = &t->entries[at];
	while (at + n < t->n && (*ret)[n].line == line && (*ret)[n].point == point)
		n++;
	return n;
}

struct lines {
	struct machines *ret;
	struct chance *chances; /* at: into ret->lines */
	size_t n;
};

/* The @n entries are of the line @of. */
static void compare_on_line(
    struct lines *l, const struct estimate_line *of, const struct machine_entry *e, size_t n)
{
	struct gains all = {0};
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		struct known slope;

		if (!is_enough_on_line(&e[i].gain))
			continue;
		slope = slope_of(&e[i].gain, of->phase_factor);
		add_gains(&all, &slope, weight_of(&e[i].gain), 1);
		known++;
	}
	for (size_t i = 0; known > 1 && i < n; i++) {
		struct machine_line *line = &l->ret->lines[l->ret->n_lines];
		struct known slope, others;
		double off, error, df, wide;

		if (!is_enough_on_line(&e[i].gain))
			continue;
		slope = slope_of(&e[i].gain, of->phase_factor);
		others = others_of(all, &slope, weight_of(&e[i].gain));
		wide = student_975(slope.df) * slope.error;
		off = slope.value - others.value;
		error = hypot(slope.error, others.error);
		df = both_df(squared(slope.error), slope.df, squared(others.error), others.df);
		*line = (struct machine_line){.machine = e[i].machine,
		    .line = of->line,
		    .progress = of->progress,
		    .is_latency = of->is_latency,
		    .slope = slope.value,
		    .lo = slope.value - wide,
		    .hi = slope.value + wide,
		    .others = others.value};
		l->chances[l->n++] = (struct chance){error > 0  ? student_chance(off / error, df)
						     : off != 0 ? 0
								: 1,
		    l->ret->n_lines++};
	}
}

/* Not every line without an effect has none at all, and enough experiments see a little. So little
 * of what it is elsewhere does not matter. */
static bool is_little(const struct machine_line *l)
{
	return fmax(-l->lo, l->hi) <= fmin(NO_EFFECT_WIDTH, l->others * LITTLE);
}

static void tell_lines(struct lines *l)
{
	size_t told = hold(l->chances, l->n);

	for (size_t i = 0; i < told; i++) {
		struct machine_line *line = &l->ret->lines[l->chances[i].at];

		line->no_effect = line->others > line->slope &&
				  ((line->lo <= 0 && line->hi >= 0) || is_little(line));
	}
}

static bool is_gain(const struct estimate_line *l)
{
	return l->verdict == VERDICT_OPTIMIZE;
}

static int find_lines(struct machines *ret, const struct machine_table *t, const struct estimate *e)
{
	const struct machine_entry *first;
	struct lines l = {.ret = ret};
	size_t n = 0;

	for (size_t i = 0; i < e->n_lines; i++)
		n += is_gain(&e->lines[i]) ? find_entries(t, &e->lines[i], &first) : 0;
	l.chances = calloc(n + 1, sizeof(*l.chances));
	ret->lines = calloc(n + 1, sizeof(*ret->lines));
	if (!l.chances || !ret->lines) {
		free(l.chances);
		return -ENOMEM;
	}
	for (size_t i = 0; i < e->n_lines; i++) {
		n = is_gain(&e->lines[i]) ? find_entries(t, &e->lines[i], &first) : 0;
		if (n)
			compare_on_line(&l, &e->lines[i], first, n);
	}
	tell_lines(&l);
	free(l.chances);
	return 0;
}

int machines_init(struct machines *ret, const struct machine_table *t, const struct estimate *e)
{
	*ret = (struct machines){.n = t->machines.n};
	if (ret->n < 2)
		return 0;
	ret->names = calloc(ret->n, sizeof(*ret->names));
	if (!ret->names || find_speeds(ret, t) || find_lines(ret, t, e)) {
		machines_deinit(ret);
		return -ENOMEM;
	}
	memcpy(ret->names, t->machines.items, ret->n * sizeof(*ret->names));
	return 0;
}

void machines_deinit(struct machines *m)
{
	free(m->names);
	free(m->speeds);
	free(m->lines);
	*m = (struct machines){0};
}
