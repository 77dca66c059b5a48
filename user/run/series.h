/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Series of experiments with rests between them (--duty). A series is a run of the profile: its
 * baselines and its samples stand beside its experiments. In a rest the kernel side sleeps. When
 * there is a series is decided in core/experiment/duty.h. Times are CLOCK_MONOTONIC ns.
 */
#ifndef COZBPF_SERIES_H
#define COZBPF_SERIES_H

#include <stdbool.h>
#include <stdint.h>

struct runner;
struct series;

/* The target is about to be watched; a rest begins. */
void series_begin(struct runner *r, uint64_t now);
/* To be called in each tick. True: it is a rest, and nothing is to be measured before *@ret_due. */
bool series_rests(struct runner *r, uint64_t now, uint64_t *ret_due);
/* The target is watched no more. */
void series_end(struct runner *r, uint64_t now, bool target_ended);
void series_deinit(struct series *s);

#endif
