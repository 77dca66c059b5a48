/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* From a place in the target's code to the line in scope, and what samples of a line count for.
 * Functions that are not static are looked at by the verifier only once. */
#ifndef COZBPF_LINES_BPF_H
#define COZBPF_LINES_BPF_H

#include "unwind.bpf.h"

/* Line at a file offset within a slice of the line table, 0 for none. At most SEARCH_STEPS steps.
 */
__attribute__((noinline, weak)) __u32 line_in_slice(__u32 first, __u32 count, __u64 offset)
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

/* The unit of the kernel's work in system call @call, or in none, as in a page fault. */
static __always_inline __u32 unit_of_call(__u64 call)
{
	return config.call_first + 1 + (call < COZBPF_SYSCALLS ? 1 + (__u32)call : 0);
}

/* @n samples of a line. */
static __always_inline void count_in(struct cozbpf_line_count *count, __u64 n)
{
	__sync_fetch_and_add(&count->all, n);
	if (!DELAY_READ(control.active) || !control.speedup_pct)
		__sync_fetch_and_add(&count->free, n);
}

/* Inclusive: @line is on the sample's stack. Each that is there may be picked. */
__attribute__((noinline, weak)) int pass_line(struct passed *p, __u32 line)
{
	struct cozbpf_line_count *count = bpf_map_lookup_elem(&line_counts, &line);

	if (!p || !count || count->seen == p->now)
		return 0;
	count->seen = p->now;
	count_in(count, 1);
	if (!p->own)
		p->own = line;
	if (delay_is_selected(&control, line))
		p->selected = line;
	p->n++;
	if (DELAY_READ(control.pick) && bpf_get_prandom_u32() % p->n == 0)
		p->pick = line;
	return 0;
}

/* @line is the next one up the stack: the first is passed.own, @stack takes the others. */
static __always_inline void note_line(struct unwind *u, struct cozbpf_wait_stack *stack, __u32 line)
{
	__u32 at = u->passed.n;

	if (!u->passed.own) {
		u->passed.own = line;
	} else if (at < COZBPF_WAIT_CALLERS) {
		stack->callers[at] = line;
		u->passed.n = at + 1;
	}
}

/* 1: the stack ends, or its line is found. @proc is that of @u. @stack NULL: one line will do. */
static __always_inline int look_at_frame(
    struct unwind *u, const struct cozbpf_proc *proc, struct cozbpf_wait_stack *stack)
{
	/* A return address belongs to the call before it. */
	__u64 ip = u->ip - u->called, row = 0;
	__u32 at = (__u32)mapping_at(proc, ip);

	if (at < COZBPF_MAPPINGS) {
		const struct cozbpf_mapping *m = &proc->mappings[at];
		__u64 offset = ip - m->start + m->offset;

		if (m->count)
			u->line = line_in_slice(m->first, m->count, offset);
		if (u->line && !stack && !config.inclusive)
			return 1;
		if (u->line && stack)
			note_line(u, stack, u->line);
		else if (u->line)
			pass_line(&u->passed, u->line);
		u->line = 0;
		if (m->unwind_count)
			row = row_in_slice(m->unwind_first, m->unwind_count, offset);
	}
	return !unwind_step(u, (const struct cozbpf_unwind_row *)&row, ip);
}

static long unwind_frame(__u32 i, struct unwind *u)
{
	return look_at_frame(u, u->proc, NULL);
}

__attribute__((noinline, weak)) int unwind_once(
    __u32 i, struct unwind *u, const struct cozbpf_proc *proc)
{
	return u && proc ? look_at_frame(u, proc, NULL) : 1;
}

/* The time has come from which visits are counted, which is virtual. */
static __always_inline bool visits_count(__u64 now)
{
	return DELAY_READ(control.active) &&
	       now > control.counted_ns + DELAY_READ(control.required);
}

/* Each in-scope sample since the question is as likely as any other to be the answer, @line's @n
 * ones are. The first one would nearly always be the same CPU's, since their clock events have one
 * period. */
static __always_inline void pick_line(__u32 line, __u64 n)
{
	__u64 all = __sync_fetch_and_add(&control.pick_from, n) + n;

	if (bpf_get_prandom_u32() % all < n)
		control.picked = line;
}

#endif
