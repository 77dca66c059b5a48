// SPDX-License-Identifier: BSD-3-Clause
/*
 * Estimation on simulated profiles with a known truth: which way of estimating periods is better,
 * and how often intervals hold the truth.
 *
 * Measured coverage, in per cent, of intervals that claim 95, for slope / points (simulate.h).
 * There are 1000 profiles each, with a standard error of 0.7: a baseline and 4 speedups of n
 * experiments in random order, 20 to 100 visits each. The figure is the worse of a true slope of
 * 0.6 and of 0. With the tool's own keys experiments close at a visit, without them by the clock,
 * as Coz's do. drift: regular visits on a machine whose speed wanders by 3 %.
 *
 *    visits   keys     n = 5      n = 6      n = 8      n = 12     n = 20     n = 40
 *    regular  own keys 94.5/95.2  94.4/95.4  94.3/95.2  94.7/95.5  94.5/95.1  94.5/94.8
 *    Erlang   own keys 93.0/94.8  94.8/95.3  94.9/94.5  94.3/93.8  93.1/94.5  94.5/94.6
 *    Poisson  own keys 93.9/95.6  95.1/95.7  94.1/95.0  94.4/94.6  94.6/94.8  94.5/94.3
 *    bursts   own keys 94.0/95.2  94.7/94.3  94.2/94.9  93.5/94.8  93.9/94.7  94.3/95.0
 *    drift    own keys 94.4/95.0  93.0/95.2  93.7/95.0  94.0/94.6  94.6/95.1  95.3/95.2
 *    regular  Coz's    98.7/96.0  97.5/95.8  96.6/96.1  94.9/94.8  93.9/94.4  94.1/94.7
 *    Erlang   Coz's    94.0/94.8  94.6/95.6  94.4/95.1  94.0/94.6  94.2/94.6  95.4/95.0
 *    Poisson  Coz's    93.4/95.0  94.3/95.0  93.9/94.8  93.7/95.1  94.8/94.7  94.3/94.9
 *    bursts   Coz's    93.3/95.1  93.6/94.5  93.9/95.1  92.5/94.5  93.7/94.4  94.3/94.7
 *    drift    Coz's    93.2/94.8  93.0/94.3  93.8/94.3  94.2/94.1  95.5/95.1  95.3/95.3
 *
 * Lines and speedups drawn at random: half of the experiments are baselines, the others have one of
 * twenty speedups. 500 profiles each (standard error 1), 10 to 200 experiments, curves straight and
 * saturating at 50 %. The worst of fourteen: regular 95.8/94.8, Erlang 93.6/94.7,
 * Poisson 94.4/94.8, drift 94.8/94.8; bursts of eight, of which an experiment sees a
 * dozen, 91.8/94.2.
 *
 * Sixty lines of no effect with n experiments each, of as many speedups, beside 150 shared
 * baselines (Erlang's visits, 50 an experiment, by the clock; 100 profiles each, standard error
 * 0.2). The figures are per cent of the lines whose interval lies above / below 0, where each
 * should be 2.5, and of the profiles with a false verdict. `own`: experiments on the line scatter
 * by 10 % more than visits do, baselines do not. `slow`: a twelfth of the run is half as fast, in
 * one stretch. In brackets: the old state with weights by time, with residuals of lines and
 * baselines mixed, and with every interval a verdict.
 *
 *            n = 5                    n = 7                    n = 20
 *    clean   1.0/1.4  2 (1.4/3.7  91) 1.1/1.6  0 (1.6/4.0  98) 1.4/2.1  1 (1.5/4.2  96)
 *    drift   0.9/1.5  1 (1.2/4.8  94) 0.9/1.8  1 (1.0/5.0  97) 1.1/2.6  1 (1.0/7.3  99)   10 %
 *    slow    0.1/1.0  2 (0.0/14.5 100) 0.1/1.2 2 (0.0/16.9 100) 0.1/1.9 1 (3.3/15.4 100)
 *    own     2.9/2.4 15 (7.7/12.8 100) 2.6/2.7 13 (6.2/14.0 100) 2.3/2.9 6 (1.2/6.4 100)
 *
 * The new intervals alone lower those 91 to 100 by 0 to 50 points. The new verdicts alone lower
 * them more, to 8 in clean runs and 70 in slow ones. It takes both.
 */
#include "check.h"

#include <math.h>

#include "core/estimate/estimate.h"
#include "simulate.h"

/* @per_cell experiments at each of 25, 50, 75, 100 % and @baselines at 0, in random order. */
static void sim_list(
    struct simulation *s, struct profile *p, const char *line, int per_cell, int baselines)
{
	int left[5] = {baselines, per_cell, per_cell, per_cell, per_cell},
	    n = baselines + 4 * per_cell;

	for (; n; n--) {
		int pick = (int)rng_below(&s->rng, (uint64_t)n), cell = 0;

		while (pick >= left[cell])
			pick -= left[cell++];
		left[cell]--;
		sim_experiment(s, p, line, cell * 0.25);
	}
}

/* @n experiments as the tool draws them: 0 with probability 1/2, else 5 to 100 % in steps of 5. */
static void sim_random(struct simulation *s, struct profile *p, const char *line, int n)
{
	while (n--)
		sim_experiment(s, p, line,
		    rng_below(&s->rng, 2) ? 0 : (double)(1 + rng_below(&s->rng, 20)) / 20);
}

/* The mean error of the cell at 50 % (truth 0.3) of 10 experiments against 10 baselines, over
 * @rounds profiles. */
static double mean_error(enum arrivals arrivals, bool by_clock, double visits,
    enum estimate_period period, int rounds, double *ret_sd)
{
	struct estimate_options o = {.seed = 1, .replicates = 40, .period = period};
	double sum = 0, squares = 0;

	for (int r = 0; r < rounds; r++) {
		struct simulation s = {.arrivals = arrivals,
		    .visits = visits,
		    .close_at_visit = !by_clock,
		    .spans = true,
		    .slope = 0.6,
		    .saturation = 1,
		    .rng = {(uint64_t)r * 77 + 5}};
		struct profile p;
		struct estimate e;
		double error;

		profile_init(&p);
		for (int i = 0; i < 10; i++) {
			sim_experiment(&s, &p, "a.c:1", 0);
			sim_experiment(&s, &p, "a.c:1", 0.5);
		}
		CHECK_EQ(estimate_profile(&p, &o, &e), 0);
		error = e.lines[0].points[0].program_speedup - 0.3;
		sum += error;
		squares += error * error;
		estimate_deinit(&e);
		profile_deinit(&p);
	}
	*ret_sd = sqrt(squares / rounds);
	return sum / rounds;
}

/*
 * Error of the cell at 50 % (truth 0.300): mean, and root mean square in brackets, of 2000
 * profiles. Erlang's visits have gaps with a squared coefficient of variation of 0.25, where the
 * choice is about even.
 *
 * Experiments that close at a visit:
 *   visits in an experiment     5              10             20             50
 *   regular, duration / delta   -.017 (.023)   -.010 (.013)   -.005 (.007)   -.002 (.003)
 *   regular, spans               .000 (.007)    .000 (.005)    .000 (.003)    .000 (.002)
 *   Erlang,  duration / delta   -.014 (.062)   -.011 (.045)   -.005 (.032)   -.002 (.020)
 *   Erlang,  spans              -.002 (.065)   -.004 (.046)   -.002 (.032)   -.001 (.020)
 *   Poisson, duration / delta   -.014 (.127)   -.009 (.088)   -.001 (.064)   -.004 (.041)
 *   Poisson, spans              -.017 (.138)   -.009 (.092)   -.002 (.066)   -.004 (.041)
 *
 * Experiments that close by the clock. Wald's equation does not hold for them: the last gap is cut
 * off, and long gaps are cut more often:
 *   regular, duration / delta   -.001 (.017)   -.001 (.011)    .000 (.006)    .000 (.003)
 *   regular, spans               .000 (.007)    .000 (.005)    .000 (.003)    .000 (.002)
 *   Erlang,  duration / delta   -.002 (.069)   -.004 (.048)   -.001 (.033)   -.001 (.020)
 *   Erlang,  spans              -.018 (.074)   -.011 (.049)   -.004 (.033)   -.002 (.020)
 *   Poisson, duration / delta   -.010 (.131)   -.007 (.092)   -.001 (.065)   -.004 (.041)
 *   Poisson, spans              -.083 (.168)   -.036 (.101)   -.014 (.068)   -.008 (.042)
 *
 * From 200 visits on all are below .004 and within .0002 of each other. Chosen by the gaps
 * (PERIOD_AUTO) the errors are those of the better one for regular and Poisson visits, and between
 * the two for Erlang's.
 */
TEST(periods_compared)
{
	double sd_span, sd_duration, sd_auto, span, duration, best;

	/* Regular visits: spans have a standard error of 0.0003 and no bias. Duration and delta are
	 * off by half a visit in ten. */
	span = mean_error(REGULAR, false, 10, PERIOD_SPAN, 200, &sd_span);
	duration = mean_error(REGULAR, false, 10, PERIOD_DURATION, 200, &sd_duration);
	best = mean_error(REGULAR, false, 10, PERIOD_AUTO, 200, &sd_auto);
	CHECK_NEAR(span, 0, 0.0015);
	CHECK_NEAR(duration, -0.0095, 0.004);
	CHECK(sd_span * 2 < sd_duration);
	CHECK_NEAR(best, span, 1e-12);
	/* Poisson visits, by the clock: duration and delta have a standard error of 0.0065, and
	 * five of them are allowed. Spans are off by 0.036. */
	span = mean_error(POISSON, true, 10, PERIOD_SPAN, 200, &sd_span);
	duration = mean_error(POISSON, true, 10, PERIOD_DURATION, 200, &sd_duration);
	best = mean_error(POISSON, true, 10, PERIOD_AUTO, 200, &sd_auto);
	CHECK_NEAR(duration, 0, 0.0325);
	CHECK(span < duration - 0.015);
	CHECK_NEAR(best, duration, 0.002);
}

#define COVERAGE_ROUNDS 400

/* How many intervals in a hundred hold the truth: of slopes, and of points. */
static double coverage(struct simulation model, int per_cell, bool random, double *ret_points)
{
	int slopes = 0, points = 0, n_points = 0;

	for (int r = 0; r < COVERAGE_ROUNDS; r++) {
		struct estimate_options o = {
		    .seed = (uint64_t)r, .replicates = 400, .scatter_only = true};
		struct simulation s = model;
		struct profile p;
		struct estimate e;
		const struct estimate_line *l;

		s.rng.state = (uint64_t)r * 77 + 5;
		profile_init(&p);
		if (random)
			sim_random(&s, &p, "a.c:1", per_cell);
		else
			sim_list(&s, &p, "a.c:1", per_cell, per_cell);
		CHECK_EQ(estimate_profile(&p, &o, &e), 0);
		l = &e.lines[0];
		slopes += l->slope_lo <= s.slope && s.slope <= l->slope_hi;
		for (size_t i = 0; i < l->n_points; i++) {
			double truth = sim_truth(&s, l->points[i].line_speedup);

			n_points++;
			points += l->points[i].ci_lo <= truth && truth <= l->points[i].ci_hi;
		}
		estimate_deinit(&e);
		profile_deinit(&p);
	}
	*ret_points = (double)points / n_points;
	return (double)slopes / COVERAGE_ROUNDS;
}

/* 400 rounds of a coverage of 93 % or more fall below 88 % less than once in 10,000 (binomial: mean
 * 372, standard deviation 5.1, 352 is four below). Intervals that always hold the truth are too
 * wide: with a coverage of 98 %, all 400 hold it once in 3,000. */
TEST(intervals_cover)
{
	static const struct simulation models[] = {
	    {.arrivals = REGULAR,
		.visits = 20,
		.close_at_visit = true,
		.spans = true,
		.slope = 0.6,
		.saturation = 1},
	    {.arrivals = POISSON,
		.visits = 30,
		.close_at_visit = true,
		.spans = true,
		.slope = 0.6,
		.saturation = 1},
	    {.arrivals = POISSON, .visits = 30, .slope = 0, .saturation = 1},
	    {.arrivals = REGULAR,
		.visits = 20,
		.close_at_visit = true,
		.spans = true,
		.slope = 0.6,
		.saturation = 1,
		.drift = 0.03},
	};
	static const int sizes[] = {6, 12};

	for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++) {
		for (size_t i = 0; i < 2; i++) {
			double points, slope = coverage(models[m], sizes[i], false, &points);

			CHECK(slope >= 0.88 && slope < 1);
			CHECK(points >= 0.9 && points < 1);
		}
	}
}

/*
 * A run without a fixed line: @MANY lines of no effect with @own experiments each, of as many
 * speedups, and baselines that serve all. The first line has four times as many experiments, a
 * tenth of the samples and the slope @first. A twelfth of the run is @slow times as slow as the
 * rest.
 */
#define MANY 60
#define SHARED 150

static void sim_baseline_lines(struct simulation *s, struct experiment_record *x, int line)
{
	int opening[MANY] = {0};

	opening[line]++;
	for (int i = 0; i < 29; i++)
		opening[rng_below(&s->rng, MANY)]++;
	x->lines = calloc(MANY, sizeof(*x->lines));
	x->observed_ns = x->duration_ns;
	for (uint32_t i = 0; i < MANY; i++)
		if (opening[i])
			x->lines[x->n_lines++] = (struct baseline_line){
			    i + 1, (uint64_t)opening[i], (uint64_t)opening[i] * 3};
}

static void sim_many(struct simulation *s, struct profile *p, int own, double first, double slow)
{
	uint32_t plan[SHARED + 4 * 20 + MANY * 20]; /* line x 100 + speedup in twentieths */
	uint64_t n = 0, slow_from;
	char name[16];

	for (uint32_t i = 0; i < SHARED; i++)
		plan[n++] = (uint32_t)rng_below(&s->rng, MANY) * 100;
	for (uint32_t line = 0; line < MANY; line++) {
		uint32_t start = (uint32_t)rng_below(&s->rng, 20);

		for (uint32_t i = 0; i < (uint32_t)(line ? own : 4 * own); i++)
			plan[n++] = line * 100 + (start + 7 * i) % 20 + 1;
	}
	slow_from = rng_below(&s->rng, n);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t j = i + rng_below(&s->rng, n - i);
		uint32_t line = plan[j] / 100, speedup = plan[j] % 100;
		struct simulation now = *s;

		plan[j] = plan[i];
		snprintf(name, sizeof(name), "a.c:%u", line + 1);
		now.slope = line ? 0 : first;
		now.visits /= i >= slow_from && i < slow_from + n / 12 ? slow : 1;
		sim_experiment(&now, p, name, speedup / 20.0);
		s->rng = now.rng;
		s->speed = now.speed;
		if (!speedup)
			sim_baseline_lines(s, &p->experiments[p->n_experiments - 1], (int)line);
	}
	p->samples = calloc(MANY, sizeof(*p->samples));
	p->n_samples = MANY;
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "a.c:%u", i + 1);
		p->samples[i] = (struct samples_record){
		    .location = strdup(name), .count = i ? 1000 : 6000, .id = i + 1};
	}
}

struct many {
	/* lines of no effect with an interval; those whose interval is above, below 0 */
	int lines, above, below;
	int false_profiles, found;
};

static struct many judge_many(struct simulation model, double slow, int own, int rounds)
{
	struct many ret = {0};

	for (int r = 0; r < rounds; r++) {
		struct estimate_options o = {.seed = (uint64_t)r, .replicates = 200};
		struct simulation s = model;
		struct profile p;
		struct estimate e;
		bool is_false = false;

		s.rng.state = (uint64_t)r * 77 + 5;
		profile_init(&p);
		sim_many(&s, &p, own, -0.3, slow);
		CHECK_EQ(estimate_profile(&p, &o, &e), 0);
		for (size_t i = 0; i < e.n_lines; i++) {
			const struct estimate_line *l = &e.lines[i];

			if (!strcmp(l->line, "a.c:1")) {
				ret.found += l->verdict == VERDICT_CONTENTION;
				continue;
			}
			ret.lines++;
			ret.above += l->slope_lo > 0;
			ret.below += l->slope_hi < 0;
			is_false |=
			    l->verdict == VERDICT_OPTIMIZE || l->verdict == VERDICT_CONTENTION;
		}
		ret.false_profiles += is_false;
		estimate_deinit(&e);
		profile_deinit(&p);
	}
	return ret;
}

/*
 * Of 120 profiles 6 (5 %) may have a false verdict. Measured on others it is 2 %, of which more
 * than 6 come once in 60 times at worst (binomial), and seeds are fixed. Without dividing the
 * evidence among the lines nearly all have one. A really harmful line, with a tenth of the samples,
 * is still found. Intervals: of the 2,360 lines of each model at most 4 % on either side (2.5 % and
 * more than four standard errors of 0.3).
 */
TEST(verdicts_of_many_lines)
{
	static const struct {
		struct simulation s;
		double slow;
	} models[] = {
	    {{.arrivals = ERLANG, .visits = 50, .spans = true, .saturation = 1}, 1},
	    {{.arrivals = ERLANG, .visits = 50, .spans = true, .saturation = 1, .drift = 0.1}, 1},
	    {{.arrivals = ERLANG, .visits = 50, .spans = true, .saturation = 1}, 2},
	};
	int false_profiles = 0;

	for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++) {
		struct many many = judge_many(models[m].s, models[m].slow, 6, 40);

		false_profiles += many.false_profiles;
		CHECK_EQ(many.lines, 40 * (MANY - 1));
		CHECK(many.above <= many.lines * 0.04);
		CHECK(many.below <= many.lines * 0.04);
		CHECK(m == 2 || many.found >= 38);
	}
	CHECK(false_profiles <= 6);
}

/* Experiments on the line that scatter more than its baselines are not taken to be as good as
 * baselines. */
TEST(intervals_cover_own_scatter)
{
	struct simulation model = {
	    .arrivals = ERLANG, .visits = 50, .spans = true, .saturation = 1, .own = 0.1};
	struct many many = judge_many(model, 1, 6, 40);

	CHECK(many.above <= many.lines * 0.04);
	CHECK(many.below <= many.lines * 0.04);
}

/* The same with lines and speedups drawn as the tool draws them: most cells hold one or two
 * experiments. */
TEST(intervals_cover_random_speedups)
{
	struct simulation model = {.arrivals = POISSON,
	    .visits = 30,
	    .close_at_visit = true,
	    .spans = true,
	    .slope = 0.6,
	    .saturation = 1};
	double points, slope = coverage(model, 30, true, &points);

	CHECK(slope >= 0.88 && slope < 1);
	CHECK(points >= 0.9 && points < 1);
}
