/* SPDX-License-Identifier: BSD-3-Clause */
/* The rooms of a run: how they are joined before the first run, and given up after the last. */
#ifndef COZBPF_RUN_SETUP_H
#define COZBPF_RUN_SETUP_H

#include <cozbpf/abi.h>
#include "core/text/errors.h"

struct runner;

/* @r has its options and its console. 0, or -1 with @e; run_teardown() is to be called either way.
 */
int run_setup(struct runner *r, struct error *e);
void run_teardown(struct runner *r);

/* A handler for session_events(): tells the rooms. */
void run_on_event(const struct cozbpf_counter_event *event, void *runner);

#endif
