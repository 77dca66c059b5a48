// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Birth, exec and death of the target's threads and processes: membership is inherited in the
 * kernel, so that no child runs unseen. */
#include "member.bpf.h"
#include <cozbpf/delay_wait.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline void tell(__u32 kind, __u32 tgid, __u32 arg)
{
	struct cozbpf_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		__sync_fetch_and_add(&control.events_lost, 1);
		return;
	}
	e->kind = kind;
	e->tgid = tgid;
	e->arg = arg;
	e->pad = 0;
	bpf_ringbuf_submit(e, 0);
}

/* Hook: a thread or process has been made and does not run yet; the parent's context. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct cozbpf_thread *p = member_of(parent), *by = run_by(p), *c;
	bool process = parent->tgid != child->tgid;
	__u32 from, to;

	if (!p || (process && !config.follow_children) || child->flags & PF_NOT_USER)
		return 0;
	from = p->tgid;
	to = process ? process_number(child) : from;
	if (!to)
		return 0;
	c = bpf_task_storage_get(&threads, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!c) {
		__sync_fetch_and_add(&control.storage_lost, 1);
		return 0;
	}
	delay_on_fork(c, by ? by : p, &control, bpf_ktime_get_ns());
	if (config.goroutines && !process && p->runs.what)
		c->runs.what = COZBPF_RUNS_OWN;
	c->number = child->pid;
	c->tgid = to;
	c->filter = p->filter;
	__sync_fetch_and_add(&control.threads, 1);
	c->order = (__u32)__sync_fetch_and_add(&control.born, 1);
	if (process) {
		struct cozbpf_proc *maps = bpf_map_lookup_elem(&procs, &from);
		__u32 *set = bpf_map_lookup_elem(&process_counters, &from);

		if (maps && bpf_map_update_elem(&procs, &to, maps, BPF_ANY))
			__sync_fetch_and_add(&control.storage_lost, 1);
		if (set && bpf_map_update_elem(&process_counters, &to, set, BPF_ANY))
			__sync_fetch_and_add(&control.storage_lost, 1);
		name_process(to, child);
		tell(COZBPF_EVENT_FORK, to, from);
	}
	return 0;
}

/* Hook: a new program image is in place; its own context. The old image's mappings are gone. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *p)
{
	struct cozbpf_thread *t = member_of(p);
	__u32 tgid;

	if (!t)
		return 0;
	tgid = t->tgid;
	if (t->filter == COZBPF_FILTER_OURS)
		t->filter = compat_filter(p);
	delay_on_exec(t);
	/* A launched command has none yet, and the thread that executes has its process's now. */
	t->number = p->pid;
	if (config.blocks)
		bpf_task_storage_delete(&block_threads, p);
	if (config.goroutines)
		t->runs.what = COZBPF_RUNS_ITSELF;
	bpf_map_delete_elem(&procs, &tgid);
	bpf_map_delete_elem(&process_counters, &tgid);
	name_process(tgid, p);
	tell(COZBPF_EVENT_EXEC, tgid, 0);
	return 0;
}

/* Hook: a thread ends; its own context. Its storage goes with the task. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *p)
{
	struct cozbpf_thread *t = member_of(p), *by;
	__u32 tgid;

	if (!t)
		return 0;
	tgid = t->tgid;
	set_stopped(t, false); /* it went on while the hooks were off */
	by = run_by(t);
	if (!by)
		by = t;
	delay_on_exit(by, &control, bpf_ktime_get_ns());
	if (config.waits)
		delay_end_wait(by, &control); /* woken while the hooks were off */
	__sync_fetch_and_add(&control.threads, -1);
	if (BPF_CORE_READ(p, signal, live.counter) > 0)
		return 0;
	/* Two last threads may get here at once: the command ends once. */
	if (tgid == control.root && __sync_val_compare_and_swap(&control.root, tgid, 0) == tgid)
		count_visits(by, COZBPF_POINT_EXIT, 1);
	bpf_map_delete_elem(&procs, &tgid);
	bpf_map_delete_elem(&process_counters, &tgid);
	tell(COZBPF_EVENT_EXIT, tgid, 0);
	return 0;
}
