// SPDX-License-Identifier: BSD-3-Clause
/* Random windows, shares of the cost, and the ratio estimator; see windows.h. */
#include "core/blocks/windows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/blocks/blocklog.h"

/* With fewer windows their spread tells little of the error. */
#define FEW_WINDOWS 5
/* A block was watched all the time but for what it takes to open and to close its window. */
#define ALL_THE_TIME 0.999
/* Of the time that is left to a program in windows, by what was measured of probes before: where a
 * better cost leaves less, nothing is known. */
#define LEAST_EXECUTED 0.1
/* So many of the entries may be in windows that tell nothing of the time. */
#define MOST_VAGUE 0.1
/* Fewer windows may all have met one moment of the run, and so may one that was open for a smaller
 * part of the run. */
#define LEAST_TELLING 3
#define LEAST_WATCHED 0.5
/* With fewer executions of another block a window tells nothing of that. */
#define LEAST_OTHER 3
/* So far off may the time of an execution be, for the same reason, or by a part of what its probes
 * take. */
#define TIME_ERROR_NS 300.0
#define TIME_ERROR 0.2
/* Of what probes take, and of time: shorter executions are not certain. */
#define CERTAIN 1.25
#define LEAST_CERTAIN_NS 2000.0

static double uniform(struct rng *r)
{
	return ((double)rng_below(r, 1ULL << 53) + 0.5) / (double)(1ULL << 53);
}

struct window_cycle window_next(struct rng *r, uint64_t from)
{
	uint64_t length = WINDOW_LEAST_NS + (uint64_t)(-log(uniform(r)) * (double)WINDOW_MORE_NS);
	uint64_t spare, open;

	if (length > WINDOW_MOST_NS)
		length = WINDOW_MOST_NS;
	spare = length < WINDOW_CYCLE_NS ? WINDOW_CYCLE_NS - length : 0;
	open = from + (spare ? rng_below(r, spare) : 0);
	return (struct window_cycle){open, open + length, from + length + spare};
}

void window_turn_set(struct window_turn *t, uint32_t every)
{
	t->next_every = every;
	if (every >= 10 * (uint64_t)t->every)
		t->at = t->every; /* the group is over */
}

bool window_turn_take(struct window_turn *t, struct rng *r)
{
	if (!t->next_every)
		return false;
	if (t->at >= t->every) {
		t->every = t->next_every;
		t->at = 0;
		t->pick = (uint32_t)rng_below(r, t->every);
	}
	return t->at++ == t->pick;
}

uint32_t window_every(double share)
{
	double every = WINDOW_DUTY / share;

	if (share >= 1)
		return 0;
	if (!(every < WINDOW_MOST_CYCLES))
		return WINDOW_MOST_CYCLES;
	return every <= 1 ? 1 : (uint32_t)ceil(every);
}

static int compare_loads(const void *a, const void *b)
{
	const double *x = *(const double *const *)a, *y = *(const double *const *)b;

	return (*x > *y) - (*x < *y);
}

int window_shares(const double *loads, size_t n, double budget, double *ret)
{
	const double **order = calloc(n + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		order[i] = &loads[i];
	qsort(order, n, sizeof(*order), compare_loads);
	for (size_t i = 0; i < n; i++) {
		double part = budget / (double)(n - i), load = *order[i];
		double share = load > part ? part / load : 1;

		ret[order[i] - loads] = share;
		budget -= share * load;
	}
	free(order);
	return 0;
}

/* Windows are one in each stretch of time, at random, so the error is that of neighbours' spread:
 * how phases of the program differ does not matter. */
static void add_difference(struct window_sums *s, double entries, double executed)
{
	double d_entries = entries - s->last_entries, d_executed = executed - s->last_executed;

	s->last_entries = entries;
	s->last_executed = executed;
	if (s->n++ == 0)
		return;
	s->entries2 += d_entries * d_entries;
	s->product += d_entries * d_executed;
	s->executed2 += d_executed * d_executed;
}

/* What is left of the window may as well be what probes took more than calibrated: where the block
 * is executed they take all, and time is left where it is not. */
static bool is_vague(const struct window_counts *c)
{
	return c->is_other ? c->executed < LEAST_OTHER
			   : PROBE_COST_ERROR * c->probed >= c->executed;
}

void window_sums_add(struct window_sums *s, uint32_t every, const struct window_counts *c)
{
	double weight = every ? every / WINDOW_DUTY : 1;

	s->seen += c->entries;
	s->watched += c->executed;
	s->entries += weight * c->entries;
	s->vague += is_vague(c) ? weight * c->entries : 0;
	s->telling += every && c->entries > 0 && !is_vague(c);
	s->executed += weight * c->executed;
	s->probed += weight * c->probed;
	if (every)
		add_difference(s, weight * c->entries, weight * c->executed);
}

static double square(double x)
{
	return x * x;
}

struct window_estimate window_unknown(struct window_estimate e)
{
	e.se = fmax(e.se, 2 * BLOCK_UNKNOWN * e.frequency);
	return e;
}

struct window_estimate window_at_least(struct window_estimate e, double seen)
{
	bool is_known = e.frequency > 0 && e.se < BLOCK_UNKNOWN * e.frequency;

	e.frequency = fmax(e.frequency, seen);
	return is_known ? e : window_unknown(e);
}

struct window_estimate window_estimate(
    const struct window_sums *s, double total, const struct probe_cost *cost)
{
	struct window_estimate ret = {0};
	double rate, squares, missed, few,
	    least = LEAST_EXECUTED * s->executed,
	    executed = fmax(s->executed + (1 - cost->factor) * s->probed, least);

	if (s->executed <= 0 || total <= 0)
		return ret;
	if (s->watched >= ALL_THE_TIME * total)
		return (struct window_estimate){s->seen, 0};
	rate = s->entries / s->executed;
	ret.frequency = fmax(s->entries / executed * total, s->seen);
	missed = 1 - s->watched / total;
	if (s->n > 1) {
		squares = s->entries2 - 2 * rate * s->product + rate * rate * s->executed2;
		squares *= (double)s->n / (2.0 * ((double)s->n - 1));
		ret.se = total / executed * sqrt(fmax(squares, 0) * missed);
	}
	/* As if what was not seen had any rate up to twice that of what was. */
	few = (ret.frequency - s->seen) / sqrt(3 * fmax((double)s->n, 1));
	if (s->n < FEW_WINDOWS)
		ret.se = fmax(ret.se, few);
	ret.se = sqrt(
	    square(ret.se) + square(ret.frequency * missed * cost->error * s->probed / executed));
	if (executed <= least || s->vague > MOST_VAGUE * s->entries ||
	    (s->n ? s->telling < LEAST_TELLING : s->watched < LEAST_WATCHED * total))
		return window_unknown(ret);
	return ret;
}

struct window_estimate window_relative_to(struct window_estimate e, struct window_estimate other)
{
	if (other.frequency > 0)
		e.se = sqrt(square(e.se) + square(e.frequency * other.se / other.frequency));
	return e;
}

/* By relative errors, of logarithms: else whatever is too low seems to be certain. */
struct window_estimate window_merge(struct window_estimate a, struct window_estimate b)
{
	double of_a, of_b, weight;

	if (b.frequency <= 0 || (a.frequency > 0 && a.se <= 0))
		return a;
	if (a.frequency <= 0 || b.se <= 0)
		return b;
	of_a = square(a.se / a.frequency);
	of_b = square(b.se / b.frequency);
	weight = of_a / (of_a + of_b);
	a.frequency *= pow(b.frequency / a.frequency, weight);
	a.se = a.frequency * sqrt(weight * of_b);
	return a;
}

double window_certain_ns(double probe_ns)
{
	return fmax(LEAST_CERTAIN_NS, CERTAIN * probe_ns);
}

static double time_error(const struct window_samples *s)
{
	return fmax(TIME_ERROR_NS, TIME_ERROR * s->probe_ns);
}

struct window_estimate window_from_samples(const struct window_samples *s, double total)
{
	double frequency;

	if (!s->is_certain || s->avg_ns <= 0 || s->in_block <= 0 || s->all <= 0)
		return (struct window_estimate){0};
	frequency = s->in_block / s->all * total / s->avg_ns;
	return (struct window_estimate){
	    frequency, frequency * sqrt(1 / s->in_block + square(time_error(s) / s->avg_ns))};
}

double window_time_excess(struct window_estimate e, const struct window_samples *s, double total)
{
	double avg, se, excess;

	if (s->avg_ns <= 0 || s->in_block <= 0 || s->all <= 0 || e.frequency <= 0)
		return 0;
	avg = s->in_block / s->all * total / e.frequency;
	se = avg * sqrt(1 / s->in_block + square(e.se / e.frequency));
	excess = (s->avg_ns - avg) * square(time_error(s)) / (square(time_error(s)) + square(se));
	/* More is the frequency's error, which one run may not know of. */
	return fmax(-2 * time_error(s), fmin(excess, 2 * time_error(s)));
}
