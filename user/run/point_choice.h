/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress point that is chosen where nobody names one: the best of what was watched. */
#ifndef COZBPF_RUN_POINT_CHOICE_H
#define COZBPF_RUN_POINT_CHOICE_H

#include "core/text/errors.h"

struct points;

/* After point_watch_end(): adds the best candidate, or two that can contradict each other. 0; 1:
 * none of them can serve; -1 with @e. */
int point_choice_make(struct points *p, struct error *e);

/* Of processes that run already: no candidate can serve. Says so, and what to do about it. -1. */
int point_choice_fail(const struct points *p, struct error *e);

#endif
