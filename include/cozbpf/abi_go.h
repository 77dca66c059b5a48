/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* Goroutines, which have accounts of their own: what bpf/go.bpf.c and the loader share. Part of
 * abi.h, whose rules hold here as well. */
#ifndef COZBPF_ABI_GO_H
#define COZBPF_ABI_GO_H

#include <linux/types.h>

#define COZBPF_GOROUTINES 65536 /* alive at a time that have accounts, a kilobyte each */

/* Where the runtime's structs have what is looked at; set before loading (object_go_runtime()). */
struct cozbpf_go {
	__u16 g_m, g_atomicstatus, g_goid, m_g0;
	__u16 m_curg, m_mallocing, m_preemptoff, m_locks;
	__s64 tls_g; /* the thread's g, from its thread pointer */
};

/* Cookie of a probe of the runtime: the event, and which register holds the goroutine. */
#define COZBPF_GO_EXECUTE 0 /* the thread goes over to it */
#define COZBPF_GO_PARK 1    /* it leaves the thread, blocked */
#define COZBPF_GO_READY 2   /* it becomes runnable */
#define COZBPF_GO_NEW 3     /* it has been made */
#define COZBPF_GO_EXIT 4    /* it ends */
#define COZBPF_GO_COLLECT 5 /* the one that the thread runs is a worker of the collector */
#define COZBPF_GO_COOKIE(event, in_rbx) ((__u64)(event) | (__u64)(in_rbx) << 8)
#define COZBPF_GO_COOKIE_EVENT(cookie) ((cookie)&0xff)
#define COZBPF_GO_COOKIE_RBX(cookie) ((cookie) >> 8 & 1)

/* Numbers of goroutines are not used twice in a process. A key. */
struct cozbpf_goroutine {
	__u64 goid;
	__u32 tgid, pad;
};

/* What a kernel thread runs. In the first two it has its own account. */
#define COZBPF_RUNS_ITSELF 0    /* it is of no program whose goroutines have accounts */
#define COZBPF_RUNS_OWN 1       /* code without a goroutine that has an account */
#define COZBPF_RUNS_RUNTIME 2   /* Go's scheduler: nobody's account */
#define COZBPF_RUNS_GOROUTINE 3 /* that one */
/* What a goroutine's state has there: */
#define COZBPF_RUNS_COLLECTOR 4 /* it is a worker of the collector */
struct cozbpf_runs {
	__u64 g, goid; /* address and number of the goroutine that it ran last */
	__u32 what;    /* COZBPF_RUNS_* */
	__u32 by;      /* of a goroutine: number of the thread that it went to last */
};

_Static_assert(sizeof(struct cozbpf_go) == 24, "no padding");
_Static_assert(sizeof(struct cozbpf_goroutine) == 16, "no padding: it is a key");

#endif
