// SPDX-License-Identifier: BSD-3-Clause
/* An estimate in sentences; see words.h. */
#include "report/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/places/couple.h"
#include "core/places/waits.h"
#include "core/text/paths.h"

/* of the line, in the sentences: a programmer may hope for so much */
#define EXAMPLE_SPEEDUP 0.25
#define MEANS_DIFFER 0.1 /* of the mean: Little's law and the matched requests disagree */
/* times; a period near 0 promises more, which means that the gain is unknown */
#define MAX_GAIN 100
/* more are asked of nobody */
#define MANY_RUNS 10000

static bool is_path(const char *unit)
{
	size_t number;

	return path_of_line(unit, &number) != 0;
}

size_t common_directories(const struct estimate *e)
{
	const char *first = NULL, *slash;
	size_t n = 0;

	for (size_t i = 0; i < e->n_lines; i++) {
		const char *line = e->lines[i].line;
		size_t j = 0;

		if (!is_path(line))
			continue;
		if (!first) {
			first = line;
			n = strlen(first);
		}
		while (j < n && line[j] == first[j])
			j++;
		n = j;
	}
	slash = first ? memrchr(first, '/', n) : NULL;
	return slash ? (size_t)(slash - first) + 1 : 0;
}

/* One unit's name without @prefix, or all directories. */
static const char *without(const char *unit, size_t prefix)
{
	if (prefix == ALL_DIRECTORIES)
		return path_base(unit);
	return is_path(unit) && strlen(unit) > prefix ? unit + prefix : unit;
}

/* Appends a unit of a couple, @length bytes. */
static void append_unit(const char *unit, size_t length, size_t prefix, char room[UNIT_ROOM])
{
	size_t used = strlen(room);
	char name[UNIT_ROOM];

	snprintf(name, sizeof(name), "%.*s", (int)length, unit);
	snprintf(room + used, UNIT_ROOM - used, "%s%s", used ? " + " : "", without(name, prefix));
}

const char *unit_label(const char *unit, size_t prefix, char room[UNIT_ROOM])
{
	const char *from = unit, *next = NULL;
	size_t end;

	room[0] = 0;
	while (!is_path(unit) && (next = couple_split(unit, next, &end))) {
		append_unit(from, (size_t)(unit + end - from), prefix, room);
		from = next;
	}
	if (from == unit)
		return without(unit, prefix);
	append_unit(from, strlen(from), prefix, room);
	return room;
}

const char *curve_mark(double share, bool unicode)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii[] = {"_", ".", "-", "=", "+", "*", "#", "@"};

	if (share < -1.0 / 16)
		return unicode ? "▽" : "v";
	return (unicode ? blocks : ascii)[(int)fmin(fmax(0, share * 8), 7)];
}

const char *verdict_words(enum verdict v)
{
	static const char *const words[] = {
	    "optimize", "contention", "no effect", "not enough data"};

	return words[v];
}

/* A program speedup is the share by which the period shrinks. Throughput is the inverse of the
 * period. */
static double throughput_gain(double program_speedup)
{
	return program_speedup < 1 ? fmin(1 / (1 - program_speedup) - 1, MAX_GAIN) : MAX_GAIN;
}

/* The measured point nearest to the example, when its interval is on the same side of 0 as the
 * slope. Else NULL: the regression serves instead. What a point shows does not choose it: of twenty
 * noisy points the best one would be a lucky one. */
static const struct estimate_point *example_point(const struct estimate_line *l)
{
	const struct estimate_point *best = NULL;

	for (size_t i = 0; i < l->n_points; i++) {
		const struct estimate_point *p = &l->points[i];

		if (!best || fabs(p->line_speedup - EXAMPLE_SPEEDUP) <
				 fabs(best->line_speedup - EXAMPLE_SPEEDUP))
			best = p;
	}
	return best && (l->slope > 0 ? best->ci_lo > 0 : best->ci_hi < 0) ? best : NULL;
}

void time_words(double ns, char *buf, size_t size)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	size_t i = 0;
	double v;

	if (!isfinite(ns)) {
		snprintf(buf, size, "unknown");
		return;
	}
	/* A figure that would round up to the next unit gets that unit. */
	while (i < 3 && ns < 0.9995 * units[i].ns)
		i++;
	v = ns / units[i].ns;
	snprintf(buf, size, "%.*f %s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, units[i].name);
}

static void append(char *buf, size_t size, const char *text)
{
	size_t used = strlen(buf);

	snprintf(buf + used, size - used, "%s", text);
}

void latency_words(const struct latency_figures *f, char *buf, size_t size)
{
	const struct {
		const char *name;
		const struct latency_figure *figure;
	} all[] = {{"mean", &f->mean}, {"p50", &f->p50}, {"p90", &f->p90}, {"p99", &f->p99}};

	buf[0] = 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && (f->pairs || !i); i++) {
		char text[128], value[32], lo[32], hi[32];

		time_words(all[i].figure->value, value, sizeof(value));
		time_words(all[i].figure->lo, lo, sizeof(lo));
		time_words(all[i].figure->hi, hi, sizeof(hi));
		if (isfinite(all[i].figure->lo))
			snprintf(text, sizeof(text), "%s%s %s (%s to %s)", i ? ", " : "",
			    all[i].name, value, lo, hi);
		else
			snprintf(text, sizeof(text), "%s%s %s", i ? ", " : "", all[i].name, value);
		append(buf, size, text);
	}
}

/* How many of the ends were not matched. */
static void unmatched_words(const struct estimate_latency *l, char *buf, size_t size)
{
	snprintf(buf, size,
	    "%" PRIu64 " ends had no begin, %" PRIu64
	    " begins no end: p50, p90 and p99 are those of the %" PRIu64 " matched%s",
	    l->unmatched, l->abandoned, l->pairs,
	    l->unmatched > l->pairs
		? "; where begin and end are met by different threads a key is needed (key=argN)"
		: "");
}

void latency_warning(const struct estimate_latency *l, unsigned n, char *buf, size_t size)
{
	double pairs = l->now.pairs_mean, mean = l->now.mean.value;

	buf[0] = 0;
	if (l->growth > 0 && !n--)
		snprintf(buf, size,
		    "arrivals outrun departures by %.1f %%: more and more are in flight, and no "
		    "latency is that of a steady state (or "
		    "begins are "
		    "counted that never end)",
		    100 * l->growth);
	else if (l->unmatched + l->abandoned &&
		 (double)l->pairs <
		     LATENCY_PAIRS_FEW * (double)(l->pairs + l->unmatched + l->abandoned) &&
		 !n--)
		unmatched_words(l, buf, size);
	else if (l->lost && !n--)
		snprintf(buf, size,
		    "%" PRIu64 " begins could not be kept, or their key not be read", l->lost);
	else if (l->missing && !n--)
		snprintf(buf, size,
		    "at least %" PRId64 " were in flight before profiling began: counted as such, "
		    "there may have been more",
		    l->missing);
	else if (l->pairs && fabs(pairs - mean) > MEANS_DIFFER * mean && !n--)
		snprintf(buf, size,
		    "the mean of the requests matched is %.0f %% %s: some were in flight all the "
		    "time, or never end",
		    100 * fabs(pairs / mean - 1), pairs < mean ? "lower" : "higher");
}

/* ", to 1.08 ms; p50 by 3.0 % to 1.00 ms, ...": values at a point, and their difference from the
 * baseline's. */
static void quantiles_words(const struct latency_figures *now, const struct latency_figures *then,
    bool longer, char *buf, size_t size)
{
	const struct {
		const char *name;
		double now, then;
	} all[] = {{"p50", now->p50.value, then->p50.value},
	    {"p90", now->p90.value, then->p90.value}, {"p99", now->p99.value, then->p99.value}};
	char text[128], value[32];

	time_words(then->mean.value, value, sizeof(value));
	snprintf(text, sizeof(text), ", to %s", value);
	append(buf, size, text);
	for (size_t i = 0; i < 3; i++) {
		if (!(all[i].now > 0) || !isfinite(all[i].then))
			continue;
		time_words(all[i].then, value, sizeof(value));
		snprintf(text, sizeof(text), "%s%s by %.1f %% to %s", i ? ", " : "; ", all[i].name,
		    100 * (longer ? all[i].then / all[i].now - 1 : 1 - all[i].then / all[i].now),
		    value);
		append(buf, size, text);
	}
}

/* Its experiments are whole runs of the command. */
static bool is_of_runs(const struct estimate_line *l)
{
	return !l->is_latency && !strcmp(l->progress, END_TO_END);
}

/* What a speedup does, in the point's own terms: for better, for worse. */
static const char *effect_verb(const struct estimate_line *l)
{
	bool better = l->verdict == VERDICT_OPTIMIZE;

	if (l->is_latency)
		return better ? "shorten the mean" : "lengthen the mean";
	if (is_of_runs(l))
		return better ? "shorten the run" : "lengthen the run";
	return better ? "raise throughput" : "lower throughput";
}

/* What a speedup makes of a unit: less time of a wait is no speed. */
static const char *made(const struct estimate_line *l)
{
	size_t length;

	return !l->is_couple && wait_of_unit(l->line, &length) >= 0 ? "shorter" : "faster";
}

void effect_words(const struct estimate_line *l, const char *label, char *buf, size_t size)
{
	const struct estimate_point *p = example_point(l);
	double at = EXAMPLE_SPEEDUP, v = l->slope * at, lo = l->slope_lo * at,
	       hi = l->slope_hi * at;

	buf[0] = 0;
	if (l->verdict != VERDICT_OPTIMIZE && l->verdict != VERDICT_CONTENTION)
		return;
	if (p) {
		at = p->line_speedup;
		v = p->program_speedup;
		lo = p->ci_lo;
		hi = p->ci_hi;
	}
	if (!l->is_latency && !is_of_runs(l)) {
		v = throughput_gain(v);
		lo = throughput_gain(lo);
		hi = throughput_gain(hi);
	}
	if (l->verdict == VERDICT_OPTIMIZE)
		snprintf(buf, size, "making %s %.0f %% %s would %s by %.1f %% (%.1f to %.1f)",
		    label, at * 100, made(l), effect_verb(l), v * 100, lo * 100, hi * 100);
	else
		snprintf(buf, size,
		    "speeding %s up would slow %s down, contention: %.0f %% %s would %s by "
		    "%.1f %% (%.1f to %.1f)",
		    label, l->is_latency ? "requests" : "the program", at * 100, made(l),
		    effect_verb(l), -v * 100, -hi * 100, -lo * 100);
	if (p && l->latencies)
		quantiles_words(l->latencies, &l->latencies[1 + (p - l->points)],
		    l->verdict == VERDICT_CONTENTION, buf, size);
}

void calls_words(const struct estimate_line *l, const char *label, char *buf, size_t size)
{
	size_t used = 0, n = l->calls ? l->calls->n : 0;

	buf[0] = 0;
	for (size_t i = 0; i < n && used < size; i++) {
		const char *name = l->calls->v[i].name;
		bool is_fault = !strcmp(name, "fault");

		used += (size_t)snprintf(buf + used, size - used, "%s%s %s %.0f %%",
		    i ? "," : label, i ? "" : " waits in", is_fault ? "page faults" : name,
		    100 * wait_calls_share(l->calls, i));
	}
}

double example_gain(const struct estimate_line *l)
{
	const struct estimate_point *p = example_point(l);

	if (l->verdict == VERDICT_NOT_ENOUGH_DATA)
		return NAN;
	return p && fabs(p->line_speedup - EXAMPLE_SPEEDUP) < 0.005 ? p->program_speedup
								    : l->slope * EXAMPLE_SPEEDUP;
}

void flat_words(const struct estimate_line *l, const char *label, char *buf, size_t size)
{
	buf[0] = 0;
	if (l->verdict == VERDICT_NO_EFFECT)
		snprintf(buf, size,
		    "making %s %s would change nothing worth the effort: slope %+.2f, between "
		    "%+.2f and %+.2f",
		    label, made(l), l->slope, l->slope_lo, l->slope_hi);
}

void counter_warning(
    const struct counter *c, const struct run_record *totals, char *buf, size_t size)
{
	double share = c->shown == COUNTER_SHARE ? counter_share(c, totals) : 0;

	buf[0] = 0;
	if (c->shown == COUNTER_SHARE && share >= c->most)
		snprintf(buf, size, "%s %.0f %% %s", c->before, 100 * share, c->after);
}

void contradiction_words(const struct contradiction *c, const char *label, char *buf, size_t size)
{
	buf[0] = 0;
	if (c->worth)
		snprintf(buf, size,
		    "the progress points contradict each other: by '%s' a faster %s is worth it "
		    "(slope %+.2f to %+.2f), by '%s' not (%+.2f to %+.2f); one of them is no unit "
		    "of the program's work: choose with -P",
		    c->worth->progress, label, c->worth->slope_lo, c->worth->slope_hi,
		    c->not_worth->progress, c->not_worth->slope_lo, c->not_worth->slope_hi);
}

/* Of runs as experiments, for a line of this profile. */
static double more_runs(const struct estimate *e, const struct estimate_line *l)
{
	return fmin(fmax(1, ceil((double)e->runs * (estimate_times(l) - 1))), MANY_RUNS);
}

static void interval_words(
    const struct estimate *e, const struct estimate_line *l, char *buf, size_t size)
{
	char words[64];

	if (is_of_runs(l))
		snprintf(words, sizeof(words), "%.0f more runs", more_runs(e, l));
	else
		snprintf(words, sizeof(words), "%.0f times as many experiments",
		    fmin(fmax(2, ceil(estimate_times(l))), 1000));
	snprintf(buf, size, "slope %+.2f, between %+.2f and %+.2f: about %s would tell", l->slope,
	    l->slope_lo, l->slope_hi, words);
}

/* The same for a line whose experiments are runs of the command. */
static void shortage_of_runs(const struct estimate_line *l, char *buf, size_t size)
{
	if (l->shortage == SHORT_BASELINE)
		snprintf(buf, size, "no run without delays");
	else
		snprintf(buf, size, "%" PRIu64 " run%s, too few to tell", l->experiments,
		    l->experiments == 1 ? "" : "s");
}

void shortage_words(const struct estimate *e, const struct estimate_line *l, char *buf, size_t size)
{
	if (is_of_runs(l) && l->shortage != SHORT_NONE && l->shortage != SHORT_INTERVAL) {
		shortage_of_runs(l, buf, size);
		return;
	}
	switch (l->shortage) {
	case SHORT_NONE:
		buf[0] = 0;
		break;
	case SHORT_BASELINE:
		if (!l->baselines)
			snprintf(buf, size,
			    "no baseline (speedup 0) in which it ran, %" PRIu64
			    " experiments so far",
			    l->experiments);
		else
			snprintf(buf, size,
			    "fewer than 5 visits in its baselines, %" PRIu64 " so far",
			    l->baselines);
		break;
	case SHORT_VISITS:
		snprintf(buf, size,
		    "no speedup with 5 visits or more: %" PRIu64 " visits in %" PRIu64
		    " experiments",
		    l->visits, l->experiments);
		break;
	case SHORT_SPEEDUPS:
		snprintf(buf, size, "%zu of %zu speedups measured", l->n_points, e->need_speedups);
		break;
	case SHORT_EXPERIMENTS:
		snprintf(buf, size, "%" PRIu64 " experiments, too few to tell how far they scatter",
		    l->experiments);
		break;
	case SHORT_INTERVAL:
		interval_words(e, l, buf, size);
		break;
	}
}
