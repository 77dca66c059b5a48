/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `cozbpf blocks`: which blocks are watched when, and what a run told of them. Samples tell which
 * blocks run (blocks_candidates.c). These have the slots of the kernel side (blocks_slots.c), which
 * count while a window is open (blocks_windows.c). A run's figures go to the log
 * (blocks_record.c). Times are CLOCK_MONOTONIC ns.
 */
#ifndef COZBPF_RUN_BLOCKS_H
#define COZBPF_RUN_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text/errors.h"

struct blocks;
struct console;
struct files;
struct points;
struct run_options;
struct session;
struct target;

/* Borrowed. */
struct blocks_rooms {
	const struct run_options *o;
	const struct console *console;
	struct session *session;
	struct files *files;
	const struct points *points;
	const struct target *target;
};

/* Finds out what probes cost, and opens the log. -1 with @e. */
int blocks_open(const struct blocks_rooms *rooms, struct blocks **ret, struct error *e);
void blocks_close(struct blocks *b); /* accepts NULL */

/* The command of run number @run, from 0. */
const struct run_command *blocks_command(const struct blocks *b, uint64_t run);
/* The target is held: what is known to be cheap is watched from its first instruction on. */
void blocks_begin_run(struct blocks *b);
/* The command has not started, for a reason that is said. */
void blocks_not_started(struct blocks *b, uint64_t run, const struct error *why);
/* In each tick. *@due: when to call it again. */
void blocks_step(struct blocks *b, uint64_t now, uint64_t *due);
/* The run is over, or its time is. */
void blocks_end_run(struct blocks *b, uint64_t now, bool target_ended);
/* The command has ended: the run goes to the log. -1 with @e. */
int blocks_record(struct blocks *b, uint64_t run, struct error *e);

/* Says what there was in all. The exit status, EXIT_OK where that of the command holds. */
int blocks_finish(const struct blocks *b);

#endif
