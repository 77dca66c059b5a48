/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Asking a thread to pause: whether the shim listens, told from what the kernel itself keeps of the
 * signal's action, and the signal. */
#ifndef COZBPF_SHIM_BPF_H
#define COZBPF_SHIM_BPF_H

#include "go.bpf.h"

/* Whether the action of the pause signal is the shim's. */
static __always_inline bool shim_installed(struct task_struct *task)
{
	struct sighand_struct *sighand = BPF_CORE_READ(task, sighand);
	const char *at = (const char *)sighand +
			 bpf_core_field_offset(struct sighand_struct, action) +
			 ((config.signal - 1) & 63) * bpf_core_type_size(struct k_sigaction);
	const struct k_sigaction *action = (const struct k_sigaction *)at;
	__u64 handler = (__u64)BPF_CORE_READ(action, sa.sa_handler);

	if (handler < 4096)
		return false; /* SIG_DFL, SIG_IGN */
	return BPF_CORE_READ(action, sa.sa_flags) == COZBPF_HANDLER_FLAGS &&
	       (__u64)BPF_CORE_READ(action, sa.sa_restorer) == handler + COZBPF_HANDLER_DISTANCE;
}

#define VM_GROWSDOWN 0x100 /* include/linux/mm.h */
#define RLIMIT_STACK 3     /* include/uapi/asm-generic/resource.h */
/* bytes below the stack pointer that a signal frame leaves alone (x86-64 ABI) */
#define RED_ZONE 128
/* Of a stack pointer: up to 1 kB below and 7 kB above another one it is taken for the same stack's.
 */
#define DEEPER 1024
#define NEAR 8192

/* The kernel makes a stack that grows no larger than its limit, by whole pages. */
static __always_inline __u64 stack_limit(struct task_struct *task)
{
	return BPF_CORE_READ(task, signal, rlim[RLIMIT_STACK].rlim_cur) &
	       ~((__u64)config.page_size - 1);
}

/* Of a stack of @task in @area: COZBPF_STACK_*, see look_for_room(). */
static __always_inline int room_in(
    struct task_struct *task, const struct compat_area *area, __u64 sp, __u64 thread_pointer)
{
	__u64 need = config.min_stack + RED_ZONE;
	bool grows = area->flags & VM_GROWSDOWN;

	if (sp - area->start < need && (!grows || area->end - sp + need > stack_limit(task)))
		return COZBPF_STACK_SMALL;
	if (grows)
		return COZBPF_STACK_FITS;
	if (!config.any_stack && thread_pointer - sp >= area->end - sp)
		return COZBPF_STACK_FOREIGN;
	return COZBPF_STACK_FITS;
}

/*
 * Whether a signal frame fits the alternate stack, or below the stack pointer of the current thread
 * @t: COZBPF_STACK_*. A page fault there would kill the program, and below a coroutine's stack
 * there may be another one, which the frame would write over. Two kinds of stacks are known to end
 * with their mapping: the main thread's, and those at whose top the C library keeps the thread's
 * data. The main thread's data are elsewhere, maybe beside what malloc() gave. Where the mappings
 * are being changed what was found last near there holds. Not inlined, for the verifier's sake.
 */
__attribute__((noinline, weak)) int look_for_room(struct cozbpf_thread *t, __u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 alt = BPF_CORE_READ(task, sas_ss_sp), alt_size = BPF_CORE_READ(task, sas_ss_size);
	struct compat_area area = {};
	int found;

	if (!t)
		return COZBPF_STACK_SMALL;
	if (alt_size)
		return (sp - alt < alt_size ? sp - alt : alt_size) < config.min_stack
			   ? COZBPF_STACK_SMALL
			   : COZBPF_STACK_FITS;
	if (!compat_find_area(task, sp, &area)) {
		found = room_in(
		    task, &area, sp, task->pid == task->tgid ? 0 : compat_thread_pointer(task));
		t->stack = (__u8)found;
		t->stack_sp = sp;
		return found;
	}
	if (t->stack_sp && sp - t->stack_sp + DEEPER < NEAR)
		return t->stack;
	return config.any_stack ? COZBPF_STACK_FITS : COZBPF_STACK_SMALL;
}

/* What stands in the way is counted. */
static __always_inline bool stack_has_room(
    struct cozbpf_thread *t, struct cozbpf_proc_stats *stats, __u64 sp)
{
	int found = look_for_room(t, sp);

	if (found == COZBPF_STACK_SMALL)
		__sync_fetch_and_add(&stats->small_stack, 1);
	else if (found)
		__sync_fetch_and_add(&stats->foreign_stack, 1);
	return !found;
}

/* Whether a pause's system calls might kill the thread, or be made something else of: it has come
 * by a seccomp filter that nobody has looked at, or dispatches its calls to itself (as Wine does).
 */
static __always_inline bool calls_restricted(
    const struct cozbpf_thread *t, struct task_struct *task)
{
	__u64 filter = compat_filter(task);

	if (filter == COZBPF_FILTER_STRICT || filter != t->filter)
		return true;
	return compat_dispatches(task);
}

/* Whether Go's runtime lets the current thread pause; where it does not, that is counted. */
static __always_inline bool runtime_lets(struct task_struct *task, struct cozbpf_proc_stats *stats)
{
	if (!config.goroutines || go_lets_pause(member_of(task)))
		return true;
	__sync_fetch_and_add(&stats->runtime, 1);
	return false;
}

/* Whether the pause signal would reach the shim in this thread; what stands in the way is counted
 * in proc_stats. */
static __always_inline bool shim_listens(
    struct cozbpf_thread *t, struct task_struct *task, struct cozbpf_proc_stats *stats, __u64 sp)
{
	if (!shim_installed(task)) {
		__sync_fetch_and_add(&stats->no_shim, 1);
		return false;
	}
	if (BPF_CORE_READ(task, blocked.sig[0]) >> ((config.signal - 1) & 63) & 1) {
		if (!t->returning)
			__sync_fetch_and_add(&stats->blocked, 1);
		return false;
	}
	if (calls_restricted(t, task)) {
		__sync_fetch_and_add(&stats->filtered, 1);
		return false;
	}
	return stack_has_room(t, stats, sp);
}

/* The end of the planned pause of the current thread @t, by the clock that its handler reads. */
static __always_inline __u64 end_there(const struct cozbpf_thread *t)
{
	return compat_time_there(bpf_get_current_task_btf(), t->pause_end) & ~COZBPF_HOLD;
}

/* The signal for the planned pause of @t is on its way, or (@err) the kernel has refused it. */
static __always_inline void note_sent(
    struct cozbpf_thread *t, struct cozbpf_proc_stats *stats, long err)
{
	if (err) {
		t->pause = COZBPF_PAUSE_NONE;
		__sync_fetch_and_add(&stats->not_sent, 1);
	} else {
		__sync_fetch_and_add(&stats->asked, 1);
	}
}

/* Notes in the thread's state that it is asked for a pause of @debt, by a sample or a probe; the
 * signal is the caller's. False: it need not pause. */
static __always_inline bool plan_pause(struct cozbpf_thread *t, int sampled, __u64 now, __u64 debt)
{
	bool hold = !config.sleep_pauses || DELAY_READ(control.threads) > config.n_cpus;

	if (!delay_on_ask(t, &control, sampled, debt, config.pause_exit_ns, hold, now))
		return false;
	t->relay = 0;
	return true;
}

/* Pauses the current thread, which is in user mode, for @debt before it goes on: from the program
 * of a probe. */
static __always_inline void pause_here(
    struct pt_regs *ctx, struct cozbpf_thread *t, struct task_struct *task, __u64 now, __u64 debt)
{
	struct cozbpf_proc_stats *stats;
	__u32 tgid = t->tgid;
	long err;

	/* Mode `value` sends a second signal as the first one is delivered. The kernel has a lock
	 * then that the sending needs, and PREEMPT_RT would not put the sending off. */
	if (compat_is_realtime() && config.pauses == COZBPF_BY_VALUE)
		return;
	stats = bpf_map_lookup_elem(&proc_stats, &tgid);
	if (!stats || !runtime_lets(task, stats) ||
	    !shim_listens(t, task, stats, PT_REGS_SP(ctx)) || !plan_pause(t, 0, now, debt))
		return;
	/* Probes' programs may not send a value (kernel 6.18): where a signal carries one, its
	 * delivery is where it is sent. */
	t->relay = config.pauses == COZBPF_BY_VALUE;
	err = bpf_send_signal_thread(config.signal);
	if (err || !t->relay)
		note_sent(t, stats, err);
}

#endif
