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
/* of a function's experiments and its lines' together, once the function matters */
#define FUNCTION_PCT 25
/* of samples: a line of its function's, or a function of the program's, is nearly all */
#define MOST_PCT 75
/* of samples: a function that counts with what it calls is the whole program */
#define WHOLE_PCT 99

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

/* Whether the function is a question apart from its lines. It is not where one of them is nearly
 * all of it, nor where it is nearly all of the program. */
static bool is_apart(const struct readings *in, uint32_t function)
{
	uint64_t all = 0, most = 0;

	for (uint32_t i = 1; i <= in->units[function].n_lines; i++) {
		uint64_t samples = in->lines[function + i].all;

		all += samples;
		most = most < samples ? samples : most;
	}
	return 100 * most < MOST_PCT * all && 100 * all < MOST_PCT * in->counters.in_scope;
}

static uint32_t next_turn(struct choice *c)
{
	if (c->n_fixed == 1)
		return c->fixed[0];
	if (c->n_turns == c->n_fixed)
		c->n_turns = 0;
	for (size_t i = 0; !c->n_turns && i < c->n_fixed; i++) { /* Fisher-Yates, inside out */
		size_t j = rng_below(&c->schedule.rng, i + 1);

		c->turns[i] = c->turns[j];
		c->turns[j] = c->fixed[i];
	}
	return c->turns[c->n_turns++];
}

uint32_t choice_unit(struct choice *c, const struct readings *in, uint32_t line)
{
	uint32_t function = in->units ? in->units[line].function : 0;
	const struct wanted *w;

	if (c->n_fixed)
		return next_turn(c);
	if (!function || !is_apart(in, function))
		return line;
	w = find_wanted(c, function);
	return w && w->refine && rng_below(&c->schedule.rng, 100) >= FUNCTION_PCT ? line : function;
}

static bool is_whole(const struct readings *in, uint32_t unit)
{
	return in->units && in->units[unit].inclusive &&
	       100 * in->lines[unit].all >= WHOLE_PCT * in->counters.in_scope;
}

/*
 * Samples alone decide which line is hit, and when. Whether the line has an experiment depends on
 * what is known of the line, and on nothing of the moment. So each line's experiments begin when
 * the line runs, as often in each phase as without this (docs/answers.md).
 */
bool choice_takes(struct choice *c, const struct readings *in, uint32_t unit)
{
	const struct wanted *w = find_wanted(c, unit);
	double share = is_whole(in, unit) ? 0 : w ? w->share : 1;

	if (c->n_fixed || c->refused >= REFUSED_MAX ||
	    (double)rng_below(&c->schedule.rng, SHARE_ONE) < share * SHARE_ONE) {
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

	return c->n_fixed || c->n_baselines < BASELINES_FIRST ||
	       (double)c->n_baselines * (1 + sqrt((double)lines)) <= (double)c->n_experiments;
}

unsigned choice_speedup(struct choice *c, uint32_t line)
{
	const struct wanted *w = find_wanted(c, line);
	bool curve = c->n_fixed || (w && w->refine);
	unsigned pct;

	if (c->end_to_end)
		return c->run_pct;
	pct = schedule_next(&c->schedule, line, curve);
	/* the other half of the line's pair */
	return pct || wants_baseline(c) ? pct : schedule_next(&c->schedule, line, curve);
}

uint32_t choice_run(struct choice *c, const struct run_samples *samples)
{
	return run_choice_next(&c->runs, &c->schedule, samples, c->fixed, c->n_fixed, &c->run_pct);
}

void choice_count(struct choice *c, uint32_t line, unsigned speedup_pct)
{
	c->n_experiments++;
	c->n_baselines += !speedup_pct;
	if (c->end_to_end)
		run_choice_count(&c->runs, line, speedup_pct);
}
