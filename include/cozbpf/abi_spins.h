/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* Busy waiting: how samples and probes tell the loader where threads wait by trying again. Part of
 * abi.h. */
#ifndef COZBPF_ABI_SPINS_H
#define COZBPF_ABI_SPINS_H

#include <linux/types.h>

/* where a sample finds a thread that seems to spin */
#define COZBPF_SPINS_PAUSE 1 /* at a PAUSE instruction; control.spin_samples[0] */
#define COZBPF_SPINS_YIELD 2 /* in sched_yield(); control.spin_samples[1] */
#define COZBPF_SPINS_IDLE 4  /* in an idle loop: the loader knows these, and looks at `spots` */

/* The latest samples in user mode, while COZBPF_SPINS_IDLE is looked for; n: of all there were. A
 * reader may meet one half written: then it is a sample of some other place. */
#define COZBPF_SPOTS 256 /* a power of two */
struct cozbpf_spot {
	__u64 ip;
	__u32 tgid, pad;
};
struct cozbpf_spots {
	__u64 n;
	struct cozbpf_spot at[COZBPF_SPOTS];
} __attribute__((aligned(64)));

/* How often the probed branch of an idle loop has gone back, and how often on. */
#define COZBPF_LOOPS 64
struct cozbpf_loop {
	__u64 turned, left;
} __attribute__((aligned(64)));

/*
 * When a conditional branch is taken, on x86-64: where one of the flags is set that the lowest 16
 * bits name, or (LESS) the sign's and the overflow's flags differ; NOT: else. 0: always.
 */
#define COZBPF_BRANCH_LESS (1U << 16)
#define COZBPF_BRANCH_NOT (1U << 17)
static inline __attribute__((always_inline, unused)) int cozbpf_branch_taken(
    __u64 flags, __u32 condition)
{
	/* that of the sign is bit 7, that of overflow bit 11 */
	int less = condition & COZBPF_BRANCH_LESS && (flags ^ flags >> 4) & 0x80;

	return (less || flags & condition & 0xffff) != !!(condition & COZBPF_BRANCH_NOT);
}

/* Cookie of a probe in a loop that waits: a visit is a turn where the condition holds. Of loops
 * with a condition the visits are counted in the loop @loop. */
#define COZBPF_LOOP_COOKIE(loop, condition) ((__u64)(loop) << 32 | (condition))
#define COZBPF_LOOP_COOKIE_LOOP(cookie) ((__u32)((cookie) >> 32) % COZBPF_LOOPS)

#endif
