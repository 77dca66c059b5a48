/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Every difference between kernels and architectures that the programs must know, and nothing else.
 * What the loader has to know of them is in user/kernel/compat.c. */
#ifndef COZBPF_COMPAT_BPF_H
#define COZBPF_COMPAT_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <cozbpf/abi.h>

/* From 6.13 (6280cf718db0, "bpf: Implement bpf_send_signal_task() kfunc"). A program that calls it
 * is loaded in mode `value` only: before 5.16 (a5d827275241) the call is not even taken where it is
 * never made. user/kernel/compat.c gives the call the kernel's number. */
static int (*const bpf_send_signal_task)(struct task_struct *task, int sig, enum pid_type type,
    __u64 value) = (void *)COZBPF_SEND_SIGNAL_TASK;

/*
 * Calls @step(i, look) for i from 0 to @n - 1 until it returns 1. Where bpf_loop() is missing,
 * which came in 5.17 (e6f2dd0f8067), it is @once(i, ARGUMENTS), @n_old times at most: the verifier
 * looks at each turn of a loop, so the step is a function that it looks at only once.
 */
#define COMPAT_LOOP(n, step, look, n_old, once, ...)                                             \
	do {                                                                                     \
		if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop)) {               \
			bpf_loop(n, step, look, 0);                                              \
			break;                                                                   \
		}                                                                                \
		_Pragma("clang loop unroll(disable)") for (__u32 i = 0;                          \
							   i < (n_old) && !once(i, __VA_ARGS__); \
							   i++);                                 \
	} while (0)

#if defined(__TARGET_ARCH_x86)
/* Where the siginfo is that a handler is about to get, its second argument. */
static __always_inline __u64 compat_handler_info(struct task_struct *t)
{
	return BPF_CORE_READ((struct pt_regs *)bpf_task_pt_regs(t), si);
}
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
/* Where the C library keeps a thread's own data: at the top of the stack that it made for it. */
static __always_inline __u64 compat_thread_pointer(struct task_struct *t)
{
	return BPF_CORE_READ(t, thread.fsbase);
}
/* Go's convention for calls: the g that executes, and where arguments are. */
static __always_inline __u64 compat_go_g(const struct pt_regs *regs)
{
	return regs->r14;
}
static __always_inline __u64 compat_go_argument(const struct pt_regs *regs, bool in_rbx)
{
	__u64 rax = *(const volatile __u64 *)&regs->ax, rbx = *(const volatile __u64 *)&regs->bx;

	return in_rbx ? rbx : rax; /* not by an offset that varies: the verifier takes none */
}
#define COMPAT_SCHED_YIELD 24
#define COMPAT_TS_COMPAT 2 /* arch/x86/include/asm/thread_info.h */
/* A task in a system call of 32 bits, whose numbers are i386's: they say nothing here. */
static __always_inline bool compat_is_32bit_call(const struct task_struct *t)
{
	return t->thread_info.status & COMPAT_TS_COMPAT;
}
static __always_inline __u64 compat_syscall(const struct task_struct *t, const struct pt_regs *regs)
{
	return compat_is_32bit_call(t) ? ~0ULL : BPF_CORE_READ(regs, orig_ax);
}
/* PAUSE, which loops execute that wait by trying again. It takes far longer than others, and an
 * interrupt comes behind it. */
static __always_inline bool compat_at_pause(__u64 ip)
{
	__u16 code[2] = {0};

	return !bpf_probe_read_user(code, sizeof(code), (const void *)(ip - 2)) &&
	       (code[0] == 0x90f3 || code[1] == 0x90f3);
}
static __always_inline __u64 compat_flags(const struct pt_regs *regs)
{
	return regs->flags;
}
#elif defined(__TARGET_ARCH_arm64)
/* Conditional branches are not probed there. */
static __always_inline __u64 compat_flags(const struct pt_regs *regs)
{
	return 0;
}
static __always_inline __u64 compat_handler_info(struct task_struct *t)
{
	return BPF_CORE_READ((struct pt_regs *)bpf_task_pt_regs(t), regs[1]);
}
/* No Go program of this processor has goroutines with accounts (object_go_runtime()). */
static __always_inline __u64 compat_go_g(const struct pt_regs *regs)
{
	return 0;
}
static __always_inline __u64 compat_go_argument(const struct pt_regs *regs, bool in_rbx)
{
	return 0;
}
#define COMPAT_SCHED_YIELD 124
/* Those of arm are not told apart. */
static __always_inline bool compat_is_32bit_call(const struct task_struct *t)
{
	return false;
}
static __always_inline __u64 compat_syscall(const struct task_struct *t, const struct pt_regs *regs)
{
	return (__u32)BPF_CORE_READ(regs, syscallno);
}
/* YIELD. */
static __always_inline bool compat_at_pause(__u64 ip)
{
	__u32 code[2] = {0};

	return !bpf_probe_read_user(code, sizeof(code), (const void *)(ip - 4)) &&
	       (code[0] == 0xd503203f || code[1] == 0xd503203f);
}
static __always_inline bool compat_user_mode(const struct bpf_perf_event_data *ctx)
{
	return (ctx->regs.pstate & 0x1f) == 0; /* PSR_MODE_EL0t, of 64 bits */
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
static __always_inline __u64 compat_thread_pointer(struct task_struct *t)
{
	return BPF_CORE_READ(t, thread.uw.tp_value);
}
#endif

/* Whether the timer expires in a softirq, which those of interrupts may interrupt. */
static __always_inline bool compat_is_soft_timer(const struct hrtimer *timer)
{
	return bpf_core_field_exists(timer->is_soft) && BPF_CORE_READ_BITFIELD(timer, is_soft);
}

/* When the timer of the sample was to fire, and thereby the thread to stop; 0: not known. The
 * kernel's own context lies where ours seems to. */
static __always_inline __u64 compat_sample_due(const struct bpf_perf_event_data *ctx)
{
	struct perf_event *event = 0;

	if (bpf_probe_read_kernel(&event, sizeof(event),
		(const char *)ctx + bpf_core_field_offset(struct bpf_perf_event_data_kern, event)))
		return 0;
	return (__u64)BPF_CORE_READ(event, hw.hrtimer._softexpires);
}

/* task->state became task->__state in 5.14 (2f064a59a11f). */
struct task_struct___before_5_14 {
	volatile long state;
} __attribute__((preserve_access_index));

static __always_inline __u64 compat_task_state(struct task_struct *t)
{
	if (bpf_core_field_exists(t->__state))
		return BPF_CORE_READ(t, __state);
	return (__u64)BPF_CORE_READ((struct task_struct___before_5_14 *)t, state);
}

static __always_inline bool compat_task_runnable(struct task_struct *t)
{
	return compat_task_state(t) == 0;
}

/* include/linux/sched.h: __TASK_STOPPED, TASK_FROZEN (6.1; of cgroup v1);
 * include/linux/sched/jobctl.h: JOBCTL_TRAP_FREEZE */
#define COMPAT_STOPPED (0x4 | 0x8000)
#define COMPAT_TRAP_FREEZE (1 << 23)
/* Whether the task stands still at somebody's request: it is stopped (Ctrl-Z, SIGSTOP), or its
 * control group is frozen. One that a tracer holds is not: we do so ourselves. */
static __always_inline bool compat_is_stopped(struct task_struct *t)
{
	__u64 state = compat_task_state(t);

	return state & COMPAT_STOPPED || (state && t->jobctl & COMPAT_TRAP_FREEZE);
}

/* si_value of a queued signal: user ABI puts it 24 bytes into the siginfo on 64-bit architectures.
 */
#define COMPAT_SI_VALUE 24
static __always_inline __u64 compat_siginfo_value(const struct kernel_siginfo *info)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (const char *)info + COMPAT_SI_VALUE);
	return value;
}

/* The monotonic time @ns by the clock that thread @t reads: a time namespace has one of its own. A
 * kernel may have been built without. */
static __always_inline __u64 compat_time_there(const struct task_struct *t, __u64 ns)
{
	const struct timespec64 *ahead;

	if (!bpf_core_field_exists(struct time_namespace, offsets))
		return ns;
	ahead = &t->nsproxy->time_ns->offsets.monotonic;
	return ns + (__u64)(ahead->tv_sec * 1000000000LL + ahead->tv_nsec);
}

/* A memory area of a process. */
struct compat_area {
	__u64 start, end, flags;
};

static long compat_take_area(struct task_struct *t, struct vm_area_struct *area, void *arg)
{
	struct compat_area *ret = arg;

	ret->start = area->vm_start;
	ret->end = area->vm_end;
	ret->flags = area->vm_flags;
	return 0;
}

/* Steps down a tree of areas: their number is 65,530 (vm.max_map_count), and a red-black tree of so
 * many is 32 high at most. */
#define COMPAT_TREE_STEPS 40

static __always_inline int compat_search_area(
    struct task_struct *t, __u64 address, struct compat_area *ret)
{
	struct vm_area_struct *area;
	struct rb_node *n = BPF_CORE_READ(t, mm, mm_rb.rb_node);

#pragma clang loop unroll(disable)
	for (int i = 0; i < COMPAT_TREE_STEPS && n; i++) {
		area = (void *)((char *)n - bpf_core_field_offset(struct vm_area_struct, vm_rb));
		ret->start = BPF_CORE_READ(area, vm_start);
		ret->end = BPF_CORE_READ(area, vm_end);
		if (address >= ret->start && address < ret->end) {
			ret->flags = BPF_CORE_READ(area, vm_flags);
			return 0;
		}
		n = address < ret->start ? BPF_CORE_READ(n, rb_left) : BPF_CORE_READ(n, rb_right);
	}
	return -1;
}

/* Since 6.1: a node has up to 16 slots, so a tree of 65,530 areas is 8 high at most. Its inner
 * nodes are half full at least. */
#define COMPAT_MAPLE_STEPS 8
#define COMPAT_MAPLE_SLOTS 16
/* include/linux/maple_tree.h: a pointer to a node has the node's type in bits 3 to 6. */
#define COMPAT_MAPLE_TYPE(node) ((node) >> 3 & 15)
#define COMPAT_MAPLE_NODE(node) ((node) & ~255ULL)
enum { COMPAT_MAPLE_RANGE_64 = 2, COMPAT_MAPLE_ARANGE_64 = 3 };

static __always_inline __u64 compat_word(__u64 at)
{
	__u64 ret = 0;

	bpf_probe_read_kernel(&ret, sizeof(ret), (const void *)at);
	return ret;
}

/* What a node has for @address: a node below it, or of a leaf the area. A slot ends at its pivot;
 * the last slot in use may have none. */
static __attribute__((noinline)) __u64 compat_slot(__u64 node, __u64 address)
{
	__u64 pivots, slots, pivot, at = COMPAT_MAPLE_NODE(node);
	__u32 n, i;

	if (COMPAT_MAPLE_TYPE(node) == COMPAT_MAPLE_ARANGE_64) {
		pivots = at + bpf_core_field_offset(struct maple_arange_64, pivot);
		slots = at + bpf_core_field_offset(struct maple_arange_64, slot);
		n = bpf_core_field_size(struct maple_arange_64, pivot) / sizeof(pivot);
	} else {
		pivots = at + bpf_core_field_offset(struct maple_range_64, pivot);
		slots = at + bpf_core_field_offset(struct maple_range_64, slot);
		n = bpf_core_field_size(struct maple_range_64, pivot) / sizeof(pivot);
	}
#pragma clang loop unroll(disable)
	for (i = 0; i < COMPAT_MAPLE_SLOTS && i < n; i++) {
		pivot = compat_word(pivots + i * sizeof(pivot));
		if (pivot >= address || (i && !pivot))
			break;
	}
	return compat_word(slots + i * sizeof(pivot));
}

static __always_inline int compat_search_maple(
    struct task_struct *t, __u64 address, struct compat_area *ret)
{
	__u64 node = (__u64)BPF_CORE_READ(t, mm, mm_mt.ma_root);
	const struct vm_area_struct *area = NULL;

#pragma clang loop unroll(disable)
	for (int i = 0; i < COMPAT_MAPLE_STEPS && node; i++) {
		bool leaf = COMPAT_MAPLE_TYPE(node) < COMPAT_MAPLE_RANGE_64;

		node = compat_slot(node, address);
		if (!leaf)
			continue;
		area = (const void *)node;
		break;
	}
	ret->start = BPF_CORE_READ(area, vm_start);
	ret->end = BPF_CORE_READ(area, vm_end);
	ret->flags = BPF_CORE_READ(area, vm_flags);
	return address >= ret->start && address < ret->end ? 0 : -1;
}

/* A lock of PREEMPT_RT (5.15), which is another one there. */
struct rwbase_rt {
	atomic_t readers;
};
struct rw_semaphore___realtime {
	struct rwbase_rt rwbase;
} __attribute__((preserve_access_index));

/* Whether locks of processes sleep (PREEMPT_RT): no interrupt may take them. */
static __always_inline bool compat_is_realtime(void)
{
	return bpf_core_field_exists(struct rw_semaphore___realtime, rwbase);
}

/*
 * The memory area of the current thread @t that @address is in. Not 0: there is none, or it cannot
 * be told now. bpf_find_vma() came in 5.17 (7c7e3d31e785), and answers no interrupt of PREEMPT_RT,
 * since it takes a lock. There, and before, the tree of areas is read without its lock: until 6.1
 * (524e00b36e8c) a red-black tree, then a maple tree.
 */
static __always_inline int compat_find_area(
    struct task_struct *t, __u64 address, struct compat_area *ret)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma) &&
	    !compat_is_realtime())
		return (int)bpf_find_vma(t, address, compat_take_area, ret, 0);
	if (bpf_core_field_exists(struct mm_struct, mm_rb))
		return compat_search_area(t, address, ret);
	if (bpf_core_field_exists(struct mm_struct, mm_mt))
		return compat_search_maple(t, address, ret);
	return -1;
}

/* The thread's seccomp filter, as in struct cozbpf_thread. A kernel may have been built without. */
static __always_inline __u64 compat_filter(struct task_struct *task)
{
	int mode;

	if (!bpf_core_field_exists(task->seccomp.filter))
		return COZBPF_FILTER_NONE;
	mode = BPF_CORE_READ(task, seccomp.mode);
	if (mode == 2) /* SECCOMP_MODE_FILTER */
		return (__u64)BPF_CORE_READ(task, seccomp.filter);
	return mode ? COZBPF_FILTER_STRICT : COZBPF_FILTER_NONE;
}

/* Whether the thread's system calls go to a handler of its own. arm64 has no such thing before it
 * got the generic entry code. */
static __always_inline bool compat_dispatches(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->thread_info.syscall_work) ||
	    !bpf_core_enum_value_exists(
		enum syscall_work_bit, SYSCALL_WORK_BIT_SYSCALL_USER_DISPATCH))
		return false;
	return BPF_CORE_READ(task, thread_info.syscall_work) >>
		   bpf_core_enum_value(
		       enum syscall_work_bit, SYSCALL_WORK_BIT_SYSCALL_USER_DISPATCH) &
	       1;
}

#endif
