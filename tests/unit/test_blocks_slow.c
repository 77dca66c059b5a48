// SPDX-License-Identifier: BSD-3-Clause
/* Slow runs: whether they are found, what differed in them, how often chance is named. */
#include "check.h"

#include "blocks_analysed.h"

/* @n runs with noise of 3 %; in those of @slow the block takes twice as long, they wait, and block
 * 1 is executed more often. Five more blocks and the other features are noise. */
static void make_runs(struct made *m, unsigned n, uint64_t slow, struct rng *rng)
{
	made_init(m, 7);
	for (unsigned i = 0; i < n; i++) {
		struct block_run run = made_plain_run(i);
		bool is_slow = slow >> i & 1;
		struct block_figures f[7];

		run.command = (char *)(is_slow ? "./job rare" : i % 3 ? "./job" : "./job rare");
		run.blocked_ns = (uint64_t)(1e8 * (1 + 0.1 * gauss(rng)) * (is_slow ? 5 : 1));
		run.switches = 1000 + rng_below(rng, 100);
		run.preemptions = rng_below(rng, 10);
		run.migrations = rng_below(rng, 10);
		run.minor_faults = 5000 + rng_below(rng, 200);
		run.major_faults = rng_below(rng, 20) == 0;
		for (unsigned j = 0; j < 7; j++) {
			f[j] = (struct block_figures){.block = j,
			    .frequency = 1000 * (1 + 0.03 * gauss(rng)),
			    .frequency_se = 30,
			    .share = 0.1};
			if (j == 1 && is_slow)
				f[j].frequency *= 2;
			made_time(
			    &f[j], 1e5 * (1 + 0.03 * gauss(rng)) * (is_slow && !j ? 2 : 1), 90);
			made_time(&f[j], 2e5, 10);
		}
		add(m, &run, f, 7);
	}
}

static bool differs(const struct block_slow *s, enum block_feature f)
{
	for (size_t i = 0; i < s->n_differences; i++)
		if (s->differences[i].feature == f)
			return true;
	return false;
}

TEST(slow_runs_are_found_with_what_differed)
{
	struct rng rng = {5};
	struct made m;

	make_runs(&m, 40, 1ULL << 7 | 1ULL << 21 | 1ULL << 30, &rng);
	analyse(&m, (struct block_analysis_options){.seed = 1});
	const struct block_slow *s = &result_of(&m, 0)->slow;

	CHECK_EQ(s->n, 3);
	for (size_t i = 0; i < s->n; i++)
		CHECK(s->runs[i] == 7 || s->runs[i] == 21 || s->runs[i] == 30);
	CHECK(!s->too_few);
	CHECK_EQ(s->n_differences, 2);
	CHECK(differs(s, FEATURE_BLOCKED) && differs(s, FEATURE_BLOCK));
	for (size_t i = 0; i < s->n_differences; i++) {
		const struct block_difference *d = &s->differences[i];

		CHECK(d->chance <= 0.05 && d->slow > 1.5 * d->usual && d->distance > 3);
		if (d->feature == FEATURE_BLOCK)
			CHECK_EQ(d->other->start, made_place(1).start);
	}
	/* 13 usual runs had the slow ones' command as well. */
	CHECK_EQ(m.a.n_commands, 2);
	CHECK_EQ(s->n_inputs, 1);
	CHECK_STR(s->inputs[0].command, "./job rare");
	CHECK_EQ(s->inputs[0].slow, 3);
	CHECK(s->inputs[0].runs > 10);
	made_deinit(&m);
}

/* One slow run of 40 stands out; of 12 it might by chance. */
TEST(one_slow_run_needs_many_others)
{
	struct rng rng = {6};
	struct made m;

	make_runs(&m, 40, 1ULL << 9, &rng);
	analyse(&m, (struct block_analysis_options){.seed = 1});
	CHECK_EQ(result_of(&m, 0)->slow.n, 1);
	CHECK(differs(&result_of(&m, 0)->slow, FEATURE_BLOCKED));
	made_deinit(&m);
	make_runs(&m, 12, 1ULL << 9, &rng);
	analyse(&m, (struct block_analysis_options){.seed = 1});
	CHECK_EQ(result_of(&m, 0)->slow.n, 1);
	CHECK(result_of(&m, 0)->slow.too_few);
	CHECK_EQ(result_of(&m, 0)->slow.n_differences, 0);
	made_deinit(&m);
}

/* Runs in which the block was not timed tell nothing of the others. */
TEST(runs_without_times_are_left_out)
{
	struct rng rng = {8};
	struct made m;

	made_init(&m, 1);
	for (unsigned i = 0; i < 20; i++) {
		struct block_run run = made_plain_run(i);
		struct block_figures f = {.frequency = 20, .share = 0.5};

		if (i % 5 < 2) {
			made_time(&f, 1e7 * (1 + 0.02 * gauss(&rng)), 3);
			made_time(&f, 4e7 * (1 + 0.02 * gauss(&rng)), 1);
		}
		add(&m, &run, &f, 1);
	}
	analyse(&m, (struct block_analysis_options){.seed = 1});
	CHECK(result_of(&m, 0)->is_reported);
	CHECK_EQ(result_of(&m, 0)->slow.n, 0);
	made_deinit(&m);
}

/* Up to nearly half of the runs may be slow. */
TEST(the_rule_breaks_down_at_one_half)
{
	struct rng rng = {7};
	struct made m;

	make_runs(&m, 21, 0x3ff, &rng);
	analyse(&m, (struct block_analysis_options){.seed = 1});
	CHECK(result_of(&m, 0)->slow.n <= 10);
	made_deinit(&m);
	make_runs(&m, 21, 0x7f, &rng);
	analyse(&m, (struct block_analysis_options){.seed = 1});
	CHECK_EQ(result_of(&m, 0)->slow.n, 7);
	made_deinit(&m);
}

/*
 * Where nothing is slow, and where what is slow differs by nothing. A set of normal figures has a
 * slow run by chance once in 20, and there are two figures, of which the longest time is the same
 * here. 200 sets have 10 +- 3 of them; 19 are three standard errors. Of 100 sets with slow runs 5
 * name a difference by chance, by the rule's own level, with a standard error of 2.2; 12 are
 * allowed.
 */
TEST(chance_is_named_seldom)
{
	struct rng rng = {8};
	int slow = 0, named = 0;

	for (int i = 0; i < 200; i++) {
		struct made m;

		make_runs(&m, 20, 0, &rng);
		analyse(&m, (struct block_analysis_options){.seed = (uint64_t)i});
		slow += result_of(&m, 0)->slow.n > 0;
		made_deinit(&m);
	}
	for (int i = 0; i < 100; i++) {
		struct made m;

		made_init(&m, 7);
		for (unsigned j = 0; j < 30; j++) {
			struct block_run run = made_plain_run(j);
			struct block_figures f[7];

			run.blocked_ns = (uint64_t)(1e8 * (1 + 0.1 * gauss(&rng)));
			run.switches = 1000 + rng_below(&rng, 100);
			run.minor_faults = 5000 + rng_below(&rng, 200);
			run.major_faults = 0;
			for (unsigned k = 0; k < 7; k++) {
				f[k] = steady(k, 1000, 1e5 * (j < 3 && !k ? 2 : 1), 2.5e5);
				f[k].frequency = 1000 * (1 + 0.02 * gauss(&rng));
			}
			add(&m, &run, f, 7);
		}
		analyse(&m, (struct block_analysis_options){.seed = (uint64_t)i});
		CHECK_EQ(result_of(&m, 0)->slow.n, 3);
		named += result_of(&m, 0)->slow.n_differences > 0;
		made_deinit(&m);
	}
	printf("     slow by chance: %d of 200; a difference by chance: %d of 100\n", slow, named);
	CHECK(slow <= 19);
	CHECK(named <= 12);
}

/* The same seed gives the same figures; of ten others some differ. */
TEST(seeds_repeat)
{
	struct block_interval of[12];
	int others = 0;

	for (int i = 0; i < 12; i++) {
		struct rng rng = {9};
		struct made m;

		make_runs(&m, 30, 0, &rng);
		analyse(&m, (struct block_analysis_options){.seed = i ? (uint64_t)i : 1});
		of[i] = result_of(&m, 0)->significance;
		others += of[i].lo != of[0].lo || of[i].hi != of[0].hi;
		made_deinit(&m);
	}
	CHECK(of[0].lo == of[1].lo && of[0].hi == of[1].hi);
	CHECK(others > 0);
}
