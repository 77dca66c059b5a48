/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the next experiment is: long enough for a few visits at the most visited progress point,
 * and no longer than useful. The clock is the caller's; nothing is known here of lines and
 * speedups.
 */
#ifndef COZBPF_LENGTH_H
#define COZBPF_LENGTH_H

#include <stddef.h>
#include <stdint.h>

/* the shortest experiment of Coz (its ExperimentMinTime) */
#define LENGTH_FIRST_NS 500000000ULL
/* 100 samples of a thread: three times the window that its share f is taken from */
#define LENGTH_MIN_NS 100000000ULL
/* a program visited less often than once in 2 s needs --end-to-end, not longer experiments */
#define LENGTH_MAX_NS 8000000000ULL
#define LENGTH_BURSTS_MIN 5 /* observations that an experiment needs (paper 3.2) */
/* From here on an experiment is halved: one observation more or less at its end is then 0.5 % of
 * it, and at most 1 % after halving, which is below what experiments differ by anyway; more and
 * shorter experiments average over phases and over neighbours better. */
#define LENGTH_BURSTS_MANY 200
/* Where lines are chosen at random there are many to be told apart, and each needs several speedups
 * before it can be ranked: more and shorter experiments. */
#define LENGTH_BURSTS_MANY_LINES 30

struct length {
	uint64_t ns;     /* of the next experiment */
	uint64_t min_ns; /* never shorter */
	uint64_t max_ns; /* never longer */
	uint64_t many;   /* observations from which on it is halved */
};

/* @given_ns: the user's --experiment-length, then also the shortest one (and the longest one when
 * above LENGTH_MAX_NS); 0: LENGTH_FIRST_NS. @many: LENGTH_BURSTS_MANY or LENGTH_BURSTS_MANY_LINES.
 */
void length_init(struct length *l, uint64_t given_ns, uint64_t many);

/*
 * An experiment of l->ns has closed with @bursts[i] observations (point_record.bursts) at point i.
 * The length is
 * - doubled when the most visited point has fewer than LENGTH_BURSTS_MIN: a rare point beside a
 * busy one asks for nothing;
 * - halved when the most visited point has l->many or more, and no point that now has enough would
 * fall below LENGTH_BURSTS_MIN. A length that has been halved has at least half of them left, so
 * the two never alternate. Without points nothing changes.
 */
void length_update(struct length *l, const uint64_t *bursts, size_t n_points);

#endif
