/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether experiments may be made now, as the machine's load and a command of the user's say
 * (--pause-above, --pause-if). The command runs beside the loop, which never waits for it. Times
 * are CLOCK_MONOTONIC ns.
 */
#ifndef COZBPF_GUARD_H
#define COZBPF_GUARD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/experiment/duty.h"

struct console;
struct identity;

struct guard {
	/* borrowed, set before the first question; command NULL: there is none */
	const char *command;
	/* load average of the last minute above which nothing is measured; 0: any will do */
	double load_most;
	const struct identity *identity; /* as whom the command runs, */
	const sigset_t *mask;            /* and with which signals blocked */
	const struct console *console;
	/* private; pid 0: it does not run */
	int pid, pidfd;
	int killed; /* may not have gone yet; 0: none */
	uint64_t asked_ns;
	bool is_answered; /* since guard_ask() */
	bool may;         /* its last answer */
	bool has_warned;
};

/* Asks, unless a question is open. */
void guard_ask(struct guard *g, uint64_t now);
/* What is known by now. A command that cannot be run, fails or takes more than five seconds counts
 * as a no, which is said once. */
enum duty_guard guard_answer(struct guard *g, uint64_t now);
/* When to look again although guard_fd() is not readable. */
uint64_t guard_next(const struct guard *g);
/* Readable when the command has ended; -1: none runs. */
int guard_fd(const struct guard *g);
/* Ends a command that runs. */
void guard_deinit(struct guard *g);

#endif
