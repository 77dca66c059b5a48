// SPDX-License-Identifier: BSD-3-Clause
/* The interval of the phase factor: of which baselines it is made. */
#include "check.h"

#include "core/estimate/estimate.h"

#define BASELINES 60

static void add(struct profile *p, uint32_t run, double speedup, uint64_t samples, bool shared)
{
	struct experiment_record *x = &p->experiments[p->n_experiments++];

	*x = (struct experiment_record){.selected = strdup("a.c:1"),
	    .speedup = speedup,
	    .duration_ns = speedup > 0 ? 90000000 : 100000000,
	    .observed_ns = 100000000,
	    .selected_samples = samples,
	    .run = run,
	    .points = calloc(1, sizeof(*x->points)),
	    .n_points = 1};
	x->points[0] = (struct point_record){.name = strdup("work"), .delta = 100};
	if (!shared || speedup > 0)
		return;
	/* Weights differ, so the factor's error is found to first order. */
	x->n_lines = 2;
	x->lines = calloc(2, sizeof(*x->lines));
	x->lines[0] = (struct baseline_line){1, 1 + p->n_experiments % 3, samples};
	x->lines[1] = (struct baseline_line){2, 2, 20};
}

/* Two runs, of which the first one alone has recorded delay-free time. Samples of its baselines
 * scatter; those of the other run's have @samples each. */
static struct estimate_line estimate(size_t baselines, uint64_t samples, bool shared)
{
	const struct estimate_options options = {.seed = 1};
	struct estimate_line ret;
	struct profile p;
	struct estimate e;

	profile_init(&p);
	p.n_runs = 2;
	p.runs = calloc(2, sizeof(*p.runs));
	p.runs[0].free_ns = 1000000000;
	p.experiments = calloc(2 * (baselines + 12), sizeof(*p.experiments));
	for (uint32_t run = 0; run < 2; run++) {
		for (size_t i = 0; i < baselines; i++)
			add(&p, run, 0, run ? samples : 45 + i % 3 * 5, shared);
		for (int i = 0; i < 12; i++)
			add(&p, run, 0.5, 0, shared);
	}
	p.samples = calloc(2, sizeof(*p.samples));
	for (uint32_t run = 0; run < 2; run++)
		p.samples[p.n_samples++] = (struct samples_record){.location = strdup("a.c:1"),
		    .count = 250,
		    .free = 250,
		    .has_free = true,
		    .id = 1,
		    .run = run};
	CHECK_EQ(estimate_profile(&p, &options, &e), 0);
	CHECK_EQ(e.n_lines, 1);
	ret = e.lines[0];
	estimate_deinit(&e);
	profile_deinit(&p);
	return ret;
}

/* A run without delay-free time is in neither the factor nor its interval, whatever its rate. */
static void check_rates(size_t baselines, bool shared)
{
	struct estimate_line alike = estimate(baselines, 50, shared),
			     other = estimate(baselines, 1, shared);

	CHECK(alike.phase_factor > 0.4 && alike.phase_factor < 0.6);
	CHECK_NEAR(other.phase_factor, alike.phase_factor, 1e-12);
	CHECK(other.slope_lo < other.slope && other.slope < other.slope_hi);
	CHECK_NEAR(other.slope_lo, alike.slope_lo, 1e-12);
	CHECK_NEAR(other.slope_hi, alike.slope_hi, 1e-12);
}

TEST(baselines_drawn)
{
	check_rates(6, false);
	check_rates(6, true);
}

TEST(baselines_to_first_order)
{
	check_rates(BASELINES, true);
}
