// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Scheduler edges (--sync=wake): who ran, who waited, who woke whom, and
 * which wake-ups are no thread's doing. The scheduler's hooks run with interrupts off; they touch
 * the thread state and the clock of this CPU, and create nothing.
 */
#include "wake.bpf.h"
#include <cozbpf/block_visit.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A softirq that begins this soon after an interrupt handler of this CPU runs on that interrupt's
 * exit, not inline from a system call. Traced: 546 of 550 on an exit began within 3 us, and none of
 * 29,591 from sends over loopback within 50 us. */
#define IRQ_EXIT_NS 3000

enum { SOFTIRQ_NET_TX = 2, SOFTIRQ_NET_RX = 3 }; /* include/linux/interrupt.h */

/* Hook: context switch, interrupts off. No loops. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct cozbpf_thread *out = leaving_of(prev, next), *in = thread_of(next);
	struct cozbpf_cpu *cpu;
	__u64 now;

	leave_idle(prev);
	follow_stops(out, prev, in, next);
	if (are_none(out, in))
		return 0;
	cpu = this_cpu();
	if (!cpu)
		return 0;
	now = bpf_ktime_get_ns();
	if (DELAY_READ(control.spins) && out)
		spin_released(out, now);
	delay_on_switch(out, how_it_leaves(out, prev, in, preempt), in, outsider_had(out, prev),
	    &control, cpu, now);
	if (config.blocks)
		block_on_switch(out, in, cpu, now);
	if (out && !next->pid)
		delay_idle_begins(&control, cpu->number, now);
	if (DELAY_READ(control.spins))
		spin_show(in);
	return 0;
}

/* JOIN_PEER: data of a peer that is a target, too, wakes the thread. False: something else does. */
static __always_inline bool woken_by_peer(struct cozbpf_thread *t, const struct waking *w)
{
	__u64 now = bpf_ktime_get_ns();
	struct cozbpf_arrival *a;
	__u32 zero = 0;

	if (w->by || w->cause == DELAY_BY_TIMER)
		return false;
	a = bpf_map_lookup_elem(&arrivals, &zero);
	if (!a || !a->epoch || a->epoch != DELAY_READ(control.epoch) ||
	    now > a->at + COZBPF_ARRIVAL_NS)
		return false;
	delay_on_arrival(t, &control, a->paid, now);
	__sync_fetch_and_add(&peering.joined, 1);
	return true;
}

/* Hook: a task is about to be woken; runs in the waker's context with the task's pi_lock held. No
 * loops. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *p)
{
	struct cozbpf_thread *t = thread_of(p);
	struct cozbpf_cpu *cpu = t ? this_cpu() : NULL;
	struct waking w;

	if (!t || !cpu)
		return 0;
	w = who_wakes(t, cpu);
	if (config.peers && woken_by_peer(t, &w))
		return 0;
	delay_on_wake(t, w.cause, w.by, w.id, w.expiry, &control, bpf_ktime_get_ns());
	go_on(w.by);
	return 0;
}

/* Hook: a new thread is put on a run queue. No loops. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *p)
{
	struct cozbpf_thread *t = thread_of(p);

	if (t)
		delay_on_born(t, &control, bpf_ktime_get_ns());
	return 0;
}

/* Marks what runs on this CPU for the time of an interrupt. Flags, not depths: one kind does not
 * nest in itself, and a lost exit heals. */
static __always_inline int irq_set(__u32 kind)
{
	struct cozbpf_cpu *cpu = this_cpu();

	if (cpu)
		cpu->irq |= kind;
	return 0;
}

static __always_inline int irq_clear(__u32 kind)
{
	struct cozbpf_cpu *cpu = this_cpu();

	if (cpu)
		cpu->irq &= ~kind;
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_timer_entry, struct hrtimer *timer)
{
	struct cozbpf_cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	if (compat_is_soft_timer(timer)) {
		cpu->irq |= COZBPF_IRQ_SOFT_TIMER;
		cpu->soft_timer_at = timer->_softexpires;
	} else {
		cpu->irq |= COZBPF_IRQ_TIMER;
		cpu->timer_at = timer->_softexpires;
	}
	return 0;
}

/* Of two timers the hard one has interrupted the other. The timer itself may be gone by now. */
SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_timer_exit)
{
	struct cozbpf_cpu *cpu = this_cpu();

	if (cpu)
		cpu->irq &=
		    ~(cpu->irq & COZBPF_IRQ_TIMER ? COZBPF_IRQ_TIMER : COZBPF_IRQ_SOFT_TIMER);
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry)
{
	return irq_set(COZBPF_IRQ_DEVICE);
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit)
{
	struct cozbpf_cpu *cpu = this_cpu();

	if (cpu) {
		cpu->irq &= ~COZBPF_IRQ_DEVICE;
		cpu->irq_exit_at = bpf_ktime_get_ns();
	}
	return 0;
}

/* Network softirqs that run inline from a send are the sender's doing (loopback); all other
 * softirqs are nobody's. */
SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vec)
{
	struct cozbpf_cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	if (DELAY_RULE(LOOPBACK) && (vec == SOFTIRQ_NET_RX || vec == SOFTIRQ_NET_TX) &&
	    bpf_ktime_get_ns() - cpu->irq_exit_at > IRQ_EXIT_NS)
		return 0;
	cpu->irq |= COZBPF_IRQ_SOFT;
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit)
{
	return irq_clear(COZBPF_IRQ_SOFT);
}
