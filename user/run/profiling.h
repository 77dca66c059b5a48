/* SPDX-License-Identifier: BSD-3-Clause */
/* A run of the profile from its first record to its last one: what loop.c and series.c begin and
 * end. Times are CLOCK_MONOTONIC ns. */
#ifndef COZBPF_PROFILING_H
#define COZBPF_PROFILING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text/errors.h"

struct runner;

/* Writes where it begins. -1 with @e. */
int profiling_write_startup(struct runner *r, struct error *e);
/* Its experiments may be made from now on. */
void profiling_begin(struct runner *r, uint64_t now);
/* They are over; writes the rest of its records. */
void profiling_end(struct runner *r, uint64_t now, bool target_ended);

#endif
