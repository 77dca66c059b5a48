/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shim's handler in a process that was launched without it: a page of code and the action of
 * one signal, nothing else. Both can be taken away again, and what the process had is restored. A
 * forked child inherits both; exec drops them.
 */
#ifndef COZBPF_INJECT_H
#define COZBPF_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text/errors.h"

/* SIGRTMIN + 10: not used by libc (32, 33), valgrind and the usual applications */
#define INJECT_FIRST_SIGNAL 44

struct signal_masks;

/* The kernel's struct sigaction on 64-bit machines. */
struct signal_action {
	uint64_t handler, flags, restorer, mask;
};

/* A thread that blocked the signal and now does not. */
struct unblocked {
	int tid;
	uint64_t others; /* signals that it blocked as well */
};

struct injection {
	int pid, signal;
	uint32_t quantum_ns;
	uint64_t start; /* of the process (procfs_start()), whose number may go to another */
	uint64_t owner; /* tells our pages from those of another cozbpf */
	uint64_t at;    /* address of the page */
	struct signal_action before; /* what the signal had */
	uint64_t held_ns;            /* how long a thread was held still for the injection */
	bool ignored;   /* on the way out: the signal may be ignored instead of what it had */
	bool reused;    /* took over a page that an earlier cozbpf left */
	bool inherited; /* by a fork */
	struct unblocked *unblocked;
	unsigned n_unblocked;
};

/*
 * A real-time signal for all of @pids. The first choice is one that none of them handles, ignores
 * or blocks in a thread. The second is one that some threads block. The last is one held by a
 * runtime that handles everything (Go). Returns -1 with @e when there is none.
 */
int inject_choose_signal(const int *pids, unsigned n, struct error *e);

/* Whether a runtime handles every real-time signal of a process, ours included: Go's takes them as
 * it starts. inject() borrows the signal from it. */
bool inject_all_handled(const struct signal_masks *masks);

/*
 * A signal without a value holds the CPU for @quantum_ns. Makes threads that block the signal stop
 * blocking it; their other masks stay. On -1 with @e
 * nothing is left in the process. End it with inject_remove() or, when the process has gone,
 * inject_forget().
 */
int inject(int pid, int signal, uint32_t quantum_ns, struct injection *ret, struct error *e);

/* Does the same with threads that block the signal since then, but not with those in a pause: the
 * kernel blocks the signal while its handler runs. Where the handler came by the preloaded library,
 * @i needs `pid`, `signal` and `start`; all else is 0. */
void inject_unblock(struct injection *i);

/* Threads that inject_unblock() has found block the signal as before, but those that have set their
 * masks since; inject_remove() does so too. */
void inject_block_again(struct injection *i);

/*
 * Takes the handler out. The last pause must be over, and no new one may be asked for. -1 with @e
 * when the process could not be held: the handler stays, which does nothing by itself. It can be
 * tried again. *@ret_left: false: the page stays, since a thread may still be in it, or it may be
 * the parent's as well. A process that does not have the page any more has ended or executed
 * another program, and is left alone.
 */
int inject_remove(struct injection *i, bool *ret_left, struct error *e);
void inject_forget(struct injection *i);

/*
 * Whether process @pid has inherited a handler of ours by a fork: its page tells, whoever the
 * parent was. If so *@ret is filled for inject_remove().
 */
bool inject_inherited(int pid, int signal, struct injection *ret);

#endif
