// SPDX-License-Identifier: BSD-3-Clause
/* Latency pairs in the experiments: how long these have to be, and the records. The arithmetic is
 * in core/experiment/latency.c. */
#include "run/run.h"

#include <stdlib.h>

#include "core/experiment/latency.h"

/*
 * Requests that were begun under another speedup, and those that waited behind them, are not what
 * the experiment is about: after some mean latencies most have gone. A queue that is hardly ever
 * empty remembers for longer; measured with tests/bench/latency.py.
 */
#define SETTLE_LATENCIES 5
#define SETTLE_MAX_NS 2000000000ULL
/* of the window: what goes on when it opens and closes is little beside it */
#define LENGTH_LATENCIES 10
/* of the latency seen, from one experiment to the next: speedups come in turn, and the slow ones
 * count */
#define FADE 0.9

void run_latency_begin(struct runner *r)
{
	for (unsigned i = 0; i < r->points.n_points; i++) {
		if (r->points.points[i].role != COZBPF_ROLE_BEGIN)
			continue;
		r->points.points[i].in_flight_before =
		    (int64_t)(session_point(r->session, i)->visits -
			      session_point(r->session, i + 1)->visits);
		r->points.points[i].doubtful_before = session_latency(r->session, i)->doubtful;
	}
}

uint64_t run_latency_settle_ns(const struct runner *r, uint64_t least)
{
	uint64_t ns = r->experiments.latency_ns * SETTLE_LATENCIES;

	ns = ns < SETTLE_MAX_NS ? ns : SETTLE_MAX_NS;
	return ns > least ? ns : least;
}

uint64_t run_latency_length_ns(const struct runner *r, uint64_t least)
{
	uint64_t ns = r->experiments.latency_ns * LENGTH_LATENCIES;

	ns = ns < LENGTH_MAX_NS ? ns : LENGTH_MAX_NS;
	return ns > least ? ns : least;
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

/* At V0, of those begun in this run. */
static int64_t in_flight(const struct runner *r, unsigned index)
{
	const struct cozbpf_latency *l = session_latency(r->session, index);
	const struct point *p = &r->points.points[index];
	uint64_t given_up = latency_is_known(l) ? l->doubtful - p->doubtful_before : 0;

	return session_in_flight(r->session, index) - p->in_flight_before - (int64_t)given_up;
}

void run_latency_record(
    struct runner *r, unsigned index, uint64_t duration_ns, struct point_record *ret)
{
	const struct latency_buckets buckets = {session_point(r->session, index)->buckets,
	    session_point(r->session, index + 1)->buckets, COZBPF_BUCKETS, r->experiments.shift};
	const struct cozbpf_latency *l = session_latency(r->session, index);
	struct point *p = &r->points.points[index];
	uint64_t visits = ret->delta;
	double mean;

	latency_window(&buckets, duration_ns, in_flight(r, index), ret);
	if (!ret->paced_ns)
		ret->departures = visits; /* they are the same visits, whatever is rounded how */
	ret->is_latency = true;
	fill_histogram(l, ret);
	ret->unmatched = since(l->unmatched, &p->unmatched);
	ret->abandoned = since(l->abandoned, &p->abandoned);
	ret->lost = since(l->lost, &p->lost);
	mean = ret->arrivals ? (double)ret->integral_ns / (double)ret->arrivals : 0;
	if (mean > FADE * (double)r->experiments.latency_ns)
		r->experiments.latency_ns = (uint64_t)mean;
	else
		r->experiments.latency_ns = (uint64_t)(FADE * (double)r->experiments.latency_ns);
}
