/* SPDX-License-Identifier: BSD-3-Clause */
/* Which units experiments are on, in whole sessions against a simulated clock: functions and their
 * lines, lines that are wanted more than others, baselines. */
#include "check.h"
#include "session_fixture.h"

#include <math.h>

/* Lines 2 to 4 are function 1's, and line 6 is function 5's; line 7 is in none. */
static const struct source_line held[LINES] = {[1] = {.n_lines = 3},
    [2] = {.line = 2, .function = 1},
    [3] = {.line = 3, .function = 1},
    [4] = {.line = 4, .function = 1},
    [5] = {.n_lines = 1},
    [6] = {.line = 6, .function = 5},
    [7] = {.line = 7}};

static void begin_held(struct session *s)
{
	struct experiment_options o = {.length_ns = 100 * MS};

	session_init(s, &o);
	s->in.units = held;
	s->p.share[2] = s->p.share[3] = s->p.share[4] = 0.2;
	s->p.share[6] = s->p.share[7] = 0.2;
	session_begin(s);
}

/* How many of the experiments are on @line. */
static double share_of(const struct session *s, uint32_t line)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_records; i++)
		n += s->record_lines[i] == line;
	return (double)n / (double)s->n_records;
}

/* A function is one question first; one that is a single line is asked as that line. */
TEST(functions_first)
{
	static struct session s;

	begin_held(&s);
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	CHECK_EQ(s.x.opening.n_lines, 1 + held[s.x.opening.line].n_lines);
	session_run(&s, 120 * S);
	CHECK(s.n_records > 500);
	CHECK_NEAR(share_of(&s, 1), 0.6, 0.09);
	CHECK_NEAR(share_of(&s, 6), 0.2, 0.08);
	CHECK_NEAR(share_of(&s, 7), 0.2, 0.08);
	CHECK_EQ(share_of(&s, 2) + share_of(&s, 3) + share_of(&s, 4) + share_of(&s, 5), 0);
	session_deinit(&s);
}

TEST(then_the_lines_of_those_that_matter)
{
	static struct session s;
	struct wanted *wanted = calloc(1, sizeof(*wanted));

	begin_held(&s);
	wanted[0] = (struct wanted){.line = 1, .share = 1, .refine = true};
	experiment_want(&s.x, wanted, 1);
	session_run(&s, 120 * S);
	/* a quarter of the 60 % */
	CHECK_NEAR(share_of(&s, 1), 0.15, 0.07);
	for (uint32_t line = 2; line <= 4; line++)
		CHECK_NEAR(share_of(&s, line), 0.15, 0.07);
	session_deinit(&s);
}

/* A function that does not matter is done with, and its lines have no experiments at all. */
TEST(lines_of_others_are_left_alone)
{
	static struct session s;
	struct wanted *wanted = calloc(1, sizeof(*wanted));

	begin_held(&s);
	wanted[0] = (struct wanted){.line = 1, .share = 0.1};
	experiment_want(&s.x, wanted, 1);
	session_run(&s, 120 * S);
	CHECK_NEAR(share_of(&s, 1), 0.06 / 0.46, 0.07);
	CHECK_EQ(share_of(&s, 2) + share_of(&s, 3) + share_of(&s, 4), 0);
	session_deinit(&s);
}

TEST(a_hot_line_stands_for_its_function)
{
	static struct session s;

	begin_held(&s);
	s.p.share[2] = 0.5;
	s.p.share[3] = s.p.share[4] = 0.05;
	session_run(&s, 60 * S);
	CHECK_EQ(share_of(&s, 1), 0);
	CHECK_NEAR(share_of(&s, 2), 0.5, 0.1);
	session_deinit(&s);
}

/* Functions that count with what they call: all stacks have function 2, half of them 1 as well. */
TEST(what_is_on_all_stacks_is_no_question)
{
	static const struct source_line own[LINES],
	    callers[LINES] = {[1] = {.inclusive = true}, [2] = {.inclusive = true}};
	const struct source_line *const units[] = {own, callers};
	static struct session s;

	for (size_t i = 0; i < 2; i++) {
		struct experiment_options o = {.length_ns = 100 * MS};

		session_init(&s, &o);
		s.in.units = units[i];
		s.p.share[1] = 0.5;
		s.p.share[2] = 1;
		session_begin(&s);
		session_run(&s, 60 * S);
		CHECK(s.n_records > 200);
		CHECK_NEAR(share_of(&s, 2), i ? 0 : 0.5, i ? 0 : 0.1);
		session_deinit(&s);
	}
}

/* Two lines that were named are three units. In each three experiments each has one, in six orders,
 * and each has as many baselines as speedups. */
TEST(couples_take_turns)
{
	static const struct source_line units[LINES] = {
	    [1] = {.n_lines = 2}, [3] = {.line = 3}, [5] = {.line = 5}, [6] = {.is_couple = true}};
	struct experiment_options o = {
	    .length_ns = 50 * MS, .fixed_line = 1, .fixed_other = 5, .couple = 6};
	static struct session s;
	unsigned orders[6] = {0}, baselines[LINES] = {0}, n[LINES] = {0};

	session_init(&s, &o);
	s.in.units = units;
	s.p.share[1] = s.p.share[5] = 0.5;
	session_begin(&s);
	for (unsigned i = 0; i < 3; i++) {
		const struct opening *at = &s.x.opening;

		CHECK(session_until(&s, EXPERIMENT_OPEN));
		CHECK_EQ(at->line, at->unit == 5 ? 5 : 1);
		CHECK_EQ(at->n_lines, at->unit == 5 ? 1 : 3);
		CHECK_EQ(at->n_others, at->unit == 6);
		CHECK_EQ(at->other, at->unit == 6 ? 5 : 0);
	}
	session_run(&s, 120 * S);
	CHECK(s.n_records > 600);
	for (size_t i = 0; i + 3 <= s.n_records; i += 3) {
		const uint32_t *at = &s.record_lines[i];

		CHECK_EQ(at[0] + at[1] + at[2], 1 + 5 + 6);
		CHECK(at[0] != at[1] && at[1] != at[2]);
		orders[at[0] == 1   ? at[1] == 5
		       : at[0] == 5 ? 2 + (at[1] == 6)
				    : 4 + (at[1] == 1)]++;
	}
	for (size_t i = 0; i < s.n_records; i++) {
		n[s.record_lines[i]]++;
		baselines[s.record_lines[i]] += s.records[i].speedup < 0.001;
		CHECK(s.records[i].fixed);
	}
	/* 200 rounds or more: 33 of each order, with a standard deviation of 5.3 */
	for (size_t i = 0; i < 6; i++)
		CHECK(orders[i] > s.n_records / 3 / 6 / 2);
	for (uint32_t i = 1; i < LINES; i++)
		CHECK(2 * baselines[i] + 1 >= n[i] && 2 * baselines[i] <= n[i] + 1);
	session_deinit(&s);
}

TEST(lines_that_are_not_wanted_are_refused)
{
	static struct session s;
	size_t hot = 0;

	begin(&s, (struct experiment_options){.length_ns = 100 * MS});
	want(&s, HOT, 0, 0);
	session_run(&s, 60 * S);
	for (size_t i = 0; i < s.n_records; i++)
		hot += s.record_lines[i] == HOT;
	CHECK(s.n_records > 200);
	CHECK_EQ(hot, 0);
	/* One in ten of them is taken: 0.06 beside 0.4. */
	want(&s, HOT, 0.1, 0);
	session_forget_records(&s);
	session_run(&s, 120 * S);
	for (size_t i = 0; i < s.n_records; i++)
		hot += s.record_lines[i] == HOT;
	CHECK_NEAR((double)hot / (double)s.n_records, 0.06 / 0.46, 0.05);
	/* A program of that line alone has experiments, some 30 samples later. */
	s.p.share[HOT] = 1;
	want(&s, HOT, 0, 0);
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	CHECK_EQ(s.x.opening.line, HOT);
	CHECK_NEAR((s.at[EXPERIMENT_OPEN] - s.at[EXPERIMENT_COOLED]) / MS, 31 * 2, 2);
	session_deinit(&s);
}

TEST(more_lines_share_baselines)
{
	static const size_t others[] = {0, 3, 8, 15, 40};
	static struct session s;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		size_t lines = others[i] + 1, baselines = 0;

		begin(&s, (struct experiment_options){.length_ns = 100 * MS});
		want(&s, LINES, 1, others[i]);
		session_run(&s, 120 * S);
		for (size_t j = 0; j < s.n_records; j++)
			baselines += s.records[j].speedup == 0;
		lines = lines < 16 ? lines : 16;
		CHECK_NEAR(
		    (double)baselines / (double)s.n_records, 1 / (1 + sqrt((double)lines)), 0.03);
		session_deinit(&s);
	}
}
