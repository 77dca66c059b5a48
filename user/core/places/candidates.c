// SPDX-License-Identifier: BSD-3-Clause
/* Candidates for progress points, judged and ranked; see candidates.h. */
#include "core/places/candidates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* of an experiment of half a second: so many visits make a period known to some 14 % */
#define VISITS_HALF 50.0
/* of the visits of a slice: how far a ratio may be off there, besides a unit of work or two that
 * the slice's edges cut off */
#define RATIO_SPREAD 0.05
#define RATIO_EDGE 1.5
/* of the slices, in which it may be off further: the machine was busy */
#define RATIO_BAD 0.1
/* visits that a ratio is told from, at least */
#define RATIO_VISITS 20
/* a ratio that is so close to a whole number is that; of larger ones many are by chance */
#define RATIO_WHOLE 0.03
#define RATIO_MOST 10
/* of the CPU time: a candidate whose cost is that has half the score */
#define COST_HALF 0.02
/* of the best one's score: what is far worse would only add noise */
#define OTHER_SCORE 0.5
/* of the excess of the spread */
#define STEADY 0.15
#define VARYING 0.6
/* less of the CPU time is worth a word */
#define COVERED_MOST 0.9

/* with fewer visits since the last look there is no rate */
#define CHECK_VISITS 20
/* of the target's CPU time, for all probes together; stacks have the rest of CANDIDATE_COST_MAX */
#define PROBES_COST_MAX 0.015

/* The standard deviation of the values as a share of their mean, which is *@mean. */
static double spread(const double *values, unsigned n, double *mean)
{
	double sum = 0, squares = 0;

	for (unsigned i = 0; i < n; i++) {
		sum += values[i];
		squares += values[i] * values[i];
	}
	*mean = n ? sum / n : 0;
	return *mean > 0 ? sqrt(fmax(0, squares / n - *mean * *mean)) / *mean : 0;
}

static double seconds(unsigned slices)
{
	return slices * (double)CANDIDATE_SLICE_NS / 1e9;
}

/* CPU time in stretches with visits. The last one may be short, and is taken to be as the one
 * before. */
static double covered_ns(const struct candidate *c, const struct candidate_watch *w)
{
	double sum = 0;
	bool visited = false;

	for (unsigned i = c->from; i < w->n; i += CANDIDATE_STRETCH) {
		unsigned end = i + CANDIDATE_STRETCH < w->n ? i + CANDIDATE_STRETCH : w->n;
		bool was_visited = visited;
		double cpu_ns = 0;

		visited = false;
		for (unsigned j = i; j < end; j++) {
			cpu_ns += (double)w->cpu_ns[j];
			visited |= c->slices[j] > 0;
		}
		if (visited || (end - i < CANDIDATE_STRETCH && was_visited))
			sum += cpu_ns;
	}
	return sum;
}

/* The slices' visits, and these by the CPU time of their slices. */
static void judge_slices(struct candidate *c, const struct candidate_watch *w)
{
	double counts[CANDIDATE_SLICES_MAX] = {0}, by_cpu[CANDIDATE_SLICES_MAX] = {0}, mean,
	       cpu_mean;
	double cpu_ns = 0;
	unsigned n = 0, n_cpu = 0;

	for (unsigned i = c->from; i < w->n; i++) {
		double cpu = (double)w->cpu_ns[i];

		counts[n++] = (double)c->slices[i];
		cpu_ns += cpu;
		if (cpu > 0)
			by_cpu[n_cpu++] = (double)c->slices[i] / cpu;
	}
	c->spread = spread(counts, n, &mean);
	c->cpu_spread = spread(by_cpu, n_cpu, &cpu_mean);
	if (n_cpu < n) /* without CPU time there is no rate by it */
		c->cpu_spread = fmax(c->cpu_spread, c->spread);
	c->rate = c->removed_at > 0 ? c->removed_at : mean * 1e9 / (double)CANDIDATE_SLICE_NS;
	c->excess = fmin(c->spread, c->cpu_spread);
	c->excess = mean > 0 ? sqrt(fmax(0, c->excess * c->excess - 1 / mean)) : 0;
	c->covered = cpu_ns > 0 ? covered_ns(c, w) / cpu_ns : 1;
	c->cost_share = cpu_ns > 0 ? c->rate * c->cost_ns * seconds(n) / cpu_ns : 0;
}

static enum candidate_fault find_fault(const struct candidate *c)
{
	double most = c->kind == CANDIDATE_CALL ? CANDIDATE_CALLS_MAX : CANDIDATE_VISITS_MAX;

	if (c->rate <= 0)
		return CANDIDATE_NEVER;
	if (c->rate > most)
		return CANDIDATE_OFTEN;
	if (c->removed_at > 0)
		return CANDIDATE_DEAR;
	if (c->rate < CANDIDATE_RATE_MIN)
		return CANDIDATE_RARE;
	if (c->covered < CANDIDATE_COVERED_MIN)
		return CANDIDATE_PARTIAL;
	return c->cost_share > CANDIDATE_COST_MAX ? CANDIDATE_DEAR : CANDIDATE_SERVES;
}

static void judge(struct candidate *c, const struct candidate_watch *w)
{
	double visits;

	judge_slices(c, w);
	c->fault = find_fault(c);
	visits = c->rate / 2; /* of an experiment */
	c->score = c->fault
		       ? 0
		       : c->weight * c->covered * visits / (visits + VISITS_HALF) /
			     (1 + fmin(c->spread, c->cpu_spread)) / (1 + c->cost_share / COST_HALF);
}

static int score_cmp(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->fault != y->fault)
		return (x->fault == CANDIDATE_NEVER) - (y->fault == CANDIDATE_NEVER);
	return x->rate != y->rate ? (x->rate > y->rate ? -1 : 1) : strcmp(x->name, y->name);
}

size_t candidates_rank(struct candidate *all, size_t n, const struct candidate_watch *w)
{
	size_t good = 0;

	for (size_t i = 0; i < n; i++)
		judge(&all[i], w);
	qsort(all, n, sizeof(*all), score_cmp);
	while (good < n && all[good].score > 0)
		good++;
	return good;
}

bool candidates_serve(const struct candidate *all, size_t n, const struct candidate_watch *w)
{
	for (size_t i = 0; i < n; i++) {
		struct candidate c = all[i];

		judge(&c, w);
		if (c.score > 0)
			return true;
	}
	return false;
}

/* CPU time of the target per time, up to now. */
static double busy(const struct candidate_watch *w)
{
	double cpu_ns = 0;

	for (unsigned i = 0; i < w->n; i++)
		cpu_ns += (double)w->cpu_ns[i];
	return w->n ? cpu_ns / ((double)w->n * (double)CANDIDATE_SLICE_NS) : 0;
}

static double visit_rate(const struct candidate *c, const uint64_t *since, double seconds)
{
	bool is_known = since[c->number] >= CHECK_VISITS && c->removed_at <= 0;

	return is_known ? (double)since[c->number] / seconds : 0;
}

/* The dearest candidate that is probed still; NULL: all together cost little enough. */
static const struct candidate *find_dear(const struct candidate *all, size_t n,
    const uint64_t *since, double seconds, double cost_max, const bool *remove)
{
	const struct candidate *dearest = NULL;
	double sum = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		double cost = visit_rate(&all[i], since, seconds) * all[i].cost_ns / 1e9;

		if (remove[all[i].number])
			continue;
		sum += cost;
		if (cost > most) {
			most = cost;
			dearest = &all[i];
		}
	}
	return sum > cost_max ? dearest : NULL;
}

bool candidates_remove(struct candidate *all, size_t n, const uint64_t *since, double seconds,
    const struct candidate_watch *w, bool *remove)
{
	double cost_max = PROBES_COST_MAX * busy(w);
	const struct candidate *dear;
	bool any = false;

	for (size_t i = 0; i < n; i++)
		remove[all[i].number] = visit_rate(&all[i], since, seconds) > CANDIDATE_VISITS_MAX;
	while ((dear = find_dear(all, n, since, seconds, cost_max, remove)))
		remove[dear->number] = true;
	for (size_t i = 0; i < n; i++) {
		if (!remove[all[i].number])
			continue;
		all[i].removed_at = visit_rate(&all[i], since, seconds);
		any = true;
	}
	return any;
}

double candidates_ratio(
    const struct candidate *a, const struct candidate *b, const struct candidate_watch *w)
{
	unsigned from = a->from > b->from ? a->from : b->from, bad = 0;
	double visits_a = 0, visits_b = 0, ratio;

	for (unsigned i = from; i < w->n; i++) {
		visits_a += (double)a->slices[i];
		visits_b += (double)b->slices[i];
	}
	if (visits_a < RATIO_VISITS || visits_b < RATIO_VISITS || a->removed_at > 0 ||
	    b->removed_at > 0)
		return 0;
	ratio = visits_b / visits_a;
	for (unsigned i = from; i < w->n; i++) {
		double expected = ratio * (double)a->slices[i],
		       off = fabs((double)b->slices[i] - expected);

		bad += off > RATIO_SPREAD * expected + RATIO_EDGE * fmax(1, ratio);
	}
	return bad > RATIO_BAD * (w->n - from) ? 0 : ratio;
}

size_t candidates_other(const struct candidate *all, size_t good, const struct candidate_watch *w)
{
	for (size_t i = 1; i < good && all[i].score >= OTHER_SCORE * all[0].score; i++)
		if (all[i].kind != CANDIDATE_FUNCTION && candidates_ratio(&all[0], &all[i], w) <= 0)
			return i;
	return 0;
}

const char *candidate_steadiness(const struct candidate *c)
{
	return c->excess < STEADY ? "steady" : c->excess < VARYING ? "varying" : "in bursts";
}

static bool is_whole(double ratio)
{
	return ratio >= 1 - RATIO_WHOLE && ratio <= RATIO_MOST &&
	       fabs(ratio - round(ratio)) < RATIO_WHOLE;
}

/* Appends to a text that ends at *@used. */
#define APPEND(...)                                                                  \
	do {                                                                         \
		size_t room = *used < size ? size - *used : 0;                       \
		int length = snprintf(room ? ret + *used : NULL, room, __VA_ARGS__); \
		*used += length > 0 ? (size_t)length : 0;                            \
	} while (0)

static void add_fault(const struct candidate *c, char *ret, size_t size, size_t *used)
{
	switch (c->fault) {
	case CANDIDATE_NEVER:
		APPEND("; never visited");
		break;
	case CANDIDATE_RARE:
		APPEND("; below %.0f visits a second", CANDIDATE_RATE_MIN);
		break;
	case CANDIDATE_OFTEN:
		APPEND("; above %.0f visits a second",
		    c->kind == CANDIDATE_CALL ? CANDIDATE_CALLS_MAX : CANDIDATE_VISITS_MAX);
		break;
	case CANDIDATE_PARTIAL:
		APPEND("; in %.0f %% of the CPU time only", 100 * c->covered);
		break;
	case CANDIDATE_DEAR:
		APPEND("; visits would cost %.1f %% of the CPU time", 100 * c->cost_share);
		break;
	case CANDIDATE_SERVES:
		APPEND("; %s", candidate_steadiness(c));
	}
}

void candidate_why(const struct candidate *c, const struct candidate *best,
    const struct candidate_watch *w, char *ret, size_t size)
{
	double ratio = c != best && c->score > 0 ? candidates_ratio(best, c, w) : 0;
	size_t end = 0, *used = &end;

	if (size)
		*ret = 0;
	APPEND("%s", c->what);
	if (c->share > 0)
		APPEND(c->is_innermost ? " that does %.0f %% of the work itself"
				       : " above %.0f %% of the work",
		    100 * c->share);
	add_fault(c, ret, size, used);
	if (c->fault == CANDIDATE_SERVES && c->covered < COVERED_MOST)
		APPEND(", in %.0f %% of the CPU time", 100 * c->covered);
	if (ratio > 0 && (is_whole(ratio) || is_whole(1 / ratio)))
		APPEND("; %.2f per %s", ratio, best->name);
}
