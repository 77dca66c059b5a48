// SPDX-License-Identifier: BSD-3-Clause
/* Requests in flight from virtual-time buckets, and quantiles from histograms; see latency.h. */
#include "core/experiment/latency.h"

#include <math.h>

#include "core/experiment/visits.h"

/* One kind of visits within the window. */
struct counted {
	uint64_t n;
	double left; /* sum of V1 - v */
};

static void add_bucket(const struct latency_buckets *b, const struct cozbpf_bucket *all, size_t i,
    double duration, struct counted *ret)
{
	double width = (double)(1ULL << b->shift), lo = (double)i * width;
	struct visits_cut cut;

	if (lo + width > duration) {
		cut = visits_cut(&all[i], lo, width, duration);
		ret->n += cut.n;
		ret->left += (double)cut.n * (duration - cut.mean);
		return;
	}
	ret->n += all[i].count;
	ret->left += duration * (double)all[i].count - (double)all[i].sum;
}

void latency_window(const struct latency_buckets *b, uint64_t duration_ns, int64_t in_flight,
    struct point_record *ret)
{
	double duration = (double)duration_ns, integral;
	struct counted begins = {0}, ends = {0};

	ret->least = in_flight;
	for (size_t i = 0; i < b->n && i <= duration_ns >> b->shift; i++) {
		int64_t now;

		add_bucket(b, b->begins, i, duration, &begins);
		add_bucket(b, b->ends, i, duration, &ends);
		now = in_flight + (int64_t)begins.n - (int64_t)ends.n;
		ret->least = now < ret->least ? now : ret->least;
	}
	integral = (double)in_flight * duration + begins.left - ends.left;
	ret->arrivals = begins.n;
	ret->departures = ends.n;
	ret->has_integral = true;
	ret->integral_ns = (int64_t)llround(integral);
	ret->difference = duration > 0 ? (int64_t)llround(integral / duration) : in_flight;
}

double latency_quantile(const double *counts, double q)
{
	double all = 0, below = 0;

	for (uint32_t i = 0; i < COZBPF_LATENCY_CELLS; i++)
		all += counts[i];
	if (!(all > 0))
		return NAN;
	for (uint32_t i = 0; i < COZBPF_LATENCY_CELLS; i++) {
		if (counts[i] > 0 && below + counts[i] >= q * all)
			return (double)latency_lowest(i) +
			       (double)latency_width(i) * fmax(0, q * all - below) / counts[i];
		below += counts[i];
	}
	/* Rounding: a sum of all that is a little below all of it. */
	for (uint32_t i = COZBPF_LATENCY_CELLS; i > 0; i--) {
		if (counts[i - 1] > 0)
			return (double)(latency_lowest(i - 1) + latency_width(i - 1));
	}
	return NAN;
}

double latency_share_below(const struct latency_cell *cells, size_t n, double ns)
{
	double all = 0, below = 0;

	for (size_t i = 0; i < n; i++) {
		double share = (ns - (double)latency_lowest(cells[i].index)) /
			       (double)latency_width(cells[i].index);

		all += (double)cells[i].count;
		below += (double)cells[i].count * fmin(fmax(share, 0), 1);
	}
	return all > 0 ? below / all : NAN;
}
