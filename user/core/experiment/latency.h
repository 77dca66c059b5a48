/* SPDX-License-Identifier: BSD-3-Clause */
/* Latency (paper 3.3): from virtual-time buckets to the requests in flight in one experiment, and
 * quantiles of histograms. No estimation here. */
#ifndef COZBPF_LATENCY_WINDOW_H
#define COZBPF_LATENCY_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include <cozbpf/abi.h>
#include <cozbpf/latency.h>
#include "core/profile/profile.h"

/* Begins and ends of an experiment, in buckets as for visits_window(): 1 << @shift ns each, from V0
 * on. */
struct latency_buckets {
	const struct cozbpf_bucket *begins, *ends;
	size_t n;
	unsigned shift;
};

/*
 * Fills arrivals, departures, integral_ns, least, difference and has_integral of @ret. @in_flight
 * is the number of requests begun and not ended at V0, @duration_ns is V1 - V0.
 *
 * integral_ns is that of the number in flight over virtual time: in_flight x duration, and for each
 * arrival at v, V1 - v more, for each departure as much less. Buckets hold count and sum of v, so
 * it is exact, up to the bucket that V1 cuts, of which the part before V1 is taken as
 * visits_window() does.
 *
 * @in_flight is counted from the time the probes were attached: requests that were in flight then
 * are missing, and it may be negative. `least` is the smallest number in flight at any end of a
 * bucket: what was missing is at least what it is below 0, over all experiments of a run
 * (core/estimate/latency.c adds it).
 */
void latency_window(const struct latency_buckets *b, uint64_t duration_ns, int64_t in_flight,
    struct point_record *ret);

/*
 * The value below which the share @q of a histogram's values lie, interpolated within its cell; NaN
 * when there are none. @counts has COZBPF_LATENCY_CELLS entries.
 */
double latency_quantile(const double *counts, double q);

/* The share of values below @ns; NaN when there are none. @cells are @n, by rising index. */
double latency_share_below(const struct latency_cell *cells, size_t n, double ns);

#endif
