/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * From a sample to its callers: by the rows that the loader made of .eh_frame, as compilers omit
 * frame pointers and libraries are compiled without; by frame pointers where there is no row.
 */
#ifndef COZBPF_UNWIND_BPF_H
#define COZBPF_UNWIND_BPF_H

#include "maps.bpf.h"

#define SEARCH_STEPS 23 /* binary search over up to 2^23 ranges or rows */

struct unwind {
	const struct cozbpf_proc *proc;
	__u64 ip, sp, bp;
	__u32 called; /* ip is that of a call that has been made: a return address */
	__u32 line;   /* found */
	__u64 now;    /* inclusive: the sample's time, and what pass_line() has found */
	__u32 own, selected, pick, passed;
};

/* The last row of a slice at or before a file offset, as the eight bytes it is; 0, which is no
 * rule, for none. At most SEARCH_STEPS steps. Not static, as mapping_at(). */
__attribute__((noinline, weak)) __u64 row_in_slice(__u32 first, __u32 count, __u64 offset)
{
	__u32 lo = first, n = count;
	__u64 found = 0;

	for (int i = 0; i < SEARCH_STEPS && n > 0; i++) {
		__u32 half = n / 2, middle = lo + half;
		struct cozbpf_unwind_row *r = bpf_map_lookup_elem(&unwind_rows, &middle);

		if (!r)
			return 0;
		if (offset < r->lo) {
			n = half;
		} else {
			found = *(__u64 *)r;
			lo = middle + 1;
			n -= half + 1;
		}
	}
	return found;
}

/* Index of the mapping that holds @ip, COZBPF_MAPPINGS for none. Not static: the verifier then
 * looks at it once, not forty times. */
__attribute__((noinline, weak)) int mapping_at(const struct cozbpf_proc *proc, __u64 ip)
{
	if (!proc)
		return COZBPF_MAPPINGS;
	for (int i = 0; i < COZBPF_MAPPINGS; i++) {
		if (i >= proc->n_mappings)
			break;
		if (ip >= proc->mappings[i].start && ip < proc->mappings[i].end)
			return i;
	}
	return COZBPF_MAPPINGS;
}

/* One frame further; false at the end of the chain. */
static __always_inline bool unwind_step(
    struct unwind *u, const struct cozbpf_unwind_row *row, __u64 ip)
{
	__u64 cfa, ip_up, bp_up = u->bp;
	__s64 rbp = (__s64)row->rbp * 8;

	switch (row->kind) {
	case COZBPF_UNWIND_RSP:
		cfa = u->sp + row->cfa;
		break;
	case COZBPF_UNWIND_RBP:
		cfa = u->bp + row->cfa;
		break;
	case COZBPF_UNWIND_PLT:
		cfa = u->sp + 8 + ((ip & 15) >= 11 ? 8 : 0);
		break;
	default:
		cfa = u->bp + 16;
		rbp = -16;
	}
	/* Stacks grow downwards: what does not lead up is no frame. */
	if (cfa <= u->sp || bpf_probe_read_user(&ip_up, sizeof(ip_up), (void *)(cfa - 8)) || !ip_up)
		return false;
	if (rbp && bpf_probe_read_user(&bp_up, sizeof(bp_up), (void *)(cfa + rbp)))
		return false;
	u->ip = ip_up;
	u->sp = cfa;
	u->bp = bp_up;
	u->called = 1;
	return true;
}

/* Where the current thread is: where the sample has met it in user mode, else where it has entered
 * the kernel. */
static __always_inline void unwind_begin(
    struct unwind *u, struct bpf_perf_event_data *ctx, struct task_struct *task, bool user)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (user) {
		u->ip = compat_sample_ip(ctx);
		u->sp = compat_sample_sp(ctx);
		u->bp = compat_sample_bp(ctx);
	} else {
		u->ip = PT_REGS_IP_CORE(regs);
		u->sp = PT_REGS_SP_CORE(regs);
		u->bp = PT_REGS_FP_CORE(regs);
		u->called = 1;
	}
}

#endif
