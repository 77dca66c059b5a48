// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Samples: which line runs (design.md section 3), what the thread owes, and the signal that makes it pay (4.2, 4.7). */
#include "shim.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define SEARCH_STEPS 23 /* binary search over up to 2^23 ranges */

struct frames {
	__u64 ip[COZBPF_FRAMES];
};

/* Scratch for the call chain: samples do not nest on a CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct frames);
} frames SEC(".maps");

/* Line at a file offset within a slice of the line table, 0 for none. At most SEARCH_STEPS steps. */
static __noinline __u32 line_in_slice(__u32 first, __u32 count, __u64 offset)
{
	__u32 lo = first, n = count;
	struct cozbpf_range *r;

	for (int i = 0; i < SEARCH_STEPS && n > 0; i++) {
		__u32 half = n / 2, middle = lo + half;

		r = bpf_map_lookup_elem(&ranges, &middle);
		if (!r)
			return 0;
		if (offset < r->lo) {
			n = half;
		} else if (offset - r->lo < r->len) {
			return r->line;
		} else {
			lo = middle + 1;
			n -= half + 1;
		}
	}
	return 0;
}

/* Line at a user address of a process, 0 for none. At most COZBPF_MAPPINGS mappings are looked at. */
static __always_inline __u32 line_at(const struct cozbpf_proc *proc, __u64 ip)
{
	for (int i = 0; i < COZBPF_MAPPINGS; i++) {
		const struct cozbpf_mapping *m = &proc->mappings[i];

		if (i >= proc->n_mappings)
			break;
		if (ip >= m->start && ip < m->end)
			return line_in_slice(m->first, m->count, ip - m->start + m->offset);
	}
	return 0;
}

struct walk {
	const struct cozbpf_proc *proc;
	struct frames *f;
	__u32 n, line;
};

static long walk_frame(__u32 i, struct walk *w)
{
	if (i >= w->n || i >= COZBPF_FRAMES)
		return 1;
	/* A return address belongs to the call before it. */
	w->line = line_at(w->proc, w->f->ip[i] - 1);
	return w->line != 0;
}

/* Line of a sample: the innermost address, else the first in-scope caller (paper 3.4.2). */
static __always_inline __u32 line_of_sample(struct bpf_perf_event_data *ctx, const struct cozbpf_proc *proc, bool user)
{
	struct walk w = {.proc = proc};
	__u32 zero = 0, line;
	long size;

	if (user) {
		line = line_at(proc, compat_sample_ip(ctx));
		if (line)
			return line;
	}
	w.f = bpf_map_lookup_elem(&frames, &zero);
	if (!w.f)
		return 0;
	size = bpf_get_stack(ctx, w.f, sizeof(*w.f), BPF_F_USER_STACK);
	if (size < 8)
		return 0;
	w.n = size / 8;
	/* In a system call the innermost user address is a return address as well. */
	bpf_loop(COZBPF_FRAMES, walk_frame, &w, 0);
	return w.line;
}

static __always_inline void send_pause(struct cozbpf_thread *t, struct task_struct *task, struct cozbpf_proc_stats *stats)
{
	if (bpf_send_signal_task(task, config.signal, PIDTYPE_PID, t->pause_end | t->pause_hold)) {
		t->pause = COZBPF_PAUSE_NONE;
		__sync_fetch_and_add(&stats->not_sent, 1);
	} else {
		__sync_fetch_and_add(&stats->asked, 1);
	}
}

static __always_inline void count_line(__u32 line, __u64 now)
{
	struct cozbpf_line_count *count = bpf_map_lookup_elem(&line_counts, &line);

	if (!count)
		return;
	__sync_fetch_and_add(&count->all, 1);
	if (!DELAY_READ(control.active) || !control.speedup_pct)
		__sync_fetch_and_add(&count->free, 1);
	if (control.active && line == control.line && now > control.counted_ns)
		__sync_fetch_and_add(&control.selected_samples, 1);
	if (DELAY_READ(control.pick))
		__sync_val_compare_and_swap(&control.picked, 0, line);
}

/* Hook: per-CPU clock event, hard interrupt. Loops: COZBPF_FRAMES x COZBPF_MAPPINGS, SEARCH_STEPS once. */
SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cozbpf_thread *t = thread_of(task);
	struct cozbpf_proc_stats *stats;
	struct cozbpf_proc *proc;
	__u64 now, debt;
	__u32 tgid, line = 0;
	bool user;

	if (!t)
		return 0;
	now = bpf_ktime_get_ns();
	delay_enter(t, &control);
	delay_settle(t, &control, now);
	if (delay_heal(t, now))
		__sync_fetch_and_add(&control.unseen_switches, 1);
	if (t->pause == COZBPF_PAUSE_BEGUN) {
		__sync_fetch_and_add(&control.in_pause, 1);
		return 0;
	}
	tgid = t->tgid;
	proc = bpf_map_lookup_elem(&procs, &tgid);
	stats = bpf_map_lookup_elem(&proc_stats, &tgid);
	if (!stats)
		return 0;
	user = compat_user_mode(ctx);
	if (proc)
		line = line_of_sample(ctx, proc, user);
	__sync_fetch_and_add(&control.samples, 1);
	__sync_fetch_and_add(&stats->samples, 1);
	if (line) {
		__sync_fetch_and_add(&control.in_scope, 1);
		__sync_fetch_and_add(&stats->in_scope, 1);
		count_line(line, now);
	}
	if (delay_withdraw(t, now))
		__sync_fetch_and_add(&stats->withdrawn, 1);
	debt = delay_sample(t, &control, line, now, config.min_debt_ns);
	if (debt >= COZBPF_PAUSE_MAX_NS && control.required - t->paid > COZBPF_DEEP_DEBT_NS)
		__sync_fetch_and_add(&control.deep_debt, 1);
	/* In a system call the signal would be an EINTR for the program. */
	if (debt && user && t->pause == COZBPF_PAUSE_NONE && shim_listens(t, task, stats, compat_sample_sp(ctx))) {
		plan_pause(t, now, debt);
		send_pause(t, task, stats);
	}
	t->returning = 0;
	return 0;
}

/*
 * Hook: a signal is about to be delivered to the current thread, task context: the pause begins. Or it is the signal of a program that cannot give it a
 * value (sync.bpf.c): the handler takes it for a pause that is over, and the real one follows.
 */
SEC("tp_btf/signal_deliver")
int BPF_PROG(on_deliver, int sig, struct kernel_siginfo *info)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cozbpf_proc_stats *stats;
	struct cozbpf_thread *t;
	__u32 tgid;

	if (sig != config.signal)
		return 0;
	t = thread_of(task);
	if (!t || t->pause != COZBPF_PAUSE_ASKED)
		return 0;
	tgid = t->tgid;
	stats = bpf_map_lookup_elem(&proc_stats, &tgid);
	if (!stats)
		return 0;
	if (t->relay) {
		t->relay = 0;
		send_pause(t, task, stats);
		return 0;
	}
	if ((compat_siginfo_value(info) & ~COZBPF_HOLD) != t->pause_end)
		return 0;
	delay_begin(t, &control, bpf_ktime_get_ns());
	__sync_fetch_and_add(&stats->begun, 1);
	__sync_fetch_and_add(&control.pauses, 1);
	return 0;
}
