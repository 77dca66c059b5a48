// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Visits to progress points, counted in virtual time. The attach cookie says
 * which point (COZBPF_COOKIE() of abi.h). */
#include "latency.bpf.h"
#include "shim.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A goroutine whose execute() was interrupted, so that it seemed to have left again, is looked for.
 */
static __always_inline void visit(void *ctx, __u64 cookie)
{
	struct cozbpf_thread *t = current_of(bpf_get_current_task_btf());

	if (!t) /* another process that runs the same file, or that the tracepoint is hit by */
		return;
	if (COZBPF_COOKIE_ROLE(cookie) == COZBPF_ROLE_BEGIN)
		begin_latency(ctx, t, cookie);
	else if (COZBPF_COOKIE_ROLE(cookie) == COZBPF_ROLE_END)
		end_latency(ctx, t, cookie);
	else
		count_visits(t, COZBPF_COOKIE_POINT(cookie), 1);
}

/*
 * A request begins: whoever serves it need not wait for it. A thread that is ahead by what it owes
 * would have it served before it has come, virtually; without this means of 1 ms were predicted up
 * to a fifth too short (docs/answers.md).
 */
static __always_inline void hand_over(struct pt_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cozbpf_thread *t = thread_of(task);
	__u64 now = bpf_ktime_get_ns(), debt;

	if (!t || !control.active)
		return;
	debt = delay_on_hand_over(t, &control, now, config.min_debt_ns);
	if (debt)
		pause_here(ctx, t, task, now, debt);
}

static __always_inline int probe_hit(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);

	visit(ctx, cookie);
	if (COZBPF_COOKIE_ROLE(cookie) == COZBPF_ROLE_BEGIN)
		hand_over(ctx);
	return 0;
}

/*
 * Hook: uprobe or uretprobe, task context. Reads the thread state, writes the point's counters,
 * begins and latencies, at a begin the thread state, too. No loops beyond delay.h's.
 */
SEC("uprobe")
int on_visit(struct pt_regs *ctx)
{
	return probe_hit(ctx);
}

/* The same for many places at once (uprobe_multi), which is a program of another kind. */
SEC("uprobe")
int on_visits(struct pt_regs *ctx)
{
	return probe_hit(ctx);
}

/* Hook: any tracepoint, in whatever context it has: a visit by the current thread. Otherwise the
 * same. */
SEC("tracepoint")
int on_tracepoint(void *ctx)
{
	visit(ctx, bpf_get_attach_cookie(ctx));
	return 0;
}

/* Hook: uprobe on the shim's function that a new counter of Coz's coz.h is told by; arguments:
 * kind, name, count. Writes events. */
SEC("uprobe")
int BPF_KPROBE(on_counter, int kind, const char *name, __u64 address)
{
	struct cozbpf_thread *t = member_of(bpf_get_current_task_btf());
	struct cozbpf_counter_event *e;

	if (!t)
		return 0;
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		__sync_fetch_and_add(&control.events_lost, 1);
		return 0;
	}
	e->event.kind = COZBPF_EVENT_COUNTER;
	e->event.tgid = t->tgid;
	e->event.arg = kind;
	e->event.pad = 0;
	e->address = address;
	if (bpf_probe_read_user_str(e->name, sizeof(e->name), name) < 0)
		e->name[0] = 0;
	bpf_ringbuf_submit(e, 0);
	return 0;
}
