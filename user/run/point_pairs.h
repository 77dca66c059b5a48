/* SPDX-License-Identifier: BSD-3-Clause */
/* Latency pairs: a point for the begins of requests, and the next one for their ends. */
#ifndef COZBPF_RUN_POINT_PAIRS_H
#define COZBPF_RUN_POINT_PAIRS_H

#include <stdbool.h>

#include "core/text/errors.h"

struct points;

/* Adds the latency that the user names by @text (-L). -1 with @e. */
int point_pairs_add(struct points *p, const char *text, struct error *e);
/* The index of the begins of latency @name, which is made where there is none; its ends follow. -1
 * with @e. */
int point_pairs_named(struct points *p, const char *name, unsigned *ret, struct error *e);
bool point_pairs_any(const struct points *p);

#endif
