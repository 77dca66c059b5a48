/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* Pauses: what the kernel side, the loader and the handler share. Part of abi.h, whose rules hold
 * here as well. */
#ifndef COZBPF_ABI_PAUSE_H
#define COZBPF_ABI_PAUSE_H

#include <linux/types.h>

/* a pause is at most this long, the rest is asked again */
#define COZBPF_PAUSE_MAX_NS 10000000ULL
/* an ask not begun by then is withdrawn (WITHDRAW) */
#define COZBPF_ASK_TIMEOUT_NS 5000000ULL
/* debt that says the thread cannot be made to pay: five longest pauses */
#define COZBPF_DEEP_DEBT_NS 50000000ULL
/*
 * How the kernel side tells the shim's handler from anything else, without looking at the target's
 * memory (which may not be there when it looks): these flags (SA_SIGINFO, SA_RESTART, SA_ONSTACK,
 * SA_RESTORER), and a restorer at this distance from the handler.
 */
#define COZBPF_HANDLER_FLAGS 0x1c000004UL
#define COZBPF_HANDLER_DISTANCE 48

/* The last words of the handler's code, which the loader or the preloaded library fills in. */
struct cozbpf_handler_words {
	__u64 quantum_ns;    /* for which a signal without a value holds the CPU */
	__u64 clock_gettime; /* address of the vDSO's; 0: there is none */
};

#define COZBPF_HOLD 1ULL /* lowest bit of the signal's value: hold the CPU, do not sleep */

/* How the handler is told the end of its pause (user/kernel/pause_mode.h). */
#define COZBPF_BY_VALUE 0  /* the signal carries it */
#define COZBPF_BY_WRITE 1  /* it is written into the siginfo on the thread's stack */
#define COZBPF_BY_QUANTA 2 /* it is not: each signal holds the CPU for config.quantum_ns */

/* Not a helper's number: the loader replaces such calls by calls of bpf_send_signal_task(). */
#define COZBPF_SEND_SIGNAL_TASK 0x636f7a

#endif
