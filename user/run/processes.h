/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of the target, as they come, execute and end. */
#ifndef COZBPF_RUN_PROCESSES_H
#define COZBPF_RUN_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include <cozbpf/abi.h>
#include "core/text/errors.h"

struct process;
struct target;

/* dlopen may come at any time: one read of /proc/PID/maps, some 50 us */
#define RESCAN_LAST_NS 500000000ULL

bool processes_have(struct target *t, int pid);

/* Gives a process that runs already its pause handler. -1 with @e. */
int processes_begin(struct target *t, int pid, struct error *e);
/* Reads the mappings of a process. */
void processes_read(struct target *t, int pid);
/* The same of all, whose probes were dropped meanwhile. */
void processes_read_all(struct target *t);
/* A process executes another program, forks or ends. */
void processes_on_event(struct target *t, const struct cozbpf_event *event);
/* Reads mappings that are due again. @is_awaited: something is yet to be mapped that a progress
 * point needs. */
void processes_rescan(struct target *t, uint64_t now, bool is_awaited);
void processes_deinit(struct target *t);

#endif
