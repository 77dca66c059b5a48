// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Making threads that run already the target's: an iterator over all tasks, read by the loader
 * until it finds none that is new. */
#include "member.bpf.h"
#include <cozbpf/delay_wait.h>

#define ADOPTED 0x80000000U /* their order is not that of those born later */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The thread is the target's, and the hooks are about to be attached again. */
static __always_inline void see_again(struct cozbpf_thread *t, struct task_struct *task)
{
	bool blocked = !compat_task_runnable(task);

	set_stopped(t, compat_is_stopped(task));
	delay_end_wait(t, &control);
	t->wait = config.waits && blocked ? COZBPF_WAIT_UNSEEN : 0;
	t->queue = 0;
	if (config.goroutines) /* their probes come anew, and tell */
		t->runs.what = COZBPF_RUNS_ITSELF;
	/* A wait that was not seen to begin is no unit's. */
	delay_on_seen_again(t, blocked && !config.waits, bpf_ktime_get_ns());
}

/*
 * Hook: reading the iterator, task context, once for each task. The processes meant are those whose
 * mappings the loader has told. Threads born while this goes on belong to the target when their
 * parents do by then; the others are found by the next reading.
 */
SEC("iter/task")
int on_adopt(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct cozbpf_thread *t;
	__u32 number;

	if (!task) { /* the end; the reader is the loader */
		control.pid_level = BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid, level);
		return 0;
	}
	if (task->flags & PF_NOT_USER)
		return 0;
	number = process_number(task);
	if (!number || !bpf_map_lookup_elem(&procs, &number))
		return 0;
	t = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		__sync_fetch_and_add(&control.storage_lost, 1);
		return 0;
	}
	if (t->member && control.seen_again)
		see_again(t, task);
	if (t->member) {
		if (number == control.filters_of)
			t->filter =
			    control.filters_good ? compat_filter(task) : COZBPF_FILTER_UNKNOWN;
		if (config.goroutines && number == control.go_of && !t->runs.what)
			t->runs.what = COZBPF_RUNS_OWN;
		return 0;
	}
	t->tgid = number;
	t->number = task->pid;
	/* One that was looked at before may not be the last one. */
	t->filter = compat_filter(task) ? COZBPF_FILTER_UNKNOWN : COZBPF_FILTER_NONE;
	set_stopped(t, compat_is_stopped(task));
	delay_on_adopt(t, &control);
	__sync_fetch_and_add(&control.threads, 1);
	t->order = ADOPTED | (__u32)__sync_fetch_and_add(&control.adopted, 1);
	if (config.waits && !compat_task_runnable(task))
		t->wait = COZBPF_WAIT_UNSEEN;
	name_process(number, task->group_leader);
	return 0;
}
