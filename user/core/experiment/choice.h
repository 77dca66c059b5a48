/* SPDX-License-Identifier: BSD-3-Clause */
/* Which line the next experiment is on, and at which speedup. A line comes from a sample; here it
 * is taken or refused. */
#ifndef COZBPF_CHOICE_H
#define COZBPF_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/experiment/readings.h"
#include "core/experiment/run_choice.h"
#include "core/experiment/schedule.h"
#include "core/experiment/wanted.h"

/* of two lines that the user has named: each line alone, then both, the couple */
#define FIXED_UNITS 3

struct choice {
	struct schedule schedule;
	/* the user's: none, so lines come from samples; one line; or FIXED_UNITS */
	uint32_t fixed[FIXED_UNITS];
	size_t n_fixed;
	/* the turns of the round that is under way, and how many are over */
	uint32_t turns[FIXED_UNITS];
	size_t n_turns;
	/* an experiment is a whole run: then runs decide, and this is the next one's speedup */
	bool end_to_end;
	struct run_choice runs;
	unsigned run_pct;
	/* as the estimate so far says; a line that is not among them is always taken */
	struct wanted *wanted;
	size_t n_wanted;
	/* lines picked in a row that were not wanted */
	unsigned refused;
	/* experiments that count, of all runs, and how many of them are baselines */
	size_t n_experiments, n_baselines;
};

/* Takes @wanted over, which is from malloc(). */
void choice_want(struct choice *c, struct wanted *wanted, size_t n);
void choice_deinit(struct choice *c);

/*
 * The unit for an experiment where a sample has picked @line. Units that the user has named take
 * turns instead, each one in a round, whose order is random. At first that is the function that
 * holds the line. Once the function is known to matter it is mostly the line; a function that does
 * not matter is done with, and so are its lines. A function that is one hot line, or most of the
 * program, is passed over.
 */
uint32_t choice_unit(struct choice *c, const struct readings *in, uint32_t line);
/* Whether to experiment on a unit that a sample has picked. A function that counts with what it
 * calls and is on every stack, such as main(), is no question. */
bool choice_takes(struct choice *c, const struct readings *in, uint32_t unit);
/* In percent, of the experiment that is opened on @line. */
unsigned choice_speedup(struct choice *c, uint32_t line);
/* The line for a whole run; 0: the run is no experiment. */
uint32_t choice_run(struct choice *c, const struct run_samples *samples);
/* An experiment counts. */
void choice_count(struct choice *c, uint32_t line, unsigned speedup_pct);

#endif
