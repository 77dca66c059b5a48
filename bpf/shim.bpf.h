/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Telling the shim's handler of the pause signal from anything else (design.md 4.7). For the current process only: its memory is looked at. */
#ifndef COZBPF_SHIM_BPF_H
#define COZBPF_SHIM_BPF_H

#include "maps.bpf.h"

#define SHIM_MAGIC "cozbpf-pause-v1" /* the 16 bytes before the handler, user/shim/syscall.h */

/* Address of the shim's handler, 0 when the signal's action is another. @known: the address that was found to be the shim's before. Fixed loop. */
static __always_inline __u64 shim_handler(struct task_struct *task, __u64 known)
{
	struct sighand_struct *sighand = BPF_CORE_READ(task, sighand);
	const char *at = (const char *)sighand + bpf_core_field_offset(struct sighand_struct, action) +
			 ((config.signal - 1) & 63) * bpf_core_type_size(struct k_sigaction);
	char magic[sizeof(SHIM_MAGIC)] = {};
	void *handler = NULL;

	bpf_core_read(&handler, sizeof(handler), &((struct k_sigaction *)at)->sa.sa_handler);
	if ((__u64)handler < 4096)
		return 0; /* SIG_DFL, SIG_IGN */
	if ((__u64)handler == known)
		return known;
	bpf_probe_read_user(magic, sizeof(magic), (char *)handler - sizeof(magic));
	for (int i = 0; i < sizeof(magic); i++)
		if (magic[i] != SHIM_MAGIC[i])
			return 0;
	return (__u64)handler;
}

#endif
