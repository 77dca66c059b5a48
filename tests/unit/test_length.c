/* SPDX-License-Identifier: BSD-3-Clause */
/* The length of experiments: doubling, halving, limits, and no alternation between the two. */
#include "check.h"
#include "core/experiment/length.h"

#define MS 1000000ULL

static void update(struct length *l, uint64_t a, uint64_t b)
{
	const uint64_t bursts[] = {a, b};

	length_update(l, bursts, 2);
}

TEST(doubles_when_all_points_are_rare)
{
	struct length l;

	length_init(&l, 0, LENGTH_BURSTS_MANY);
	CHECK_EQ(l.ns, 500 * MS);
	update(&l, 4, 0);
	CHECK_EQ(l.ns, 1000 * MS);
	update(&l, 0, 0);
	CHECK_EQ(l.ns, 2000 * MS);
	update(&l, 5, 0);
	CHECK_EQ(l.ns, 2000 * MS);
	update(&l, 0, 4);
	update(&l, 0, 4);
	update(&l, 0, 4);
	CHECK_EQ(l.ns, 8000 * MS);
}

TEST(rare_point_asks_for_nothing)
{
	struct length l;

	length_init(&l, 0, LENGTH_BURSTS_MANY);
	update(&l, 199, 0);
	CHECK_EQ(l.ns, 500 * MS);
	/* ... and a busy point is still shortened */
	update(&l, 200, 1);
	CHECK_EQ(l.ns, 250 * MS);
	update(&l, 4, 200);
	CHECK_EQ(l.ns, 125 * MS);
}

TEST(halves_down_to_the_shortest)
{
	struct length l;

	length_init(&l, 0, LENGTH_BURSTS_MANY);
	for (int i = 0; i < 5; i++)
		update(&l, 1000000, 1000000);
	CHECK_EQ(l.ns, 100 * MS);
	/* a point that just has enough keeps the length */
	length_init(&l, 0, LENGTH_BURSTS_MANY);
	update(&l, 1000, 9);
	CHECK_EQ(l.ns, 500 * MS);
	update(&l, 1000, 10);
	CHECK_EQ(l.ns, 250 * MS);
}

TEST(given_by_the_user)
{
	struct length l;

	length_init(&l, 50 * MS, LENGTH_BURSTS_MANY);
	CHECK_EQ(l.ns, 50 * MS);
	update(&l, 1000, 0);
	CHECK_EQ(l.ns, 50 * MS);
	update(&l, 1, 0);
	CHECK_EQ(l.ns, 100 * MS);
	update(&l, 1000, 0);
	CHECK_EQ(l.ns, 50 * MS);
	length_init(&l, 20000 * MS, LENGTH_BURSTS_MANY);
	update(&l, 1, 0);
	CHECK_EQ(l.ns, 20000 * MS);
	length_init(&l, 5000 * MS, LENGTH_BURSTS_MANY);
	update(&l, 1, 0);
	CHECK_EQ(l.ns, 8000 * MS);
	length_init(&l, UINT64_MAX, LENGTH_BURSTS_MANY);
	update(&l, 0, 0);
	CHECK_EQ(l.ns, UINT64_MAX);
}

TEST(without_points)
{
	struct length l;

	length_init(&l, 0, LENGTH_BURSTS_MANY);
	length_update(&l, NULL, 0);
	CHECK_EQ(l.ns, 500 * MS);
}

/* Visits at any constant rate: the length settles, with enough visits where the limits allow it. */
TEST(settles)
{
	for (double per_s = 0.1; per_s < 1e6; per_s *= 1.3) {
		struct length l;
		uint64_t last = 0, now = 1;

		length_init(&l, 0, LENGTH_BURSTS_MANY);
		for (int i = 0; i < 12; i++) {
			uint64_t bursts = (uint64_t)(per_s * (double)l.ns / 1e9);

			last = l.ns;
			length_update(&l, &bursts, 1);
			now = l.ns;
		}
		CHECK_EQ(now, last);
		CHECK(per_s * (double)now / 1e9 >= 5 || now == LENGTH_MAX_NS);
		CHECK(per_s * (double)now / 1e9 < 201 || now == LENGTH_MIN_NS);
	}
}
