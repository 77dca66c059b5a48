/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which speedup the next experiment at a line gets. Draws are block-randomised: each line's
 * baselines and speedups alternate closely in time, and all speedups come equally often. Which line
 * is next is not decided here.
 */
#ifndef COZBPF_SCHEDULE_H
#define COZBPF_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/experiment/rng.h"

#define SCHEDULE_PCT_MAX 100

struct schedule_line;

struct schedule {
	struct rng rng; /* the seed; each line draws from a stream of its own */
	uint8_t speedups_pct[SCHEDULE_PCT_MAX]; /* the non-zero ones, each once */
	size_t n_speedups;
	bool has_large;              /* large ones may come first: schedule_next() */
	struct schedule_line *lines; /* open addressing; size is a power of two */
	size_t n_lines, size;
};

/*
 * A deck per line: pairs of a baseline and a speedup, in random order within the pair; the speedups
 * run through a shuffled pass, then through a newly shuffled one. @speedups_pct: the user's list
 * (0..100; repeated entries count once; a baseline need not be in it, it always takes part),
 * NULL: 5..100 by 5, of which 60..100 by 10 are the large ones. A list of zeros alone gives
 * baselines only. @seeded is copied. 0, or -EINVAL for an empty list or an entry above 100 %.
 */
int schedule_init(
    struct schedule *s, const struct rng *seeded, const unsigned *speedups_pct, size_t n);
void schedule_deinit(struct schedule *s);

/*
 * Speedup in percent of the next experiment at @line. @curve: any; else a large one, of which few
 * experiments tell whether the line matters at all: the error of a slope falls as the square of its
 * speedups grows. The user's list has no large ones. What a line gets depends on the seed and on
 * how often it was asked for before, and not on other lines. Without memory for a deck the draw is
 * independent: 0 with probability 1/2, else any speedup.
 */
unsigned schedule_next(struct schedule *s, uint32_t line, bool curve);

/* The same without pairs: the next speedup of the line's pass, as somebody else decides about
 * baselines. 0 where the list has nothing else. */
unsigned schedule_speedup(struct schedule *s, uint32_t line);

#endif
