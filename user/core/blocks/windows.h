/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the probes of blocks are there, and what their counts tell of the whole run. Time is cut
 * into cycles. In each there is one window, which begins at random and lasts 2 to 50 ms. A block is
 * in one window of every group of cycles, in which one of them is random too; blocks that cost
 * little are watched all the time. Pure. Times are ns.
 */
#ifndef COZBPF_BLOCK_WINDOWS_H
#define COZBPF_BLOCK_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/blocks/probe_cost.h"
#include "core/experiment/rng.h"

/* It takes some 1 ms of a CPU to open a window: 40 of them in a second are 4 %. */
#define WINDOW_CYCLE_NS 25000000ULL
#define WINDOW_LEAST_NS 2000000ULL
#define WINDOW_MOST_NS 50000000ULL
/* Of the exponential part, so most windows are short and some are long enough for what is slow. */
#define WINDOW_MORE_NS 3000000ULL
/* The part of the time that windows take; a block of every window is watched for so long. */
#define WINDOW_DUTY (((double)WINDOW_LEAST_NS + (double)WINDOW_MORE_NS) / (double)WINDOW_CYCLE_NS)
/* Groups of more cycles, 25 s, would leave most runs without a window. */
#define WINDOW_MOST_CYCLES 1000

/* A cycle that begins at @from: its window, and the begin of the next one. */
struct window_cycle {
	uint64_t open_ns, close_ns, end_ns;
};
struct window_cycle window_next(struct rng *r, uint64_t from);

/* When it is a block's turn: in one of `every` windows. */
struct window_turn {
	uint32_t every, next_every, at, pick;
};
/* From the next group on; at once where the windows are to be ten times as rare. */
void window_turn_set(struct window_turn *t, uint32_t every);
/* Whether the block is in this cycle's window. */
bool window_turn_take(struct window_turn *t, struct rng *r);
/* In one of so many windows, so that a block is watched for @share of the time; 0: all the time. */
uint32_t window_every(double share);

/*
 * @loads: the part of the CPU time that a block's probes take while they are there. *@ret of each
 * becomes the share of the time for which they may be there, so that all take @budget of the CPU
 * time. Blocks have equal parts of it; what one cannot use goes to the others. 0 or -ENOMEM.
 */
int window_shares(const double *loads, size_t n, double budget, double *ret);

/* What windows of one block have told in one run. */
struct window_sums {
	uint64_t n;       /* random windows */
	double entries;   /* in all windows, weighted by the time that each stands for */
	double executed;  /* likewise; without what probes took: */
	double probed;    /* likewise */
	double seen;      /* entries, as counted */
	uint64_t telling; /* random windows with entries and without that: */
	double vague;     /* of the entries, those in windows that tell nothing of the time */
	double watched;   /* time executed in windows */
	/* of differences between a window and the one before */
	double entries2, product, executed2;
	double last_entries, last_executed;
};

/* What one window has counted. */
struct window_counts {
	double entries;
	double executed, probed; /* by the target, and by probes besides */
	bool is_other;           /* executed counts another block's executions, not time */
};
/* @every: as window_turn had it; 0: the block is watched all the time. */
void window_sums_add(struct window_sums *s, uint32_t every, const struct window_counts *c);

/*
 * How often a block was executed in a run of @total ns. 0 and 0: in no window.
 *
 * Where probes take most of the time in a window, little is known of what the target has executed
 * there. What it has done there is told by another block, which is watched all the time: in place
 * of ns then stand that block's executions, in the windows and in all.
 */
struct window_estimate {
	double frequency;
	double se; /* standard error; 0: it was counted all the time */
};
/* @cost: what probes took, by what the counts say of that. */
struct window_estimate window_estimate(
    const struct window_sums *s, double total, const struct probe_cost *cost);

/* @e is relative to what has an error of its own. */
struct window_estimate window_relative_to(struct window_estimate e, struct window_estimate other);
/* Two estimates that are independent of each other, each with the weight of its error. */
struct window_estimate window_merge(struct window_estimate a, struct window_estimate b);

/* The same, but as one that is not known: it may be too low by any factor. */
struct window_estimate window_unknown(struct window_estimate e);
/* The same, but at least @seen, which is no more than that where nothing else is known. */
struct window_estimate window_at_least(struct window_estimate e, double seen);

/* What samples tell of a block, which are taken outside of windows, too. */
struct window_samples {
	double in_block, all;
	double avg_ns;   /* of an execution, with what it calls; 0: not known */
	double probe_ns; /* what the two probes of an execution take */
	bool is_certain; /* most executions take longer than window_certain_ns(probe_ns) */
};
/* Shorter times tell nothing: what probes take varies by as much. */
double window_certain_ns(double probe_ns);

/*
 * How much longer executions seem than they are, for probes take more than is known, or less: so
 * that @e executions make up the block's part of the samples. ns; below 0: they are longer. 0 as
 * well where it cannot be told.
 */
double window_time_excess(struct window_estimate e, const struct window_samples *s, double total);

/* How many executions of that length make up the block's part of the samples. 0 and 0: it is not
 * known, or not certain. */
struct window_estimate window_from_samples(const struct window_samples *s, double total);

#endif
