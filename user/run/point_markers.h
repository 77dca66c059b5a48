/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress points that a program's own source names: the markers of our coz.h, and the places of
 * Coz's that have asked for their counters in vain. All are probed. */
#ifndef COZBPF_RUN_POINT_MARKERS_H
#define COZBPF_RUN_POINT_MARKERS_H

#include <stddef.h>

#include "core/text/errors.h"

struct marker;
struct points;

/* Looks for markers in the main object, and in what is mapped later. 1: the main object has none;
 * -1 with @e. */
int point_markers_add(struct points *p, struct error *e);

/* Moves each site to the cheaper one of its nops. */
void point_markers_cheapen(struct marker *markers, size_t n);

#endif
