// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Waits as units of what is made faster (--off-cpu). These programs take the place of wake.bpf.c's
 * for switches and wake-ups. At a switch-out they find the line that waits and what it waits for;
 * where the wait ends it becomes samples, as many as periods fit into it.
 */
#include "lines.bpf.h"
#include "wake.bpf.h"
#include <cozbpf/block_visit.h>
#include <cozbpf/delay_wait.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define S_IFMT 0170000 /* include/uapi/linux/stat.h */
#define S_IFSOCK 0140000
#define S_IFREG 0100000
#define S_IFBLK 0060000
#define TASK_UNINTERRUPTIBLE 2 /* include/linux/sched.h */
#define PF_KTHREAD 0x200000    /* likewise */
#define FUTEX_WAIT 0           /* include/uapi/linux/futex.h */
#define FUTEX_LOCK_PI 6
#define FUTEX_LOCK_PI2 13
#define FUTEX_CMD 127
/* glibc's and Rust's mutexes have this value while somebody waits for them */
#define MUTEX_CONTENDED 2

/* COZBPF_WAIT_*, by system call; set before loading (user/kernel/waits.c). */
const volatile __u8 wait_calls[COZBPF_SYSCALLS] = {COZBPF_WAIT_OTHER};

/* The inode that is open as @fd in the current process. NULL: none is. */
static __always_inline struct inode *inode_of(struct task_struct *task, __u32 fd)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd), *file = NULL;

	if (fd >= BPF_CORE_READ(table, max_fds) ||
	    bpf_probe_read_kernel(&file, sizeof(file), files + fd) || !file)
		return NULL;
	return BPF_CORE_READ(file, f_inode);
}

static __always_inline __u32 type_of(struct inode *inode)
{
	return inode ? BPF_CORE_READ(inode, i_mode) & S_IFMT : 0;
}

/* COZBPF_WAIT_*, of a call on @inode. */
static __always_inline __u32 class_of_inode(struct inode *inode)
{
	__u32 type = type_of(inode);

	if (type == S_IFSOCK)
		return COZBPF_WAIT_NET;
	return type == S_IFREG || type == S_IFBLK ? COZBPF_WAIT_IO : COZBPF_WAIT_OTHER;
}

/* A wait of class io in a call on @inode, NULL for none, is one for the disk that is asked for. */
static __always_inline bool is_on_disk(struct inode *inode)
{
	if (!config.wait_disk)
		return true;
	return inode &&
	       config.wait_disk == (type_of(inode) == S_IFBLK ? BPF_CORE_READ(inode, i_rdev)
							      : BPF_CORE_READ(inode, i_sb, s_dev));
}

/* What thread @t, which leaves its CPU in system call @call, waits for. */
static __always_inline __u32 class_of_wait(
    struct cozbpf_thread *t, struct task_struct *task, struct pt_regs *regs, __u64 call)
{
	__u32 class = call < COZBPF_SYSCALLS ? wait_calls[call] : COZBPF_WAIT_OTHER, op;
	bool is_io = BPF_CORE_READ_BITFIELD(task, in_iowait);
	struct inode *inode = NULL;

	t->wait_is_lock = 0;
	if (class == COZBPF_WAIT_FUTEX && !is_io) {
		op = PT_REGS_PARM2_SYSCALL(regs) & FUTEX_CMD;
		t->wait_is_lock =
		    op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2 ||
		    (op == FUTEX_WAIT && (__u32)PT_REGS_PARM3_SYSCALL(regs) == MUTEX_CONTENDED);
		return COZBPF_WAIT_LOCK;
	}
	if (class == COZBPF_WAIT_BY_FILE || (class == COZBPF_WAIT_IO && config.wait_disk))
		inode = inode_of(task, (__u32)PT_REGS_PARM1_SYSCALL(regs));
	if (class == COZBPF_WAIT_BY_FILE)
		class = class_of_inode(inode);
	if (is_io || class == COZBPF_WAIT_IO)
		return is_on_disk(inode) ? COZBPF_WAIT_IO : COZBPF_WAIT_OTHER;
	/* Nothing else waits so, but for what has been looked at by now. */
	if (class == COZBPF_WAIT_OTHER && compat_task_state(task) & TASK_UNINTERRUPTIBLE)
		class = COZBPF_WAIT_LOCK;
	if (class == COZBPF_WAIT_LOCK)
		t->wait_is_lock = 1;
	return class;
}

/* Which lock it is, of processes that do not share any; a lock of the kernel is not known. */
static __always_inline __u64 lock_of_wait(
    const struct cozbpf_thread *t, struct pt_regs *regs, __u64 call)
{
	if (call >= COZBPF_SYSCALLS || wait_calls[call] != COZBPF_WAIT_FUTEX)
		return t->wait;
	return PT_REGS_PARM1_SYSCALL(regs) ^ (__u64)t->tgid << 47;
}

/* The line in scope at which the current thread, of process @tgid, has entered the kernel. */
__attribute__((noinline, weak)) __u32 line_of_entry(__u32 tgid, bool called)
{
	struct cozbpf_proc *proc = bpf_map_lookup_elem(&procs, &tgid);
	struct unwind u = {.proc = proc};

	if (!proc)
		return 0;
	unwind_entry(&u, bpf_get_current_task_btf(), called);
	COMPAT_LOOP(COZBPF_FRAMES, unwind_frame, &u, COZBPF_FRAMES, unwind_once, &u, proc);
	return u.line;
}

struct wait_walk {
	struct unwind u;
	struct cozbpf_wait_stack *stack;
};

static long walk_frame(__u32 i, struct wait_walk *w)
{
	return look_at_frame(&w->u, w->u.proc, w->stack);
}

__attribute__((noinline, weak)) int walk_once(
    __u32 i, struct unwind *u, const struct cozbpf_proc *proc, struct cozbpf_wait_stack *stack)
{
	return u && proc && stack ? look_at_frame(u, proc, stack) : 1;
}

/* The same, and the lines in scope above it, which take the place of what is in @stack. */
__attribute__((noinline, weak)) __u32 stack_of_wait(
    __u32 tgid, bool called, struct cozbpf_wait_stack *stack)
{
	struct cozbpf_proc *proc = bpf_map_lookup_elem(&procs, &tgid);
	struct wait_walk w = {.u.proc = proc, .stack = stack};

	if (!stack)
		return 0;
	__builtin_memset(stack, 0, sizeof(*stack));
	if (!proc)
		return 0;
	unwind_entry(&w.u, bpf_get_current_task_btf(), called);
	COMPAT_LOOP(COZBPF_FRAMES, walk_frame, &w, COZBPF_FRAMES, walk_once, &w.u, proc, stack);
	return w.u.passed.own;
}

/* The unit of waits of @class in @line; where there is none yet, it gets one. */
__attribute__((noinline, weak)) __u32 unit_of_wait(__u32 class, __u32 line)
{
	__u32 first = class * COZBPF_WAIT_UNITS, at = line * COZBPF_WAIT_CLASSES + class;
	__u64 *id, *n, *of, unit, old;

	if (class >= COZBPF_WAIT_CLASSES || !line)
		return config.wait_first + first + COZBPF_WAIT_NO_LINE;
	id = bpf_map_lookup_elem(&wait_ids, &at);
	if (!id)
		return config.wait_first + first + COZBPF_WAIT_NO_LINE;
	unit = *id;
	if (unit)
		return (__u32)unit;
	n = bpf_map_lookup_elem(&wait_lines, &first);
	if (!n)
		return config.wait_first + first + COZBPF_WAIT_NO_LINE;
	at = (__u32)(first + COZBPF_WAIT_NO_LINE + 1 + __sync_fetch_and_add(n, 1));
	of = at < first + COZBPF_WAIT_UNITS ? bpf_map_lookup_elem(&wait_lines, &at) : NULL;
	if (!of) {
		*n = COZBPF_WAIT_UNITS;
		__sync_fetch_and_add(&control.wait_crowded, 1);
		return config.wait_first + first + COZBPF_WAIT_NO_LINE;
	}
	*of = line;
	/* Another CPU may have been faster, and its unit stands. */
	old = __sync_val_compare_and_swap(id, 0, config.wait_first + at);
	return old ? (__u32)old : config.wait_first + at;
}

/* Thread @t, the current one, is about to leave its CPU. A pause whose end has come is over,
 * whether that has been settled or not. */
static __always_inline void begin_wait(
    struct cozbpf_thread *t, struct task_struct *task, int how, __u64 now)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u64 call = compat_syscall(task, regs);
	bool queues = config.waits >> COZBPF_WAIT_SCHED & 1, waits = false;
	__u32 class = 0, line;

	t->wait = 0;
	t->queue = 0;
	t->wait_at = now;
	if (t->pause == COZBPF_PAUSE_BEGUN && now < t->pause_end)
		return;
	if (how == DELAY_BLOCKED) {
		class = class_of_wait(t, task, regs, call);
		waits = config.waits >> (class & 31) & 1;
	}
	if (!waits && !queues)
		return;
	if (config.call_first && (waits || call < COZBPF_SYSCALLS)) {
		t->wait_stack.callers[0] = 0;
		line = unit_of_call(call);
	} else if (!t->wait_likely || t->wait_rest + 2ULL * t->wait_likely >= control.period_ns) {
		line = stack_of_wait(t->tgid, call < COZBPF_SYSCALLS, &t->wait_stack);
	} else { /* no sample is likely to come of it, and a whole stack costs most of a switch */
		t->wait_stack.callers[0] = COZBPF_WAIT_NO_STACK;
		line = line_of_entry(t->tgid, call < COZBPF_SYSCALLS);
	}
	t->wait_call = call < COZBPF_SYSCALLS ? 1 + (__u32)call : 0;
	if (waits)
		t->wait = unit_of_wait(class, line);
	t->wait_selected = 0;
	if (waits && t->wait_is_lock)
		delay_select_lock(t, &control, lock_of_wait(t, regs, call));
	if (queues)
		t->queue = unit_of_wait(COZBPF_WAIT_SCHED, line);
}

/* @n samples of @key in the hash map @map of counts. False: there is no room. */
static __always_inline bool count_key(void *map, const void *key, __u64 n)
{
	__u64 *count = bpf_map_lookup_elem(map, key);

	if (!count && !bpf_map_update_elem(map, key, &n, BPF_NOEXIST))
		return true;
	if (!count) /* another CPU may have been faster */
		count = bpf_map_lookup_elem(map, key);
	if (count)
		__sync_fetch_and_add(count, n);
	return count;
}

/* @n samples of waits of @unit, on the stack of thread @t. A line that no other one in scope has
 * called is a stack by itself. */
static __always_inline void count_stack(struct cozbpf_thread *t, __u32 unit, __u64 n)
{
	if (!t->wait_stack.callers[0])
		return;
	if (t->wait_stack.callers[0] == COZBPF_WAIT_NO_STACK) {
		__sync_fetch_and_add(&control.wait_stacks_lost, n);
		return;
	}
	t->wait_stack.unit = unit;
	if (!count_key(&wait_stacks, &t->wait_stack, n))
		__sync_fetch_and_add(&control.wait_stacks_lost, n);
}

/* What @w is to a report. A thread is where it has called the kernel to wake: its last sample may
 * be far from there. */
static __always_inline __u32 waker_of(const struct waking *w, const struct cozbpf_cpu *cpu)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	if (w->by && w->cause == DELAY_BY_EXIT)
		return COZBPF_WAKER_END;
	if (w->by)
		return line_of_entry(w->by->tgid, compat_syscall(task, regs) < COZBPF_SYSCALLS);
	if (w->cause == DELAY_BY_TIMER)
		return COZBPF_WAKER_TIMER;
	return cpu->irq || task->flags & PF_KTHREAD || member_of(task) ? COZBPF_WAKER_KERNEL
								       : COZBPF_WAKER_PROCESS;
}

/* The longest wait of late, of which each one takes an eighth: a thread waits long and short by
 * turns. */
static __always_inline __u32 likely_wait(__u32 before, __u64 lasted)
{
	__u32 left = before - before / 8;

	return lasted < left ? left : lasted < ~0U ? (__u32)lasted : ~0U;
}

/* Thread @t has waited: samples, as many as periods fit, and the rest is for the next wait. Returns
 * how many. */
static __always_inline __u64 count_wait(
    struct cozbpf_thread *t, const struct delay_wait *w, __u64 now)
{
	__u64 period = control.period_ns, whole = t->wait_rest + w->lasted, n;
	bool selected = delay_is_selected(&control, w->unit) && visits_count(now);
	struct cozbpf_line_count *count;
	__u32 unit = w->unit;

	if (!unit || !period)
		return 0;
	t->wait_likely = likely_wait(t->wait_likely, w->lasted);
	n = whole / period;
	t->wait_rest = (__u32)(whole - n * period);
	if (selected)
		__sync_fetch_and_add(&control.selected_ns, w->waited);
	count = n ? bpf_map_lookup_elem(&line_counts, &unit) : NULL;
	if (!count)
		return 0;
	count_in(count, n);
	__sync_fetch_and_add(&control.samples, n);
	__sync_fetch_and_add(&control.in_scope, n);
	__sync_fetch_and_add(&control.wait_samples, n);
	if (selected)
		__sync_fetch_and_add(&control.selected_samples, n);
	if (DELAY_READ(control.pick))
		pick_line(unit, n);
	count_stack(t, unit, n);
	return n;
}

/* Hook: context switch, interrupts off. Loops: as a sample's, where a thread of the target leaves.
 */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_waiter, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct cozbpf_thread *out = leaving_of(prev, next), *in = thread_of(next);
	struct delay_wait wait;
	struct cozbpf_cpu *cpu;
	__u64 now;
	int how;

	leave_idle(prev);
	follow_stops(out, prev, in, next);
	if (are_none(out, in))
		return 0;
	cpu = this_cpu();
	if (!cpu)
		return 0;
	how = how_it_leaves(out, prev, in, preempt);
	now = bpf_ktime_get_ns();
	if (out)
		begin_wait(out, prev, how, now);
	if (DELAY_READ(control.spins) && out)
		spin_released(out, now);
	delay_on_switch_waiter(out, how, in, outsider_had(out, prev), &control, cpu, now, &wait);
	if (out && out->wait)
		delay_begin_wait(out, &control, prev->pid, now);
	if (in)
		count_wait(in, &wait, now);
	if (config.blocks)
		block_on_switch(out, in, cpu, now);
	if (out && !next->pid)
		delay_idle_begins(&control, cpu->number, now);
	if (DELAY_READ(control.spins))
		spin_show(in);
	return 0;
}

/* Hook: a task is about to be woken; runs in the waker's context with the task's pi_lock held.
 * Loops: as a sample's, where the wait counts and a thread of the target ends it. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking_waiter, struct task_struct *p)
{
	struct cozbpf_thread *t = thread_of(p);
	struct cozbpf_cpu *cpu = t ? this_cpu() : NULL;
	struct delay_wait wait;
	struct cozbpf_wait_call in;
	struct cozbpf_waker waker;
	struct waking w;
	__u64 now, n;

	if (!t || !cpu)
		return 0;
	now = bpf_ktime_get_ns();
	if (t->wait == COZBPF_WAIT_UNSEEN)
		__sync_fetch_and_add(&control.wait_before, 1);
	w = who_wakes(t, cpu);
	delay_on_wake_waiter(t, w.cause, w.by, w.id, w.expiry, &control, now, &wait);
	n = count_wait(t, &wait, now);
	if (n) {
		waker = (struct cozbpf_waker){wait.unit, waker_of(&w, cpu)};
		if (!count_key(&wakers, &waker, n))
			__sync_fetch_and_add(&control.wakers_lost, n);
		in = (struct cozbpf_wait_call){wait.unit, t->wait_call};
		if (!config.call_first && !count_key(&wait_call_counts, &in, n))
			__sync_fetch_and_add(&control.wait_calls_lost, n);
	}
	go_on(w.by);
	return 0;
}
