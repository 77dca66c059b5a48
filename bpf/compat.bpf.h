/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Every difference between kernels and architectures that the programs must know, and nothing else. */
#ifndef COZBPF_COMPAT_BPF_H
#define COZBPF_COMPAT_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* From 6.13 (6280cf718db0, "bpf: Implement bpf_send_signal_task() kfunc"). */
extern int bpf_send_signal_task(struct task_struct *task, int sig, enum pid_type type, __u64 value) __ksym __weak;

#if defined(__TARGET_ARCH_x86)
/* Whether the registers of a sample are those of user code. */
static __always_inline bool compat_user_mode(const struct bpf_perf_event_data *ctx)
{
	return (ctx->regs.cs & 3) == 3;
}
static __always_inline __u64 compat_sample_ip(const struct bpf_perf_event_data *ctx)
{
	return ctx->regs.ip;
}
static __always_inline __u64 compat_sample_sp(const struct bpf_perf_event_data *ctx)
{
	return ctx->regs.sp;
}
static __always_inline __u64 compat_sample_bp(const struct bpf_perf_event_data *ctx)
{
	return ctx->regs.bp;
}
#elif defined(__TARGET_ARCH_arm64)
static __always_inline bool compat_user_mode(const struct bpf_perf_event_data *ctx)
{
	return (ctx->regs.pstate & 0xf) == 0; /* PSR_MODE_EL0t */
}
static __always_inline __u64 compat_sample_ip(const struct bpf_perf_event_data *ctx)
{
	return ctx->regs.pc;
}
static __always_inline __u64 compat_sample_sp(const struct bpf_perf_event_data *ctx)
{
	return ctx->regs.sp;
}
static __always_inline __u64 compat_sample_bp(const struct bpf_perf_event_data *ctx)
{
	return ctx->regs.regs[29];
}
#endif

/* task->state became task->__state in 5.14 (2f064a59a11f). */
struct task_struct___before_5_14 {
	volatile long state;
} __attribute__((preserve_access_index));

static __always_inline bool compat_task_runnable(struct task_struct *t)
{
	if (bpf_core_field_exists(t->__state))
		return BPF_CORE_READ(t, __state) == 0;
	return BPF_CORE_READ((struct task_struct___before_5_14 *)t, state) == 0;
}

/* si_value of a queued signal: user ABI puts it 24 bytes into the siginfo on 64-bit architectures. */
static __always_inline __u64 compat_siginfo_value(const struct kernel_siginfo *info)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (const char *)info + 24);
	return value;
}

#endif
