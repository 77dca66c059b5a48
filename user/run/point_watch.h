/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watches the target for a moment, without any delay, and counts visits to the places that could be
 * progress points: system calls, functions on its stacks, static probes, markers. What makes a good
 * one is in core/places/candidates.h.
 */
#ifndef COZBPF_RUN_POINT_WATCH_H
#define COZBPF_RUN_POINT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/places/candidates.h"
#include "core/text/errors.h"

struct points;

/* To be read when the watch has ended. */
struct point_watch {
	struct candidate_watch figures;
	/* best first; the first @good can serve */
	struct candidate *all;
	size_t n, good;
	/* stacks that functions were told from */
	size_t stacks;
};

/* So many slices (core/places/candidates.h). @probes: other places than system calls, too. -1 with
 * @e; point_watch_deinit() either way. */
int point_watch_begin(
    struct points *p, unsigned slices, bool probes, uint64_t now, struct error *e);
/* What is due at @now. False: it is over; else *@ret_due is when to call it again. */
bool point_watch_step(struct points *p, uint64_t now, uint64_t *ret_due);
/* Removes all probes, and ranks what was counted. */
void point_watch_end(struct points *p);
void point_watch_deinit(struct points *p);

#endif
