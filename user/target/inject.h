/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shim's handler in a process that was not launched with it: a page of code and the action of
 * one signal, nothing else; and both taken away again. What the process had is put back. A process
 * that forks hands both on to its child; exec drops them.
 */
#ifndef COZBPF_INJECT_H
#define COZBPF_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text/errors.h"

/* SIGRTMIN + 10: away from what libc (32, 33), valgrind and the usual applications take */
#define INJECT_FIRST_SIGNAL 44

/* The kernel's struct sigaction on 64-bit machines. */
struct signal_action {
	uint64_t handler, flags, restorer, mask;
};

struct injection {
	int pid, signal;
	uint64_t at;                 /* address of the page */
	struct signal_action before; /* what the signal had */
	uint64_t held_ns;            /* how long a thread of it was held still for this */
	bool reused;                 /* a page that an earlier cozbpf left was taken over */
	int *unblocked;              /* threads that blocked the signal, and do not now */
	unsigned n_unblocked;
};

/*
 * A real-time signal for all of @pids: one that none of them handles, ignores or has blocked in a
 * thread if there is one; else one blocked in some; else one that a runtime which catches
 * everything (Go) holds. -1 with @e when there is none.
 */
int inject_choose_signal(const int *pids, unsigned n, struct error *e);

/*
 * Threads that block the signal are made not to: what they block otherwise stays blocked. -1 with
 * @e, and then nothing is left in the process. Ends with inject_remove() or, when the process has
 * gone, inject_forget().
 */
int inject(int pid, int signal, struct injection *ret, struct error *e);

/* Does the same with threads that have come to block it since. No thread may be in a pause: the
 * kernel blocks the signal while its handler runs. */
void inject_unblock(struct injection *i);

/*
 * Takes it out. No pause may be asked for any more, and the latest one is over. -1 with @e when the
 * process could not be held: the handler stays, which does nothing by itself. The page stays where
 * a thread may still be in it; *@ret_left tells.
 */
int inject_remove(struct injection *i, bool *ret_left, struct error *e);
void inject_forget(struct injection *i);

#endif
