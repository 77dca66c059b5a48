/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of things in time: runs of the command one after the other, and what is done in each
 * tick of one. The loop alone changes its state; keys and signals ask for actions (run/action.h).
 */
#ifndef COZBPF_LOOP_H
#define COZBPF_LOOP_H

#include <stdbool.h>

#include "core/text/errors.h"

struct runner;

/* Profiles what has been set up, to its end. 0, or -1 with @e. */
int loop_run(struct runner *r, struct error *e);
/* Watches it, prints what could be a progress point, and leaves it to its end. Returns how many
 * there are, or -1 with @e. */
int loop_suggest(struct runner *r, struct error *e);
/* Runs its commands with their blocks watched. A run that is not over when its time is, is ended. A
 * line of inputs that does not start is said, and the others go on. *@ret_whole: nobody has
 * interrupted it. 0, or -1 with @e. */
int loop_blocks(struct runner *r, bool *ret_whole, struct error *e);

#endif
