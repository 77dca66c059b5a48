/* SPDX-License-Identifier: BSD-3-Clause */
/* The time before experiments: the target runs as it is, and is watched until a progress point is
 * chosen, or for as long as the user wants suggestions. Times are CLOCK_MONOTONIC ns. */
#ifndef COZBPF_RUN_CHOOSE_H
#define COZBPF_RUN_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text/errors.h"

struct runner;

enum choose_state {
	CHOICE_OPEN, /* go on watching */
	CHOICE_MADE,
	CHOICE_FAILED,
};

/* -1 with @e. */
int choose_begin(struct runner *r, uint64_t now, struct error *e);
/* *@ret_due: when to call it again. CHOICE_FAILED with @e. */
enum choose_state choose_step(struct runner *r, uint64_t now, uint64_t *ret_due, struct error *e);
/* The target has ended, or its time has come. */
void choose_end(struct runner *r);
/* Whether a first watch has found nothing: the target goes on, and may be left at any time. */
bool choose_is_idle(const struct runner *r);

/* Prints what the watch has found. Returns how many of it can serve. */
int choose_print(const struct runner *r);

#endif
