// SPDX-License-Identifier: BSD-3-Clause
/*
 * Experiments on a line that the user named meet more or less of it (user/core/estimate_control.c). The simulated program makes a visit each 5 ms, in one phase with
 * 3 ms of the line in it, in the other without; experiments of 0.5 s, each in one of the phases or across their border. All random numbers have fixed seeds.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate.h"
#include "core/rng.h"

#define LINE "a.c:1"

static double uniform(struct rng *r)
{
	return ((double)(rng_next(r) >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct rng *r)
{
	return sqrt(-2 * log(uniform(r))) * cos(2 * M_PI * uniform(r));
}

struct program {
	bool phased;        /* else 1.5 ms of the line are in each visit */
	bool spins;         /* the line is the longer the faster it is, as one that waits for others */
	double noise;       /* relative standard deviation of a visit's time, of the mean over an experiment */
	double sampling;    /* the same of how long the line seems to be */
	uint64_t from, cycle; /* experiments: where in the first cycle the profile begins, and how many a cycle has */
};

static void add_experiment(struct profile *p, const struct program *g, struct rng *r, double speedup)
{
	double at = fmod((double)(p->n_experiments + g->from), (double)g->cycle) / (double)g->cycle;
	double in_line = !g->phased ? 0.5 : at < 0.5 ? fmin(1, (0.5 - at) * (double)g->cycle) : fmax(0, (at - 1) * (double)g->cycle + 1);
	double line_ms = 3 * in_line * (g->spins ? 1 + speedup : 1), period = 5 - 3 * in_line * speedup;
	struct experiment_record x = {.speedup = speedup, .fixed = true, .duration_ns = 500000000, .selected = strdup(LINE), .n_points = 1};
	uint64_t visits = 100; /* in virtual time; in real time as many fit with a speedup as without, but for pauses */

	x.selected_ns = (uint64_t)(line_ms * 1e6 * (double)visits * fmax(0, 1 + g->sampling * normal(r)));
	x.duration_ns = (uint64_t)(period * 1e6 * (double)visits * (1 + g->noise * normal(r)));
	x.points = calloc(1, sizeof(*x.points));
	x.points[0] = (struct point_record){
	    .name = strdup("work"), .delta = visits, .bursts = visits, .span_delta = visits, .span_ns = x.duration_ns};
	if (!(p->n_experiments & (p->n_experiments - 1)))
		p->experiments = realloc(p->experiments, (p->n_experiments ? p->n_experiments * 2 : 1) * sizeof(x));
	p->experiments[p->n_experiments++] = x;
}

/* Ten rounds of four baselines and each speedup once, in random order, as the schedule of a fixed line has it. */
static void profile(struct profile *p, const struct program *g, uint64_t seed)
{
	struct rng r = {seed};

	profile_init(p);
	p->runs = calloc(1, sizeof(*p->runs));
	p->runs[0].fixed_speedups = 4;
	p->n_runs = 1;
	for (int round = 0; round < 10; round++) {
		double speedups[8] = {0, 0, 0, 0, 0.25, 0.5, 0.75, 1};

		for (size_t left = 8; left; left--) {
			size_t i = rng_below(&r, left);

			add_experiment(p, g, &r, speedups[i]);
			speedups[i] = speedups[left - 1];
		}
	}
}

struct outcome {
	double error, raw_error; /* root mean square over profiles and speedups, in points */
	double covered;          /* share of the intervals that hold the truth */
	int moved;               /* profiles whose figures are not the raw ones */
};

static struct outcome try(struct program g, int profiles)
{
	struct outcome ret = {0};

	for (int i = 0; i < profiles; i++) {
		struct estimate_options o = {.seed = 1};
		struct estimate e;
		struct profile p;
		bool moved = false;

		g.from = (uint64_t)i;
		profile(&p, &g, 1000 + (uint64_t)i);
		CHECK(!estimate_profile(&p, &o, &e));
		CHECK_EQ(e.n_lines, 1);
		CHECK_EQ(e.lines[0].n_points, 4);
		for (size_t k = 0; k < e.lines[0].n_points; k++) {
			const struct estimate_point *v = &e.lines[0].points[k];
			double truth = 0.3 * v->line_speedup;

			ret.error += pow(100 * (v->program_speedup - truth), 2) / (4 * profiles);
			ret.raw_error += pow(100 * (v->raw_program_speedup - truth), 2) / (4 * profiles);
			ret.covered += (v->ci_lo <= truth && truth <= v->ci_hi) / (4.0 * profiles);
			moved |= fabs(v->program_speedup - v->raw_program_speedup) > 1e-12;
		}
		ret.moved += moved;
		estimate_deinit(&e);
		profile_deinit(&p);
	}
	ret.error = sqrt(ret.error);
	ret.raw_error = sqrt(ret.raw_error);
	printf("   error %.2f points, raw %.2f; %.0f %% of the intervals hold; %d of %d moved\n", ret.error, ret.raw_error, 100 * ret.covered,
	    ret.moved, profiles);
	return ret;
}

/* What is left is the noise, and the last part of a cycle that the profile has too much or too little of: 80 experiments are whole cycles of 8, not of 7. */
TEST(phases)
{
	struct outcome o = try((struct program){.phased = true, .noise = 0.01, .sampling = 0.03, .cycle = 8}, 100);

	CHECK(o.raw_error > 4);
	CHECK(o.error < 0.7);
	CHECK(o.covered > 0.93);
	CHECK(o.moved == 100);
	o = try((struct program){.phased = true, .noise = 0.01, .sampling = 0.03, .cycle = 7}, 100);
	CHECK(o.raw_error > 4);
	CHECK(o.error < 1.2);
}

/* How long the line seems to be is noise there, and must not move anything: five cells a profile, each with a chance of 1 %. */
TEST(steady)
{
	struct outcome o = try((struct program){.noise = 0.03, .sampling = 0.05, .cycle = 8}, 200);

	CHECK(o.moved < 30);
	CHECK(o.error < 1.05 * o.raw_error);
	CHECK(o.covered > 0.93);
}

/* A faster line that runs the longer for it: there is no common mean. */
TEST(spinning)
{
	struct outcome o = try((struct program){.spins = true, .noise = 0.03, .sampling = 0.05, .cycle = 8}, 50);

	CHECK_EQ(o.moved, 0);
}

/* Without the key, or with none of the line in any experiment, as before. */
TEST(unknown)
{
	struct program g = {.phased = true, .noise = 0.01, .cycle = 8};
	struct estimate_options o = {.seed = 1};
	struct estimate e;
	struct profile p;

	profile(&p, &g, 1);
	for (size_t i = 0; i < p.n_experiments; i++)
		p.experiments[i].selected_ns = 0;
	CHECK(!estimate_profile(&p, &o, &e));
	for (size_t k = 0; k < e.lines[0].n_points; k++)
		CHECK_NEAR(e.lines[0].points[k].program_speedup, e.lines[0].points[k].raw_program_speedup, 1e-12);
	estimate_deinit(&e);
	profile_deinit(&p);
}
