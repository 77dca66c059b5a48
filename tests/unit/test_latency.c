/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latency: the histogram's index functions, the integral of Little's law against brute force,
 * quantiles.
 *
 * Tolerance of the integral: buckets hold sums, so it is exact except for the bucket that V1 cuts.
 * There an even spread is assumed. Each visit is misplaced by at most a bucket, so the error is at
 * most (visits in it) x (its width), and half of that on average.
 */
#include <math.h>

#include "check.h"
#include "core/experiment/latency.h"
#include "core/experiment/rng.h"

#define BUCKETS 1024
#define SHIFT 10
#define REQUESTS 4000

TEST(cells_tile_the_axis)
{
	uint64_t next = 0;

	for (uint32_t i = 0; i < COZBPF_LATENCY_CELLS; i++) {
		CHECK(latency_lowest(i) == next);
		next += latency_width(i);
		CHECK_EQ(latency_index(latency_lowest(i)), i);
		CHECK_EQ(latency_index(next - 1), i);
		CHECK(latency_width(i) == 1 ||
		      (double)latency_width(i) <= 0.03 * (double)latency_lowest(i));
	}
	CHECK(next == 1ULL << COZBPF_LATENCY_BITS);
	CHECK_EQ(latency_index(next), COZBPF_LATENCY_CELLS - 1);
	CHECK_EQ(latency_index(UINT64_MAX), COZBPF_LATENCY_CELLS - 1);
}

TEST(log2_of_every_bit)
{
	for (unsigned i = 0; i < 64; i++) {
		CHECK_EQ(latency_log2(1ULL << i), i);
		CHECK_EQ(latency_log2((1ULL << i) + ((1ULL << i) - 1)), i);
	}
}

static struct cozbpf_bucket begins[BUCKETS], ends[BUCKETS];
static const struct latency_buckets both = {begins, ends, BUCKETS, SHIFT};

static void put(struct cozbpf_bucket *b, int64_t at)
{
	if (at > 0 && at >> SHIFT < BUCKETS) {
		b[at >> SHIFT].count++;
		b[at >> SHIFT].sum += (uint64_t)at;
	}
}

/* Requests come at random, stay for a random time, and overtake each other. Some begin before V0,
 * some end after V1. */
static void against_brute_force(uint64_t seed, int64_t duration, int64_t missing)
{
	struct rng r = {seed};
	struct point_record point = {0};
	int64_t in_flight = -missing, arrivals = 0, departures = 0,
		cut = duration >> SHIFT << SHIFT, in_cut = 0;
	double integral = 0, mean;

	memset(begins, 0, sizeof(begins));
	memset(ends, 0, sizeof(ends));
	for (int i = 0; i < REQUESTS; i++) {
		int64_t from = (int64_t)rng_below(&r, 1200000) - 100000,
			to = from + (int64_t)rng_below(&r, 60000);
		int64_t lo = from > 0 ? from : 0, hi = to < duration ? to : duration;

		in_flight += from <= 0 && to > 0;
		arrivals += from > 0 && from <= duration;
		departures += to > 0 && to <= duration;
		in_cut += (from >= cut && from < cut + (1 << SHIFT)) +
			  (to >= cut && to < cut + (1 << SHIFT));
		if (to > 0 && from <= duration && hi > lo)
			integral += (double)(hi - lo);
		put(begins, from);
		put(ends, to);
	}
	integral -= (double)missing * (double)duration;
	latency_window(&both, (uint64_t)duration, in_flight, &point);
	CHECK(point.has_integral);
	CHECK_NEAR((double)point.integral_ns, integral, (double)in_cut * (1 << SHIFT));
	CHECK(llabs((int64_t)point.arrivals - arrivals) <= in_cut);
	CHECK(llabs((int64_t)point.departures - departures) <= in_cut);
	mean = integral / (double)duration;
	CHECK_NEAR((double)point.difference, mean,
	    0.51 + (double)in_cut * (1 << SHIFT) / (double)duration);
	CHECK(point.least <= mean);
}

TEST(integral_against_brute_force)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		against_brute_force(seed, 700000 + (int64_t)seed * 13331, 0);
		against_brute_force(seed, 1 << 19, 0); /* V1 on a bucket's edge */
		against_brute_force(seed, 800000, 250);
	}
}

TEST(window_by_hand)
{
	struct point_record point = {0};

	memset(begins, 0, sizeof(begins));
	memset(ends, 0, sizeof(ends));
	latency_window(&both, 10000, 3, &point);
	CHECK_EQ(point.integral_ns, 30000);
	CHECK_EQ(point.difference, 3);
	CHECK_EQ(point.least, 3);
	/* Two that were in flight end, and one begins. A begin after V1 does not count. */
	put(ends, 1000);
	put(ends, 5000);
	put(begins, 7000);
	put(begins, 12000);
	latency_window(&both, 10000, 3, &point);
	CHECK_EQ(point.integral_ns, 30000 - 9000 - 5000 + 3000);
	CHECK_EQ(point.arrivals, 1);
	CHECK_EQ(point.departures, 2);
	CHECK_EQ(point.difference, 2);
	CHECK_EQ(point.least, 1);
	/* In the bucket that V1 cuts, a single visit counts exactly when it lies before V1. */
	put(begins, 9900);
	latency_window(&both, 10000, 3, &point);
	CHECK_EQ(point.integral_ns, 19000 + 100);
	latency_window(&both, 9899, 3, &point);
	CHECK_EQ(point.arrivals, 1);
	/* In flight before we looked: only the difference is known. */
	latency_window(&both, 10000, -4, &point);
	CHECK_EQ(point.least, -6);
	CHECK(point.integral_ns < 0);
}

/* Exponential values, whose quantiles are known. A cell is 1.6 % wide, and interpolation leaves a
 * tenth of that. 200,000 values tell p99 to 1.1 %. */
TEST(quantiles)
{
	static double counts[COZBPF_LATENCY_CELLS];
	static struct latency_cell cells[COZBPF_LATENCY_CELLS];
	struct rng r = {7};
	size_t n = 0;

	CHECK(isnan(latency_quantile(counts, 0.5)));
	CHECK(isnan(latency_share_below(cells, 0, 5)));
	for (int i = 0; i < 200000; i++)
		counts[latency_index((uint64_t)(-1e6 * log(((double)(rng_next(&r) >> 11) + 0.5) /
							   9007199254740992.0)))]++;
	CHECK_NEAR(latency_quantile(counts, 0.5), 1e6 * log(2), 1.2e4);
	CHECK_NEAR(latency_quantile(counts, 0.9), 1e6 * log(10), 3e4);
	CHECK_NEAR(latency_quantile(counts, 0.99), 1e6 * log(100), 1e5);
	for (uint32_t i = 0; i < COZBPF_LATENCY_CELLS; i++)
		if (counts[i] > 0)
			cells[n++] = (struct latency_cell){i, (uint64_t)counts[i]};
	for (double q = 0.1; q < 1; q += 0.1)
		CHECK_NEAR(latency_share_below(cells, n, latency_quantile(counts, q)), q, 1e-9);
	CHECK_NEAR(latency_share_below(cells, n, 0), 0, 1e-12);
	CHECK_NEAR(latency_share_below(cells, n, 1e15), 1, 1e-12);
	/* All in one cell. */
	memset(counts, 0, sizeof(counts));
	counts[latency_index(1000)] = 4;
	CHECK(latency_quantile(counts, 1) <=
	      (double)(latency_lowest(latency_index(1000)) + latency_width(latency_index(1000))));
	CHECK(latency_quantile(counts, 0) >= (double)latency_lowest(latency_index(1000)));
}
