// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Birth, exec and death of the target's threads and processes: membership is inherited in the kernel, so that no child runs unseen. */
#include "maps.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* PF_IO_WORKER and PF_USER_WORKER (include/linux/sched.h): threads that the kernel runs on a process's behalf, as io_uring does, count as devices. */
#define PF_WORKER (0x00000010 | 0x00004000)

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

static __always_inline void name_process(__u32 tgid, struct task_struct *task)
{
	struct cozbpf_proc_stats *stats = bpf_map_lookup_elem(&proc_stats, &tgid), fresh = {};

	if (!stats) {
		bpf_map_update_elem(&proc_stats, &tgid, &fresh, BPF_NOEXIST);
		stats = bpf_map_lookup_elem(&proc_stats, &tgid);
	}
	if (!stats)
		return;
	BPF_CORE_READ_STR_INTO(&stats->comm, task, comm);
}

/* Hook: a thread or process has been made and does not run yet; the parent's context. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct cozbpf_thread *p = thread_of(parent), *c;
	__u32 from = parent->tgid, to = child->tgid;

	if (!p || (from != to && !config.follow_children) || child->flags & PF_WORKER)
		return 0;
	c = bpf_task_storage_get(&threads, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!c) {
		__sync_fetch_and_add(&control.storage_lost, 1);
		return 0;
	}
	delay_fork(c, p, &control, bpf_ktime_get_ns());
	c->tgid = to;
	__sync_fetch_and_add(&control.threads, 1);
	if (from != to) {
		struct cozbpf_proc *maps = bpf_map_lookup_elem(&procs, &from);

		if (maps)
			bpf_map_update_elem(&procs, &to, maps, BPF_ANY);
		name_process(to, child);
		tell(COZBPF_EVENT_FORK, to, from);
	}
	return 0;
}

/* Hook: a new program image is in place; its own context. The old image's mappings are gone. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *p)
{
	struct cozbpf_thread *t = thread_of(p);
	__u32 tgid = p->tgid;

	if (!t)
		return 0;
	t->pause = COZBPF_PAUSE_NONE;
	bpf_map_delete_elem(&procs, &tgid);
	name_process(tgid, p);
	tell(COZBPF_EVENT_EXEC, tgid, 0);
	return 0;
}

/* Hook: a thread ends; its own context. Its storage goes with the task. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *p)
{
	struct cozbpf_thread *t = thread_of(p);
	__u32 tgid = p->tgid;

	if (!t)
		return 0;
	__sync_fetch_and_add(&control.threads, -1);
	if (BPF_CORE_READ(p, signal, live.counter) > 0)
		return 0;
	if (tgid == control.root)
		count_visit(t, COZBPF_POINT_EXIT);
	bpf_map_delete_elem(&procs, &tgid);
	tell(COZBPF_EVENT_EXIT, tgid, 0);
	return 0;
}
