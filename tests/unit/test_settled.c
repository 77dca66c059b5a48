// SPDX-License-Identifier: BSD-3-Clause
/* When a run may stop, and where its next experiments are wanted. */
#include "check.h"

#include <math.h>
#include <time.h>

#include "core/estimate/estimate.h"

static double wanted(const struct estimate *e, size_t line)
{
	double ret[8];

	CHECK_EQ(estimate_wanted(e, ret), 0);
	return ret[line];
}

/* Experiments go where data is missing, then where intervals of possible leaders are wide, and
 * least to lines that cannot lead. */
TEST(wanted_by_line)
{
	struct estimate_line lines[] = {
	    {.line = "a.c:1",
		.progress = "work",
		.slope_lo = 0.40,
		.slope_hi = 0.44,
		.verdict = VERDICT_OPTIMIZE,
		.samples = 500},
	    {.line = "a.c:2",
		.progress = "work",
		.slope_lo = 0.34,
		.slope_hi = 0.42,
		.verdict = VERDICT_OPTIMIZE,
		.samples = 300},
	    {.line = "a.c:3",
		.progress = "work",
		.slope_lo = 0.10,
		.slope_hi = 0.39,
		.verdict = VERDICT_OPTIMIZE,
		.samples = 100},
	    {.line = "a.c:4",
		.progress = "work",
		.slope_lo = NAN,
		.slope_hi = NAN,
		.verdict = VERDICT_NOT_ENOUGH_DATA,
		.samples = 49},
	};
	struct estimate e = {.lines = lines, .n_lines = 4, .samples = 1000};

	CHECK_NEAR(wanted(&e, 0), 0.25, 1e-9);
	CHECK_NEAR(wanted(&e, 1), 1, 1e-9);
	CHECK_NEAR(wanted(&e, 2), WANTED_MIN, 1e-9);
	CHECK_NEAR(wanted(&e, 3), 1, 1e-9);
	lines[3].samples = 50; /* a large line lacks data, so the others wait */
	CHECK_NEAR(wanted(&e, 0), WANTED_MIN, 1e-9);
	CHECK_NEAR(wanted(&e, 1), WANTED_MIN, 1e-9);
	CHECK_NEAR(wanted(&e, 3), 1, 1e-9);
	e.lines[2] = (struct estimate_line){
	    .line = "a.c:5", .progress = "work", .verdict = VERDICT_NOT_ENOUGH_DATA, .samples = 10};
	/* a small line that lacks data waits for the large one */
	CHECK_NEAR(wanted(&e, 2), WANTED_MIN, 1e-9);
	lines[3].samples = 49;
	lines[0].slope_lo = lines[0].slope_hi = 0.4;
	lines[1].slope_lo = lines[1].slope_hi = 0.4;
	CHECK_NEAR(wanted(&e, 0), 1, 1e-9); /* there is no width to use */
}

/* --until: a leader known well enough, rivals that could overtake it, lines without data, by
 * progress point. */
TEST(settled)
{
	struct estimate_line lines[] = {
	    {.line = "a.c:1",
		.progress = "work",
		.slope_lo = 0.40,
		.slope_hi = 0.44,
		.verdict = VERDICT_OPTIMIZE,
		.samples = 500},
	    {.line = "a.c:2",
		.progress = "work",
		.slope_lo = 0.10,
		.slope_hi = 0.39,
		.verdict = VERDICT_OPTIMIZE,
		.samples = 400},
	    {.line = "a.c:3",
		.progress = "work",
		.slope_lo = NAN,
		.slope_hi = NAN,
		.verdict = VERDICT_NOT_ENOUGH_DATA,
		.samples = 49},
	    {.line = "a.c:1",
		.progress = "rare",
		.slope_lo = -0.01,
		.slope_hi = 0.01,
		.verdict = VERDICT_NO_EFFECT,
		.samples = 500},
	};
	struct estimate e = {.lines = lines, .n_lines = 4, .samples = 1000};

	/* the second is wide but cannot lead; the third hardly runs */
	CHECK(estimate_settled(&e, 0.03));
	CHECK(!estimate_settled(&e, 0.015));
	lines[1].slope_hi = 0.41;
	CHECK(!estimate_settled(&e, 0.03));
	lines[1].slope_lo = 0.37;
	CHECK(estimate_settled(&e, 0.03));
	lines[2].samples = 50;
	CHECK(!estimate_settled(&e, 0.03));
	lines[2] = (struct estimate_line){.line = "a.c:3",
	    .progress = "work",
	    .slope_lo = 0.01,
	    .slope_hi = 0.06,
	    .verdict = VERDICT_NOT_ENOUGH_DATA,
	    .shortage = SHORT_INTERVAL,
	    .samples = 50};
	CHECK(estimate_settled(&e, 0.03)); /* no verdict yet, but as narrow as required */
	CHECK(!estimate_settled(&e, 0.022));
	lines[2].samples = 49;
	lines[3].verdict = VERDICT_NOT_ENOUGH_DATA;
	lines[3].samples = 10;
	CHECK(!estimate_settled(&e, 0.03)); /* a progress point with nothing known */
	e.n_lines = 0;
	CHECK(!estimate_settled(&e, 0.03));
}

/* Lines wait until their function is known to matter; of one that does not, nothing is asked. */
TEST(lines_of_functions)
{
	struct estimate_line lines[] = {
	    {.line = "m:f",
		.progress = "work",
		.is_function = true,
		.slope_lo = 0.40,
		.slope_hi = 0.44,
		.verdict = VERDICT_OPTIMIZE,
		.samples = 500},
	    {.line = "a.c:1",
		.function = "m:f",
		.progress = "work",
		.slope_lo = NAN,
		.slope_hi = NAN,
		.verdict = VERDICT_NOT_ENOUGH_DATA,
		.samples = 400},
	};
	struct estimate e = {.lines = lines, .n_lines = 2, .samples = 1000};

	lines[1].holder = &lines[0];
	CHECK(!estimate_settled(&e, 0.03));
	CHECK_NEAR(wanted(&e, 0), WANTED_MIN, 1e-9); /* beside a large line that lacks data */
	CHECK(estimate_is_below(&lines[1]) && !estimate_is_done_with(&lines[1]));
	CHECK_NEAR(estimate_decided_share(&e, &lines[0]), 0.5, 1e-9);
	lines[0].verdict = VERDICT_NO_EFFECT;
	CHECK(estimate_settled(&e, 0.03));
	CHECK_NEAR(wanted(&e, 0), 1, 1e-9);
	CHECK(estimate_is_done_with(&lines[1]));
	lines[0].verdict = VERDICT_NOT_ENOUGH_DATA;
	lines[0].samples = 40;
	CHECK(!estimate_is_below(&lines[1]));
	CHECK_NEAR(estimate_decided_share(&e, &lines[0]), 0, 1e-9);
	CHECK_NEAR(wanted(&e, 0), 1, 1e-9); /* the line is not asked about yet */
	/* A line with a verdict of its own, whose function has none. */
	lines[1].verdict = VERDICT_OPTIMIZE;
	CHECK_NEAR(estimate_decided_share(&e, &lines[0]), 0.4, 1e-9);
	/* With both it counts once. */
	lines[0].verdict = VERDICT_OPTIMIZE;
	lines[0].samples = 500;
	CHECK_NEAR(estimate_decided_share(&e, &lines[0]), 0.5, 1e-9);
}

/* Lines times progress points make many, but computing what is wanted stays fast. With a look at
 * all lines for each it took a second for 1000 of them. */
TEST(many_lines)
{
	enum { N = 100000 };
	static char names[N][16];
	struct estimate_line *lines = calloc(N, sizeof(*lines));
	double *ret = calloc(N, sizeof(*ret));
	struct estimate e = {.lines = lines, .n_lines = N, .samples = N};
	clock_t begun = clock();

	for (size_t i = 0; i < N; i++) {
		snprintf(names[i], sizeof(names[i]), "p%zu", i);
		lines[i] = (struct estimate_line){.line = "a.c:1",
		    .progress = names[i / 2],
		    .slope_lo = 0.1,
		    .slope_hi = 0.2,
		    .verdict = VERDICT_OPTIMIZE};
	}
	lines[0].slope_lo = 0.15;
	lines[1].slope_hi = 0.14;
	CHECK_EQ(estimate_wanted(&e, ret), 0);
	CHECK_NEAR(ret[0], 0.25, 1e-9);
	CHECK_NEAR(ret[1], WANTED_MIN, 1e-9);
	CHECK_NEAR(ret[N - 1], 1, 1e-9);
	CHECK(estimate_settled(&e, 0.06));
	CHECK(!estimate_settled(&e, 0.04));
	CHECK(clock() - begun < 5 * CLOCKS_PER_SEC);
	free(lines);
	free(ret);
}

TEST(an_estimate_outlives_its_profile)
{
	char *line = strdup("a.c:1"), *work = strdup("work"), *request = strdup("request");
	struct estimate e = {.n_lines = 2, .n_latencies = 1};

	e.lines = calloc(2, sizeof(*e.lines));
	e.latencies = calloc(1, sizeof(*e.latencies));
	e.lines[0] = (struct estimate_line){.line = line, .progress = work};
	e.lines[1] = (struct estimate_line){.line = line, .progress = request};
	e.latencies[0].name = request;
	CHECK_EQ(estimate_own_names(&e), 0);
	free(line);
	free(work);
	free(request);
	CHECK_STR(e.lines[0].line, "a.c:1");
	CHECK_STR(e.lines[0].progress, "work");
	CHECK_STR(e.lines[1].line, "a.c:1");
	CHECK_STR(e.lines[1].progress, "request");
	CHECK_STR(e.latencies[0].name, "request");
	estimate_deinit(&e);
}
