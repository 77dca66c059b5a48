// SPDX-License-Identifier: BSD-3-Clause
/* Which line is taken, and whether it has a baseline or a speedup; see choice.h. */
#include "core/experiment/choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* some 50 ms: a program of one hot line that is known has its experiments all the same */
#define REFUSED_MAX 30
/* before fewer of them are made */
#define BASELINES_FIRST 8
/* no fewer baselines than a fifth: they have to be near in time, too */
#define LINES_MANY 16
#define SHARE_ONE (1 << 20)

void choice_want(struct choice *c, struct wanted *wanted, size_t n)
{
	free(c->wanted);
	c->wanted = wanted;
	c->n_wanted = n;
}

void choice_deinit(struct choice *c)
{
	schedule_deinit(&c->schedule);
	free(c->wanted);
	memset(c, 0, sizeof(*c));
}

static const struct wanted *find_wanted(const struct choice *c, uint32_t line)
{
	for (size_t i = 0; i < c->n_wanted; i++)
		if (c->wanted[i].line == line)
			return &c->wanted[i];
	return NULL;
}

/*
 * Samples alone decide which line is hit, and when. Whether the line has an experiment depends on
 * what is known of the line, and on nothing of the moment. So each line's experiments begin when
 * the line runs, as often in each phase as without this (docs/accuracy.md).
 */
bool choice_takes(struct choice *c, uint32_t line)
{
	const struct wanted *w = find_wanted(c, line);

	if (c->fixed_line || !w || c->refused >= REFUSED_MAX ||
	    (double)rng_below(&c->schedule.rng, SHARE_ONE) < w->share * SHARE_ONE) {
		c->refused = 0;
		return true;
	}
	c->refused++;
	return false;
}

/*
 * Baselines serve all lines, so more lines need a smaller part of the experiments for baselines.
 * 1 / (1 + sqrt(lines)) gives the differences the least variance (Dunnett's design: several
 * treatments and one control).
 */
static bool wants_baseline(const struct choice *c)
{
	size_t lines = c->n_wanted < LINES_MANY ? c->n_wanted : LINES_MANY;

	return c->fixed_line || c->end_to_end || c->n_baselines < BASELINES_FIRST ||
	       (double)c->n_baselines * (1 + sqrt((double)lines)) <= (double)c->n_experiments;
}

unsigned choice_speedup(struct choice *c, uint32_t line)
{
	unsigned pct = schedule_next(&c->schedule, line);

	/* the other half of the line's pair */
	return pct || wants_baseline(c) ? pct : schedule_next(&c->schedule, line);
}

uint32_t choice_draw(struct choice *c, const struct readings *in)
{
	uint64_t total = 0, at;

	if (c->fixed_line)
		return c->fixed_line;
	for (size_t i = 1; i < in->n_lines; i++)
		total += in->lines[i].all;
	if (!total)
		return 0;
	at = rng_below(&c->schedule.rng, total);
	for (size_t i = 1; i < in->n_lines; i++) {
		if (at < in->lines[i].all)
			return (uint32_t)i;
		at -= in->lines[i].all;
	}
	return 0;
}

void choice_count(struct choice *c, unsigned speedup_pct)
{
	c->n_experiments++;
	c->n_baselines += !speedup_pct;
}
