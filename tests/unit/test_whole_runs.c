// SPDX-License-Identifier: BSD-3-Clause
/*
 * Whole runs as experiments: simulated commands whose truth is known, with the spread of runs that
 * was measured, drawn as the tool draws them (core/experiment/run_choice.c), and judged as a report
 * judges them.
 *
 * A command has two threads, which a join waits for, after a part that one thread runs alone.
 * Measured spread: 166 runs of tests/workloads/unequal.c without delays, a standard deviation of
 * 5.7 %, with priority beside six to ten other programs on two CPUs (docs/answers.md).
 * HEAVY_TAILS: one run of ten takes 1.2 to 3 times as long.
 */
#include "check.h"

#include <math.h>

#include "core/estimate/estimate.h"
#include "core/experiment/run_choice.h"
#include "simulate.h"

/* 40 quantiles of a run's time by the mean */
static const double measured[] = {0.87, 0.911, 0.922, 0.935, 0.942, 0.948, 0.952, 0.954, 0.957,
    0.963, 0.967, 0.972, 0.979, 0.981, 0.983, 0.985, 0.991, 0.995, 0.999, 1.0, 1.002, 1.006, 1.007,
    1.01, 1.012, 1.015, 1.016, 1.017, 1.02, 1.024, 1.026, 1.031, 1.033, 1.041, 1.045, 1.05, 1.062,
    1.076, 1.119, 1.18};
#define N_MEASURED (sizeof(measured) / sizeof(measured[0]))

enum spread_kind { MEASURED, STEADY, WILD, HEAVY_TAILS };

/* Lines: the part alone, the two threads, and a flat rest of the first thread. */
#define LINES 4

struct command {
	double s[LINES];
	enum spread_kind spread;
	double wilder; /* factor on the spread of runs with speedups */
	size_t runs;
	const unsigned *list;
	size_t n_list;
	bool by_samples; /* lines are drawn by their samples, half of each one's runs are baselines
			  */
};

/* The run's time where the line has @factor of its own. */
static double time_with(const struct command *c, uint32_t line, double factor)
{
	double s[LINES];

	memcpy(s, c->s, sizeof(s));
	if (line)
		s[line - 1] *= factor;
	return s[0] + fmax(s[1] + s[3], s[2]);
}

static double draw_spread(const struct command *c, struct rng *rng)
{
	switch (c->spread) {
	case MEASURED:
		return measured[rng_below(rng, N_MEASURED)];
	case STEADY:
		return 1 + 0.01 * sim_normal(rng);
	case WILD:
		return exp(0.1 * sim_normal(rng));
	case HEAVY_TAILS:
		break;
	}
	return (1 + 0.02 * sim_normal(rng)) *
	       (sim_uniform(rng) < 0.1 ? fmin(1.2 * pow(sim_uniform(rng), -0.4), 3) : 1);
}

static void add_run(struct profile *p, uint32_t line, unsigned pct, double s)
{
	struct experiment_record x = {.speedup = pct / 100.0, .fixed = true};
	char name[16];

	snprintf(name, sizeof(name), "a.c:%u", line);
	x.selected = strdup(name);
	x.run = (uint32_t)(p->n_runs - 1);
	x.duration_ns = (uint64_t)(s * 1e9);
	x.points = calloc(1, sizeof(*x.points));
	x.n_points = 1;
	x.points[0] = (struct point_record){.name = strdup(END_TO_END), .delta = 1};
	p->experiments[p->n_experiments++] = x;
}

/* As it was done before there was a plan. */
static uint32_t draw_by_samples(
    struct schedule *schedule, const struct cozbpf_line_count *counts, unsigned *ret_pct)
{
	uint64_t all = 0, at;
	uint32_t line = 1;

	for (uint32_t i = 1; i <= LINES; i++)
		all += counts[i].all;
	if (!all)
		return 0;
	for (at = rng_below(&schedule->rng, all); at >= counts[line].all; line++)
		at -= counts[line].all;
	*ret_pct = schedule_next(schedule, line, true);
	return line;
}

/* As many runs as the command's user wants. */
static void simulate(const struct command *c, uint64_t seed, struct profile *p)
{
	static const unsigned usual[] = RUN_SPEEDUPS;
	struct cozbpf_line_count counts[LINES + 1] = {0};
	struct run_samples samples = {counts, LINES + 1, 1000000, 0};
	struct run_choice choice = {.planned = c->runs};
	struct rng rng = {seed * 77 + 5};
	struct schedule schedule;

	profile_init(p);
	p->runs = calloc(c->runs, sizeof(*p->runs));
	p->experiments = calloc(c->runs, sizeof(*p->experiments));
	CHECK(!schedule_init(
	    &schedule, &rng, c->list ? c->list : usual, c->list ? c->n_list : N_RUN_SPEEDUPS));
	for (p->n_runs = 1; p->n_runs <= c->runs; p->n_runs++) {
		unsigned pct = 0;
		uint32_t line = c->by_samples
				    ? draw_by_samples(&schedule, counts, &pct)
				    : run_choice_next(&choice, &schedule, &samples, NULL, 0, &pct);
		double slow = draw_spread(c, &rng);

		if (pct)
			slow = 1 + c->wilder * (slow - 1);
		if (line) {
			run_choice_count(&choice, line, pct);
			add_run(p, line, pct, slow * time_with(c, pct ? line : 0, 1 - pct / 100.0));
		}
		for (uint32_t i = 1; i <= LINES; i++)
			counts[i].all += (uint64_t)(c->s[i - 1] * 1000 * slow);
		samples.ran_ns += (uint64_t)(time_with(c, 0, 1) * slow * 1e9);
	}
	p->n_runs = c->runs;
	p->samples = calloc(LINES, sizeof(*p->samples));
	p->n_samples = LINES;
	for (uint32_t i = 0; i < LINES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "a.c:%u", i + 1);
		p->samples[i] =
		    (struct samples_record){.location = strdup(name), .count = counts[i + 1].all};
	}
	schedule_deinit(&schedule);
}

/* Percentages, of @rounds profiles. */
struct judged_runs {
	double right[LINES];   /* the line has the verdict optimize */
	double wrong[LINES];   /* contention */
	double held, held_one; /* intervals of slopes, and of points, that hold the truth */
	double lines;          /* with an interval, per profile */
};

/* The slope that the line's points would have without any spread. */
static double true_slope(const struct command *c, const struct estimate_line *l, uint32_t line)
{
	double xy = 0, xx = 0, base = time_with(c, 0, 1);

	/* by the estimator's weights, which are those of its own cells */
	for (size_t i = 0; i < l->n_points; i++) {
		double s = l->points[i].line_speedup, y = 1 - time_with(c, line, 1 - s) / base,
		       w = (double)l->points[i].experiments / (1 - y);

		xy += w * s * y;
		xx += w * s * s;
	}
	return xy / xx;
}

static void judge_line(
    const struct command *c, const struct estimate_line *l, struct judged_runs *ret, double *points)
{
	uint32_t line = (uint32_t)atoi(l->line + 4);
	double truth = true_slope(c, l, line), base = time_with(c, 0, 1);

	ret->right[line - 1] += l->verdict == VERDICT_OPTIMIZE;
	ret->wrong[line - 1] += l->verdict == VERDICT_CONTENTION;
	if (isnan(l->slope_lo))
		return;
	ret->lines++;
	ret->held += l->slope_lo <= truth && truth <= l->slope_hi;
	for (size_t i = 0; i < l->n_points; i++) {
		double y = 1 - time_with(c, line, 1 - l->points[i].line_speedup) / base;

		ret->held_one += l->points[i].ci_lo <= y && y <= l->points[i].ci_hi;
		(*points)++;
	}
}

static struct judged_runs judge(const struct command *c, int rounds)
{
	struct judged_runs ret = {0};
	double points = 0;

	for (int r = 0; r < rounds; r++) {
		struct estimate_options o = {.seed = 1, .scatter_only = true};
		struct profile p;
		struct estimate e;

		simulate(c, (uint64_t)r, &p);
		CHECK_EQ(estimate_profile(&p, &o, &e), 0);
		for (size_t i = 0; i < e.n_lines; i++)
			judge_line(c, &e.lines[i], &ret, &points);
		estimate_deinit(&e);
		profile_deinit(&p);
	}
	ret.held *= 100 / ret.lines;
	ret.held_one *= 100 / points;
	ret.lines /= rounds;
	for (int i = 0; i < LINES; i++) {
		ret.right[i] *= 100.0 / rounds;
		ret.wrong[i] *= 100.0 / rounds;
	}
	return ret;
}

static const char *const spread_names[] = {"measured", "steady", "wild", "tails"};

static void show(const char *what, const struct command *c, const struct judged_runs *j)
{
	printf("     %-20s %-8s n %3zu: optimize %5.1f %5.1f %5.1f %5.1f, contention %4.1f %4.1f, "
	       "slopes %4.1f, points %4.1f %% hold\n",
	    what, spread_names[c->spread], c->runs, j->right[0], j->right[1], j->right[2],
	    j->right[3], j->wrong[1], j->wrong[2], j->held, j->held_one);
}

/* The longer thread's line is told by 20 runs, and the shorter one's is not. Of 500 profiles 5 %
 * may have a false verdict: more than 8 % come less than once in 200. */
TEST(twenty_runs_tell_the_longer_thread)
{
	struct command c = {.s = {0, 1.0, 0.6, 0}, .runs = 20, .wilder = 1};

	for (c.spread = MEASURED; c.spread <= HEAVY_TAILS; c.spread++) {
		struct judged_runs j = judge(&c, 500);

		show("1.0 s and 0.6 s", &c, &j);
		CHECK(j.right[1] >= (c.spread == HEAVY_TAILS ? 70 : 98));
		CHECK(j.right[2] + j.wrong[2] + j.wrong[1] <= 8);
	}
}

/* Threads of equal length: no line gains. Slopes and points are 0, and 400 or 800 intervals that
 * claim 95 % hold that in 91 to 99 % (more than three standard errors). Runs with a speedup may
 * differ less than those without, or more. */
TEST(nothing_is_told_where_nothing_gains)
{
	static const size_t runs[] = {10, 20, 60};
	static const double wilder[] = {1, 0.4, 2};

	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 3 * 3; k++) {
			struct command c = {.s = {0, 1, 1, 0},
			    .spread = (enum spread_kind)(k / 3),
			    .wilder = wilder[k % 3],
			    .runs = runs[i]};
			struct judged_runs j = judge(&c, 400);

			show("1 s and 1 s", &c, &j);
			CHECK(j.right[1] + j.right[2] + j.wrong[1] + j.wrong[2] <= 8);
			CHECK(j.held >= 90.5 && j.held <= 99);
			CHECK(j.held_one >= 90.5 && j.held_one <= 99);
		}
}

/* Single threads: each line gains what it has of the time, and slopes are that. */
TEST(intervals_hold_gains)
{
	static const size_t runs[] = {12, 20, 60};

	for (size_t i = 0; i < 3; i++)
		for (int k = MEASURED; k <= WILD; k++) {
			struct command c = {.s = {0.4, 0.3, 0, 0.2},
			    .spread = (enum spread_kind)k,
			    .wilder = 1,
			    .runs = runs[i]};
			struct judged_runs j = judge(&c, 400);

			show("0.4, 0.3, 0.2 s", &c, &j);
			CHECK(j.held >= 91 && j.held <= 99);
			CHECK(j.held_one >= 91 && j.held_one <= 99);
			CHECK(j.right[0] >= 98);
		}
}

/*
 * Of 400 profiles of 20 runs with the measured spread, in per cent: how often each of a program's
 * three lines has a verdict. The lines have 44, 33 and 22 % of the time.
 *   drawn by samples, half of each line's runs baselines   95   78   24
 *   by the plan, with speedups of 5 to 100 % in steps      99   98   79
 *   by the plan, with two speedups                        100  100   98
 */
TEST(the_plan_and_few_speedups_tell_more)
{
	static const unsigned twenty[] = {
	    5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100};
	struct command c = {.s = {0.4, 0.3, 0, 0.2}, .runs = 20, .wilder = 1};
	struct judged_runs plan = judge(&c, 400), samples, speedups;

	show("the plan", &c, &plan);
	c.by_samples = true;
	samples = judge(&c, 400);
	show("by samples", &c, &samples);
	c.by_samples = false;
	c.list = twenty;
	c.n_list = 20;
	speedups = judge(&c, 400);
	show("twenty speedups", &c, &speedups);
	CHECK(plan.right[0] >= 99 && plan.right[1] >= 99 && plan.right[3] >= 90);
	CHECK(samples.right[1] <= 90 && samples.right[3] <= 50);
	CHECK(speedups.right[3] + 5 <= plan.right[3]);
}

static struct estimate estimate_of(const struct profile *p)
{
	struct estimate_options o = {.seed = 1};
	struct estimate e;

	CHECK_EQ(estimate_profile(p, &o, &e), 0);
	return e;
}

static struct profile empty(void)
{
	struct profile p;

	profile_init(&p);
	p.runs = calloc(1, sizeof(*p.runs));
	p.n_runs = 1;
	p.experiments = calloc(32, sizeof(*p.experiments));
	return p;
}

/* Baselines serve all lines, whichever one they name, and all runs tell how far runs differ. */
TEST(lines_share_what_is_known)
{
	struct profile p = empty();
	struct estimate e;

	for (int i = 0; i < 4; i++)
		add_run(&p, 1, 0, 1 + 0.01 * i);
	for (int i = 0; i < 4; i++)
		add_run(&p, 2, i < 2 ? 50 : 100, (i < 2 ? 0.8 : 0.6) + 0.004 * (i % 2));
	for (int i = 0; i < 3; i++)
		add_run(&p, 3, 100, 1.01 + 0.01 * i);
	add_run(&p, 4, 50, 0.7);
	add_run(&p, 4, 100, 0.4);
	e = estimate_of(&p);
	for (size_t i = 0; i < e.n_lines; i++) {
		const struct estimate_line *l = &e.lines[i];

		CHECK_EQ(l->baselines, 4);
		if (!strcmp(l->line, "a.c:1")) {
			CHECK_EQ(l->shortage, SHORT_VISITS);
		} else if (!strcmp(l->line, "a.c:2")) {
			CHECK_EQ(l->verdict, VERDICT_OPTIMIZE);
			CHECK_NEAR(l->slope, 0.405, 0.01);
			CHECK_NEAR(l->points[0].program_speedup, 0.21, 0.01);
			CHECK(l->max_speedup > 0.35 && l->slope_lo > 0.3 && l->slope_hi < 0.5);
		} else if (!strcmp(l->line, "a.c:3")) {
			CHECK(l->slope_lo < 0 && l->slope_hi > 0);
			CHECK(!isnan(l->chance) && l->df > 2);
		} else {
			CHECK_EQ(l->shortage, SHORT_EXPERIMENTS); /* two runs */
			CHECK(isnan(l->slope_lo) && l->slope > 0.5);
		}
	}
	CHECK_EQ(estimate_more_runs(&e), 0); /* there is a verdict */
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* What is missing, and how many more runs are asked for. */
TEST(runs_that_are_missing)
{
	struct profile p = empty();
	struct estimate e = estimate_of(&p);

	CHECK_EQ(estimate_more_runs(&e), 0); /* nothing of the sort */
	estimate_deinit(&e);
	add_run(&p, 1, 50, 0.9);
	add_run(&p, 1, 100, 0.8);
	e = estimate_of(&p);
	CHECK_EQ(e.lines[0].shortage, SHORT_BASELINE);
	CHECK_EQ(estimate_more_runs(&e), 19); /* 20 with the one there was */
	estimate_deinit(&e);
	/* Runs that differ by as much as they gain: six of a line, four baselines, all in one. */
	for (int i = 0; i < 4; i++) {
		add_run(&p, 1, 50, 0.8 + 0.1 * i);
		add_run(&p, 1, 0, 0.85 + 0.1 * i);
	}
	p.n_runs = 1;
	e = estimate_of(&p);
	CHECK_EQ(e.lines[0].shortage, SHORT_INTERVAL);
	CHECK(e.lines[0].slope_lo < 0 && e.lines[0].slope_hi > 0);
	CHECK(estimate_more_runs(&e) >= 5);
	CHECK_NEAR((double)estimate_more_runs(&e), fmax(5, estimate_times(&e.lines[0]) - 1), 1);
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* All runs alike: what was measured is exact. A run that was not seen to end is none. */
TEST(no_spread_and_no_end)
{
	struct profile p = empty();
	struct estimate_options o = {.seed = 1, .scatter_only = true};
	struct estimate e;

	for (int i = 0; i < 4; i++) {
		add_run(&p, 1, 0, 1);
		add_run(&p, 1, 50, 0.75);
	}
	add_run(&p, 1, 50, 5);
	p.experiments[p.n_experiments - 1].points[0].delta = 0;
	CHECK_EQ(estimate_profile(&p, &o, &e), 0);
	CHECK_EQ(e.n_lines, 1);
	CHECK_EQ(e.lines[0].verdict, VERDICT_OPTIMIZE);
	CHECK_NEAR(e.lines[0].slope, 0.5, 1e-9);
	CHECK_NEAR(e.lines[0].slope_lo, 0.5, 1e-9);
	CHECK_EQ(e.lines[0].points[0].experiments, 4);
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* Twelve runs, half of them with a line at 90 % that gains 12 %. */
static struct profile gaining(void)
{
	struct profile p = empty();

	for (int i = 0; i < 12; i++)
		add_run(&p, 1, i < 6 ? 0 : 90, (i < 6 ? 1 : 0.88) + 0.001 * (i % 3));
	return p;
}

/* What threads wait beside an idle CPU makes the method err more, by a part of the gain. */
TEST(misplaced_threads_widen)
{
	struct profile p = gaining();
	struct estimate quiet, queued;
	double gain, before, after;

	quiet = estimate_of(&p);
	p.runs[0].misplaced_ns = 5;
	p.runs[0].executed_ns = 95;
	queued = estimate_of(&p);
	gain = quiet.lines[0].slope;
	before = quiet.lines[0].slope_hi - gain;
	after = queued.lines[0].slope_hi - gain;
	CHECK_NEAR(queued.lines[0].slope, gain, 1e-9);
	CHECK_NEAR(after, hypot(before, 0.3 * gain), 1e-9);
	estimate_deinit(&quiet);
	estimate_deinit(&queued);
	profile_deinit(&p);
}

/* What outsiders had of the CPU time is no spread, and does not shrink with the number of runs. */
TEST(outsiders_widen)
{
	struct profile p = gaining();
	struct estimate quiet, busy;

	quiet = estimate_of(&p);
	p.runs[0].outsiders_ns = 8;
	p.runs[0].executed_ns = 92;
	busy = estimate_of(&p);
	CHECK_EQ(quiet.lines[0].verdict, VERDICT_OPTIMIZE);
	CHECK_EQ(busy.lines[0].verdict, VERDICT_NOT_ENOUGH_DATA);
	CHECK_NEAR(quiet.lines[0].slope_lo - busy.lines[0].slope_lo, 0.16, 1e-9);
	CHECK_NEAR(busy.lines[0].slope_hi - quiet.lines[0].slope_hi, 0.16, 1e-9);
	estimate_deinit(&quiet);
	estimate_deinit(&busy);
	profile_deinit(&p);
}
