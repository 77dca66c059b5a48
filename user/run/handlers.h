/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pause handler in processes that have not been given it by the preloaded shim, and out of them
 * again: those attached to, and those that no preloaded library reaches.
 */
#ifndef COZBPF_RUN_HANDLERS_H
#define COZBPF_RUN_HANDLERS_H

#include <stdint.h>

#include "core/text/errors.h"

struct process;
struct target;

/* -1 with @e: the process is as it was. */
int handlers_inject(struct target *t, struct process *p, struct error *e);
void handlers_after_exec(struct target *t, struct process *p);
void handlers_after_fork(struct process *child, const struct process *parent);
void handlers_forget(struct process *p);

/* Looks whether a process has come to have a handler since its exec, and still has it: when that is
 * due, and its number is its own still. */
void handlers_look(struct target *t, struct process *p, uint64_t now);
/* When the first is due; UINT64_MAX: there is nothing to look at. */
uint64_t handlers_next(const struct target *t);

/* After session_adopt(): lets threads pause whose seccomp filters are harmless. */
void handlers_check_filters(const struct target *t);
/* Between experiments: unblocks the signal where threads have come to block it, and looks at
 * seccomp filters that have come. */
void handlers_unblock(struct target *t, uint64_t now);
/* Returns when no thread is in a pause any more, and what samples have sent is delivered. */
void handlers_wait_for_pauses(const struct target *t);
/* After session_detach(): takes the handlers out again. */
void handlers_take_back(struct target *t);

#endif
