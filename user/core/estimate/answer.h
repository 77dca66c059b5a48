/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The answer so far, in the middle of a run: which line leads, which lines want more experiments,
 * and whether --until has come true. Pure: the caller tells the time, and when nothing is in the
 * way of some milliseconds of work.
 */
#ifndef COZBPF_ANSWER_H
#define COZBPF_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/estimate/estimate.h"
#include "core/experiment/wanted.h"
#include "core/profile/profile.h"

struct answer {
	/* the user's */
	uint64_t seed;
	double until_width; /* half a width of an interval, as a fraction; 0: no --until */
	/* for the progress line: ", leading: FILE:LINE"; empty: no line leads yet */
	char leader[160];
	bool settled; /* --until has come true; it stays so */
	/* private */
	enum sort_key sort;         /* of the last look */
	uint64_t look_at_ns;        /* when to look again */
	uint64_t settle_at_ns;      /* when to look again whether it is settled */
	size_t settled_experiments; /* how many there were at that look */
};

/* Whether another look is due: every few seconds, or at once when the order has changed. */
bool answer_is_due(const struct answer *a, uint64_t now, enum sort_key sort);

/* Estimates @p and names the leader. 0, or -ENOMEM. The caller frees @ret, which borrows from @p.
 */
int answer_look(
    struct answer *a, const struct profile *p, enum sort_key sort, struct estimate *ret);

/* A look has lasted from @began to @now: the next one waits in proportion. */
void answer_looked(struct answer *a, uint64_t began, uint64_t now);

/*
 * Which lines are wanted, and how much: those of @p's experiments that @e ranks. @lines: the line
 * id of each of these experiments. Returns an array that the caller frees, of @ret_n lines; NULL
 * where memory is short.
 */
struct wanted *answer_wanted(
    const struct estimate *e, const struct profile *p, const uint32_t *lines, size_t *ret_n);

/* Whether answer_settle() has something to look at: @n experiments are there. */
bool answer_may_settle(const struct answer *a, uint64_t now, size_t n);

/* Looks whether --until has come true. Returns a->settled. */
bool answer_settle(struct answer *a, const struct profile *p, uint64_t now);

#endif
