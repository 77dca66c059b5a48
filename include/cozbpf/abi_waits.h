/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* Waits as units (--off-cpu): what bpf/waits.bpf.c and the loader share. Part of abi.h, whose rules
 * hold here as well. */
#ifndef COZBPF_ABI_WAITS_H
#define COZBPF_ABI_WAITS_H

#include <linux/types.h>

/* Classes of waits (--off-cpu), in the order of their blocks of ids. */
#define COZBPF_WAIT_IO 0    /* for a disk or a file system */
#define COZBPF_WAIT_LOCK 1  /* for a futex, a semaphore, a lock of the kernel */
#define COZBPF_WAIT_NET 2   /* for a peer: at sockets, or polling */
#define COZBPF_WAIT_SLEEP 3 /* for the time to come */
#define COZBPF_WAIT_SCHED 4 /* for a CPU */
#define COZBPF_WAIT_OTHER 5 /* for a pipe, a child, a signal */
#define COZBPF_WAIT_CLASSES 6
/* Of a system call: what its first argument is decides; it is futex(). */
#define COZBPF_WAIT_BY_FILE 6
#define COZBPF_WAIT_FUTEX 7
/* Ids of a class: its own, that of waits in no line in scope, then those of lines. */
#define COZBPF_WAIT_UNITS 1024
#define COZBPF_WAIT_NO_LINE 1
#define COZBPF_WAIT_UNSEEN (~0U)   /* a unit: the begin of the wait was not seen */
#define COZBPF_WAIT_CALLERS 31     /* lines in scope above the one that waits, the innermost ones */
#define COZBPF_WAIT_NO_STACK (~0U) /* the first of callers that were not looked for */
#define COZBPF_WAIT_STACKS 2048    /* stacks of waits of the whole run */
#define COZBPF_WAKERS 8192         /* wakers of units of waits */

/* A system call, 1 + its number, 0: none, as in a page fault, in which a line's waits were. */
struct cozbpf_wait_call {
	__u32 unit, call;
};
#define COZBPF_WAIT_CALLS 8192 /* of all units */

/* Where a thread waits: its unit, and the lines that have called it, the innermost first; 0: none.
 * A key: unused callers are 0. */
struct cozbpf_wait_stack {
	__u32 unit;
	__u32 callers[COZBPF_WAIT_CALLERS];
} __attribute__((aligned(8)));

/* Who ended waits of a unit: the line of a thread of the target, or COZBPF_WAKER_*. A key. */
struct cozbpf_waker {
	__u32 unit, line;
};
#define COZBPF_WAKER_NO_LINE 0U /* a thread of the target, in no line in scope */
#define COZBPF_WAKER_TIMER (~0U)
#define COZBPF_WAKER_KERNEL (~1U)  /* an interrupt, or a thread of the kernel */
#define COZBPF_WAKER_PROCESS (~2U) /* another process */
#define COZBPF_WAKER_END (~3U)     /* a thread of the target, which ended; lines are below */

/* A thread in a selected wait, by its number modulo COZBPF_WAITERS: R follows while the wait lasts.
 */
struct cozbpf_waiter {
	__u64 since; /* 0: nobody's */
	__u64 paid;  /* L then */
	__u32 unit, epoch;
};
#define COZBPF_WAITERS 32

_Static_assert(
    sizeof(struct cozbpf_wait_stack) == 4 + 4 * COZBPF_WAIT_CALLERS, "no padding: it is a key");

#endif
