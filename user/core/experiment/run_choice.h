/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a run of the command is one experiment: which line each run is on, at which speedup, and
 * how many runs it takes to tell something. Runs are dear, so lines share them by a plan. */
#ifndef COZBPF_RUN_CHOICE_H
#define COZBPF_RUN_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#include "core/experiment/readings.h"
#include "core/experiment/schedule.h"

/* that get runs, however many runs there are */
#define RUN_LINES 16

/* In percent: the first one shows whether the gain goes on from there. Simulated, more speedups
 * tell fewer lines (tests/unit/test_whole_runs.c). At 100 % a thread that owes could never catch
 * up, and of a command that has one line no time would be left. */
#define RUN_SPEEDUPS   \
	{              \
		50, 90 \
	}
#define N_RUN_SPEEDUPS 2

/* A line, and the most that the command can gain by it: what the line has executed, as a share of
 * the command's time, 1 at most. */
struct run_line {
	uint32_t line;
	uint64_t samples;
	double most;
};

/* What a line of the plan had so far: runs that count. */
struct run_done {
	uint32_t line;
	uint64_t baselines, speedups;
};

struct run_choice {
	/* the user's: runs of the command */
	uint64_t planned;
	uint64_t baselines;
	struct run_done lines[RUN_LINES];
	size_t n_lines;
};

/* Lines are found by their samples, of @period_ns each, in runs that took @ran_ns together. */
struct run_samples {
	const struct cozbpf_line_count *lines;
	/* one more than the highest id */
	size_t n_lines;
	uint64_t period_ns, ran_ns;
};

/* The lines with most samples, most first, without those that have less than a tenth of the first
 * one's. Returns their number. */
size_t run_choice_rank(const struct run_samples *s, struct run_line ret[RUN_LINES]);

/*
 * The next run: returns its line, 0 before there are samples, and @ret_pct. @fixed: the @n_fixed
 * units that the user has named, RUN_LINES at most. Baselines are named after lines in turns.
 */
uint32_t run_choice_next(struct run_choice *r, struct schedule *schedule,
    const struct run_samples *samples, const uint32_t *fixed, size_t n_fixed, unsigned *ret_pct);
/* That run counts. */
void run_choice_count(struct run_choice *r, uint32_t line, unsigned pct);

/* How many runs tell something about the main lines, and how long those runs take together. */
struct run_advice {
	uint64_t runs, ns;
};
/* @runs: of which the samples are, without delays. There is always an advice. */
struct run_advice run_choice_advise(const struct run_samples *samples, size_t runs);

#endif
