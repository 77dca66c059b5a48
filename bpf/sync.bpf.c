// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Edges from probed calls (--sync=uprobe): the calls of the paper's Tables 1 and 2.
 * A thread pays before a call that may wake another or block, and need not pay what accrued while
 * it was blocked until another one released it.
 */
#include "shim.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline __u32 object_id(__u64 arg)
{
	return (__u32)(arg * 0x9e3779b97f4a7c15ULL >> 32);
}

/* Hook: uprobe at the entry of a call, task context. No loops beyond delay.h's. */
SEC("uprobe")
int on_call(struct pt_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cozbpf_thread *t = thread_of(task);
	__u64 now, debt, cookie = bpf_get_attach_cookie(ctx);

	if (!t)
		return 0;
	__sync_fetch_and_add(&control.sync_calls, 1);
	now = bpf_ktime_get_ns();
	debt = delay_on_call(t, &control, cookie & COZBPF_CALL_BLOCKS,
	    object_id(PT_REGS_PARM1(ctx)), now, config.min_debt_ns);
	if (debt)
		pause_here(ctx, t, task, now, debt);
	return 0;
}

/* Hook: uprobe at the return of a call that may block, task context. */
SEC("uretprobe")
int on_return(struct pt_regs *ctx)
{
	struct cozbpf_thread *t = thread_of(bpf_get_current_task_btf());
	__u64 how = COZBPF_CALL_RESULT(bpf_get_attach_cookie(ctx));
	__s32 result = (__s32)PT_REGS_RC(ctx);
	bool released = how == COZBPF_RESULT_ANY >> 1 ||
			(how == COZBPF_RESULT_POSITIVE >> 1 ? result >= 0 : result == 0);

	if (!t)
		return 0;
	__sync_fetch_and_add(&control.sync_calls, 1);
	delay_on_return(t, &control, released, delay_account(t)->segment >> 1, bpf_ktime_get_ns());
	return 0;
}
