/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Visits, bursts and span from virtual-time buckets: edges of the window by hand, then synthetic
 * visits of known period.
 *
 * Tolerances. Regular visits and barrier bursts: a span covers whole intervals only, so every
 * window gives the true period. The exceptions are the shift of a burst's mean (0 for equal bursts)
 * and half a nanosecond of rounding. Where bursts come faster than buckets, an end bucket may hold
 * part of a burst. In 400 windows with 250 bursts each the mean errs by less than 0.2 % (one burst
 * per window would be 0.4 %, and the two ends cancel). Poisson: the standard error over all windows
 * is 1/sqrt(visits), and the known low bias of the span of 1/bursts is taken into account. The
 * tolerance is four standard errors.
 */
#include <math.h>

#include "check.h"
#include "core/experiment/rng.h"
#include "core/experiment/visits.h"

#define BUCKETS 1024
#define SHIFT 10
#define MS 1000000ULL

static struct cozbpf_bucket buckets[BUCKETS];
static struct point_record point;

static void clear(void)
{
	memset(buckets, 0, sizeof(buckets));
	point = (struct point_record){
	    .name = "kept", .delta = 99, .bursts = 99, .span_ns = 99, .span_delta = 99};
}

static void visit(uint64_t at, unsigned shift)
{
	if (at >> shift < BUCKETS) {
		buckets[at >> shift].count++;
		buckets[at >> shift].sum += at;
	}
}

static void visits(uint64_t at, unsigned count)
{
	while (count--)
		visit(at, SHIFT);
}

static void window(uint64_t duration)
{
	visits_window(buckets, BUCKETS, SHIFT, duration, &point);
}

static double uniform(struct rng *r)
{
	return ((double)(rng_next(r) >> 11) + 0.5) / 9007199254740992.0;
}

TEST(empty)
{
	clear();
	window(100000);
	CHECK_EQ(point.delta, 0);
	CHECK_EQ(point.bursts, 0);
	CHECK_EQ(point.span_ns, 0);
	CHECK_EQ(point.span_delta, 0);
	CHECK_STR(point.name, "kept");
	window(0);
	CHECK_EQ(point.delta, 0);
}

/* One visit counts exactly when it lies at or before V1, wherever in its bucket. */
TEST(single_visit_at_the_cut)
{
	for (uint64_t at = 5 << SHIFT; at < 6 << SHIFT; at += 31) {
		clear();
		visit(at, SHIFT);
		window(at);
		CHECK_EQ(point.delta, 1);
		CHECK_EQ(point.bursts, 1);
		window(at - 1);
		CHECK_EQ(point.delta, 0);
		CHECK_EQ(point.bursts, 0);
	}
	clear();
	visit(0, SHIFT);
	window(0);
	CHECK_EQ(point.delta, 1);
}

TEST(cut_in_proportion)
{
	clear();
	for (unsigned i = 0; i < 1024; i++)
		visit((7 << SHIFT) + i, SHIFT);
	for (unsigned d = 0; d < 1024; d += 100) {
		window((7 << SHIFT) + d);
		CHECK_NEAR((double)point.delta, d, 1.5);
	}
	/* all late in the bucket: none before V1 until V1 comes near */
	clear();
	visits((7 << SHIFT) + 1000, 8);
	window((7 << SHIFT) + 900);
	CHECK_EQ(point.delta, 0);
	window((7 << SHIFT) + 1000);
	CHECK_EQ(point.delta, 4);
	window((8 << SHIFT) - 1);
	CHECK_EQ(point.delta, 8);
	/* all at the bucket's very edge */
	clear();
	visits(7 << SHIFT, 8);
	window(7 << SHIFT);
	CHECK_EQ(point.delta, 8);
}

TEST(count_without_sum_yet)
{
	clear();
	visits(3 << SHIFT, 2);
	visits((9 << SHIFT) + 5, 1);
	visits((20 << SHIFT) + 5, 1);
	buckets[3].sum = 0;
	buckets[20].sum *= 100;
	window(30 << SHIFT);
	CHECK_EQ(point.delta, 4);
	CHECK_EQ(point.span_ns, 18 << SHIFT); /* from bucket 3's lower to bucket 20's upper edge */
}

TEST(bursts_and_span)
{
	clear();
	visits(5 << SHIFT, 8);
	visits((9 << SHIFT) + 1000, 3); /* a burst over two buckets, its mean */
	visits((10 << SHIFT) + 24, 5);  /* (3 * 10216 + 5 * 10264) / 8 = 10246 */
	visits(20 << SHIFT, 8);
	window(30 << SHIFT);
	CHECK_EQ(point.delta, 24);
	CHECK_EQ(point.bursts, 3);
	CHECK_EQ(point.span_delta, 16);
	CHECK_EQ(point.span_ns, 15 << SHIFT);
	window((15 << SHIFT) + 7);
	CHECK_EQ(point.bursts, 2);
	CHECK_EQ(point.span_delta, 8);
	CHECK_EQ(point.span_ns, 10246 - (5 << SHIFT));
}

/* A burst that V1 or V0 cuts counts as far as it is inside, but is not an end of the span. */
TEST(cut_bursts_are_no_ends)
{
	clear();
	visits(1, 3); /* rest of a burst before V0 */
	visits(5 << SHIFT, 8);
	visits(10 << SHIFT, 8);
	visits((14 << SHIFT) + 1020, 4); /* goes on in the next bucket, where V1 falls */
	visits((15 << SHIFT) + 10, 4);
	window((15 << SHIFT) + 5);
	CHECK_EQ(point.delta, 3 + 8 + 8 + 4 + 1);
	CHECK_EQ(point.bursts, 4);
	CHECK_EQ(point.span_delta, 8);
	CHECK_EQ(point.span_ns, 5 << SHIFT);
	/* V1 at the very boundary: the second half of the burst is after it */
	window(15 << SHIFT);
	CHECK_EQ(point.delta, 3 + 8 + 8 + 4);
	CHECK_EQ(point.span_delta, 8);
	/* a burst that begins in the bucket V1 cuts, and all of it after V1 */
	clear();
	visits(5 << SHIFT, 8);
	visits(10 << SHIFT, 8);
	visits((15 << SHIFT) + 1000, 8);
	window((15 << SHIFT) + 5);
	CHECK_EQ(point.delta, 16);
	CHECK_EQ(point.bursts, 2);
	CHECK_EQ(point.span_delta, 8);
}

TEST(too_few_for_a_span)
{
	clear();
	visits(5 << SHIFT, 8);
	window(30 << SHIFT);
	CHECK_EQ(point.bursts, 1);
	CHECK_EQ(point.span_ns, 0);
	CHECK_EQ(point.span_delta, 0);
}

TEST(window_longer_than_the_buckets)
{
	clear();
	visits(5 << SHIFT, 1);
	visits(500 << SHIFT, 1);
	visits(1023 << SHIFT, 1); /* its burst may continue where there is no bucket */
	window(4000 << SHIFT);
	CHECK_EQ(point.delta, 3);
	CHECK_EQ(point.bursts, 3);
	CHECK_EQ(point.span_delta, 1);
	CHECK_EQ(point.span_ns, 495 << SHIFT);
	window(UINT64_MAX);
	CHECK_EQ(point.delta, 3);
}

TEST(high_rate)
{
	clear();
	for (unsigned i = 0; i < 20; i++)
		visits((i << SHIFT) + 512, 10);
	window((15 << SHIFT) + 256);
	/* V1 cuts an evenly filled bucket at a quarter: 2.5 of its 10 visits */
	CHECK_EQ(point.bursts, 16);
	CHECK_EQ(point.delta, 150 + 3);
	CHECK_EQ(point.span_delta, 140);
	CHECK_EQ(point.span_ns, 14 << SHIFT);
}

/* Two occupied buckets may be one burst; three are more than one. */
TEST(run_of_three)
{
	clear();
	visits((4 << SHIFT) + 512, 2);
	visits((5 << SHIFT) + 512, 2);
	visits((6 << SHIFT) + 512, 2);
	window(10 << SHIFT);
	CHECK_EQ(point.bursts, 3);
	CHECK_EQ(point.span_delta, 4);
	CHECK_EQ(point.span_ns, 2 << SHIFT);
}

/* What a series of windows over one endless stream of visits tells of its period. */
struct sums {
	double delta, duration, span, span_delta, bursts, exact;
};

/* Visits come at @period (@random: exponentially) in bursts of @together, spread evenly over
 * @spread; windows start at random. */
static struct sums series(
    struct rng *r, double period, int random, unsigned together, double spread, unsigned windows)
{
	const unsigned shift = 19; /* 0.52 ms; 1024 of them hold 500 ms */
	struct sums s = {0};

	for (unsigned k = 0; k < windows; k++) {
		uint64_t duration = 400 * MS + rng_below(r, 100 * MS);
		double at = -spread - period * (random ? 20 : uniform(r));

		clear();
		while (at < 530.0 * MS) {
			for (unsigned i = 0; i < together; i++) {
				double v = at + spread * i / together;

				if (v <= 0)
					continue;
				visit((uint64_t)v, shift);
				s.exact += v <= (double)duration;
			}
			at += random ? -period * log(uniform(r)) : period;
		}
		visits_window(buckets, BUCKETS, shift, duration, &point);
		s.delta += (double)point.delta;
		s.duration += (double)duration;
		s.span += (double)point.span_ns;
		s.span_delta += (double)point.span_delta;
		s.bursts += (double)point.bursts;
	}
	return s;
}

TEST(regular)
{
	struct rng r = {1};
	const double periods[] = {100e6, 10e6, 3.7e6, 1e6, 0.3e6, 0.01e6};

	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++) {
		struct sums s = series(&r, periods[i], 0, 1, 0, 200);

		CHECK_NEAR(s.span / s.span_delta / periods[i], 1, periods[i] > 1.1e6 ? 1e-6 : 2e-3);
		/* one visit more or less per window, at random: 0.5 rms at each end and sqrt(200)
		 * windows */
		CHECK_NEAR(s.duration / s.delta / periods[i], 1, 4 * 0.6 * periods[i] / 450e6 / 14);
		CHECK_NEAR(s.delta, s.exact, 4 * 14.0 * (periods[i] < 0.1e6 ? 1 : 0.3) + 1);
		if (periods[i] > 1.1e6)
			CHECK_EQ(s.bursts, s.delta);
	}
}

TEST(barrier_of_eight)
{
	struct rng r = {2};
	const double spreads[] = {0, 60e3, 300e3};

	for (size_t i = 0; i < sizeof(spreads) / sizeof(*spreads); i++) {
		struct sums slow = series(&r, 8e6, 0, 8, spreads[i], 200);
		struct sums fast = series(&r, 1.6e6, 0, 8, spreads[i], 400);
		struct sums faster = series(&r, 0.8e6, 0, 8, spreads[i], 400);

		CHECK_NEAR(slow.span / slow.span_delta, 1e6, 1);
		CHECK_NEAR(slow.bursts / (slow.duration / 8e6), 1, 0.01);
		CHECK_NEAR(slow.duration / slow.delta / 1e6, 1, 4 * 0.5 / 56 / 14 + 1e-3);
		CHECK_NEAR(fast.span / fast.span_delta / 0.2e6, 1, 2e-3);
		CHECK_NEAR(faster.span / faster.span_delta / 0.1e6, 1, 2e-3);
	}
}

TEST(poisson)
{
	struct rng r = {3};
	const double periods[] = {40e6, 10e6, 2e6, 0.4e6, 0.02e6};

	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++) {
		struct sums s = series(&r, periods[i], 1, 1, 0, 1500);
		double n = s.delta / 1500, low, known = 0, weight = 0, p = exp(-n);

		/* The outer two of k visits in a window are on average (k - 1) / (k + 1) of the
		 * window apart. The span must come to that. */
		for (int k = 1; k < 40 && n < 20; k++) {
			p *= n / k;
			known += p * (k - 1) / (k + 1);
			weight += p * (k - 1);
		}
		low = n < 20 ? known / weight * n : 1 - 1 / n;
		CHECK_NEAR(s.duration / s.delta / periods[i], 1, 4 / sqrt(s.delta));
		CHECK_NEAR(s.span / s.span_delta / periods[i], low, 4 / sqrt(s.delta) + 0.002);
		CHECK_NEAR(s.delta, s.exact, 4 * sqrt(1500 * (1 + n / 900)) * 0.5);
	}
}

/* Samples of a line that has a third of the time, each of them half a unit in two buckets. They
 * become a record that is read again. */
TEST(parts_of_visits)
{
	struct experiment_record x = {
	    .selected = "a.c:1", .duration_ns = 500 * MS, .points = &point, .n_points = 1};
	struct run_record run = {.startup_time_ns = 1};
	struct rng r = {4};
	struct profile read = {0};
	struct error e = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	clear();
	for (uint64_t at = 2 * MS; at < 490 * MS; at += 3 * MS)
		for (unsigned i = 0, n = rng_below(&r, 3) ? 0 : 1000; i < n; i++)
			visit(at + i % 2 * MS, 19);
	visits_window(buckets, BUCKETS, 19, 500 * MS, &point);
	CHECK(point.bursts > point.delta / 1000);
	visits_scale(&point, 1000);
	CHECK(point.bursts && point.bursts <= point.delta && point.span_delta <= point.delta);
	profile_write_startup(f, &run);
	profile_write_experiment(f, &x);
	fclose(f);
	f = fmemopen(text, size, "r");
	CHECK_EQ(profile_read(&read, f, "text", &e), 0);
	CHECK_EQ(read.n_experiments, 1);
	CHECK_EQ(read.experiments[0].n_points, 1);
	CHECK_EQ(read.experiments[0].points[0].delta, point.delta);
	CHECK_EQ(read.experiments[0].points[0].bursts, point.bursts);
	fclose(f);
	profile_deinit(&read);
	free(text);
}
