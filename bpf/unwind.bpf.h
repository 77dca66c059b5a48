/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * From a sample to the first frame in scope: lines by binary search in the
 * line table, callers by the rows that the loader made of .eh_frame, as compilers omit frame
 * pointers and libraries are compiled without; by frame pointers where there is no row.
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
};

/* Line at a file offset within a slice of the line table, 0 for none. At most SEARCH_STEPS steps.
 */
static __noinline __u32 line_in_slice(__u32 first, __u32 count, __u64 offset)
{
	__u32 lo = first, n = count;
	struct cozbpf_range *r;

	for (int i = 0; i < SEARCH_STEPS && n > 0; i++) {
		__u32 half = n / 2, middle = lo + half;

		r = bpf_map_lookup_elem(&ranges, &middle);
		if (!r)
			return 0;
		if (offset < r->lo) {
			n = half;
		} else if (offset - r->lo < r->len) {
			return r->line;
		} else {
			lo = middle + 1;
			n -= half + 1;
		}
	}
	return 0;
}

/* The last row of a slice at or before a file offset, as the eight bytes it is; 0, which is no
 * rule, for none. At most SEARCH_STEPS steps. */
static __noinline __u64 row_in_slice(__u32 first, __u32 count, __u64 offset)
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
__attribute__((noinline)) int mapping_at(const struct cozbpf_proc *proc, __u64 ip)
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

/* A step of bpf_loop(): 1 ends it. */
static long unwind_frame(__u32 i, struct unwind *u)
{
	/* A return address belongs to the call before it. */
	__u64 ip = u->ip - u->called, row = 0;
	__u32 at = (__u32)mapping_at(u->proc, ip);

	if (at < COZBPF_MAPPINGS) {
		const struct cozbpf_mapping *m = &u->proc->mappings[at];
		__u64 offset = ip - m->start + m->offset;

		if (m->count)
			u->line = line_in_slice(m->first, m->count, offset);
		if (u->line)
			return 1;
		if (m->unwind_count)
			row = row_in_slice(m->unwind_first, m->unwind_count, offset);
	}
	return !unwind_step(u, (const struct cozbpf_unwind_row *)&row, ip);
}

#endif
