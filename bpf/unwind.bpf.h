/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * From a sample to its callers: by the rows that the loader made of .eh_frame, as compilers omit
 * frame pointers and libraries are compiled without; by frame pointers where there is no row.
 */
#ifndef COZBPF_UNWIND_BPF_H
#define COZBPF_UNWIND_BPF_H

#include "maps.bpf.h"

#define SEARCH_STEPS 23 /* binary search over up to 2^23 ranges or rows */

/* Inclusive: what pass_line() has found. A structure of its own: what a function that is verified
 * once may write to holds no pointer afterwards. */
struct passed {
	__u64 now; /* the sample's time */
	__u32 own, selected, pick, n;
};

struct unwind {
	const struct cozbpf_proc *proc;
	__u64 ip, sp, bp;
#if defined(__TARGET_ARCH_arm64)
	__u64 link; /* x30, where nothing was called from here; else 0 */
#endif
	__u32 called; /* ip is that of a call that has been made: a return address */
	__u32 line;   /* found */
	struct passed passed;
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

#if defined(__TARGET_ARCH_arm64)

/* Pointers are signed above their 48 bits (pointer authentication), and no program is mapped there
 * that has not asked for it. */
#define ADDRESS_BITS 0xffffffffffffULL

/* By the pair that x29 points to: where its frame ends, and with it the caller's stack pointer, is
 * not known. */
static __always_inline bool unwind_by_pair(struct unwind *u)
{
	__u64 pair[2];

	/* Stacks grow downwards: what does not lead up is no frame. */
	if (u->bp < u->sp || bpf_probe_read_user(pair, sizeof(pair), (void *)u->bp) ||
	    !(pair[1] & ADDRESS_BITS) || (pair[0] && pair[0] <= u->bp))
		return false;
	u->ip = pair[1] & ADDRESS_BITS;
	u->sp = 0;
	u->bp = pair[0];
	u->called = 1;
	return true;
}

/* One frame further; false at the end of the chain. */
static __always_inline bool unwind_step(
    struct unwind *u, const struct cozbpf_unwind_row *row, __u64 ip)
{
	__u64 base = row->kind & COZBPF_UNWIND_X29 ? u->bp : u->sp, cfa = base + row->cfa;
	__u64 pair[2] = {u->bp, u->link};
	__u64 at = (row->slot < 0 ? cfa : base) + (__s64)row->slot * 8;

	u->link = 0;
	if (row->kind < COZBPF_UNWIND_LINK || !base)
		return unwind_by_pair(u);
	if (row->kind & 1) {
		if (bpf_probe_read_user(pair, sizeof(pair), (void *)at))
			return false;
	} else if (row->kind & 2) {
		if (bpf_probe_read_user(&pair[1], sizeof(pair[1]), (void *)at))
			return false;
	}
	pair[1] &= ADDRESS_BITS;
	if (cfa < u->sp || !pair[1])
		return false;
	u->ip = pair[1];
	u->sp = cfa;
	u->bp = pair[0];
	u->called = 1;
	return true;
}

#else

/* One frame further; false at the end of the chain. */
static __always_inline bool unwind_step(
    struct unwind *u, const struct cozbpf_unwind_row *row, __u64 ip)
{
	__u64 cfa, ip_up, bp_up = u->bp;
	__s64 rbp = (__s64)row->slot * 8;

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

#endif

/* Where the current thread has entered the kernel: by a call, or, not @called, at that instruction.
 */
static __always_inline void unwind_entry(struct unwind *u, struct task_struct *task, bool called)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	u->ip = PT_REGS_IP_CORE(regs);
	u->sp = PT_REGS_SP_CORE(regs);
	u->bp = PT_REGS_FP_CORE(regs);
#if defined(__TARGET_ARCH_arm64)
	u->link = PT_REGS_RET_CORE(regs);
#endif
	u->called = called;
}

/* Where a sample has met the current thread in user mode, else where it has entered the kernel. */
static __always_inline void unwind_begin(
    struct unwind *u, struct bpf_perf_event_data *ctx, struct task_struct *task, bool user)
{
	if (!user) {
		unwind_entry(u, task, true);
		return;
	}
	u->ip = compat_sample_ip(ctx);
	u->sp = compat_sample_sp(ctx);
	u->bp = compat_sample_bp(ctx);
#if defined(__TARGET_ARCH_arm64)
	u->link = ctx->regs.regs[30];
#endif
}

#endif
