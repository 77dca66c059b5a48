/* SPDX-License-Identifier: BSD-3-Clause */
/* A log of runs of blocks, made and analysed. */
#ifndef COZBPF_TESTS_BLOCKS_ANALYSED_H
#define COZBPF_TESTS_BLOCKS_ANALYSED_H

#include <math.h>

#include "blocks_fixture.h"
#include "core/blocks/analyse.h"
#include "core/experiment/rng.h"

/* A log as it is made, and what is read of it. */
struct made {
	struct made_log log;
	struct block_place places[8];
	size_t n_places;
	struct block_logs logs;
	struct block_analysis a;
};

static void made_init(struct made *m, size_t n_places)
{
	made_begin(&m->log);
	m->n_places = n_places;
	for (unsigned i = 0; i < n_places; i++)
		m->places[i] = made_place(i);
}

static void add(
    struct made *m, const struct block_run *run, const struct block_figures *f, size_t n)
{
	CHECK_EQ(made_run(&m->log, run, m->places, m->n_places, f, n), 0);
}

static void analyse(struct made *m, struct block_analysis_options o)
{
	struct error e;

	o.threshold_pct = o.threshold_pct > 0 ? o.threshold_pct : 5;
	block_logs_init(&m->logs);
	CHECK_EQ(block_logs_read(&m->logs, m->log.text, m->log.n, "log", &e), 0);
	CHECK_EQ(block_analyse(&m->logs, &o, &m->a), 0);
}

static void made_deinit(struct made *m)
{
	block_analysis_deinit(&m->a);
	block_logs_deinit(&m->logs);
	made_free(&m->log);
}

static const struct block_result *result_of(const struct made *m, unsigned place)
{
	for (size_t i = 0; i < m->a.n_results; i++)
		if (m->a.results[i].place->start == made_place(place).start)
			return &m->a.results[i];
	CHECK(!"the block is there");
	return &m->a.results[0];
}

static double gauss(struct rng *rng)
{
	double u = ((double)rng_below(rng, 1u << 30) + 0.5) / (1u << 30);
	double v = (double)rng_below(rng, 1u << 30) / (1u << 30);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* A block that is executed @times, each @ns long but for one of @longest. */
static struct block_figures steady(unsigned block, double times, double ns, double longest)
{
	struct block_figures f = {.block = block, .frequency = times, .share = 0.1};

	made_time(&f, ns, (uint32_t)times - 1);
	made_time(&f, longest, 1);
	return f;
}

#endif
