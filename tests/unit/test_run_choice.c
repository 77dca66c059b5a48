// SPDX-License-Identifier: BSD-3-Clause
/* Runs as experiments: which lines get them, how many of each sort there are, and how many runs are
 * advised. What that is worth is in test_whole_runs.c. */
#include "check.h"

#include "core/experiment/run_choice.h"

#define LINES 40
#define S 1000000000ULL

struct plan {
	struct cozbpf_line_count counts[LINES + 1];
	struct run_samples samples;
	struct schedule schedule;
	struct run_choice choice;
	/* by line, of all runs made */
	unsigned baselines[LINES + 1], speedups[LINES + 1], pct[101];
};

/* A command of a second, whose lines 1 to @n have so many samples of a millisecond. */
static void plan_init(struct plan *p, const uint64_t *counts, size_t n, uint64_t runs)
{
	static const unsigned list[N_RUN_SPEEDUPS] = RUN_SPEEDUPS;
	struct rng rng = {7};

	memset(p, 0, sizeof(*p));
	for (size_t i = 0; i < n; i++)
		p->counts[i + 1].all = counts[i];
	p->samples = (struct run_samples){p->counts, LINES + 1, 1000000, S};
	p->choice.planned = runs;
	CHECK(!schedule_init(&p->schedule, &rng, list, N_RUN_SPEEDUPS));
}

static void make_runs(struct plan *p, unsigned n, uint32_t fixed)
{
	while (n--) {
		unsigned pct;
		uint32_t line = run_choice_next(
		    &p->choice, &p->schedule, &p->samples, &fixed, fixed != 0, &pct);

		CHECK(line && line <= LINES && pct <= 100);
		run_choice_count(&p->choice, line, pct);
		p->pct[pct]++;
		if (pct)
			p->speedups[line]++;
		else
			p->baselines[line]++;
	}
}

static void plan_deinit(struct plan *p)
{
	schedule_deinit(&p->schedule);
}

TEST(hottest_lines_first)
{
	static struct plan p;
	uint64_t counts[LINES];
	struct run_line lines[RUN_LINES];

	for (uint64_t i = 0; i < LINES; i++)
		counts[i] = 100 + (i * 7) % LINES;
	plan_init(&p, counts, LINES, 20);
	CHECK_EQ(run_choice_rank(&p.samples, lines), RUN_LINES);
	for (size_t i = 0; i < RUN_LINES; i++) {
		CHECK_EQ(lines[i].samples, 100 + LINES - 1 - i);
		CHECK_EQ(p.counts[lines[i].line].all, lines[i].samples);
		CHECK_NEAR(lines[i].most, (double)lines[i].samples / 1000, 1e-9);
	}
	plan_deinit(&p);
	/* A tenth of the hottest line's samples is enough, and no line gains more than all. */
	plan_init(&p, (uint64_t[]){99, 1600, 160, 159}, 4, 20);
	CHECK_EQ(run_choice_rank(&p.samples, lines), 2);
	CHECK_EQ(lines[0].line, 2);
	CHECK_NEAR(lines[0].most, 1, 1e-9);
	CHECK_EQ(lines[1].line, 3);
	p.samples.ran_ns = 0; /* an odd clock */
	CHECK_EQ(run_choice_rank(&p.samples, lines), 2);
	CHECK_NEAR(lines[1].most, 1, 1e-9);
	plan_deinit(&p);
	plan_init(&p, NULL, 0, 20);
	CHECK_EQ(run_choice_rank(&p.samples, lines), 0);
	plan_deinit(&p);
}

/* The numbers are those of the plan, whatever the seed; baselines are named in turns. */
TEST(as_many_runs_as_planned)
{
	static struct plan p;
	unsigned pct;

	plan_init(&p, (uint64_t[]){1000, 600}, 2, 20);
	make_runs(&p, 19, 0);
	CHECK_EQ(p.choice.baselines, p.baselines[1] + p.baselines[2]);
	CHECK_NEAR((double)p.choice.baselines, 19 / (1 + 1.414), 1.01);
	CHECK_NEAR((double)p.speedups[1], p.speedups[2], 1.01);
	CHECK_NEAR((double)p.baselines[1], p.baselines[2], 1.01);
	CHECK_NEAR((double)p.pct[50], p.pct[90], 2);
	CHECK_EQ(p.pct[0] + p.pct[50] + p.pct[90], 19);
	/* Runs beyond the plan, as after spoilt ones. */
	make_runs(&p, 30, 0);
	plan_deinit(&p);
	/* before there are samples */
	plan_init(&p, NULL, 0, 20);
	CHECK_EQ(run_choice_next(&p.choice, &p.schedule, &p.samples, NULL, 0, &pct), 0);
	CHECK_EQ(pct, 0);
	/* the user's line needs none */
	make_runs(&p, 20, 3);
	CHECK_NEAR((double)p.baselines[3], 10, 1);
	CHECK_NEAR((double)p.speedups[3], 10, 1);
	plan_deinit(&p);
}

/* Few runs are for few lines, and small lines need many. */
TEST(lines_that_the_runs_suffice_for)
{
	static const struct {
		uint64_t counts[4], runs;
		unsigned lines;
	} cases[] = {{{1000, 600, 0, 0}, 20, 2}, {{1000, 600, 0, 0}, 10, 1},
	    {{500, 400, 300, 0}, 20, 3}, {{500, 400, 300, 0}, 12, 1}, {{250, 250, 250, 250}, 20, 3},
	    {{250, 250, 250, 250}, 40, 4}, {{100, 100, 100, 100}, 20, 1},
	    {{100, 100, 100, 100}, 200, 4}, {{1000, 99, 99, 99}, 100000, 1}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static struct plan p;
		unsigned lines = 0;

		plan_init(&p, cases[i].counts, 4, cases[i].runs);
		make_runs(&p, 200, 0);
		for (size_t line = 1; line <= 4; line++)
			lines += p.speedups[line] > 0;
		CHECK_EQ(lines, cases[i].lines);
		plan_deinit(&p);
	}
}

/* Lines come and go: what is known of them has bounds. */
TEST(hot_lines_change)
{
	static struct plan p;

	plan_init(&p, (uint64_t[]){100}, 1, 100000);
	for (uint32_t i = 2; i <= LINES; i++) {
		make_runs(&p, 20, 0);
		p.counts[i].all = p.counts[i - 1].all * 20;
	}
	CHECK_EQ(p.choice.n_lines, RUN_LINES);
	plan_deinit(&p);
}

/* A list of the user's without a speedup: baselines alone. */
TEST(no_speedups)
{
	static struct plan p;
	struct rng rng = {7};

	plan_init(&p, (uint64_t[]){1000, 600}, 2, 20);
	schedule_deinit(&p.schedule);
	CHECK(!schedule_init(&p.schedule, &rng, (unsigned[]){0}, 1));
	make_runs(&p, 19, 0);
	CHECK_EQ(p.pct[0], 19);
	plan_deinit(&p);
}

static struct run_advice advise(const uint64_t *counts, size_t n, uint64_t ran_ns, size_t runs)
{
	static struct plan p;
	struct run_advice ret;

	plan_init(&p, counts, n, 1);
	p.samples.ran_ns = ran_ns;
	ret = run_choice_advise(&p.samples, runs);
	plan_deinit(&p);
	return ret;
}

TEST(advice)
{
	struct run_advice a = advise((uint64_t[]){1000, 600}, 2, S, 1);

	/* Two lines that may gain all: 20 runs do. Two of 3.4 of these last 1.7 s. */
	CHECK_EQ(a.runs, 20);
	CHECK_NEAR((double)a.ns / 1e9, 20 * (1 + 0.7 * 2 / 3.414), 0.1);
	a = advise((uint64_t[]){2000, 1200}, 2, 2 * S, 2); /* of two runs */
	CHECK_EQ(a.runs, 20);
	CHECK_NEAR((double)a.ns / 1e9, 20 * (1 + 0.7 * 2 / 3.414), 0.1);
	/* Four lines of a quarter: six times the four runs that each needs, and the first one. */
	a = advise((uint64_t[]){250, 250, 250, 250}, 4, S, 1);
	CHECK_EQ(a.runs, 25);
	/* Small ones: 5 minutes are asked for, not more. */
	a = advise((uint64_t[]){50, 50, 50, 50, 50, 50}, 6, S, 1);
	CHECK(a.runs >= 280 && a.runs < 300 && a.runs % 5 == 0 && a.ns <= 300 * S);
	/* Long runs: as many as it takes, however long that is. */
	a = advise((uint64_t[]){60000}, 1, 60 * S, 1);
	CHECK_EQ(a.runs, 20);
	CHECK_NEAR((double)a.ns / 1e9, 20 * 60 * 1.35, 1);
	/* Nothing is known, or no time passed. */
	CHECK_EQ(advise(NULL, 0, S, 1).runs, 20);
	CHECK_EQ(advise((uint64_t[]){1, 1, 1, 1}, 4, 100 * S, 1).runs, 20);
	CHECK_EQ(advise((uint64_t[]){10}, 1, S, 1).runs, 295);
	CHECK_EQ(advise((uint64_t[]){1}, 1, S / 10, 1).runs, 1000);
	CHECK_EQ(advise(NULL, 0, 0, 0).runs, 20);
}
