/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work on held threads (tracee.h) is done by a process of its own. A held thread has our registers
 * and our signal mask, and kill -9 may hit us at any moment. The keeper finishes its work all the
 * same, so the thread goes on with what was its own.
 */
#ifndef COZBPF_KEEPER_H
#define COZBPF_KEEPER_H

#include "core/text/errors.h"

/*
 * Runs @work in a process that shares our memory, has a stack of 256 kB and blocks all signals. We
 * wait until it has ended. Returns what @work returns, or -1 with @e when no such process can be
 * made. Within @work it calls @work at once.
 */
int keeper_run(int (*work)(void *arg, struct error *e), void *arg, struct error *e);

#endif
