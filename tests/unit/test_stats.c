// SPDX-License-Identifier: BSD-3-Clause
/* Student's distribution against tables; selection against sorting. */
#include "check.h"

#include <math.h>

#include "core/experiment/rng.h"
#include "core/estimate/stats.h"

/* Tables of Student's distribution: the expansion is good to 0.1 %, also for broken numbers. */
TEST(student)
{
	static const struct {
		double df, t;
	} table[] = {{1, 12.706}, {2, 4.303}, {3, 3.182}, {4, 2.776}, {5, 2.571}, {6, 2.447},
	    {8, 2.306}, {10, 2.228}, {20, 2.086}, {40, 2.021}, {120, 1.980}, {1e6, 1.960},
	    {0, 12.706}};
	double last = INFINITY;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		CHECK_NEAR(student_975(table[i].df), table[i].t, table[i].t * 0.001);
	for (double df = 1; df < 200; df += 0.01) {
		CHECK(student_975(df) < last);
		last = student_975(df);
	}
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Two-sided tails from tables: 5 % where the quantile says so. Far out they are too high by a third
 * of their logarithm at most. */
TEST(student_tails)
{
	static const struct {
		double df, t, chance;
	} table[] = {{INFINITY, 3.2905, 0.001}, {INFINITY, 1.96, 0.05}, {3, 12.924, 0.001},
	    {5, 6.8688, 0.001}, {5, 9.6776, 0.0002}, {10, 4.5869, 0.001}, {30, 3.6460, 0.001},
	    {10, 0, 1}};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		double chance = student_chance(-table[i].t, table[i].df);

		CHECK(chance > 0.9 * table[i].chance && chance < 1.6 * table[i].chance);
	}
	for (double df = 1; df < 200; df *= 1.1)
		CHECK_NEAR(student_chance(student_975(df), df), 0.05, 1e-6);
}

TEST(selection)
{
	struct rng rng = {3};
	double v[64], w[64];

	for (int round = 0; round < 2000; round++) {
		size_t n = 1 + rng_below(&rng, 64), k = rng_below(&rng, n);

		/* Few different values: ties are the hard part. */
		for (size_t i = 0; i < n; i++)
			v[i] = w[i] = (double)rng_below(&rng, 1 + (uint64_t)round % 20);
		qsort(w, n, sizeof(*w), compare_doubles);
		CHECK(select_kth(v, n, k) == w[k]);
	}
}
