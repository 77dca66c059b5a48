/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Telling the shim's handler of the pause signal from anything else (design.md 4.7), from what the kernel itself keeps of the action. */
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

#endif
