/* SPDX-License-Identifier: BSD-3-Clause */
/* Logs of blocks made for tests: runs whose figures follow from their number, or from a model. */
#ifndef COZBPF_BLOCKS_FIXTURE_H
#define COZBPF_BLOCKS_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/blocks/blockformat.h"
#include "core/blocks/blockread.h"

/* A log in memory, of one session after the other. */
struct made_log {
	char *text;
	size_t n;
	FILE *out;
	uint64_t id;
	struct block_session session;
	size_t n_written; /* places of the session */
};

static inline void made_begin(struct made_log *m)
{
	memset(m, 0, sizeof(*m));
	m->out = open_memstream(&m->text, &m->n);
	m->id = 1;
	m->session = (struct block_session){
	    .program = (char *)"/usr/bin/pbzip2", .build_id = "aa11bb22", .seed = 7};
	block_format_version(m->out);
	fflush(m->out);
}

static inline void made_session(struct made_log *m, const char *build_id)
{
	m->id++;
	m->n_written = 0;
	snprintf(m->session.build_id, sizeof(m->session.build_id), "%s", build_id);
}

static inline int made_run(struct made_log *m, const struct block_run *run,
    const struct block_place *places, size_t n_places, const struct block_figures *figures,
    size_t n_figures)
{
	int ret = block_format_run(
	    m->out, m->id, &m->session, run, places, m->n_written, n_places, figures, n_figures);

	m->n_written = n_places;
	fflush(m->out);
	return ret;
}

static inline void made_free(struct made_log *m)
{
	fclose(m->out);
	free(m->text);
}

/* Its strings are static, or of a ring of texts. */
static inline struct block_place made_place(unsigned i)
{
	static char functions[64][32], lines[64][32];
	struct block_place ret = {.object = (char *)"/usr/bin/pbzip2",
	    .build_id = "aa11bb22",
	    .start = 0x1000 + 64 * i,
	    .end = 0x1020 + 64 * i,
	    .offset = 16 * i,
	    .calls = i % 2};

	snprintf(functions[i % 64], sizeof(functions[0]), "compress_%u", i / 4);
	snprintf(lines[i % 64], sizeof(lines[0]), "compress.c:%u-%u", 10 * i + 1, 10 * i + 6);
	ret.function = functions[i % 64];
	ret.lines = lines[i % 64];
	return ret;
}

static inline struct block_run made_plain_run(unsigned i)
{
	return (struct block_run){.started_ns = 1700000000000000000ULL + i,
	    .command = (char *)"./pbzip2 -k input",
	    .ended = true,
	    .wall_ns = 1100000000,
	    .cpu_ns = 1000000000,
	    .probed_ns = 1000 + i,
	    .paused_ns = i,
	    .blocked_ns = 2000000,
	    .runnable_ns = 300000,
	    .switches = 40 + i,
	    .preemptions = 5,
	    .migrations = 6,
	    .minor_faults = 700,
	    .major_faults = i};
}

/* A time of @ns, @count times. */
static inline void made_time(struct block_figures *f, double ns, uint32_t count)
{
	f->min_ns = f->timed ? fmin(f->min_ns, ns) : ns;
	f->max_ns = f->timed ? fmax(f->max_ns, ns) : ns;
	f->avg_ns = (f->avg_ns * (double)f->timed + ns * count) / (double)(f->timed + count);
	f->wall_avg_ns = f->avg_ns;
	f->timed += count;
	f->cells[block_cell_of((uint64_t)ns)] += count;
}

#endif
