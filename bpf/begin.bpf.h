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

/* Without experiments all pauses are perturbation. Thread @t, which would have executed since
 * @since, does so when its pause has ended. @n: 1 where the pause begins, else 0. */
static __always_inline void count_perturbed(const struct cozbpf_thread *t, __u64 since, __u64 n)
{
	if (!config.perturb || DELAY_READ(control.active) || t->pause != COZBPF_PAUSE_BEGUN)
		return;
	__sync_fetch_and_add(&control.perturbed, n);
	__sync_fetch_and_add(&control.perturbed_ns, delay_account(t)->run_since - since);
}

static __always_inline void begin(struct cozbpf_thread *t, struct cozbpf_proc_stats *stats)
{
	__u64 since = delay_account(t)->run_since;

	delay_on_deliver(t, &control, bpf_ktime_get_ns());
	count_perturbed(t, since, 1);
	spin_show(t);
	__sync_fetch_and_add(&stats->begun, 1);
}

#endif
