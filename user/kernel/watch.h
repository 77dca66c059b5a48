/* SPDX-License-Identifier: BSD-3-Clause */
/* What the target does, counted for a moment so that a progress point can be chosen: system calls,
 * call chains, visits to places. After session_attach(), and without any experiment. */
#ifndef COZBPF_WATCH_H
#define COZBPF_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include <cozbpf/abi.h>
#include "core/text/errors.h"

struct session;
struct watcher;

/* Counts the target's system calls that succeed, until it is closed. Each system call of the
 * machine executes some 40 instructions meanwhile. -1 with @e. */
int watcher_open(struct session *s, struct watcher **ret, struct error *e);
void watcher_close(struct watcher *w); /* accepts NULL */

/* Calls of that number so far. */
uint64_t watcher_calls(const struct watcher *w, unsigned number);

/* Takes the call chain of what each CPU executes, once in @period_ns of its time. -1 with @e. */
int watcher_take_stacks(struct watcher *w, uint64_t period_ns, struct error *e);
void watcher_leave_stacks(struct watcher *w);
/* Hands the stacks that have come to @handle. */
void watcher_stacks(
    struct watcher *w, void (*handle)(const struct cozbpf_stack *stack, void *arg), void *arg);

/* Places of one file; all of them are there as long as one descriptor is open. */
struct watch_sites {
	const char *path; /* to open the file by */
	/* @n of each: in the file; of counters to be raised meanwhile, 0: none; of the candidate,
	 * below COZBPF_CANDIDATES */
	const uint64_t *offsets, *semaphores, *numbers;
	size_t n;
};
/* Counts visits to them. Returns a descriptor, whose close() removes the probes, or -errno. */
int watcher_probe(struct watcher *w, const struct watch_sites *at);
/* Visits to candidate @number so far. */
uint64_t watcher_visits(const struct watcher *w, unsigned number);

#endif
