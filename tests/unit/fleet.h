/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles of a fleet. Each is a run of one program with twelve lines, as the tool writes it: half
 * of the experiments are baselines, which say what was sampled in their openings. Machines differ
 * in speed by 10 %. The slope of line 100 + k is k / 20, up to k = 5; the others have none.
 */
#ifndef COZBPF_FLEET_H
#define COZBPF_FLEET_H

#include "simulate.h"

#define FLEET_LINES 12
#define FLEET_VISITS 40
#define FLEET_NS 510000000ULL /* from experiment to experiment */
#define FLEET_BUILD "0123456789abcdef0123456789abcdef01234567"

static char fleet_names[FLEET_LINES][64];

static double fleet_slope(uint32_t line)
{
	return line < 6 ? line / 20.0 : 0;
}

static void fleet_sample_lines(struct experiment_record *x, uint32_t selected, struct rng *rng)
{
	x->lines = calloc(FLEET_LINES, sizeof(*x->lines));
	x->observed_ns = 480000000;
	for (uint32_t id = 1; id <= FLEET_LINES; id++) {
		uint64_t opening = rng_below(rng, 3) + (id == selected);

		if (opening)
			x->lines[x->n_lines++] =
			    (struct baseline_line){id, opening, 20 + rng_below(rng, 20)};
	}
}

static void fleet_experiment(struct profile *p, struct simulation *s, uint64_t at)
{
	uint32_t line = (uint32_t)rng_below(&s->rng, FLEET_LINES);
	double speedup = rng_below(&s->rng, 2) ? 0 : (double)(1 + rng_below(&s->rng, 20)) / 20;
	struct experiment_record *x;

	s->slope = fleet_slope(line);
	sim_experiment(s, p, fleet_names[line], speedup);
	x = &p->experiments[p->n_experiments - 1];
	x->selected_samples = 20 + rng_below(&s->rng, 20);
	x->has_selected_ns = true;
	x->selected_ns = x->points[0].delta * (1000000 + rng_below(&s->rng, 60000));
	x->loops = 100;
	x->loop_ns = 32500000 + rng_below(&s->rng, 100000);
	x->outsiders_ns = rng_below(&s->rng, 1000000);
	x->elapsed_ns = 500000000;
	x->start_ns = at + rng_below(&s->rng, 1000000);
	if (speedup == 0)
		fleet_sample_lines(x, line + 1, &s->rng);
}

static void fleet_write_records(FILE *out, const struct profile *p, const struct run_record *run)
{
	profile_write_startup(out, run);
	for (size_t i = 0; i < p->n_experiments; i++)
		profile_write_experiment(out, &p->experiments[i]);
	for (uint32_t i = 0; i < FLEET_LINES; i++) {
		struct samples_record line = {.location = fleet_names[i],
		    .count = run->samples / 15,
		    .free = run->samples / 30,
		    .has_free = true,
		    .id = i + 1};

		profile_write_samples(out, &line);
	}
	profile_write_runtime(out, run);
}

/* The profile of one of them. */
static inline void fleet_write(FILE *out, unsigned number, unsigned experiments)
{
	struct simulation s = {
	    .arrivals = ERLANG, .spans = true, .saturation = 1, .drift = 0.02, .rng = {number}};
	char node[16];
	struct run_record run = {.startup_time_ns = 1790000000000000000 + number,
	    .node = node,
	    .build_id = FLEET_BUILD,
	    .period_ns = 1000000,
	    .runtime_ns = experiments * FLEET_NS,
	    .free_ns = experiments * FLEET_NS / 2,
	    .samples = experiments * 500ULL,
	    .in_scope = experiments * 400ULL};
	struct profile p;

	snprintf(node, sizeof(node), "node%u", number);
	for (int i = 0; i < FLEET_LINES; i++)
		snprintf(fleet_names[i], sizeof(fleet_names[i]), "/home/me/src/server/file%d.c:%d",
		    i / 4, 100 + i);
	profile_init(&p);
	s.visits = FLEET_VISITS * exp(0.1 * sim_normal(&s.rng));
	for (unsigned i = 0; i < experiments; i++)
		fleet_experiment(&p, &s, i * FLEET_NS);
	fleet_write_records(out, &p, &run);
	profile_deinit(&p);
}

#endif
