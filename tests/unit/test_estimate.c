// SPDX-License-Identifier: BSD-3-Clause
/* Estimation: known answers computed by hand, verdicts and their reasons. Simulations are in
 * test_intervals.c. */
#include "check.h"

#include <math.h>

#include "core/estimate/estimate.h"
#include "simulate.h"

static struct estimate_options defaults = {.seed = 1};

/* Profiles by hand */

static struct experiment_record *add(struct profile *p, const char *line, double speedup,
    uint64_t duration, const char *point, uint64_t delta)
{
	struct experiment_record x = {.speedup = speedup, .duration_ns = duration};

	if (!p->n_runs) {
		p->runs = calloc(4, sizeof(*p->runs));
		p->n_runs = 1;
	}
	x.run = (uint32_t)(p->n_runs - 1);
	x.selected = strdup(line);
	if (point) {
		x.points = calloc(1, sizeof(*x.points));
		x.points[0].name = strdup(point);
		x.points[0].delta = delta;
		x.n_points = 1;
	}
	p->experiments = realloc(p->experiments, (p->n_experiments + 1) * sizeof(x));
	p->experiments[p->n_experiments] = x;
	return &p->experiments[p->n_experiments++];
}

static void add_samples(struct profile *p, const char *line, uint64_t count, uint64_t free)
{
	struct samples_record s = {.location = strdup(line),
	    .count = count,
	    .free = free,
	    .has_free = true,
	    .run = (uint32_t)(p->n_runs - 1)};

	p->samples = realloc(p->samples, (p->n_samples + 1) * sizeof(s));
	p->samples[p->n_samples++] = s;
}

/* @n experiments at each of 0, 25, 50, 75 and 100 % with a true slope. Periods scatter by -1, 0, 1,
 * -1, ... times @scatter. */
static void add_list(struct profile *p, const char *line, double slope, double scatter, int n)
{
	for (int cell = 0; cell <= 4; cell++) {
		for (int i = 0; i < n; i++) {
			double period = 1e6 * (1 - slope * cell / 4) * (1 + scatter * (i % 3 - 1));

			add(p, line, cell / 4.0, (uint64_t)(period * 100), "work", 100);
		}
	}
	p->runs[0].fixed_speedups = 4;
}

static const struct estimate_line *find(
    const struct estimate *e, const char *line, const char *point)
{
	static const struct estimate_line none;

	for (size_t i = 0; i < e->n_lines; i++) {
		if (!strcmp(e->lines[i].line, line) && !strcmp(e->lines[i].progress, point))
			return &e->lines[i];
	}
	CHECK(!"line is there");
	return &none;
}

/* Sums, not means of ratios: p_0 = 4000 / 30, p_50 = 1500 / 20, p_100 = 3000 / 50. With p / p_0 =
 * 0.5625 and 0.45, y = 0.4375 and 0.55. */
TEST(ratio_of_sums)
{
	struct profile p;
	struct estimate e;
	const struct estimate_line *l;
	double slope, b, w50, w100;

	profile_init(&p);
	add(&p, "a.c:1", 0, 1000, "work", 10);
	add(&p, "a.c:1", 0, 3000, "work", 20);
	add(&p, "a.c:1", 0.5, 1000, "work", 10);
	add(&p, "a.c:1", 0.5, 500, "work", 10);
	add(&p, "a.c:1", 1, 1000, "work", 20);
	add(&p, "a.c:1", 1, 2000, "work", 30);
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	CHECK_EQ(e.n_lines, 1);
	l = &e.lines[0];
	CHECK_EQ(l->n_points, 2);
	CHECK_NEAR(l->points[0].line_speedup, 0.5, 1e-9);
	CHECK_NEAR(l->points[0].program_speedup, 0.4375, 1e-9);
	CHECK_NEAR(l->points[0].raw_program_speedup, 0.4375, 1e-9);
	CHECK_NEAR(l->points[1].program_speedup, 0.55, 1e-9);
	CHECK_EQ(l->points[1].visits, 50);
	CHECK_EQ(l->points[1].experiments, 2);
	CHECK_EQ(l->experiments, 6);
	CHECK_EQ(l->baselines, 2);
	/* First regression, by count: (20 x .5 x .4375 + 50 x .55) / (20 x .25 + 50); then weights
	 * by 1 / (1 - b x). */
	b = (20 * 0.5 * 0.4375 + 50 * 0.55) / (20 * 0.25 + 50);
	w50 = 20 / (1 - b / 2);
	w100 = 50 / (1 - b);
	slope = (w50 * 0.5 * 0.4375 + w100 * 0.55) / (w50 * 0.25 + w100);
	CHECK_NEAR(l->slope, slope, 1e-9);
	/* Two speedups of five. */
	CHECK_EQ(l->verdict, VERDICT_NOT_ENOUGH_DATA);
	CHECK_EQ(l->shortage, SHORT_SPEEDUPS);
	CHECK_EQ(e.n_dropped, 1);
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* Time without a visit is time. The record says delta=0, or is missing because the writer did not
 * yet know the point. */
TEST(experiments_without_visits_count)
{
	struct profile p;
	struct estimate e;
	struct experiment_record *x;

	profile_init(&p);
	for (int i = 0; i < 3; i++)
		add(&p, "a.c:1", 0, 1000, "work", 10);
	add(&p, "a.c:1", 0.5, 1000, "work", 10);
	add(&p, "a.c:1", 0.5, 1000, "work", 0);
	x = add(&p, "a.c:1", 0.75, 1000, "work", 10);
	x = add(&p, "a.c:1", 0.75, 1000, "rare", 3);
	x = add(&p, "a.c:1", 1, 1000, "work", 10);
	/* Truncated: a record without any point tells nothing. */
	x = add(&p, "a.c:1", 1, 1000, NULL, 0);
	(void)x;
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	const struct estimate_line *l = find(&e, "a.c:1", "work");
	CHECK_EQ(l->n_points, 3);
	CHECK_NEAR(l->points[0].program_speedup, -1, 1e-9);
	CHECK_NEAR(l->points[1].program_speedup, -1, 1e-9);
	CHECK_NEAR(l->points[2].program_speedup, 0, 1e-9);
	CHECK_EQ(find(&e, "a.c:1", "rare")->shortage, SHORT_BASELINE);
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* Spans when all experiments have them. Duration and delta for the whole line as soon as much of
 * its time has no span. */
TEST(spans_where_known)
{
	struct profile p;
	struct estimate e;

	for (int with = 1; with >= 0; with--) {
		profile_init(&p);
		for (int i = 0; i < 4; i++) {
			for (int half = 0; half < 2; half++) {
				struct experiment_record *x =
				    add(&p, "a.c:1", half * 0.5, 1000, "work", half ? 20 : 10);

				if (!with && !half && i == 3)
					continue;
				x->points[0].bursts = x->points[0].delta;
				x->points[0].span_delta = half ? 19 : 9;
				x->points[0].span_ns = half ? 380 : 900;
			}
		}
		CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
		CHECK_NEAR(e.lines[0].points[0].program_speedup, with ? 0.8 : 0.5, 1e-9);
		estimate_deinit(&e);
		profile_deinit(&p);
	}
}

/* Bursts are observations: eight visits at once are one. */
TEST(minimum_counts_bursts)
{
	struct profile p;
	struct estimate e;

	profile_init(&p);
	for (int i = 0; i < 4; i++) {
		add(&p, "a.c:1", 0, 1000, "work", 8);
		add(&p, "a.c:1", 0.5, 1000, "work", 8)->points[0].bursts = 1;
	}
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	CHECK_EQ(e.lines[0].n_points, 0);
	CHECK_EQ(e.lines[0].shortage, SHORT_VISITS);
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* (t_obs / s_obs)(s / T): 3 baselines of 1 s with 50 samples each; 2 runs with 200 + 100 free
 * samples in 10 + 20 s: (3 / 150)(300 / 30) = 0.2. */
static void make_phases(struct profile *p, bool fixed, uint64_t selected_samples)
{
	profile_init(p);
	for (int i = 0; i < 3; i++)
		add(p, "a.c:1", 0, 1000000000, "work", 100)->selected_samples = selected_samples;
	for (int i = 0; i < 3; i++)
		add(p, "a.c:1", 0.5, 500000000, "work", 100)->selected_samples = 7777;
	for (size_t i = 0; i < p->n_experiments; i++)
		p->experiments[i].fixed = fixed;
	p->runs[0].free_ns = 10000000000;
	add_samples(p, "b.c:1", 500, 500);
	add_samples(p, "a.c:1", 1000, 200);
	p->n_runs = 2;
	p->runs[1].free_ns = 20000000000;
	add_samples(p, "a.c:1", 400, 100);
}

static double phase_of(const struct profile *p, double program)
{
	struct estimate e;
	double ret;

	CHECK_EQ(estimate_profile(p, &defaults, &e), 0);
	ret = e.lines[0].phase_factor;
	CHECK_NEAR(e.lines[0].points[0].raw_program_speedup, 0.5, 1e-9);
	CHECK_NEAR(e.lines[0].points[0].program_speedup, program, 1e-9);
	CHECK_EQ(e.lines[0].samples, 1400);
	CHECK_EQ(e.samples, 1900);
	estimate_deinit(&e);
	return ret;
}

TEST(phase_correction)
{
	struct profile p;

	make_phases(&p, false, 50);
	CHECK_NEAR(phase_of(&p, 0.1), 0.2, 1e-9);
	/* A run that does not say how long it was free of delay is left out on both sides: (3 /
	 * 150)(200 / 10). */
	p.runs[1].free_ns = 0;
	CHECK_NEAR(phase_of(&p, 0.2), 0.4, 1e-9);
	/* Coz's files never say it. */
	p.runs[0].free_ns = 0;
	CHECK_NEAR(phase_of(&p, 0.5), 1, 1e-9);
	profile_deinit(&p);
	make_phases(&p, true, 50);
	CHECK_NEAR(phase_of(&p, 0.5), 1, 1e-9);
	profile_deinit(&p);
	/* Too few samples to tell; and a share of the time is at most 1. */
	make_phases(&p, false, 3);
	CHECK_NEAR(phase_of(&p, 0.5), 1, 1e-9);
	profile_deinit(&p);
	make_phases(&p, false, 5);
	CHECK_NEAR(phase_of(&p, 0.5), 1, 1e-9);
	profile_deinit(&p);
}

/* The factor's own uncertainty is in the intervals: the same mean of samples, once even, once
 * scattered. */
TEST(phase_noise_widens_intervals)
{
	double width[2], factor[2];

	for (int scattered = 0; scattered < 2; scattered++) {
		struct profile p;
		struct estimate e;

		profile_init(&p);
		add_list(&p, "a.c:1", 0.5, 0.01, 6);
		for (int i = 0; i < 6; i++) {
			p.experiments[i].duration_ns = 100000000;
			p.experiments[i].selected_samples = scattered ? (i % 2 ? 10 : 90) : 50;
		}
		/* 50 samples in 0.1 s of a baseline, 250 in a second of the run. */
		p.runs[0].free_ns = 1000000000;
		add_samples(&p, "a.c:1", 250, 250);
		CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
		factor[scattered] = e.lines[0].phase_factor;
		width[scattered] = e.lines[0].slope_hi - e.lines[0].slope_lo;
		estimate_deinit(&e);
		profile_deinit(&p);
	}
	CHECK_NEAR(factor[0], 0.5, 1e-9);
	CHECK_NEAR(factor[1], 0.5, 1e-9);
	CHECK(width[1] > 3 * width[0]);
}

/* A user's line measures the whole program, a sampled line only its phases. The larger set is
 * taken, and the other is not mixed in. */
TEST(fixed_and_random_do_not_mix)
{
	struct profile p;
	struct estimate e;

	profile_init(&p);
	for (int i = 0; i < 5; i++) {
		add(&p, "a.c:1", 0, 1000, "work", 10);
		add(&p, "a.c:1", 0.5, 500, "work", 10);
	}
	for (int i = 0; i < 3; i++) {
		add(&p, "a.c:1", 0, 9000, "work", 10)->fixed = true;
		add(&p, "a.c:1", 0.5, 9000, "work", 10)->fixed = true;
	}
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	CHECK_EQ(e.n_lines, 1);
	CHECK_NEAR(e.lines[0].points[0].program_speedup, 0.5, 1e-9);
	CHECK_EQ(e.lines[0].experiments, 10);
	estimate_deinit(&e);
	profile_deinit(&p);
}

TEST(verdicts)
{
	static const struct {
		double slope, scatter;
		enum verdict verdict;
		enum shortage shortage;
	} cases[] = {
	    {0.5, 0.01, VERDICT_OPTIMIZE, SHORT_NONE},            /* */
	    {-0.5, 0.01, VERDICT_CONTENTION, SHORT_NONE},         /* */
	    {0, 0.01, VERDICT_NO_EFFECT, SHORT_NONE},             /* */
	    {0.005, 0.0001, VERDICT_NO_EFFECT, SHORT_NONE},       /* sure, but below 1 % */
	    {-0.005, 0.0001, VERDICT_NO_EFFECT, SHORT_NONE},      /* */
	    {0, 0.3, VERDICT_NOT_ENOUGH_DATA, SHORT_INTERVAL},    /* */
	    {0.05, 0.3, VERDICT_NOT_ENOUGH_DATA, SHORT_INTERVAL}, /* */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile p;
		struct estimate e;

		profile_init(&p);
		add_list(&p, "a.c:1", cases[i].slope, cases[i].scatter, 6);
		CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
		CHECK_EQ(e.lines[0].verdict, cases[i].verdict);
		CHECK_EQ(e.lines[0].shortage, cases[i].shortage);
		CHECK_NEAR(e.lines[0].slope, cases[i].slope, 1e-6);
		CHECK_EQ(e.n_dropped, 0);
		CHECK(e.lines[0].slope_lo <= e.lines[0].slope &&
		      e.lines[0].slope <= e.lines[0].slope_hi);
		estimate_deinit(&e);
		profile_deinit(&p);
	}
	CHECK_STR(verdict_name(VERDICT_OPTIMIZE), "optimize");
	CHECK_STR(verdict_name(VERDICT_NOT_ENOUGH_DATA), "not-enough-data");
}

/* What is sure for one line may not be sure for the luckiest of many. Evidence is divided by
 * samples, and per progress point. */
TEST(verdicts_hold_together)
{
	struct profile p;
	struct estimate e;
	char name[16];

	profile_init(&p);
	add_list(&p, "a.c:1", -0.08, 0.035, 6);
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	CHECK_EQ(e.lines[0].verdict, VERDICT_CONTENTION);
	CHECK(e.lines[0].chance > 0.001 && e.lines[0].chance < 0.05);
	estimate_deinit(&e);
	for (int i = 2; i <= 60; i++) {
		snprintf(name, sizeof(name), "a.c:%d", i);
		add_list(&p, name, 0, 0.01, 6);
	}
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	CHECK_EQ(find(&e, "a.c:1", "work")->verdict, VERDICT_NOT_ENOUGH_DATA);
	CHECK_EQ(find(&e, "a.c:1", "work")->shortage, SHORT_INTERVAL);
	CHECK(find(&e, "a.c:1", "work")->slope_hi < 0);
	CHECK_EQ(find(&e, "a.c:2", "work")->verdict, VERDICT_NO_EFFECT);
	CHECK_EQ(e.n_dropped, 0);
	estimate_deinit(&e);
	add_samples(&p, "a.c:1", 100000, 0);
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	CHECK_EQ(find(&e, "a.c:1", "work")->verdict, VERDICT_CONTENTION);
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* The profile's key tells the list, or more than three experiments a speedup show it; else five
 * speedups are required. */
TEST(speedups_needed)
{
	static const struct {
		uint32_t key;
		int per_cell, min;
		size_t need;
	} cases[] = {
	    {4, 1, 0, 4}, {0, 4, 0, 4}, {0, 3, 0, 5}, {9, 4, 0, 5}, {4, 4, 7, 7}, {0, 3, 2, 2}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct estimate_options o = {.seed = 1, .min_speedups = cases[i].min};
		struct profile p;
		struct estimate e;

		profile_init(&p);
		add_list(&p, "a.c:1", 0.5, 0.01, cases[i].per_cell);
		p.runs[0].fixed_speedups = cases[i].key;
		CHECK_EQ(estimate_profile(&p, &o, &e), 0);
		CHECK_EQ(e.need_speedups, cases[i].need);
		CHECK_EQ(e.lines[0].shortage == SHORT_SPEEDUPS, cases[i].need > 4);
		estimate_deinit(&e);
		profile_deinit(&p);
	}
}

/* A visit is a run. Two of them per speedup suffice for an answer, with wide intervals. */
TEST(end_to_end)
{
	struct profile p;
	struct estimate e;

	profile_init(&p);
	for (int i = 0; i < 2; i++) {
		for (int cell = 0; cell <= 4; cell++)
			add(&p, "a.c:1", cell / 4.0, (uint64_t)(1e9 * (1 - 0.1 * cell) + 1e6 * i),
			    "end-to-end", 1);
	}
	p.runs[0].fixed_speedups = 4;
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	CHECK_EQ(e.lines[0].n_points, 4);
	CHECK_EQ(e.lines[0].verdict, VERDICT_OPTIMIZE);
	CHECK_NEAR(e.lines[0].points[3].program_speedup, 0.4, 0.001);
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* A profile in which every experiment is alone in its cell still has intervals: cells lend each
 * other their scatter. */
TEST(lone_experiments_borrow)
{
	struct simulation s = {
	    .arrivals = POISSON, .visits = 100, .slope = 0.6, .saturation = 1, .rng = {1}};
	struct profile p;
	struct estimate e;

	profile_init(&p);
	for (int i = 0; i <= 20; i += 2)
		sim_experiment(&s, &p, "a.c:1", i / 20.0);
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	CHECK_EQ(e.lines[0].verdict, VERDICT_OPTIMIZE);
	CHECK(e.lines[0].slope_lo < 0.6 && e.lines[0].slope_hi > 0.6);
	estimate_deinit(&e);
	profile_deinit(&p);
	/* With three experiments nothing is known about scatter. */
	profile_init(&p);
	add(&p, "a.c:1", 0, 1000, "work", 10);
	add(&p, "a.c:1", 0.5, 1000, "work", 10);
	add(&p, "a.c:1", 1, 1000, "work", 10);
	p.runs[0].fixed_speedups = 2;
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	CHECK_EQ(e.lines[0].shortage, SHORT_EXPERIMENTS);
	CHECK(isnan(e.lines[0].slope_lo) && isnan(e.lines[0].points[0].ci_lo) &&
	      !isnan(e.lines[0].slope));
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* The surer line leads, though its slope is smaller. Losses come after gains, and lines without
 * enough data last. */
TEST(ranking_by_the_lower_end)
{
	struct profile p;
	struct estimate e;
	static const char *const order[] = {
	    "sure.c:1", "scattered.c:1", "harmful.c:1", "unknown.c:1", "few.c:1"};

	profile_init(&p);
	add_list(&p, "harmful.c:1", -0.4, 0.01, 6);
	add_list(&p, "scattered.c:1", 0.5, 0.15, 6);
	add_list(&p, "unknown.c:1", 0, 0.3, 6);
	add_list(&p, "sure.c:1", 0.45, 0.01, 6);
	add(&p, "few.c:1", 0, 1000, "work", 10);
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	CHECK_EQ(e.n_lines, 5);
	for (size_t i = 0; i < e.n_lines; i++)
		CHECK_STR(e.lines[i].line, order[i]);
	CHECK_EQ(e.n_dropped, 1);
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* One line gains early and then no more, the other only late: payback and impact rank them
 * differently. */
TEST(sort_keys)
{
	static const double early[] = {0, 0.2, 0.25, 0.25, 0.25}, late[] = {0, 0, 0.05, 0.2, 0.35};
	static const char *const first[] = {[SORT_SLOPE] = "early.c:1",
	    [SORT_MAX] = "late.c:1",
	    [SORT_PAYBACK] = "early.c:1",
	    [SORT_IMPACT] = "late.c:1"};
	struct profile p;

	profile_init(&p);
	for (int cell = 0; cell <= 4; cell++) {
		for (int i = 0; i < 6; i++) {
			add(&p, "early.c:1", cell / 4.0,
			    (uint64_t)(1e9 * (1 - early[cell]) * (1 + 0.01 * (i % 3 - 1))), "work",
			    100);
			add(&p, "late.c:1", cell / 4.0,
			    (uint64_t)(1e9 * (1 - late[cell]) * (1 + 0.01 * (i % 3 - 1))), "work",
			    100);
		}
	}
	for (int key = SORT_SLOPE; key <= SORT_IMPACT; key++) {
		struct estimate_options o = {.seed = 1, .sort = (enum sort_key)key};
		struct estimate e;

		CHECK_EQ(estimate_profile(&p, &o, &e), 0);
		CHECK_STR(e.lines[0].line, first[key]);
		/* The keys of all orders are there, whichever was asked for: the page sorts anew
		 * without a bootstrap. */
		CHECK_NEAR(e.lines[0].rank_key, e.lines[0].rank_keys[key], 0);
		for (int other = SORT_SLOPE; other <= SORT_IMPACT; other++)
			CHECK(find(&e, first[other], "work")->rank_keys[other] >=
			      e.lines[0].rank_keys[other]);
		CHECK(e.lines[0].rank_keys[SORT_PAYBACK] != e.lines[0].rank_keys[SORT_IMPACT]);
		CHECK_NEAR(find(&e, "early.c:1", "work")->max_speedup, 0.25, 1e-6);
		CHECK_NEAR(find(&e, "late.c:1", "work")->max_speedup, 0.35, 1e-6);
		estimate_deinit(&e);
	}
	profile_deinit(&p);
}

/* A line's figures follow from its own experiments and the seed, whatever else was measured. */
TEST(lines_do_not_disturb_each_other)
{
	struct profile p;
	struct estimate alone, together;

	profile_init(&p);
	add_list(&p, "a.c:1", 0.5, 0.05, 6);
	CHECK_EQ(estimate_profile(&p, &defaults, &alone), 0);
	add_list(&p, "0.c:1", 0.2, 0.05, 4);
	CHECK_EQ(estimate_profile(&p, &defaults, &together), 0);
	CHECK(find(&together, "a.c:1", "work")->slope_lo == alone.lines[0].slope_lo);
	CHECK(find(&together, "a.c:1", "work")->points[2].ci_hi == alone.lines[0].points[2].ci_hi);
	estimate_deinit(&alone);
	estimate_deinit(&together);
	profile_deinit(&p);
}

TEST(reasons_for_nothing)
{
	struct profile p;
	struct estimate e;
	struct error err;

	profile_init(&p);
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	CHECK_EQ(estimate_reason(&p, &e, &err), -1);
	CHECK_EQ(err.status, EXIT_NO_RESULT);
	CHECK_STR(err.cause, "the profile holds no experiment");
	estimate_deinit(&e);
	p.runs = calloc(4, sizeof(*p.runs));
	p.n_runs = 1;
	p.runs[0].samples = 500;
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	estimate_reason(&p, &e, &err);
	CHECK_STR(err.cause, "no experiment: none of the 500 samples fell in code in scope");
	estimate_deinit(&e);
	add(&p, "a.c:1", 0, 1000, "work", 0);
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	estimate_reason(&p, &e, &err);
	CHECK_STR(err.cause, "no progress point was visited in 1 experiments");
	estimate_deinit(&e);
	add(&p, "a.c:1", 0, 1000, "work", 10);
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	estimate_reason(&p, &e, &err);
	CHECK_STR(err.cause, "no line has enough data yet: 2 experiments on 1 line");
	estimate_deinit(&e);
	add_list(&p, "a.c:1", 0.5, 0.01, 6);
	CHECK_EQ(estimate_profile(&p, &defaults, &e), 0);
	CHECK_EQ(estimate_reason(&p, &e, &err), 0);
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* A timer feeds a thread that visits every 10 ms: @pace_us apart at least, and no gain is higher.
 * Where the program as it is visits more often, each expiry brings more than one visit. Samples
 * take @samples_pct of the thread's time, and nothing of the timer's. */
static void feed(unsigned pace_us, unsigned samples_pct, const double *expected)
{
	struct profile p;
	struct estimate e;
	const struct estimate_line *l;

	profile_init(&p);
	add_list(&p, "a.c:1", 0, 0.0001, 6);
	p.runs[0].period_ns = 1000000;
	p.runs[0].sample_ns = samples_pct * 10000ULL;
	for (size_t i = 0; i < p.n_experiments; i++) {
		struct experiment_record *x = &p.experiments[i];

		x->fixed = true;
		x->duration_ns = (uint64_t)(500e6 * (1 - 0.8 * x->speedup));
		x->points[0].delta = x->points[0].bursts = 50;
		x->points[0].pace_ns = pace_us * 1000ULL;
	}
	CHECK(!estimate_profile(&p, &defaults, &e));
	l = find(&e, "a.c:1", "work");
	CHECK_EQ(l->n_points, 4);
	for (size_t i = 0; i < l->n_points; i++)
		CHECK_NEAR(l->points[i].program_speedup, expected[i], 1e-6);
	estimate_deinit(&e);
	profile_deinit(&p);
}

TEST(a_timer_that_feeds_is_a_bound)
{
	feed(4800, 0, (const double[]){0.2, 0.4, 0.52, 0.52});
	feed(4800, 10, (const double[]){0.2, 0.4, 1 - 0.48 / 0.9, 1 - 0.48 / 0.9});
	feed(4800, 34, (const double[]){0.2, 0.4, 0.52, 0.52}); /* none that cozbpf measures */
	feed(9900, 10, (const double[]){0, 0, 0, 0});           /* only samples make it late */
	feed(10100, 10, (const double[]){0.2, 0.4, 0.6, 0.8});
	feed(0, 10, (const double[]){0.2, 0.4, 0.6, 0.8});
}

/* A timer makes visits each 10 ms. The first experiment does not know that yet and subtracts delays
 * from their time, so it tells nothing. */
TEST(paced_but_not_known_yet)
{
	struct profile p;
	struct estimate e;
	const struct estimate_line *l;

	profile_init(&p);
	add_list(&p, "a.c:1", 0, 0.0001, 6);
	for (size_t i = 0; i < p.n_experiments; i++) {
		struct experiment_record *x = &p.experiments[i];

		x->fixed = x->has_selected_ns = true;
		x->selected_ns = 1000000 + i * i % 7 * 100000;
		x->duration_ns = (uint64_t)(500e6 * (1 - 0.8 * x->speedup));
		x->points[0].delta = x->points[0].bursts = 50;
		x->points[0].paced_ns = 500000000 + i % 3;
	}
	p.experiments[p.n_experiments - 1].points[0].paced_ns = 0;
	CHECK(!estimate_profile(&p, &defaults, &e));
	l = find(&e, "a.c:1", "work");
	CHECK_EQ(l->n_points, 4);
	for (size_t i = 0; i < l->n_points; i++)
		CHECK_NEAR(l->points[i].program_speedup, 0, 1e-6);
	estimate_deinit(&e);
	profile_deinit(&p);
}
