/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress points that the user names (-P, -L), else those of the program's own source, or else the
 * whole run, or one that is chosen later. */
#ifndef COZBPF_RUN_POINT_SOURCES_H
#define COZBPF_RUN_POINT_SOURCES_H

#include "core/text/errors.h"

struct points;

/* Adds them all. Where it is the whole run, the options say end_to_end from then on; where one is
 * to be chosen, the points are open. -1 with @e. */
int point_sources_add(struct points *p, struct error *e);

#endif
