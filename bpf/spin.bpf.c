// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Turns of loops that wait by trying again: at each PAUSE instruction, at the branch back of an
 * idle loop, and at sched_yield(). Attached once samples have found threads there. */
#include "spin.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The current thread spins at the place @id. Loops: once over the CPUs. */
static __always_inline int spin(__u64 id)
{
	struct cozbpf_thread *t = thread_of(bpf_get_current_task_btf());
	__u32 cpu = bpf_get_smp_processor_id();
	struct cozbpf_earner *own = earner_of(cpu);
	struct spin_look look = {.t = t, .own = own};

	if (!t || !own)
		return 0;
	if (!DELAY_READ(control.spins)) /* a line that others read */
		control.spins = 1;
	own->number = cpu + 1;
	look.now = bpf_ktime_get_ns();
	look.begins = !delay_spins(delay_account(t), &control, look.now);
	LOOK_AT_CPUS(&look, t, own);
	delay_on_spin(t, &control, own, look.leader ? earner_of(look.leader - 1) : NULL,
	    (__u32)(id * 0x9e3779b97f4a7c15ULL >> 32), look.now);
	return 0;
}

/* Whether a thread with these flags goes back at the branch of an idle loop. Both are counted. Not
 * inlined, for the verifier's sake. */
__attribute__((noinline, weak)) int loop_turns(__u64 cookie, __u64 flags)
{
	struct cozbpf_loop *loop = &loops[COZBPF_LOOP_COOKIE_LOOP(cookie)];
	int turns = cozbpf_branch_taken(flags, (__u32)cookie);

	__sync_fetch_and_add(turns ? &loop->turned : &loop->left, 1);
	return turns;
}

/* Hook: uprobe at a PAUSE instruction, at the branch back of an idle loop, or at a function of
 * --spin; task context. */
SEC("uprobe")
int on_spin(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);

	if (cookie && !loop_turns(cookie, compat_flags(ctx)))
		return 0;
	return spin(PT_REGS_IP(ctx));
}

/* Hook: entry of a system call of any task, task context. */
SEC("tp_btf/sys_enter")
int BPF_PROG(on_yield, struct pt_regs *regs, long id)
{
	if (id != COMPAT_SCHED_YIELD || compat_is_32bit_call(bpf_get_current_task_btf()))
		return 0;
	return spin((__u64)id);
}
