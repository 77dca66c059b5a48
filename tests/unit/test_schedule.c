/* SPDX-License-Identifier: BSD-3-Clause */
/* The decks of speedups: halves, passes, pairs, determinism per seed and line, users' lists.
 * Nothing here is left to chance. */
#include <errno.h>

#include "check.h"
#include "core/experiment/schedule.h"

TEST(pairs_and_passes)
{
	struct schedule s;
	struct rng seed = {7};
	unsigned zero_first = 0;

	CHECK_EQ(schedule_init(&s, &seed, NULL, 0), 0);
	for (unsigned pass = 0; pass < 50; pass++) {
		unsigned count[101] = {0};

		for (unsigned pair = 0; pair < 20; pair++) {
			unsigned a = schedule_next(&s, 3, true), b = schedule_next(&s, 3, true);

			CHECK((a == 0) != (b == 0));
			CHECK(a <= 100 && b <= 100);
			zero_first += a == 0;
			count[a + b]++;
		}
		for (unsigned pct = 5; pct <= 100; pct += 5)
			CHECK_EQ(count[pct], 1);
	}
	/* 1000 fair coins: 500 +- 4 * 15.8 */
	CHECK_NEAR(zero_first, 500, 64);
	schedule_deinit(&s);
}

/* The first pass is shuffled like the others: a twentieth of 2000 lines begin with 5 %, +- 5
 * standard deviations of 9.7. */
TEST(first_pass_is_shuffled)
{
	struct schedule s;
	struct rng seed = {5};
	unsigned five = 0;

	schedule_init(&s, &seed, NULL, 0);
	for (uint32_t line = 0; line < 2000; line++)
		five += schedule_next(&s, line, true) + schedule_next(&s, line, true) == 5;
	CHECK_NEAR(five, 100, 49);
	schedule_deinit(&s);
}

/* Every speedup comes at every place of a pass: 2000 passes, 100 each, +- 5 standard deviations of
 * 9.7. */
TEST(passes_are_shuffled)
{
	struct schedule s;
	struct rng seed = {11};
	static unsigned at[20][21];

	memset(at, 0, sizeof(at));
	schedule_init(&s, &seed, NULL, 0);
	for (unsigned pass = 0; pass < 2000; pass++)
		for (unsigned pair = 0; pair < 20; pair++)
			at[pair][(schedule_next(&s, 0, true) + schedule_next(&s, 0, true)) / 5]++;
	for (unsigned pair = 0; pair < 20; pair++)
		for (unsigned pct = 5; pct <= 100; pct += 5)
			CHECK_NEAR(at[pair][pct / 5], 100, 49);
	schedule_deinit(&s);
}

/* A line's sequence depends on the seed, not on the other lines that were asked for. Lines and
 * seeds differ. */
TEST(deterministic_per_seed_and_line)
{
	struct schedule s;
	struct rng one = {1}, two = {2};
	unsigned alone[80], same_line = 0, same_seed = 0;

	schedule_init(&s, &one, NULL, 0);
	for (unsigned i = 0; i < 80; i++)
		alone[i] = schedule_next(&s, 5, true);
	schedule_deinit(&s);
	schedule_init(&s, &one, NULL, 0);
	for (unsigned i = 0; i < 80; i++) {
		for (uint32_t line = 100; line < 100 + i; line++)
			schedule_next(&s, line, true);
		same_line += schedule_next(&s, 6, true) == alone[i];
		CHECK_EQ(schedule_next(&s, 5, true), alone[i]);
	}
	schedule_deinit(&s);
	schedule_init(&s, &two, NULL, 0);
	for (unsigned i = 0; i < 80; i++)
		same_seed += schedule_next(&s, 5, true) == alone[i];
	CHECK(same_line < 60);
	CHECK(same_seed < 60);
	schedule_deinit(&s);
}

/* Decks survive the growth of the table, with any line ids. */
TEST(many_lines)
{
	struct schedule s;
	struct rng seed = {3};
	static unsigned first[5000];

	schedule_init(&s, &seed, NULL, 0);
	for (uint32_t i = 0; i < 5000; i++)
		first[i] = schedule_next(&s, i * 858993u, true);
	CHECK_EQ(s.n_lines, 5000);
	for (uint32_t i = 0; i < 5000; i++)
		CHECK((schedule_next(&s, i * 858993u, true) == 0) !=
		      (first[i] == 0)); /* the other half of the pair */
	CHECK_EQ(s.n_lines, 5000);
	schedule_next(&s, UINT32_MAX, true);
	CHECK_EQ(s.n_lines, 5001);
	schedule_deinit(&s);
}

TEST(lists_of_the_user)
{
	struct schedule s;
	struct rng seed = {3};
	const unsigned four[] = {0, 25, 50, 100}, repeated[] = {40, 40, 0, 40}, zero[] = {0, 0},
		       wrong[] = {5, 101};
	unsigned count[101] = {0};

	CHECK_EQ(schedule_init(&s, &seed, four, 4), 0);
	for (unsigned i = 0; i < 600; i++)
		count[schedule_next(&s, 1, true)]++;
	CHECK_EQ(count[0], 300);
	CHECK_EQ(count[25], 100);
	CHECK_EQ(count[50], 100);
	CHECK_EQ(count[100], 100);
	schedule_deinit(&s);

	/* a baseline is needed whether listed or not */
	CHECK_EQ(schedule_init(&s, &seed, four + 1, 1), 0);
	memset(count, 0, sizeof(count));
	for (unsigned i = 0; i < 100; i++)
		count[schedule_next(&s, 1, true)]++;
	CHECK_EQ(count[0], 50);
	CHECK_EQ(count[25], 50);
	schedule_deinit(&s);

	CHECK_EQ(schedule_init(&s, &seed, repeated, 4), 0);
	CHECK_EQ(s.n_speedups, 1);
	schedule_deinit(&s);

	CHECK_EQ(schedule_init(&s, &seed, zero, 2), 0);
	for (unsigned i = 0; i < 100; i++)
		CHECK_EQ(schedule_next(&s, i & 3, true), 0);
	schedule_deinit(&s);

	CHECK_EQ(schedule_init(&s, &seed, wrong, 2), -EINVAL);
	CHECK_EQ(schedule_init(&s, &seed, wrong, 0), -EINVAL);
	schedule_deinit(&s);
}

/* Five large ones come equally often, with their baselines, before the curve does. */
TEST(large_ones_first)
{
	unsigned count[SCHEDULE_PCT_MAX + 1] = {0};
	struct rng seed = {7};
	struct schedule s;

	schedule_init(&s, &seed, NULL, 0);
	for (int i = 0; i < 100; i++)
		count[schedule_next(&s, 1, false)]++;
	CHECK_EQ(count[0], 50);
	for (unsigned pct = 60; pct <= 100; pct += 10)
		CHECK_EQ(count[pct], 10);
	for (int i = 0; i < 40; i++)
		count[schedule_next(&s, 1, true)]++;
	for (unsigned pct = 5; pct <= 55; pct += 5)
		CHECK_EQ(count[pct], 1);
	schedule_deinit(&s);
}

TEST(a_list_of_the_users_has_no_large_ones)
{
	const unsigned list[] = {10, 20};
	unsigned count[SCHEDULE_PCT_MAX + 1] = {0};
	struct rng seed = {7};
	struct schedule s;

	schedule_init(&s, &seed, list, 2);
	for (int i = 0; i < 40; i++)
		count[schedule_next(&s, 1, false)]++;
	CHECK_EQ(count[10], 10);
	CHECK_EQ(count[20], 10);
	schedule_deinit(&s);
}

/* Without pairs: each speedup once in a pass, and no baseline. */
TEST(speedups_alone)
{
	static const unsigned list[] = {0, 50, 90};
	struct rng rng = {3};
	struct schedule s;

	CHECK_EQ(schedule_init(&s, &rng, list, 3), 0);
	for (int i = 0; i < 50; i++) {
		unsigned first = schedule_speedup(&s, 1), second = schedule_speedup(&s, 1);

		CHECK_EQ(first + second, 140);
		CHECK(first == 50 || first == 90);
	}
	schedule_deinit(&s);
	CHECK_EQ(schedule_init(&s, &rng, list, 1), 0);
	CHECK_EQ(schedule_speedup(&s, 1), 0);
	schedule_deinit(&s);
}
