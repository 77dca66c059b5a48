// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Entries and exits of blocks: how often, and for how long. Attached for a window of time; the
 * attach cookie says which block (COZBPF_BLOCK_COOKIE() of abi_blocks.h). */
#include "maps.bpf.h"
#include <cozbpf/block_visit.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct cozbpf_blocks blocks SEC(".bss");

/* By slot. Written here, read and cleared by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, __u32);
	__type(value, struct cozbpf_block_stats);
} block_stats SEC(".maps");

/* A visit takes as long from the thread as calibrated, which belongs to no block. */
static __always_inline void add_cost(struct cozbpf_block_thread *b, __u64 cookie)
{
	b->probed_ns += blocks.cost_ns[COZBPF_BLOCK_SORT(cookie) & (COZBPF_BLOCK_SORTS - 1)];
}

/* The clock is read last. */
static __always_inline void enter(
    struct cozbpf_block_thread *b, const struct cozbpf_thread *t, __u64 cookie, __u64 sp)
{
	struct cozbpf_block_open *o = &b->open[COZBPF_BLOCK_SLOT(cookie)];
	__u64 now;

	add_cost(b, cookie);
	if (!block_opens(o, COZBPF_BLOCK_GENERATION(cookie), sp))
		return;
	now = bpf_ktime_get_ns();
	o->wall_ns = now - b->probed_ns;
	o->cpu_ns = block_executed(t, now) - b->probed_ns;
}

static __always_inline void leave(struct cozbpf_block_thread *b, const struct cozbpf_thread *t,
    struct cozbpf_block_stats *s, __u64 cookie, __u64 now)
{
	struct cozbpf_block_open *o = &b->open[COZBPF_BLOCK_SLOT(cookie)];

	if (block_closes(o, COZBPF_BLOCK_GENERATION(cookie)))
		block_record(s, (__s64)(block_executed(t, now) - b->probed_ns - o->cpu_ns),
		    (__s64)(now - b->probed_ns - o->wall_ns),
		    blocks.bias_ns[COZBPF_BLOCK_PAIR(cookie) & (COZBPF_BLOCK_PAIRS - 1)]);
	add_cost(b, cookie);
}

/* The state of the current thread, made at its first entry; NULL: it has none. */
static __always_inline struct cozbpf_block_thread *state_of(struct task_struct *task, bool make)
{
	struct cozbpf_block_thread *b = bpf_task_storage_get(&block_threads, task, 0, 0);

	if (b || !make)
		return b;
	b = bpf_task_storage_get(&block_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!b)
		__sync_fetch_and_add(&control.storage_lost, 1);
	return b;
}

/*
 * Hook: uprobe of a block's entry or exit (uprobe_multi), task context. Reads the thread state;
 * writes the thread's open entries and the slot's statistics. No loops. While the probes of a
 * window come and go only their cost is counted.
 */
SEC("uprobe")
int on_block(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), cookie = bpf_get_attach_cookie(ctx);
	__u32 slot = COZBPF_BLOCK_SLOT(cookie), role = COZBPF_BLOCK_ROLE(cookie);
	struct task_struct *task = bpf_get_current_task_btf();
	struct cozbpf_thread *t = member_of(task);
	struct cozbpf_block_stats *s;
	struct cozbpf_block_thread *b;

	if (!t) /* another process that runs the same file */
		return 0;
	if (DELAY_READ(blocks.generation[slot]) != COZBPF_BLOCK_GENERATION(cookie)) {
		__sync_fetch_and_add(&blocks.stale[COZBPF_BLOCK_SORT(cookie)], 1);
		b = state_of(task, false);
		if (b)
			add_cost(b, cookie);
		return 0;
	}
	s = bpf_map_lookup_elem(&block_stats, &slot);
	if (!s)
		return 0;
	__sync_fetch_and_add(role == COZBPF_BLOCK_EXIT ? &s->exits : &s->entries, 1);
	b = state_of(task, role == COZBPF_BLOCK_ENTRY);
	if (!b)
		return 0;
	if (role == COZBPF_BLOCK_ENTRY)
		enter(b, t, cookie, PT_REGS_SP(ctx));
	else if (role == COZBPF_BLOCK_EXIT)
		leave(b, t, s, cookie, now);
	else
		add_cost(b, cookie);
	return 0;
}
