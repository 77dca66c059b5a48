/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals that wait while the loop is at work elsewhere. */
#ifndef COZBPF_RUN_INTERRUPT_H
#define COZBPF_RUN_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* A signal that ends us waits: what takes long ends, and the loop finds the signal. */
static inline bool is_to_end(void)
{
	sigset_t waiting;

	return !sigpending(&waiting) &&
	       (sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGTERM) ||
		   sigismember(&waiting, SIGHUP) || sigismember(&waiting, SIGQUIT));
}

#endif
