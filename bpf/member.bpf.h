/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Who may become a thread of the target, and by which number and name the loader knows its process.
 */
#ifndef COZBPF_MEMBER_BPF_H
#define COZBPF_MEMBER_BPF_H

#include "maps.bpf.h"

/* PF_KTHREAD; PF_IO_WORKER and PF_USER_WORKER: threads that the kernel runs on a process's behalf,
 * as io_uring does, count as devices (include/linux/sched.h). */
#define PF_NOT_USER (0x00200000 | 0x00000010 | 0x00004000)

/* Number of the process of @task in the loader's PID namespace; 0: it has none there. */
static __always_inline __u32 process_number(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	__u32 level = DELAY_READ(control.pid_level);
	const struct upid *at;

	if (!pid || BPF_CORE_READ(pid, level) < level || level > 32)
		return 0;
	at = (const struct upid *)((const char *)pid + bpf_core_field_offset(struct pid, numbers) +
				   level * bpf_core_type_size(struct upid));
	return BPF_CORE_READ(at, nr);
}

/* Process @number, which @task is of, is not in proc_stats. */
static __always_inline void add_process(__u32 number, struct task_struct *task)
{
	struct cozbpf_proc_stats fresh = {};

	BPF_CORE_READ_STR_INTO(&fresh.comm, task, comm);
	bpf_map_update_elem(&proc_stats, &number, &fresh, BPF_NOEXIST);
}

static __always_inline void name_process(__u32 number, struct task_struct *task)
{
	struct cozbpf_proc_stats *stats = bpf_map_lookup_elem(&proc_stats, &number);

	if (stats)
		BPF_CORE_READ_STR_INTO(&stats->comm, task, comm);
	else
		add_process(number, task);
}

#endif
