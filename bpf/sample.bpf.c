// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Samples: which line runs, what the thread owes, and the signal that makes
 * it pay. Where the signal carries no value, pause.bpf.c sees the pause begin. */
#include "begin.bpf.h"
#include "lines.bpf.h"
#include "member.bpf.h"
#include <cozbpf/block_visit.h>
#include <cozbpf/delay_wait.h>
#include <cozbpf/perturb.h>

/* Six times what the loop takes at 2.5 GHz. One that took longer met an interrupt of the host,
 * whose length would outweigh all other loops. */
#define LOOP_MAX_NS 2000

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Callers of the kernel's functions; a sample's own CPU writes and reads them. */
struct kernel_frames {
	__u64 ip[COZBPF_KERNEL_FRAMES];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kernel_frames);
} kernel_frames SEC(".maps");

/* The function among those of a stack of @size bytes that counts with what it calls, else the
 * innermost. Inclusive: 0, each has been passed. */
__attribute__((noinline, weak)) __u32 line_on_stack(
    const struct kernel_frames *f, __u32 size, struct passed *passed)
{
	__u32 innermost = 0, line;

	if (!f || !passed)
		return 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < COZBPF_KERNEL_FRAMES && i < size / sizeof(__u64); i++) {
		/* A return address belongs to the call before it. */
		line =
		    line_in_slice(control.kernel_first, control.kernel_count, f->ip[i] - (i > 0));
		if (line && config.inclusive)
			pass_line(passed, line);
		else if (line && line == config.kernel_unit)
			return line;
		if (!innermost)
			innermost = line;
	}
	return config.inclusive ? 0 : innermost;
}

/* The kernel's function that a sample belongs to. */
static __always_inline __u32 line_in_kernel(struct bpf_perf_event_data *ctx, struct passed *passed)
{
	struct kernel_frames *f;
	__u32 zero = 0;
	long size;

	if (!config.inclusive && !config.kernel_unit)
		return line_in_slice(
		    control.kernel_first, control.kernel_count, compat_sample_ip(ctx));
	f = bpf_map_lookup_elem(&kernel_frames, &zero);
	size = f ? bpf_get_stack(ctx, f->ip, sizeof(f->ip), 0) : 0;
	return size > 0 ? line_on_stack(f, (__u32)size, passed) : 0;
}

/* Line of a sample: the system call or the kernel's function, where these are in scope; the
 * innermost address; else the first in-scope caller (paper 3.4.2). Inclusive: the selected
 * function, where it is on the stack. @pick: the one that an experiment may be on. */
static __always_inline __u32 line_of_sample(struct bpf_perf_event_data *ctx,
    struct task_struct *task, const struct cozbpf_proc *proc, __u64 now, __u32 *pick)
{
	bool user = compat_user_mode(ctx);
	struct unwind u = {.proc = proc, .passed.now = now};

	if (!user && config.call_first)
		u.line =
		    unit_of_call(compat_syscall(task, (struct pt_regs *)bpf_task_pt_regs(task)));
	else if (!user && control.kernel_count)
		u.line = line_in_kernel(ctx, &u.passed);
	if (u.line && config.inclusive)
		pass_line(&u.passed, u.line);
	if (!u.line || config.inclusive) {
		unwind_begin(&u, ctx, task, user);
		COMPAT_LOOP(COZBPF_FRAMES, unwind_frame, &u, COZBPF_FRAMES, unwind_once, &u, proc);
	}
	*pick = config.inclusive ? u.passed.pick : u.line;
	if (config.inclusive)
		return u.passed.selected ? u.passed.selected : u.passed.own;
	return u.line;
}

/* Counts a sample that no line has where @ip is in code that the process has made while it runs. */
__attribute__((noinline)) int count_made(
    const struct cozbpf_proc *proc, struct cozbpf_proc_stats *stats, __u64 ip, __u32 line)
{
	__u32 at;

	if (line || !proc || !stats)
		return 0;
	at = (__u32)mapping_at(proc, ip);
	if (at < COZBPF_MAPPINGS && proc->mappings[at].offset == proc->mappings[at].start)
		__sync_fetch_and_add(&stats->made, 1);
	return 0;
}

static __always_inline void count_line(__u32 line, __u32 pick, __u64 now)
{
	struct cozbpf_line_count *count = bpf_map_lookup_elem(&line_counts, &line);

	if (!count)
		return;
	if (!config.inclusive)
		count_in(count, 1);
	if (delay_is_selected(&control, line) && visits_count(now))
		__sync_fetch_and_add(&control.selected_samples, 1);
	if (DELAY_READ(control.pick))
		pick_line(pick, 1);
}

static __always_inline void visit_line(const struct cozbpf_thread *t, __u32 line, __u64 n)
{
	const struct cozbpf_line_count *count = bpf_map_lookup_elem(&line_counts, &line);

	if (count && count->point)
		count_visits(t, (__u32)count->point - 1, n);
}

/*
 * What lines have executed, for the selected one and for those that are progress points, which are
 * visited by being executed. As in the thread's window (delay_window_push()) half of the time
 * executed between two samples belongs to the one, half to the other: samples themselves come
 * sooner after pauses. To the selected line a thread's first sample is a whole period, or threads
 * that die before their second one would hardly count.
 */
static __always_inline void share_executed(struct cozbpf_thread *t, __u32 line, __u64 now)
{
	const struct cozbpf_account *a = delay_account(t);
	__u32 before = 0, ends;
	__u64 half, whole;

	whole = delay_unsampled(a, now);
	half = whole / 2;
	if (a->ring_used)
		before = delay_line_before(a);
	else if (whole < control.period_ns)
		whole = control.period_ns;
	ends = delay_is_selected(&control, line) + delay_is_selected(&control, before);
	if (ends && visits_count(now))
		__sync_fetch_and_add(
		    &control.selected_ns, ends == 2 || !a->ring_used ? whole : half);
	if (!control.sampled)
		return;
	visit_line(t, line, half / COZBPF_SAMPLED_UNIT_NS);
	if (a->ring_used)
		visit_line(t, before, half / COZBPF_SAMPLED_UNIT_NS);
}

struct counter_look {
	struct cozbpf_counter_set *set;
	struct cozbpf_thread *t;
	__u64 n;
};

static __always_inline int look_at(
    __u32 i, struct cozbpf_counter_set *set, __u64 n, struct cozbpf_thread *t)
{
	struct cozbpf_counter *c;
	__u64 count, seen;

	if (i >= COZBPF_COUNTERS || i >= n)
		return 1;
	c = &set->counters[i];
	seen = c->seen;
	/* Fails where the process has not touched the page since its fork: then it has counted
	 * nothing either. */
	if (bpf_probe_read_user(&count, sizeof(count), (const void *)c->address) || count <= seen)
		return 0;
	if (__sync_val_compare_and_swap(&c->seen, seen, count) == seen)
		count_visits(t, (__u32)c->point, count - seen);
	return 0;
}

static long look_at_counter(__u32 i, void *arg)
{
	struct counter_look *look = arg;

	return look_at(i, look->set, look->n, look->t);
}

__attribute__((noinline)) int look_at_once(
    __u32 i, struct cozbpf_counter_set *set, __u64 n, struct cozbpf_thread *t)
{
	return set && t ? look_at(i, set, n, t) : 1;
}

/* Counters that the program raises itself (Coz's coz.h): what they have grown by since the last
 * sample are visits now. That is late by a millisecond of the process's CPU time at most, which for
 * a process that mostly waits is long; what came after its last sample is not seen. */
static __always_inline void visit_counters(struct cozbpf_thread *t, __u32 tgid)
{
	struct counter_look look = {.t = t};
	__u32 *set;

	if (!control.counters)
		return;
	set = bpf_map_lookup_elem(&process_counters, &tgid);
	look.set = set ? bpf_map_lookup_elem(&counter_sets, set) : 0;
	if (!look.set)
		return;
	/* The loader writes a counter before their number. */
	look.n = DELAY_ACQUIRE(look.set->n);
	COMPAT_LOOP(COZBPF_COUNTERS, look_at_counter, &look, COZBPF_COUNTERS, look_at_once,
	    look.set, look.n, t);
}

/*
 * Counts a sample that has met the current thread where programs wait by trying again: at @ip, or,
 * 0, in a system call. Until the probes are there that tell of that (spin.bpf.c). Whether @ip is in
 * an idle loop only the loader can tell. Not inlined, for the verifier's sake.
 */
__attribute__((noinline, weak)) int seems_to_spin(__u64 ip, __u32 tgid)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 look_for = DELAY_READ(control.look_for);
	struct cozbpf_spot *spot;

	if (ip && look_for & COZBPF_SPINS_PAUSE && compat_at_pause(ip))
		__sync_fetch_and_add(&control.spin_samples[0], 1);
	if (!ip && look_for & COZBPF_SPINS_YIELD &&
	    compat_syscall(task, (struct pt_regs *)bpf_task_pt_regs(task)) == COMPAT_SCHED_YIELD)
		__sync_fetch_and_add(&control.spin_samples[1], 1);
	if (ip && look_for & COZBPF_SPINS_IDLE) {
		spot = &spots.at[__sync_fetch_and_add(&spots.n, 1) % COZBPF_SPOTS];
		spot->ip = ip;
		spot->tgid = tgid;
	}
	return 0;
}

#define MULTIPLY_4 "%0 *= %0\n%0 *= %0\n%0 *= %0\n%0 *= %0\n"

/* How fast this CPU is now: a chain of 256 multiplications, each of which waits for the one before,
 * so its time does not depend on the program. @now: when it begins. */
static __always_inline void time_loop(__u64 now)
{
	__u64 chain = 3, took;

	if (!DELAY_READ(control.active))
		return;
#pragma clang loop unroll(disable)
	for (int i = 0; i < 16; i++)
		asm volatile(MULTIPLY_4 MULTIPLY_4 MULTIPLY_4 MULTIPLY_4 : "+r"(chain));
	took = bpf_ktime_get_ns() - now;
	__sync_fetch_and_add(&control.loop_ns, took < LOOP_MAX_NS ? took : LOOP_MAX_NS);
	__sync_fetch_and_add(&control.loops, 1);
}

/* The sample met a runtime's own work, in thread @own. */
static __always_inline void sample_runtime(const struct cozbpf_thread *own)
{
	__u32 tgid = own->tgid;
	struct cozbpf_proc_stats *stats = bpf_map_lookup_elem(&proc_stats, &tgid);

	__sync_fetch_and_add(&control.samples, 1);
	if (stats)
		__sync_fetch_and_add(&stats->samples, 1);
}

/* The sample met no thread of the target that has an account. */
static __always_inline void sample_outsider(
    struct bpf_perf_event_data *ctx, struct task_struct *task)
{
	struct cozbpf_thread *own = config.goroutines ? member_of(task) : NULL;
	struct cozbpf_cpu *cpu;

	if (own) {
		sample_runtime(own);
		return;
	}
	if (!control.sample_cpu)
		return;
	cpu = this_cpu();
	if (!cpu || control.sample_cpu != cpu->number)
		return;
	control.sample_due_ns = compat_sample_due(ctx);
	control.sample_seen_ns = bpf_ktime_get_ns();
}

/* Sends the planned pause's end with its signal, in mode `value`. */
static __always_inline long send_value(struct cozbpf_thread *t)
{
	return bpf_send_signal_task(
	    bpf_get_current_task_btf(), config.signal, PIDTYPE_PID, end_there(t) | t->pause_hold);
}

static __always_inline void ask_to_pause(struct bpf_perf_event_data *ctx, struct cozbpf_thread *t,
    struct cozbpf_proc_stats *stats, __u64 now, __u64 debt, bool values)
{
	__u64 due = compat_sample_due(ctx);

	if (due)
		delay_sample_entry(t, &control, (__s64)(now - due));
	if (!plan_pause(t, 1, now, debt))
		return;
	note_sent(t, stats, values ? send_value(t) : bpf_send_signal_thread(config.signal));
}

/* The pause that perturbation has drawn for this sample, 0 for none. */
static __always_inline __u64 draw_pause(struct cozbpf_thread *t)
{
	if (DELAY_READ(control.active))
		return 0;
	return perturb_pause(config.perturb_seed, t->order, t->draws++, config.perturb);
}

/* The thread owes @debt, or 0. In a system call the signal would be an EINTR for the program. */
static __always_inline void take_debt(struct bpf_perf_event_data *ctx, struct cozbpf_thread *t,
    struct cozbpf_proc_stats *stats, __u64 now, __u64 debt, bool values)
{
	struct task_struct *task;

	if (config.perturb && !debt)
		debt = draw_pause(t);
	if (!debt)
		return;
	task = bpf_get_current_task_btf();
	if (!runtime_lets(task, stats))
		return;
	if (debt >= COZBPF_PAUSE_MAX_NS &&
	    control.required - delay_account(t)->paid > COZBPF_DEEP_DEBT_NS)
		__sync_fetch_and_add(&control.deep_debt, 1);
	if (compat_user_mode(ctx) && t->pause == COZBPF_PAUSE_NONE &&
	    shim_listens(t, task, stats, compat_sample_sp(ctx)))
		ask_to_pause(ctx, t, stats, now, debt, values);
}

/* What the sample's program has taken from the thread is none of its blocks'. The way out of a
 * sample is taken to be as long as the way in. */
static __always_inline void leave_out_sample(struct cozbpf_thread *t)
{
	if (config.blocks)
		delay_account(t)->run_since =
		    bpf_ktime_get_ns() + 2 * (__u64)control.sample_entry_ns;
}

/* The current thread's process @tgid had made room for others. Not inlined: it is rare. */
__attribute__((noinline, weak)) int add_again(__u32 tgid)
{
	struct task_struct *task = bpf_get_current_task_btf();

	add_process(tgid, task->group_leader);
	return 0;
}

static __always_inline struct cozbpf_proc_stats *stats_of(__u32 tgid)
{
	struct cozbpf_proc_stats *stats = bpf_map_lookup_elem(&proc_stats, &tgid);

	if (stats)
		return stats;
	add_again(tgid);
	return bpf_map_lookup_elem(&proc_stats, &tgid);
}

/* @values: the pause's signal carries its end. */
static __always_inline int sample(struct bpf_perf_event_data *ctx, bool values)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cozbpf_thread *t = current_of(task);
	struct cozbpf_proc_stats *stats;
	struct cozbpf_proc *proc;
	struct cozbpf_cpu *cpu;
	__u64 now, debt;
	__u32 tgid, line = 0, pick = 0;

	if (!t) {
		sample_outsider(ctx, task);
		return 0;
	}
	now = bpf_ktime_get_ns();
	time_loop(now);
	if (delay_on_interrupt(t, &control, now)) {
		__sync_fetch_and_add(&control.in_pause, 1);
		return 0;
	}
	if (spin_sample(t, now)) {
		__sync_fetch_and_add(&control.samples, 1);
		return 0;
	}
	tgid = t->tgid;
	proc = bpf_map_lookup_elem(&procs, &tgid);
	stats = stats_of(tgid);
	if (!stats) {
		__sync_fetch_and_add(&control.storage_lost, 1);
		return 0;
	}
	if (proc) {
		line = line_of_sample(ctx, task, proc, now, &pick);
		count_made(proc, stats, compat_sample_ip(ctx), line);
	}
	__sync_fetch_and_add(&control.samples, 1);
	__sync_fetch_and_add(&stats->samples, 1);
	if (config.blocks && !compat_user_mode(ctx))
		__sync_fetch_and_add(&control.kernel_samples, 1);
	if (line) {
		__sync_fetch_and_add(&control.in_scope, 1);
		__sync_fetch_and_add(&stats->in_scope, 1);
		count_line(line, pick, now);
	}
	share_executed(t, line, now);
	visit_counters(t, tgid);
	if (delay_withdraw(t, now))
		__sync_fetch_and_add(&stats->withdrawn, 1);
	cpu = this_cpu();
	if (!cpu)
		return 0;
	delay_follow_waits(&control, now);
	if (config.blocks)
		block_on_sample(t, cpu, now);
	debt = delay_on_sample(t, &control, cpu, line, now, config.min_debt_ns);
	spin_show(t);
	take_debt(ctx, t, stats, now, debt, values);
	t->returning = 0;
	seems_to_spin(compat_user_mode(ctx) ? compat_sample_ip(ctx) : 0, tgid);
	leave_out_sample(t);
	return 0;
}

/* Hook: per-CPU clock event, hard interrupt. Loops: COZBPF_FRAMES x (COZBPF_MAPPINGS + two
 * searches), one frame where the sample itself is in scope; COZBPF_COUNTERS where there are any; 16
 * turns of time_loop(). */
SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	return sample(ctx, true);
}

/* The same where a signal carries no value. */
SEC("perf_event")
int on_sample_plain(struct bpf_perf_event_data *ctx)
{
	return sample(ctx, false);
}

/*
 * Hook: a signal is about to be delivered to the current thread, task context, interrupts off. Mode
 * `value`. It may be the signal of a program that cannot give it a value (sync.bpf.c): the handler
 * takes it for a pause that is over, and the real one follows.
 */
SEC("tp_btf/signal_deliver")
int BPF_PROG(on_deliver, int sig, struct kernel_siginfo *info)
{
	struct cozbpf_proc_stats *stats;
	struct cozbpf_thread *t = paused_thread(sig, &stats);

	if (!t || t->pause != COZBPF_PAUSE_ASKED)
		return 0;
	if (t->relay) {
		t->relay = 0;
		note_sent(t, stats, send_value(t));
		return 0;
	}
	if ((compat_siginfo_value(info) & ~COZBPF_HOLD) == end_there(t))
		begin(t, stats);
	return 0;
}
