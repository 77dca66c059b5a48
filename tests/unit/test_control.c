// SPDX-License-Identifier: BSD-3-Clause
/*
 * Experiments on a line that the user named meet more or less of it (user/core/estimate/control.c).
 * The simulated program makes a visit each 5 ms, in one phase with 3 ms of the line in it, in the
 * other without it. Experiments last 0.5 s. All random numbers have fixed seeds.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/experiment/rng.h"

#define LINE "a.c:1"

static double uniform(struct rng *r)
{
	return ((double)(rng_next(r) >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct rng *r)
{
	return sqrt(-2 * log(uniform(r))) * cos(2 * M_PI * uniform(r));
}

enum phases { NONE, IN_TURN, AT_RANDOM, RARE };

struct program {
	/* When the line runs: all the time, half as much; in every other half cycle; half the time
	 * by chance; in a twentieth of each cycle. */
	enum phases phases;
	/* the line is that much longer where it is fastest, like a line that waits for others */
	double spins;
	/* relative standard deviation of a visit's time, as the mean over an experiment */
	double noise;
	double sampling; /* the same of the line's apparent time */
	/* experiments: the place in the first cycle where the profile begins, and the length of a
	 * cycle */
	uint64_t from, cycle;
	double slower; /* factor of every other run's machine; 0: none */
	unsigned deck; /* speedups, of which each gets 40 / deck experiments */
	bool in_line;  /* AT_RANDOM: now */
};

/* How much of the next experiment falls into the line's phase. */
static double part_in_line(const struct profile *p, struct program *g, struct rng *r)
{
	double at = fmod((double)(p->n_experiments + g->from), (double)g->cycle),
	       half = (double)g->cycle / 2;

	if (g->phases == NONE)
		return 0.5;
	if (g->phases == RARE)
		return at < (double)g->cycle / 20;
	if (g->phases == IN_TURN)
		return at < half ? fmin(1, half - at) : fmax(0, at + 1 - (double)g->cycle);
	if (uniform(r) < 2.0 / (double)g->cycle)
		g->in_line = !g->in_line;
	return g->in_line;
}

static double line_share(const struct program *g)
{
	return g->phases == RARE ? 0.05 : 0.5;
}

static void add_experiment(struct profile *p, struct program *g, struct rng *r, double speedup)
{
	double in_line = part_in_line(p, g, r), line_ms = 3 * in_line * (1 + g->spins * speedup),
	       period = 5 - 3 * in_line * speedup;
	struct experiment_record x = {.speedup = speedup,
	    .fixed = true,
	    .selected = strdup(LINE),
	    .n_points = 1,
	    .has_selected_ns = true,
	    .run = (uint32_t)p->n_runs - 1};
	double slower = g->slower > 0 && x.run % 2 ? g->slower : 1;
	/* in real time as many fit with a speedup as without, apart from pauses */
	uint64_t visits = 100;

	x.selected_ns = (uint64_t)(slower * line_ms * 1e6 * (double)visits *
				   fmax(0, 1 + g->sampling * normal(r)));
	x.duration_ns =
	    (uint64_t)(slower * period * 1e6 * (double)visits * (1 + g->noise * normal(r)));
	x.points = calloc(1, sizeof(*x.points));
	x.points[0] = (struct point_record){.name = strdup("work"),
	    .delta = visits,
	    .bursts = visits,
	    .span_delta = visits,
	    .span_ns = x.duration_ns};
	if (!(p->n_experiments & (p->n_experiments - 1)))
		p->experiments = realloc(
		    p->experiments, (p->n_experiments ? p->n_experiments * 2 : 1) * sizeof(x));
	p->experiments[p->n_experiments++] = x;
}

/* Rounds of each speedup once and of as many baselines, in random order, like the schedule of a
 * fixed line: 80 experiments in all. */
static void add_run(struct profile *p, struct program *g, uint64_t seed)
{
	struct rng r = {seed};

	p->runs = realloc(p->runs, (p->n_runs + 1) * sizeof(*p->runs));
	p->runs[p->n_runs++] = (struct run_record){.fixed_speedups = g->deck};
	g->in_line = uniform(&r) < 0.5;
	for (unsigned round = 0; round < 40 / g->deck; round++) {
		double speedups[40] = {0};

		for (unsigned i = 0; i < g->deck; i++)
			speedups[i] = (double)(i + 1) / g->deck;
		for (size_t left = 2 * g->deck; left; left--) {
			size_t i = rng_below(&r, left);

			add_experiment(p, g, &r, speedups[i]);
			speedups[i] = speedups[left - 1];
		}
	}
}

struct outcome {
	double error, raw_error; /* root mean square over profiles and speedups, in points */
	double moved_error;      /* the same over the profiles that were moved */
	double covered;          /* share of the intervals that hold the truth */
	double width;            /* of an interval, mean, in points */
	int moved;               /* profiles whose figures differ from the raw ones */
};

static struct outcome judge(const struct profile *p, const struct program *g)
{
	struct estimate_options o = {.seed = 1};
	struct outcome ret = {0};
	struct estimate e;

	CHECK(!estimate_profile(p, &o, &e));
	CHECK_EQ(e.n_lines, 1);
	CHECK_EQ(e.lines[0].n_points, g->deck);
	for (size_t k = 0; k < e.lines[0].n_points; k++) {
		const struct estimate_point *v = &e.lines[0].points[k];
		double truth = 0.6 * line_share(g) * v->line_speedup;

		ret.error += pow(100 * (v->program_speedup - truth), 2) / g->deck;
		ret.raw_error += pow(100 * (v->raw_program_speedup - truth), 2) / g->deck;
		ret.covered += (double)(v->ci_lo <= truth && truth <= v->ci_hi) / g->deck;
		ret.width += 100 * (v->ci_hi - v->ci_lo) / g->deck;
		ret.moved |= fabs(v->program_speedup - v->raw_program_speedup) > 1e-12;
	}
	estimate_deinit(&e);
	return ret;
}

/* Many profiles of @runs runs each. */
static struct outcome try(const char *name, struct program g, int runs)
{
	const int profiles = 200;
	struct outcome ret = {0};

	for (int i = 0; i < profiles; i++) {
		struct outcome one;
		struct profile p;

		g.from = (uint64_t)i;
		profile_init(&p);
		for (int run = 0; run < runs; run++)
			add_run(&p, &g, 1000 + (uint64_t)(100 * i + run));
		one = judge(&p, &g);
		ret.error += one.error / profiles;
		ret.raw_error += one.raw_error / profiles;
		ret.moved_error += one.moved * one.error;
		ret.covered += one.covered / profiles;
		ret.width += one.width / profiles;
		ret.moved += one.moved;
		profile_deinit(&p);
	}
	ret.error = sqrt(ret.error);
	ret.raw_error = sqrt(ret.raw_error);
	ret.moved_error = sqrt(ret.moved_error / fmax(1, ret.moved));
	printf("   %-40s error %5.2f points, raw %5.2f; %5.1f %% of the intervals hold, %4.1f "
	       "wide; %d of %d moved\n",
	    name, ret.error, ret.raw_error, 100 * ret.covered, ret.width, ret.moved, profiles);
	return ret;
}

/* What remains is the noise, and the part of a cycle that the profile has too much or too little
 * of: 80 experiments are whole cycles of 8, not of 7. */
TEST(phases)
{
	struct program g = {
	    .phases = IN_TURN, .noise = 0.01, .sampling = 0.03, .cycle = 8, .deck = 4};
	struct outcome o = try("cycles of 8", g, 1);

	CHECK(o.raw_error > 4);
	CHECK(o.moved_error < 0.7);
	CHECK(o.covered > 0.93);
	/* chance makes a trend in 0.4 of 200; 4 or more have a probability of 8 in 10,000 */
	CHECK(o.moved >= 197);
	g.cycle = 7;
	o = try("cycles of 7", g, 1);
	CHECK(o.error < 1.2);
	CHECK(o.covered > 0.93);
	g.cycle = 23;
	o = try("cycles of 23", g, 1);
	CHECK(o.covered > 0.93);
	g.phases = AT_RANDOM;
	g.cycle = 8;
	o = try("phases of any length", g, 1);
	CHECK(o.error < o.raw_error);
	CHECK(o.covered > 0.9);
	g.phases = RARE;
	g.cycle = 20;
	o = try("a twentieth of the time", g, 1);
	CHECK(o.error < o.raw_error);
}

/* What all cells tell together serves cells of two experiments. */
TEST(many_speedups)
{
	struct outcome o = try("20 speedups",
	    (struct program){
		.phases = IN_TURN, .noise = 0.01, .sampling = 0.03, .cycle = 7, .deck = 20},
	    1);

	CHECK(o.error < 0.3 * o.raw_error);
	CHECK(o.covered > 0.93);
}

TEST(merged)
{
	struct program g = {
	    .phases = IN_TURN, .noise = 0.01, .sampling = 0.03, .cycle = 7, .deck = 4};
	struct outcome o = try("4 runs", g, 4);

	CHECK(o.error < 0.3 * o.raw_error);
	CHECK(o.covered > 0.93);
	g.slower = 1.3;
	o = try("4 runs, two of them slower", g, 4);
	/* 0.15 where the time of the line is not levelled as well */
	CHECK(o.error < 0.1 * o.raw_error);
	CHECK(o.covered > 0.93);
}

/* The line's apparent time is noise there, and must not move anything. */
TEST(steady)
{
	struct outcome o = try(
	    "steady", (struct program){.noise = 0.03, .sampling = 0.05, .cycle = 8, .deck = 4}, 1);

	CHECK(o.moved < 10); /* 2 of 200 by the allowed chance */
	CHECK(o.error < 1.02 * o.raw_error);
	CHECK(o.covered > 0.93);
}

/* A faster line that runs longer because it is faster: there is no common mean. */
TEST(spinning)
{
	struct program g = {.noise = 0.03, .sampling = 0.05, .cycle = 8, .deck = 4, .spins = 1};
	struct outcome o = try("twice as long", g, 1);

	CHECK_EQ(o.moved, 0);
	g.spins = 0.1;
	o = try("a tenth longer", g, 1);
	CHECK(o.error < 1.05 * o.raw_error);
	CHECK(o.covered > 0.93);
}

/* Nothing changes where the line's time is unknown for some experiment, or none was seen. */
TEST(unknown)
{
	struct program g = {.phases = IN_TURN, .noise = 0.01, .cycle = 8, .deck = 4};

	for (size_t unknown = 0; unknown < 3; unknown++) {
		struct profile p;

		profile_init(&p);
		add_run(&p, &g, 1);
		for (size_t i = 0; i < p.n_experiments; i++) {
			/* none is known; one is not; all of them are 0 */
			p.experiments[i].has_selected_ns = unknown == 1 ? i != 17 : unknown == 2;
			if (unknown == 2)
				p.experiments[i].selected_ns = 0;
		}
		CHECK_EQ(judge(&p, &g).moved, 0);
		profile_deinit(&p);
	}
}
