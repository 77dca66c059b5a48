/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The pause's signal reaches its thread, and the pause begins. */
#ifndef COZBPF_BEGIN_BPF_H
#define COZBPF_BEGIN_BPF_H

#include "shim.bpf.h"
#include "spin.bpf.h"

/* The current thread's state and its process, where the pause signal @sig is our matter. */
static __always_inline struct cozbpf_thread *paused_thread(
    int sig, struct cozbpf_proc_stats **ret_stats)
{
	struct cozbpf_thread *t;
	__u32 tgid;

	if (sig != config.signal)
		return NULL;
	t = thread_of(bpf_get_current_task_btf());
	if (!t)
		return NULL;
	tgid = t->tgid;
	*ret_stats = bpf_map_lookup_elem(&proc_stats, &tgid);
	return *ret_stats ? t : NULL;
}

static __always_inline void begin(struct cozbpf_thread *t, struct cozbpf_proc_stats *stats)
{
	delay_on_deliver(t, &control, bpf_ktime_get_ns());
	spin_show(t);
	__sync_fetch_and_add(&stats->begun, 1);
}

#endif
