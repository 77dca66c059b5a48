// SPDX-License-Identifier: BSD-3-Clause
/* Two progress points that contradict each other, and those that only differ. */
#include "check.h"

#include <errno.h>
#include <math.h>

#include "core/estimate/contradiction.h"

static struct estimate_line lines[64];
static struct estimate e = {.lines = lines};

static struct estimate_line *add(
    const char *line, const char *progress, double slope, double half, enum verdict verdict)
{
	struct estimate_line *l = &lines[e.n_lines++];

	*l = (struct estimate_line){.line = line,
	    .progress = progress,
	    .slope = slope,
	    .slope_lo = slope - half,
	    .slope_hi = slope + half,
	    .df = 50,
	    .verdict = verdict,
	    .samples = 100};
	return l;
}

static const struct estimate_line *found(void)
{
	struct contradiction c;

	CHECK_EQ(estimate_contradiction(&e, &c), 0);
	CHECK(!c.worth == !c.not_worth);
	return c.worth;
}

TEST(none)
{
	e.n_lines = 0;
	CHECK(!found());
	add("a.c:1", "write", 0.4, 0.05, VERDICT_OPTIMIZE);
	CHECK(!found());
	/* another line at another point says nothing of this one */
	add("a.c:2", "read", 0, 0.02, VERDICT_NO_EFFECT);
	CHECK(!found());
}

TEST(opposite_verdicts)
{
	struct contradiction c;

	e.n_lines = 0;
	add("a.c:1", "write", 0.4, 0.05, VERDICT_OPTIMIZE);
	add("a.c:2", "write", 0.1, 0.05, VERDICT_OPTIMIZE);
	add("a.c:1", "read", -0.1, 0.05, VERDICT_CONTENTION);
	add("a.c:2", "read", 0.1, 0.05, VERDICT_OPTIMIZE);
	CHECK_EQ(estimate_contradiction(&e, &c), 0);
	CHECK(c.worth == &lines[0] && c.not_worth == &lines[2]);
	/* the larger one of two, whichever point has it */
	lines[3] = lines[2];
	lines[3].line = "a.c:2";
	lines[3].slope = lines[3].slope_lo = -0.9;
	lines[3].slope_hi = -0.8;
	CHECK(found() == &lines[1]);
}

/* Both are worth it, by more and by less: units of work may differ. */
TEST(a_difference_is_none)
{
	e.n_lines = 0;
	add("a.c:1", "write", 0.8, 0.05, VERDICT_OPTIMIZE);
	add("a.c:1", "read", 0.2, 0.05, VERDICT_OPTIMIZE);
	CHECK(!found());
	lines[1].verdict = VERDICT_NOT_ENOUGH_DATA;
	CHECK(!found());
}

/* Intervals of 95 % that just miss each other are met among many lines. */
TEST(not_by_chance)
{
	static char names[24][16];

	e.n_lines = 0;
	add("a.c:1", "write", 0.10, 0.06, VERDICT_OPTIMIZE);
	add("a.c:1", "read", 0, 0.035, VERDICT_NO_EFFECT);
	CHECK(found() == &lines[0]);
	for (int i = 0; i < 24; i++) {
		snprintf(names[i], sizeof(names[i]), "b.c:%d", i);
		add(names[i], "write", 0, 0.04, VERDICT_NO_EFFECT);
		add(names[i], "read", 0, 0.04, VERDICT_NO_EFFECT);
	}
	CHECK(!found());
	/* a line with most of the samples needs less */
	lines[0].samples = lines[1].samples = 100000;
	CHECK(found() == &lines[0]);
	lines[0].df = 1; /* hardly any experiments */
	CHECK(!found());
}

TEST(latencies_are_left_out)
{
	e.n_lines = 0;
	add("a.c:1", "write", 0.4, 0.05, VERDICT_OPTIMIZE);
	add("a.c:1", "request", 0, 0.02, VERDICT_NO_EFFECT)->is_latency = true;
	CHECK(!found());
	lines[1].is_latency = false;
	CHECK(found() == &lines[0]);
}
