// SPDX-License-Identifier: BSD-3-Clause
/*
 * Profiles of a fleet: eight replicas, each with its own experiments, together know as much as one
 * with eight times as many experiments.
 *
 * A half-width is itself known to about 14 %: 25 degrees of freedom of one profile give 1 / sqrt(2
 * x 25), and the bootstrap's 1000 draws add 5 %. So the mean of eight is known to 5 %, the merged
 * one to 7 %; over 12 fleets the ratio is known to 2.5 %. The expected ratio is a little more than
 * sqrt(8): with 8 experiments a speedup, Student's quantile makes a profile's own interval wider by
 * some 5 %. Hence sqrt(8) x 0.97 to 1.13, three standard deviations.
 *
 * With random speedups, as the tool has them, 64 experiments are one or two for each of twenty.
 * Such cells borrow scatter and take the wider of the candidates (core/estimate/bootstrap.c), which
 * a fleet does not need. So it gains more than sqrt(8), and only the lower limit holds. (3.36
 * measured.)
 *
 * Looked at without the method's own error, 6 % of the gain, which no number of replicas lowers.
 * With that error the interval still has to hold the truth.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "core/estimate/estimate.h"
#include "simulate.h"

#define REPLICAS 8
#define EXPERIMENTS 64
#define FLEETS 12

/* One replica's profile, as the file it writes. @speed: logarithm of its machine's speed. */
static char *replica(uint64_t seed, double speed, bool list, size_t *ret_size)
{
	struct simulation s = {.arrivals = ERLANG,
	    .visits = 60,
	    .spans = true,
	    .slope = 0.6,
	    .saturation = 1,
	    .drift = 0.02,
	    .rng = {seed}};
	struct run_record run = {.startup_time_ns = seed + 1,
	    .runtime_ns = EXPERIMENTS * 500000000ULL,
	    .build_id = "abcd"};
	struct profile p;
	char *ret = NULL;
	FILE *out = open_memstream(&ret, ret_size);

	profile_init(&p);
	s.visits *= exp(speed);
	for (int i = 0; i < EXPERIMENTS; i++) {
		static const double speedups[] = {0, 0.25, 0, 0.5, 0, 0.75, 0, 1};
		double random = rng_below(&s.rng, 2) ? 0 : (double)(1 + rng_below(&s.rng, 20)) / 20;

		sim_experiment(&s, &p, "a.c:1", list ? speedups[i % 8] : random);
	}
	profile_write_startup(out, &run);
	for (size_t i = 0; i < p.n_experiments; i++)
		profile_write_experiment(out, &p.experiments[i]);
	profile_write_runtime(out, &run);
	fclose(out);
	profile_deinit(&p);
	return ret;
}

static void add(struct profile *p, char *text, size_t size)
{
	FILE *in = fmemopen(text, size, "r");
	struct error e;

	CHECK_EQ(profile_read(p, in, "replica", &e), 0);
	fclose(in);
}

/* Half the width of the slope's interval, and whether the full one holds the truth. */
static double half_width(const struct profile *p, bool *ret_holds)
{
	struct estimate_options o = {.seed = 3, .scatter_only = true};
	struct estimate e;
	double ret;

	CHECK_EQ(estimate_profile(p, &o, &e), 0);
	CHECK_EQ(e.n_lines, 1);
	ret = (e.lines[0].slope_hi - e.lines[0].slope_lo) / 2;
	estimate_deinit(&e);
	o.scatter_only = false;
	CHECK_EQ(estimate_profile(p, &o, &e), 0);
	*ret_holds = e.lines[0].slope_lo <= 0.6 && e.lines[0].slope_hi >= 0.6;
	estimate_deinit(&e);
	return ret;
}

/* Mean over fleets of: a replica's half-width / the merged one. @spread: standard deviation of the
 * machines' speeds; @list: of four speedups. */
static double mean_ratio(double spread, bool list, int *ret_held)
{
	double sum = 0;

	*ret_held = 0;
	for (uint64_t fleet = 0; fleet < FLEETS; fleet++) {
		struct rng speeds = {fleet};
		struct profile all;
		double alone = 0;
		bool holds;

		profile_init(&all);
		for (uint64_t i = 0; i < REPLICAS; i++) {
			size_t size;
			char *text =
			    replica(1000 * fleet + i, spread * sim_normal(&speeds), list, &size);
			struct profile one;

			profile_init(&one);
			add(&one, text, size);
			alone += half_width(&one, &holds) / REPLICAS;
			profile_deinit(&one);
			add(&all, text, size);
			free(text);
		}
		CHECK_EQ(all.n_runs, REPLICAS);
		sum += alone / half_width(&all, &holds) / FLEETS;
		*ret_held += holds;
		profile_deinit(&all);
	}
	return sum;
}

TEST(eight_replicas_know_as_much_as_eight_times_the_experiments)
{
	int held;
	double ratio = mean_ratio(0, true, &held);

	printf("     half-width of one / of eight merged: %.2f, sqrt(8) is %.2f; %d of %d merged "
	       "intervals hold the truth\n",
	    ratio, sqrt(8), held, FLEETS);
	CHECK(ratio > sqrt(8) * 0.97 && ratio < sqrt(8) * 1.13);
	CHECK(held >= FLEETS - 2); /* fewer happens once in fifty */
}

TEST(random_speedups_gain_as_much_or_more)
{
	int held;
	double ratio = mean_ratio(0, false, &held);

	printf("     random speedups: %.2f; %d of %d hold\n", ratio, held, FLEETS);
	CHECK(ratio > sqrt(8) * 0.97);
	CHECK(held >= FLEETS - 2);
}

/*
 * Machines of different speed: runs are levelled (core/estimate/runs.c), so their differences are
 * not scatter. The levels have errors of their own, at most a tenth of the width. Without levelling
 * it was 1.80 for machines that differ by 10 %.
 */
TEST(unlike_machines_know_as_much_as_like_ones)
{
	int held;
	double ratio = mean_ratio(0.1, true, &held);

	printf("     machines whose speeds differ by 10 %%: %.2f; %d of %d hold\n", ratio, held,
	    FLEETS);
	CHECK(ratio > sqrt(8) * 0.9 && ratio < sqrt(8) * 1.13);
	CHECK(held >= FLEETS - 2);
	ratio = mean_ratio(0.4, false, &held);
	printf("     that differ by 40 %%, random speedups: %.2f; %d of %d hold\n", ratio, held,
	    FLEETS);
	CHECK(ratio > sqrt(8) * 0.9);
	CHECK(held >= FLEETS - 2);
}

/* A run whose baselines cannot tell its level stays as it is: runs of one visit each, and runs that
 * do not differ. */
TEST(runs_are_levelled_only_where_they_are_known_to_differ)
{
	struct estimate_options o = {.seed = 3};
	struct profile p, apart;
	struct estimate e, f;

	for (int experiments = 4; experiments <= 40; experiments += 36) {
		struct simulation s = {.arrivals = ERLANG,
				      .visits = 60,
				      .spans = true,
				      .slope = 0.6,
				      .saturation = 1,
				      .rng = {5}},
				  t = s;

		profile_init(&p);
		profile_init(&apart);
		for (int i = 0; i < 4 * experiments; i++) {
			sim_experiment(&s, &p, "a.c:1", i % 2 ? 0.5 : 0);
			sim_experiment(&t, &apart, "a.c:1", i % 2 ? 0.5 : 0);
			apart.experiments[i].run = (uint32_t)(i / experiments);
		}
		apart.runs = realloc(apart.runs, 4 * sizeof(*apart.runs));
		memset(apart.runs, 0, 4 * sizeof(*apart.runs));
		apart.n_runs = 4;
		CHECK_EQ(estimate_profile(&p, &o, &e), 0);
		CHECK_EQ(estimate_profile(&apart, &o, &f), 0);
		CHECK_NEAR(e.lines[0].slope, f.lines[0].slope, 1e-12);
		estimate_deinit(&e);
		estimate_deinit(&f);
		profile_deinit(&p);
		profile_deinit(&apart);
	}
}
