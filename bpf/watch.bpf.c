// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* What the target does, counted for a moment so that a progress point can be chosen: its system
 * calls, its call chains, its visits to places that are candidates. */
#include "unwind.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Calls that succeeded, by number; read by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COZBPF_SYSCALLS);
	__type(key, __u32);
	__type(value, __u64);
} syscalls SEC(".maps") __weak;

/* Visits, by the number of the candidate; read by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COZBPF_CANDIDATES);
	__type(key, __u32);
	__type(value, __u64);
} candidates SEC(".maps") __weak;

/* Room for the stack that is being taken. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cozbpf_stack);
} stack_room SEC(".maps") __weak;

/* Written by on_watch, read by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} stacks SEC(".maps") __weak;

struct stack_walk {
	struct unwind u;
	struct cozbpf_stack *ret;
};

/* Hook: return from a system call of any task, task context. No loops. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_syscall, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 nr = (__u32)compat_syscall(task, regs);
	__u64 *count;

	if (result < 0 || !thread_of(task))
		return 0;
	count = bpf_map_lookup_elem(&syscalls, &nr);
	if (count)
		++*count;
	return 0;
}

/* Hook: uprobe at a candidate, task context. No loops. */
SEC("uprobe")
int on_candidate(struct pt_regs *ctx)
{
	__u32 number = (__u32)bpf_get_attach_cookie(ctx);
	__u64 *count;

	if (!thread_of(bpf_get_current_task_btf()))
		return 0;
	count = bpf_map_lookup_elem(&candidates, &number);
	if (count)
		++*count;
	return 0;
}

/* 1: the stack ends. @proc is that of @u. */
static __always_inline int look_at_frame(
    __u32 i, struct unwind *u, const struct cozbpf_proc *proc, struct cozbpf_stack *ret)
{
	__u64 ip = u->ip - u->called, row = 0;
	__u32 at = (__u32)mapping_at(proc, ip);

	if (i >= COZBPF_FRAMES)
		return 1;
	ret->frames[i] = (struct cozbpf_frame){0};
	ret->n = i + 1;
	if (at < COZBPF_MAPPINGS) {
		const struct cozbpf_mapping *m = &proc->mappings[at];
		__u64 offset = ip - m->start + m->offset;

		ret->frames[i].file = m->file;
		ret->frames[i].offset = (__u32)offset;
		if (m->unwind_count)
			row = row_in_slice(m->unwind_first, m->unwind_count, offset);
	}
	return !unwind_step(u, (const struct cozbpf_unwind_row *)&row, ip);
}

static long take_frame(__u32 i, struct stack_walk *w)
{
	return look_at_frame(i, &w->u, w->u.proc, w->ret);
}

__attribute__((noinline)) int take_once(
    __u32 i, struct unwind *u, const struct cozbpf_proc *proc, struct cozbpf_stack *ret)
{
	return u && proc && ret ? look_at_frame(i, u, proc, ret) : 1;
}

/* Hook: per-CPU clock event, hard interrupt. Loops: COZBPF_FRAMES x (COZBPF_MAPPINGS + one search).
 */
SEC("perf_event")
int on_watch(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cozbpf_thread *t = thread_of(task);
	const struct cozbpf_proc *proc;
	struct cozbpf_stack *stack;
	struct stack_walk w = {};
	__u32 zero = 0, tgid;

	if (!t)
		return 0;
	tgid = t->tgid;
	proc = bpf_map_lookup_elem(&procs, &tgid);
	stack = bpf_map_lookup_elem(&stack_room, &zero);
	if (!proc || !stack)
		return 0;
	w.u.proc = proc;
	w.ret = stack;
	stack->n = 0;
	unwind_begin(&w.u, ctx, task, compat_user_mode(ctx));
	COMPAT_LOOP(COZBPF_FRAMES, take_frame, &w, COZBPF_FRAMES, take_once, &w.u, proc, stack);
	/* One that finds no room is not missed: others were enough. */
	bpf_ringbuf_output(&stacks, stack, sizeof(*stack), BPF_RB_NO_WAKEUP);
	return 0;
}
