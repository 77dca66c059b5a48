/* SPDX-License-Identifier: BSD-3-Clause */
/* Which line the next experiment is on, and at which speedup. A line comes from a sample; here it
 * is taken or refused. */
#ifndef COZBPF_CHOICE_H
#define COZBPF_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/experiment/readings.h"
#include "core/experiment/schedule.h"
#include "core/experiment/wanted.h"

struct choice {
	struct schedule schedule;
	/* the user's; 0: lines come from samples */
	uint32_t fixed_line;
	/* an experiment is a whole run */
	bool end_to_end;
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

/* Whether to experiment on a line that a sample has picked. */
bool choice_takes(struct choice *c, uint32_t line);
/* In percent, of the experiment that is opened on @line. */
unsigned choice_speedup(struct choice *c, uint32_t line);
/* A line for a whole run, drawn among the samples so far; 0 before there are any. */
uint32_t choice_draw(struct choice *c, const struct readings *in);
/* An experiment counts. */
void choice_count(struct choice *c, unsigned speedup_pct);

#endif
