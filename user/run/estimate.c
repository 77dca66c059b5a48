// SPDX-License-Identifier: BSD-3-Clause
/* Whether a line that a sample has picked gets an experiment, and which part of the experiments is
 * baselines. */
#include "run/run.h"

#include <math.h>

/* some 50 ms: a program of one hot line that is known has its experiments all the same */
#define REFUSED_MAX 30
#define BASELINES_FIRST 8 /* before fewer of them are made */
#define LINES_MANY 16     /* no fewer baselines than a fifth: they have to be near in time, too */

static const struct wanted *find_wanted(const struct runner *r, uint32_t line)
{
	for (size_t i = 0; i < r->experiments.n_wanted; i++)
		if (r->experiments.wanted[i].line == line)
			return &r->experiments.wanted[i];
	return NULL;
}

/*
 * Which line is hit, and when, is decided by samples alone; whether an experiment is made of it, by
 * what is known of the line, and not by anything of the moment. So each line's experiments begin
 * when it runs, as often in each phase as without this, and no order is imposed (docs/accuracy.md).
 */
bool run_wants(struct runner *r, uint32_t line)
{
	const struct wanted *w = find_wanted(r, line);

	if (r->files.fixed_line || !w || r->experiments.refused >= REFUSED_MAX ||
	    (double)rng_below(&r->experiments.schedule.rng, 1 << 20) < w->share * (1 << 20)) {
		r->experiments.refused = 0;
		return true;
	}
	r->experiments.refused++;
	return false;
}

/*
 * Baselines serve all lines, so with more lines a smaller part of the experiments has to be
 * baselines: 1 / (1 + sqrt(lines)) gives the differences the least variance (Dunnett's design:
 * several treatments and one control).
 */
bool run_wants_baseline(const struct runner *r)
{
	size_t lines = r->experiments.n_wanted < LINES_MANY ? r->experiments.n_wanted : LINES_MANY;

	return r->files.fixed_line || r->o.end_to_end ||
	       r->experiments.n_baselines < BASELINES_FIRST ||
	       (double)r->experiments.n_baselines * (1 + sqrt((double)lines)) <=
		   (double)r->recorder.profile.n_experiments;
}
