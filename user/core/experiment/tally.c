// SPDX-License-Identifier: BSD-3-Clause
/* Point records from readings; see tally.h. The arithmetic of windows is in visits.c and
 * latency.c. */
#include "core/experiment/tally.h"

#include <stdlib.h>
#include <string.h>

#include "core/experiment/latency.h"
#include "core/experiment/length.h"
#include "core/experiment/visits.h"

/*
 * Requests that were begun under another speedup do not belong to the experiment, nor do those that
 * waited behind them. After some mean latencies most have gone. A queue that is hardly ever empty
 * remembers for longer; measured with tests/bench/latency.py.
 */
#define SETTLE_LATENCIES 5
#define SETTLE_MAX_NS 2000000000ULL
/* of the window: what goes on when it opens and closes is little beside it */
#define LENGTH_LATENCIES 10
/* of the latency seen, from one experiment to the next: speedups come in turn, and the slow ones
 * count */
#define FADE 0.9

void tally_begin(struct tally *t, const struct readings *in)
{
	for (unsigned i = 0; t->runs && i < in->n_points; i++) {
		const struct point_reading *p = &in->points[i];

		if (!p->latency)
			continue;
		t->points[i].in_flight_before = (int64_t)(p->visits - p[1].visits);
		t->points[i].doubtful_before = p->latency->doubtful;
	}
	t->runs++;
}

void tally_open(struct tally *t, const struct readings *in)
{
	t->n_open = in->n_points;
	for (unsigned i = 0; i < in->n_points; i++) {
		t->points[i].visits_at_open = in->points[i].visits;
		t->points[i].paced_at_open = in->points[i].paced;
		t->points[i].fed_at_open = in->points[i].fed;
	}
}

uint64_t tally_most_visits(const struct readings *in)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < in->n_points; i++) {
		uint64_t n = in->points[i].visits / in->points[i].unit;

		most = n > most ? n : most;
	}
	return most;
}

uint64_t tally_settle_ns(const struct tally *t, uint64_t least)
{
	uint64_t ns = t->latency_ns * SETTLE_LATENCIES;

	ns = ns < SETTLE_MAX_NS ? ns : SETTLE_MAX_NS;
	return ns > least ? ns : least;
}

uint64_t tally_length_ns(const struct tally *t, uint64_t least)
{
	uint64_t ns = t->latency_ns * LENGTH_LATENCIES;

	ns = ns < LENGTH_MAX_NS ? ns : LENGTH_MAX_NS;
	return ns > least ? ns : least;
}

/* Where a periodic timer paces most visits since the opening, real visits in real time are what
 * counts. Visits are one timer's if it feeds nine of ten. Returns how many visits there were. */
static uint64_t check_pace(struct tally_point *t, const struct point_reading *p)
{
	uint64_t visits = p->visits - t->visits_at_open;

	t->is_paced = (p->paced - t->paced_at_open) * 2 > visits;
	t->pace_ns = (p->fed - t->fed_at_open) * 10 > visits * 9 ? p->pace_ns : 0;
	return visits;
}

static void fill_visits(struct tally_point *t, const struct point_reading *p,
    const struct tally_window *window, struct point_record *ret)
{
	uint64_t visits = check_pace(t, p);

	visits_window(p->buckets, COZBPF_BUCKETS, window->shift, window->duration_ns, ret);
	ret->pace_ns = t->pace_ns;
	if (t->is_paced) {
		ret->delta = ret->bursts = visits;
		ret->span_delta = ret->span_ns = 0;
		ret->paced_ns = window->real_ns;
	}
	if (p->unit > 1)
		visits_scale(ret, p->unit);
}

static void fill_histogram(const struct cozbpf_latency *l, struct point_record *ret)
{
	size_t n = 0;

	for (uint32_t i = 0; i < COZBPF_LATENCY_CELLS; i++)
		n += l->cells[i] > 0;
	ret->cells = calloc(n + 1, sizeof(*ret->cells));
	for (uint32_t i = 0; ret->cells && i < COZBPF_LATENCY_CELLS && ret->n_cells < n; i++) {
		if (!l->cells[i])
			continue;
		ret->cells[ret->n_cells++] = (struct latency_cell){i, l->cells[i]};
		ret->pairs += l->cells[i];
	}
	ret->pairs_ns = ret->pairs ? l->sum : 0;
}

static uint64_t since(uint64_t now, uint64_t *before)
{
	uint64_t ret = now - *before;

	*before = now;
	return ret;
}

static void learn_latency(struct tally *t, const struct point_record *p)
{
	double mean = p->arrivals ? (double)p->integral_ns / (double)p->arrivals : 0,
	       faded = FADE * (double)t->latency_ns;

	t->latency_ns = (uint64_t)(mean > faded ? mean : faded);
}

/* @p and @known are those of the pair's begins; its ends follow. */
static void fill_latency(struct tally_point *known, const struct point_reading *p,
    const struct tally_window *window, struct point_record *ret)
{
	const struct latency_buckets buckets = {
	    p[0].buckets, p[1].buckets, COZBPF_BUCKETS, window->shift};
	const struct cozbpf_latency *l = p->latency;
	int64_t mistaken = latency_is_known(l) ? l->doubtful - known->doubtful_before : 0;
	/* at V0; what earlier runs have left in flight does not end */
	int64_t in_flight = p->in_flight - known->in_flight_before - mistaken;

	latency_window(&buckets, window->duration_ns, in_flight, ret);
	ret->is_latency = true;
	fill_histogram(l, ret);
	ret->unmatched = since(l->unmatched, &known->unmatched);
	ret->abandoned = since(l->abandoned, &known->abandoned);
	ret->lost = since(l->lost, &known->lost);
}

void tally_close(struct tally *t, const struct readings *in, const struct tally_window *window,
    struct experiment_record *x)
{
	x->points = calloc(t->n_open ? t->n_open : 1, sizeof(*x->points));
	for (unsigned i = 0; x->points && i < t->n_open; i++) {
		const struct point_reading *p = &in->points[i];
		struct point_record *ret = &x->points[x->n_points++];
		bool is_pair = p->latency;

		ret->name = strdup(p->name);
		fill_visits(&t->points[i + is_pair], p + is_pair, window, ret);
		if (!is_pair)
			continue;
		fill_latency(&t->points[i], p, window, ret);
		learn_latency(t, ret);
		check_pace(&t->points[i], p);
		i++;
	}
}

void tally_whole(struct experiment_record *x)
{
	x->points = calloc(1, sizeof(*x->points));
	if (!x->points)
		return;
	x->n_points = 1;
	x->points[0].name = strdup(END_TO_END);
	x->points[0].delta = 1;
}
