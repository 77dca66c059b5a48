/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles with a known truth: visits of several kinds, put through experiments as the tool
 * conducts them. For test_estimate.c and test_intervals.c. */
#ifndef COZBPF_SIMULATE_H
#define COZBPF_SIMULATE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile/profile.h"
#include "core/experiment/rng.h"

enum arrivals { REGULAR, ERLANG, POISSON, BURSTS };

/*
 * What others do to an experiment's period, as it was seen on a virtual machine of two CPUs.
 * WANDERING: the speed wanders by 3 %, and the fixed loop sees that. NEIGHBOUR: for a third of the
 * time, ten experiments on the average at once, a busy loop takes a quarter of one CPU in bursts,
 * which lengthens periods by 10 to 20 % and is on record. HALVED: half the CPU time for 0.1 to 3 s,
 * then all of it as long, which nothing records. TAILS: an experiment of ten is 1.2 to 3 times as
 * long, by a Pareto distribution, which nothing records.
 */
enum noise { NO_NOISE, WANDERING, NEIGHBOUR, HALVED, TAILS };

struct simulation {
	enum arrivals arrivals;
	double visits; /* expected per baseline experiment */
	double drift;  /* relative standard deviation of the machine's speed, which wanders from
			  experiment to experiment */
	bool close_at_visit; /* else after a fixed time */
	bool spans;          /* own keys are written */
	double saturation;   /* program speedup is slope x min(s, saturation) */
	double slope;
	struct rng rng;
	double speed; /* of the machine now: the logarithm's deviation */
	enum noise noise;
	bool named;       /* the line's time is known, as with any noise */
	bool hidden;      /* the profile does not say what is on record */
	bool is_there;    /* NEIGHBOUR, HALVED: now */
	double change_in; /* HALVED: s of the experiments' time */
	double own; /* relative standard deviation that experiments of other speedups than 0 have
		   besides */
};

static double sim_uniform(struct rng *r)
{
	return ((double)(rng_next(r) >> 11) + 0.5) * 0x1p-53;
}

static double sim_normal(struct rng *r)
{
	return sqrt(-2 * log(sim_uniform(r))) * cos(2 * M_PI * sim_uniform(r));
}

static double sim_truth(const struct simulation *s, double speedup)
{
	return s->slope * fmin(speedup, s->saturation);
}

/* Time from one visit (or burst of eight) to the next, in units of the mean: regular ones have 5 %
 * of jitter, Erlang's are the sum of four random times and have 50 %, Poisson's 100 %. */
static double sim_gap(struct simulation *s)
{
	double sum = 0;

	if (s->arrivals == REGULAR)
		return fmax(0.1, 1 + 0.05 * sim_normal(&s->rng));
	if (s->arrivals != ERLANG)
		return -log(sim_uniform(&s->rng));
	for (int i = 0; i < 4; i++)
		sum -= log(sim_uniform(&s->rng)) / 4;
	return sum;
}

/* Time from any moment to the next visit: long gaps are met more often, so their part is a uniform
 * share of a length-biased gap. For Erlang's gaps that is one with five times in it, for Poisson's
 * it comes to a gap again. */
static double sim_first(struct simulation *s)
{
	if (s->arrivals == REGULAR)
		return sim_uniform(&s->rng);
	if (s->arrivals == ERLANG)
		return sim_uniform(&s->rng) * (sim_gap(s) - log(sim_uniform(&s->rng)) / 4);
	return sim_gap(s);
}

/* How much slower HALVED makes an experiment of half a second. */
static double sim_halved(struct simulation *s)
{
	double left = 0.5, slow = 0;

	while (left > 0) {
		double part = fmin(left, s->change_in);

		slow += s->is_there ? part : 0;
		left -= part;
		s->change_in -= part;
		if (s->change_in <= 0) {
			s->is_there = !s->is_there;
			s->change_in = 0.1 + 2.9 * sim_uniform(&s->rng);
		}
	}
	return 1 / (1 - slow);
}

/* The factor on the period of the next experiment, @x. */
static double sim_noise(struct simulation *s, struct experiment_record *x)
{
	double slower = 1, share = 0.004;

	x->elapsed_ns = 500000000;
	if (s->noise == NO_NOISE)
		return 1;
	x->loops = s->hidden ? 0 : 1000;
	x->loop_ns = (uint64_t)(325e3 * (s->noise == WANDERING ? exp(s->speed) : 1) *
				(1 + 0.005 * sim_normal(&s->rng)));
	if (s->noise == NEIGHBOUR) {
		if (sim_uniform(&s->rng) < (s->is_there ? 0.1 : 0.05))
			s->is_there = !s->is_there;
		share += s->is_there ? 0.1 + 0.1 * sim_uniform(&s->rng) : 0;
		slower = 1 / (1 - share) * (1 + (s->is_there ? 0.02 : 0) * sim_normal(&s->rng));
	}
	if (s->noise == HALVED)
		slower = sim_halved(s);
	if (s->noise == TAILS && sim_uniform(&s->rng) < 0.1)
		slower = fmin(1.2 * pow(sim_uniform(&s->rng), -0.4), 3);
	x->outsiders_ns = (uint64_t)(share * 500e6);
	return slower;
}

/* One experiment at @speedup, appended to @p. */
static inline void sim_experiment(
    struct simulation *s, struct profile *p, const char *line, double speedup)
{
	struct experiment_record x = {.speedup = speedup};
	struct point_record v = {0};
	const double window = 500e6;
	uint64_t size = s->arrivals == BURSTS ? 8 : 1;
	double period = window / s->visits * (double)size, now, first = 0, last = 0, slower;

	/* An AR(1) process whose memory is twenty experiments. */
	s->speed = 0.95 * s->speed + sqrt(1 - 0.95 * 0.95) * s->drift * sim_normal(&s->rng);
	slower = sim_noise(s, &x);
	period *= exp(s->speed) * (1 - sim_truth(s, speedup)) * slower;
	if (s->own > 0 && speedup > 0)
		period *= exp(s->own * sim_normal(&s->rng));
	now = period * sim_first(s);
	while (now <= window || (s->close_at_visit && last < window)) {
		if (!v.bursts++)
			first = now;
		else
			v.span_delta += size;
		v.delta += size;
		last = now;
		now += period * sim_gap(s);
	}
	v.span_ns = (uint64_t)(last - first);
	x.duration_ns = (uint64_t)(s->close_at_visit ? last : window);
	if (!s->spans)
		v.bursts = v.span_delta = v.span_ns = 0;
	x.selected_samples = 100;
	if (s->noise != NO_NOISE || s->named) {
		/* its time per visit, which 500 samples tell to 3 % */
		x.has_selected_ns = true;
		x.selected_ns = (uint64_t)(s->slope * window / s->visits * exp(s->speed) *
					   (double)v.delta * (1 + 0.03 * sim_normal(&s->rng)));
	}
	x.selected = strdup(line);
	v.name = strdup("work");
	x.points = malloc(sizeof(v));
	x.points[0] = v;
	x.n_points = 1;
	if (!(p->n_experiments & (p->n_experiments - 1)))
		p->experiments = realloc(
		    p->experiments, (p->n_experiments ? p->n_experiments * 2 : 1) * sizeof(x));
	p->experiments[p->n_experiments++] = x;
	if (!p->n_runs) {
		p->runs = calloc(1, sizeof(*p->runs));
		p->n_runs = 1;
	}
}

#endif
