// SPDX-License-Identifier: BSD-3-Clause
/* Windows of blocks: how the cost is shared, whose turn it is, and whether the estimate of a run
 * and its error are right for programs with phases. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "core/blocks/shorten.h"
#include "core/blocks/blocklog.h"
#include "core/blocks/windows.h"

static const struct probe_cost measured_before = {1, PROBE_COST_ERROR};

#define SECOND 1000000000ULL

TEST(shares)
{
	const double loads[] = {0.9, 0.001, 0.5, 0.06, 0};
	double shares[5], sum = 0;

	CHECK_EQ(window_shares(loads, 5, 0.2, shares), 0);
	for (size_t i = 0; i < 5; i++)
		sum += shares[i] * loads[i];
	CHECK_NEAR(sum, 0.2, 1e-9);
	CHECK_NEAR(shares[1], 1, 0);
	CHECK_NEAR(shares[4], 1, 0);
	CHECK_NEAR(shares[3], 1, 0); /* 0.199 of three */
	CHECK_NEAR(shares[0] * 0.9, 0.0695, 1e-9);
	CHECK_NEAR(shares[2] * 0.5, 0.0695, 1e-9);
	CHECK_EQ(window_shares(loads, 0, 0.2, shares), 0);
	CHECK_EQ(window_every(1), 0);
	CHECK_EQ(window_every(0.5), 1);
	CHECK_EQ(window_every(0.01), 20);
	CHECK_EQ(window_every(0), WINDOW_MOST_CYCLES);
}

TEST(turns)
{
	struct window_turn t = {0};
	struct rng r = {7};
	unsigned taken = 0, firsts = 0;

	CHECK(!window_turn_take(&t, &r));
	window_turn_set(&t, 4);
	for (unsigned i = 0; i < 4000; i++) {
		bool is_it = window_turn_take(&t, &r);

		taken += is_it;
		firsts += is_it && i % 4 == 0;
	}
	CHECK_EQ(taken, 1000);
	CHECK(firsts > 200 && firsts < 300);
	/* what has become dear at once does not wait for the end of the group */
	window_turn_set(&t, 200);
	taken = 0;
	for (unsigned i = 0; i < 200; i++)
		taken += window_turn_take(&t, &r);
	CHECK_EQ(taken, 1);
}

TEST(cycles)
{
	struct rng r = {1};
	uint64_t at = 5, in = 0;

	for (unsigned i = 0; i < 10000; i++) {
		struct window_cycle c = window_next(&r, at);

		CHECK(c.open_ns >= at && c.close_ns <= c.end_ns + WINDOW_CYCLE_NS);
		CHECK(c.close_ns - c.open_ns >= WINDOW_LEAST_NS);
		CHECK(c.close_ns - c.open_ns <= WINDOW_MOST_NS);
		in += c.close_ns - c.open_ns;
		at = c.end_ns;
	}
	CHECK_NEAR((double)in / (double)at, WINDOW_DUTY, 0.01);
}

/* A program of two threads that for a part of each turn executes a block at a high rate, in
 * clusters, and then seldom, with one CPU and with two. */
struct program {
	uint64_t phase_ns, turn_ns;
	double high, low; /* a second of CPU time */
	uint64_t length_ns;
};

static bool is_high(const struct program *p, uint64_t at)
{
	return at % p->turn_ns < p->phase_ns;
}

/* The next 100 us of the program: what it executes, how often the block. */
static void step(const struct program *p, struct rng *r, uint64_t at, double *executed, double *n)
{
	double rate = is_high(p, at) ? p->high : p->low;

	*executed = is_high(p, at) ? 1e5 : 2e5;
	*n = rng_below(r, 4) ? 0 : floor(4 * rate * *executed / 1e9 + (double)rng_below(r, 2));
}

struct outcome {
	double exact;
	struct window_estimate e;
};

static struct outcome simulate(const struct program *p, uint32_t every, uint64_t seed)
{
	struct rng r = {seed}, noise = {seed ^ 0x5555};
	struct window_turn turn = {0};
	struct window_sums sums = {0};
	struct window_cycle c = window_next(&r, 0);
	double total = 0, exact = 0, executed = 0, entries = 0;
	bool taken;

	window_turn_set(&turn, every);
	taken = window_turn_take(&turn, &r);
	for (uint64_t at = 0; at < p->length_ns; at += 100000) {
		double e, n;

		step(p, &noise, at, &e, &n);
		total += e;
		exact += n;
		if (taken && at >= c.open_ns && at < c.close_ns) {
			executed += e;
			entries += n;
		}
		if (at + 100000 < c.end_ns)
			continue;
		if (taken)
			window_sums_add(
			    &sums, every, &(struct window_counts){entries, executed, 0, false});
		executed = entries = 0;
		c = window_next(&r, c.end_ns);
		taken = window_turn_take(&turn, &r);
	}
	return (struct outcome){exact, window_estimate(&sums, total, &measured_before)};
}

/* Half the width of the interval is 1.96 standard errors: 90 to @most % of runs are to be within.
 */
static void judge(const struct program *p, uint32_t every, double most, double worst)
{
	unsigned covered = 0, n = 500;
	double error = 0, bias = 0;

	for (unsigned i = 0; i < n; i++) {
		struct outcome o = simulate(p, every, 1000 + i);
		double off = o.e.frequency / o.exact - 1;

		covered += fabs(o.e.frequency - o.exact) <= 1.96 * o.e.se;
		error += off * off / n;
		bias += off / n;
	}
	CHECK(covered >= 0.9 * n && covered <= most / 100 * n);
	CHECK(sqrt(error) < worst);
	CHECK(fabs(bias) < worst / 5);
}

TEST(estimates_of_a_program_with_phases)
{
	const struct program slow = {300000000, 700000000, 2e6, 1e5, 10 * SECOND},
			     fast = {7000000, 16000000, 1e6, 1e4, 10 * SECOND},
			     even = {1, 10, 1e5, 1e5, 5 * SECOND};

	judge(&even, 1, 99, 0.05);
	judge(&slow, 1, 99, 0.05);
	judge(&fast, 1, 99, 0.1);
	judge(&fast, 4, 99, 0.16);
	/* Groups of cycles as long as phases: two windows in a row are in different ones more often
	 * than two in one group would be, so the error is said to be larger than it is. */
	judge(&slow, 4, 100, 0.1);
}

TEST(watched_all_the_time)
{
	struct window_sums s = {0};
	struct window_estimate e = window_estimate(&s, 1e9, &measured_before);

	CHECK_NEAR(e.frequency, 0, 0);
	CHECK_NEAR(e.se, 0, 0);
	window_sums_add(&s, 0, &(struct window_counts){3, 0.9999e9, 0, false});
	e = window_estimate(&s, 1e9, &measured_before);
	CHECK_NEAR(e.frequency, 3, 0);
	CHECK_NEAR(e.se, 0, 0);
	/* only half of the run: what was missed may be up to twice as much */
	s = (struct window_sums){0};
	window_sums_add(&s, 0, &(struct window_counts){1000, 0.5e9, 0, false});
	e = window_estimate(&s, 1e9, &measured_before);
	CHECK_NEAR(e.frequency, 2000, 1e-9);
	CHECK_NEAR(e.se, 1000 / sqrt(3), 1e-9);
	/* windows before that count for what they stand for */
	s = (struct window_sums){0};
	for (unsigned i = 0; i < 10; i++)
		window_sums_add(&s, 2, &(struct window_counts){100, 5e6, 0, false});
	window_sums_add(&s, 0, &(struct window_counts){10000, 0.5e9, 0, false});
	e = window_estimate(&s, 1e9, &measured_before);
	CHECK_NEAR(e.frequency, 20000, 1);
}

/* So many of @n samples are in the kernel, of a program that is there for @share of its time. */
static double in_kernel(struct rng *r, double n, double share)
{
	double ret = 0;

	for (unsigned i = 0; i < n; i++)
		ret += (double)rng_below(r, 1000000) < 1e6 * share;
	return ret;
}

/* What probes take, @factor times what was measured before: in windows half of the time, elsewhere
 * some hundredths. The program itself is in the kernel for the part @own of its time. */
static struct probe_cost cost_of(struct rng *r, double factor, double own, double samples)
{
	struct probe_time in = {1e6 * samples, 5e5 * samples, samples, 0},
			  out = {4e6 * samples, 2e5 * samples, 4 * samples, 0};
	double probes_in = factor * in.probed / in.executed,
	       probes_out = factor * out.probed / out.executed;

	in.in_kernel = in_kernel(r, in.samples, probes_in + own * (1 - probes_in));
	out.in_kernel = in_kernel(r, out.samples, probes_out + own * (1 - probes_out));
	return probe_cost_estimate(&in, &out);
}

/* The error that is told is that of Poisson's samples, and so is above the true one. Of 200 answers
 * each, seeds fixed. What was measured before draws the factor to 1, by a hundredth or so. */
TEST(what_probes_take)
{
	static const double factors[] = {0.7, 1, 1.4}, owns[] = {0, 0.2, 0.4};
	struct probe_time none = {0};
	struct probe_cost c = probe_cost_estimate(&none, &none);
	struct rng r = {7};

	CHECK_NEAR(c.factor, 1, 0);
	CHECK_NEAR(c.error, PROBE_COST_ERROR, 0);
	for (unsigned f = 0; f < 3; f++) {
		for (unsigned o = 0; o < 3; o++) {
			double sum = 0, squares = 0;

			for (unsigned i = 0; i < 200; i++) {
				c = cost_of(&r, factors[f], owns[o], 4000);
				sum += c.factor;
				squares += pow((c.factor - factors[f]) / c.error, 2);
			}
			CHECK_NEAR(sum / 200, factors[f], 0.02);
			CHECK(squares / 200 < 1.2);
			CHECK(c.error < 0.07);
		}
	}
	/* Few samples leave what was measured before, and so does a program in the kernel. */
	c = cost_of(&r, 1.4, 0, 3);
	CHECK(c.error > 0.2);
	c = cost_of(&r, 1.4, 0.9, 1000);
	CHECK_NEAR(c.factor, 1, 0);
	/* A kernel whose probes no sample meets: they do not take less than nothing. */
	c = cost_of(&r, 0, 0.2, 4000);
	CHECK(c.factor > 0 && c.factor < 0.4);
}

/* Each of @n windows of 5 ms has 1000 executions, whose probes take 3 ms by what was measured
 * before, and in truth 4. */
TEST(probes_take_more_than_measured)
{
	const struct probe_cost known = {4.0 / 3, 0.03}, all = {9, 0.03};
	struct window_sums s = {0};
	struct window_estimate e;

	for (unsigned i = 0; i < 20; i++)
		window_sums_add(&s, 1, &(struct window_counts){1000, 2e6, 3e6, false});
	e = window_estimate(&s, 1e9, &measured_before);
	CHECK_NEAR(e.frequency, 500000, 1);
	CHECK_NEAR(e.se / e.frequency, 0.3 * 3 / 2, 0.1);
	e = window_estimate(&s, 1e9, &known);
	CHECK_NEAR(e.frequency, 1000000, 1);
	CHECK_NEAR(e.se / e.frequency, 0.03 * 3, 0.01);
	/* No time at all would be left: nothing is known. */
	e = window_estimate(&s, 1e9, &all);
	CHECK(e.se >= 2 * BLOCK_UNKNOWN * e.frequency);
}

/* Probes take nine tenths of each window, and cost 30 % more than is known: time tells that little
 * was executed there, and is far off. Another block tells more. */
TEST(what_another_block_tells)
{
	struct window_sums time = {0}, other = {0};
	struct window_estimate by_time, by_other, both;
	struct rng r = {3};

	for (unsigned i = 0; i < 100; i++) {
		double n = 80 + (double)rng_below(&r, 20);

		window_sums_add(&time, 1, &(struct window_counts){n, 1.5e6, 3.5e6, false});
		window_sums_add(&other, 1, &(struct window_counts){n, floor(n / 9), 0, true});
	}
	by_time = window_estimate(&time, 5e9, &measured_before);
	by_other = window_estimate(&other, 100000, &measured_before);
	CHECK_NEAR(by_time.frequency, 300000, 10000);
	CHECK(by_time.se > 0.6 * by_time.frequency);
	CHECK_NEAR(by_other.frequency, 930000, 30000);
	CHECK(by_other.se < 20000);
	both = window_merge(by_time, by_other);
	CHECK_NEAR(both.frequency, by_other.frequency, 20000);
	CHECK(both.se < by_other.se);
}

static bool is_known(const struct window_sums *s)
{
	struct window_estimate e = window_estimate(s, 1e9, &measured_before);

	return e.frequency > 0 && e.se < BLOCK_UNKNOWN * e.frequency;
}

/* Windows in which probes take all of the time, one moment of the run, and less than half of it. */
TEST(what_windows_cannot_know)
{
	const struct window_counts hot = {1000, 1e5, 4.9e6, false}, cool = {1000, 4e6, 1e6, false},
				   none = {0, 5e6, 0, false}, other = {1000, 5, 0, true},
				   no_other = {1000, 1, 0, true};
	struct window_sums s = {0};

	for (int i = 0; i < 10; i++) {
		window_sums_add(&s, 1, &hot);
		window_sums_add(&s, 1, &none);
	}
	CHECK(!is_known(&s));
	s = (struct window_sums){0};
	for (int i = 1; i <= 3; i++) {
		window_sums_add(&s, 1, &cool);
		window_sums_add(&s, 1, &none);
		CHECK(is_known(&s) == (i == 3));
	}
	s = (struct window_sums){0};
	for (int i = 0; i < 10; i++)
		window_sums_add(&s, 1, i % 2 ? &other : &no_other);
	CHECK(!is_known(&s));
	s = (struct window_sums){0};
	window_sums_add(&s, 0, &(struct window_counts){1000, 0.4e9, 0, false});
	CHECK(!is_known(&s));
	window_sums_add(&s, 0, &(struct window_counts){1000, 0.4e9, 0, false});
	CHECK(is_known(&s));
}

TEST(what_samples_tell)
{
	struct window_samples samples = {100, 1000, 1000, 1500, true};
	struct window_estimate e = window_from_samples(&samples, 1e9);
	const struct window_estimate none = {0, 0}, exact = {7, 0}, vague = {50000, 40000};

	CHECK_NEAR(e.frequency, 100000, 1e-6);
	CHECK_NEAR(e.se, 100000 * sqrt(0.01 + 0.09), 1e-6);
	/* 120000 executions of 833 ns make up as much; known to within 100 ns */
	CHECK_NEAR(window_time_excess((struct window_estimate){120000, 1}, &samples, 1e9),
	    167 * 9 / (9 + 0.69), 2);
	CHECK_NEAR(window_time_excess((struct window_estimate){120000, 1e9}, &samples, 1e9), 0, 1);
	CHECK_NEAR(window_time_excess(none, &samples, 1e9), 0, 0);
	/* a hundred times as many would take 10 ns each, and probes are not off by 990 ns */
	CHECK_NEAR(window_time_excess((struct window_estimate){1e7, 1}, &samples, 1e9), 600, 0);
	/* 60000 would take 1667 ns each, and half as many twice as much */
	CHECK_NEAR(window_time_excess((struct window_estimate){60000, 1}, &samples, 1e9),
	    -667 * 9 / (9 + 2.78), 2);
	CHECK_NEAR(window_time_excess((struct window_estimate){30000, 1}, &samples, 1e9), -600, 0);
	samples.avg_ns = 2;
	e = window_from_samples(&samples, 1e9);
	CHECK(e.se > 10 * e.frequency);
	samples.avg_ns = 0;
	CHECK_NEAR(window_from_samples(&samples, 1e9).frequency, 0, 0);
	/* one long execution among short ones makes no time certain */
	samples = (struct window_samples){100, 1000, 4000, 1500, false};
	CHECK_NEAR(window_from_samples(&samples, 1e9).frequency, 0, 0);
	samples.is_certain = true;
	/* where the kernel steps the probes' instructions their time is less certain */
	CHECK_NEAR(window_certain_ns(1500), 2000, 1e-9);
	CHECK_NEAR(window_certain_ns(20000), 25000, 1e-9);
	samples.probe_ns = 20000;
	e = window_from_samples(&samples, 1e9);
	CHECK(e.se > e.frequency);
	samples.probe_ns = 1500;
	/* what was counted all the time stays, what is not known is left out */
	samples.avg_ns = 1000;
	e = window_from_samples(&samples, 1e9);
	CHECK_NEAR(window_merge(exact, e).frequency, 7, 0);
	CHECK_NEAR(window_merge(e, exact).frequency, 7, 0);
	CHECK_NEAR(window_merge(none, e).frequency, e.frequency, 0);
	CHECK_NEAR(window_merge(e, none).frequency, e.frequency, 0);
	CHECK(window_merge(vague, e).frequency > 90000 && window_merge(vague, e).se < e.se);
}

/* Probes took all of the time in each window: what was seen there is not what was executed. */
TEST(what_was_seen_is_not_all)
{
	const struct window_estimate none = {0}, vague = {100, 900}, known = {100, 10},
				     counted = {100, 0};
	struct window_estimate e = window_at_least(none, 5000);

	CHECK_NEAR(e.frequency, 5000, 0);
	CHECK(e.se >= BLOCK_UNKNOWN * e.frequency);
	e = window_at_least(vague, 5000);
	CHECK_NEAR(e.frequency, 5000, 0);
	CHECK(e.se >= BLOCK_UNKNOWN * e.frequency);
	CHECK_NEAR(window_at_least(known, 103).frequency, 103, 0);
	CHECK_NEAR(window_at_least(known, 103).se, 10, 0);
	CHECK_NEAR(window_at_least(known, 90).frequency, 100, 0);
	CHECK_NEAR(window_at_least(counted, 103).se, 0, 0);
	/* never met by a sample or a window */
	CHECK_NEAR(window_at_least(none, 0).frequency, 0, 0);
	CHECK_NEAR(window_at_least(none, 0).se, 0, 0);
}

TEST(times_less_what_they_seem_longer)
{
	struct block_figures f = {.timed = 11, .min_ns = 300, .max_ns = 5000, .avg_ns = 800};

	f.cells[block_cell_of(300)] = 10;
	f.cells[block_cell_of(5000)] = 1;
	block_figures_shorten(&f, 250);
	CHECK_NEAR(f.min_ns, 50, 0);
	CHECK_NEAR(f.max_ns, 4750, 0);
	CHECK_NEAR(f.avg_ns, 550, 0);
	CHECK_EQ(f.cells[block_cell_of(38)], 10); /* the cell's middle was 288 */
	CHECK_EQ(f.cells[block_cell_of(4870)], 1);
	block_figures_shorten(&f, -250);
	CHECK_NEAR(f.min_ns, 300, 0);
	CHECK_NEAR(f.avg_ns, 800, 0);
	block_figures_shorten(&f, 1e9);
	CHECK_EQ(f.cells[0], 11);
	CHECK_NEAR(f.avg_ns, 0, 0);
}
