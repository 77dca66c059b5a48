/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Asking a thread to pause: whether the shim listens, told from what the kernel itself keeps of the signal's action (design.md 4.7), and the signal. */
#ifndef COZBPF_SHIM_BPF_H
#define COZBPF_SHIM_BPF_H

#include "maps.bpf.h"

/* Whether the action of the pause signal is the shim's. */
static __always_inline bool shim_installed(struct task_struct *task)
{
	struct sighand_struct *sighand = BPF_CORE_READ(task, sighand);
	const char *at = (const char *)sighand + bpf_core_field_offset(struct sighand_struct, action) +
			 ((config.signal - 1) & 63) * bpf_core_type_size(struct k_sigaction);
	const struct k_sigaction *action = (const struct k_sigaction *)at;
	__u64 handler = (__u64)BPF_CORE_READ(action, sa.sa_handler);

	if (handler < 4096)
		return false; /* SIG_DFL, SIG_IGN */
	return BPF_CORE_READ(action, sa.sa_flags) == COZBPF_HANDLER_FLAGS &&
	       (__u64)BPF_CORE_READ(action, sa.sa_restorer) == handler + COZBPF_HANDLER_DISTANCE;
}

/* Whether the pause signal would reach the shim in this thread; what stands in the way is counted (design.md 4.7). */
static __always_inline bool shim_listens(const struct cozbpf_thread *t, struct task_struct *task, struct cozbpf_proc_stats *stats, __u64 sp)
{
	__u64 alt = BPF_CORE_READ(task, sas_ss_sp), alt_size = BPF_CORE_READ(task, sas_ss_size);

	if (!shim_installed(task)) {
		__sync_fetch_and_add(&stats->no_shim, 1);
		return false;
	}
	if (BPF_CORE_READ(task, blocked.sig[0]) >> ((config.signal - 1) & 63) & 1) {
		if (!t->returning)
			__sync_fetch_and_add(&stats->blocked, 1);
		return false;
	}
	if (alt_size) {
		bool on_it = sp - alt < alt_size;

		if ((on_it ? sp - alt : alt_size) < config.min_stack) {
			__sync_fetch_and_add(&stats->small_stack, 1);
			return false;
		}
	}
	return true;
}

/* Notes in the thread's state that it is asked for a pause of @debt; the signal is the caller's. */
static __always_inline void plan_pause(struct cozbpf_thread *t, __u64 now, __u64 debt)
{
	__u64 end = (now + debt - config.pause_exit_ns) & ~COZBPF_HOLD;

	delay_asked(t, now, end, !config.sleep_pauses || DELAY_READ(control.threads) > config.n_cpus);
	t->relay = 0;
	if (end > DELAY_READ(control.pause_horizon))
		control.pause_horizon = end;
}

#endif
