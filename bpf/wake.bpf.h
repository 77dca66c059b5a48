/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What a switch and a wake-up are, for the programs that count waits as units (waits.bpf.c) and for
 * those that do not (wake.bpf.c). */
#ifndef COZBPF_WAKE_BPF_H
#define COZBPF_WAKE_BPF_H

#include "go.bpf.h"

#define PF_EXITING 4 /* the task ends; include/linux/sched.h */

/* The compiler would join the two pointers to compare them at once, which the verifier refuses. */
static __always_inline bool are_none(
    const struct cozbpf_thread *out, const struct cozbpf_thread *in)
{
	if (out)
		return false;
	barrier_var(in);
	return !in;
}

/* How thread @out, which is @prev, leaves its CPU to thread @in. */
static __always_inline int how_it_leaves(const struct cozbpf_thread *out, struct task_struct *prev,
    const struct cozbpf_thread *in, bool preempt)
{
	if (out && (preempt || compat_task_runnable(prev)))
		return in ? DELAY_PREEMPTED : DELAY_OUSTED;
	return DELAY_BLOCKED;
}

/* Of the target's threads @prev leaves its CPU, maybe as one that stands still, and @next has one.
 * @out, @in: their accounts, by which they are the target's where those are not goroutines'. */
static __always_inline void follow_stops(struct cozbpf_thread *out, struct task_struct *prev,
    struct cozbpf_thread *in, struct task_struct *next)
{
	if (config.goroutines) {
		out = member_of(prev);
		in = member_of(next);
	}
	if (out && compat_is_stopped(prev))
		set_stopped(out, true);
	if (in)
		set_stopped(in, false);
}

/* For how long the outsider @prev had the CPU; 0: it is none. Only a fair task's is that of its
 * turn: of a real-time one it is all that it ever had. */
static __always_inline __u64 outsider_had(const struct cozbpf_thread *out, struct task_struct *prev)
{
	if (out || !prev->pid || (config.goroutines && member_of(prev)))
		return 0;
	return prev->se.sum_exec_runtime - prev->se.prev_sum_exec_runtime;
}

/* Something else than the idle task, which is @prev, gets this CPU. */
static __always_inline void leave_idle(const struct task_struct *prev)
{
	if (!prev->pid && delay_is_idle(&control, bpf_get_smp_processor_id() + 1))
		delay_idle_ends(&control, bpf_ktime_get_ns());
}

/*
 * The object of a wake-up, as far as the first argument of the waker's system call tells: a futex
 * word, a descriptor. Equal objects give equal hashes; kinds of segments that share one share their
 * share f, no more. The woken task's own argument lies on the stack of another CPU.
 */
static __always_inline __u32 woken_through(struct task_struct *waker)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(waker);

	return (__u32)((__u64)PT_REGS_PARM1_SYSCALL(regs) * 0x9e3779b97f4a7c15ULL >> 32);
}

/* Who or what wakes a thread: the arguments of delay_on_wake(). */
struct waking {
	struct cozbpf_thread *by; /* NULL: no edge */
	enum delay_cause cause;
	__u32 id;
	__u64 expiry;
};

/* Thread @t is being woken on this CPU. */
static __always_inline struct waking who_wakes(
    const struct cozbpf_thread *t, struct cozbpf_cpu *cpu)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct cozbpf_thread *w = thread_of(waker);
	/* INTERRUPTS: what runs on top of the current thread is not that thread's doing. */
	bool by_thread = w && w != t && (!DELAY_RULE(INTERRUPTS) || !cpu->irq);
	struct waking ret = {
	    .expiry = cpu->irq & COZBPF_IRQ_TIMER ? cpu->timer_at : cpu->soft_timer_at};

	if (by_thread && !config.sync_uprobe) {
		ret.by = w;
		ret.cause = waker->flags & PF_EXITING ? DELAY_BY_EXIT : DELAY_BY_THREAD;
		ret.id = woken_through(waker);
		cpu->joins++;
		return ret;
	}
	if (cpu->irq & (COZBPF_IRQ_TIMER | COZBPF_IRQ_SOFT_TIMER))
		ret.cause = DELAY_BY_TIMER;
	else
		ret.cause = by_thread ? DELAY_BY_CALLER : DELAY_BY_OUTSIDE;
	cpu->other_wakes++;
	return ret;
}

/* Thread @by, NULL for none, goes on after it has woken another one. */
static __always_inline void go_on(struct cozbpf_thread *by)
{
	if (by && DELAY_READ(control.spins))
		spin_show(by);
}

#endif
