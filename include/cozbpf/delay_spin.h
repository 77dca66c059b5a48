/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * Busy waiting. A thread that spins waits, though it has a CPU, and nobody wakes it. So both sides
 * of the edge are inferred: who lets it go on, and when. Each turn of its loop is an event
 * (delay_on_spin()). After the last one it has gone on. Part of delay.h.
 *
 * For the inference each CPU shows what its thread earns, or that it spins (struct cozbpf_earner).
 * Threads on other CPUs only read that.
 */
#ifndef COZBPF_DELAY_SPIN_H
#define COZBPF_DELAY_SPIN_H

#include <cozbpf/delay_switch.h>

#define DELAY_SPIN_GAP_NS 10000

/* Who is seen to spin again within that time has spun all the while. Where the kernel has to step
 * over the probed instruction, and traps are slow, a probe takes 20 us; else 0.5 us. */
DELAY_INLINE __u64 delay_spin_gap(const struct cozbpf_control *x)
{
	return DELAY_SPIN_GAP_NS + 2 * DELAY_READ(x->spin_probe_ns);
}

/* The account was seen to spin, and nothing says that it has gone on. */
DELAY_INLINE int delay_spins(
    const struct cozbpf_account *a, const struct cozbpf_control *x, __u64 now)
{
	__u64 last = a->spun_at > a->run_since ? a->spun_at : a->run_since;

	return DELAY_RULE(JOIN_SPIN) && a->spun_at && a->run_since &&
	       now - last < delay_spin_gap(x);
}

/* The CPU's thread, which has the account, goes on as it says. NULL: another one has the CPU. */
DELAY_INLINE void delay_show(struct cozbpf_earner *e, const struct cozbpf_account *a)
{
	e->since = a ? a->run_since : 0;
	/* Before the rest, as delay_shown() needs it: the compiler would write it last. */
	__asm__ __volatile__("" : : : "memory");
	if (!a)
		return;
	e->paid = a->paid;
	e->share = a->share;
	e->epoch = a->epoch;
	e->spun_at = a->spun_at;
}

/*
 * L of the thread that a CPU shows, by now; 0: none, or it spins itself. That CPU may go on in
 * between: its credit would count twice with an older begin, and R never falls. So its begin is
 * read last once more, and credit starts from the later one. arm64 may still order these reads
 * otherwise, within nanoseconds.
 */
DELAY_INLINE __u64 delay_shown(
    const struct cozbpf_earner *e, const struct cozbpf_control *x, __u64 now)
{
	__u64 paid;

	if (!DELAY_READ(e->since) || DELAY_READ(e->epoch) != DELAY_READ(x->epoch) ||
	    !DELAY_READ(x->active) || now - DELAY_READ(e->spun_at) < delay_spin_gap(x))
		return 0;
	paid = DELAY_READ(e->paid);
	return paid +
	       delay_pending(DELAY_READ(e->since), DELAY_READ(e->share), x->speedup_pct, now);
}

/*
 * JOIN_SPIN: an account that spins has waited since it was last looked at. Spinning is no
 * execution: it earns nothing, and no sample in it tells what the program executes. SPIN_WHOLE:
 * beside other nodes the whole stretch is one wait, so what was beyond R counts once R rises.
 */
DELAY_INLINE void delay_spin(
    struct cozbpf_account *a, const struct cozbpf_control *x, struct cozbpf_earner *own, __u64 now)
{
	__u64 required = DELAY_READ(x->required), most;

	if (now <= a->run_since)
		return;
	most = a->paid + a->spun_over + now - a->run_since;
	own->spun_ns += now - a->run_since;
	if (DELAY_READ(x->active) && a->paid < required)
		a->paid = delay_join(a, a->spun_over + now - a->run_since, required);
	if (DELAY_RULE(SPIN_WHOLE) && DELAY_READ(x->has_peers))
		a->spun_over = most - a->paid;
	a->run_since = now;
	a->spun_at = now;
}

/*
 * JOIN_PEER: an account that spins has got data from a thread of another node, which had @paid as
 * it sent them; they came at @at. That is what it has waited for, so the stretch ends with that
 * clock: it may be below R, where the sender is in debt.
 */
DELAY_INLINE void delay_spun_for(struct cozbpf_account *a, const struct cozbpf_control *x,
    struct cozbpf_earner *own, __u64 paid, __u64 at, __u64 now)
{
	__u64 most, clock = paid + (now > at ? now - at : 0);

	delay_spin(a, x, own, now);
	most = a->paid + a->spun_over;
	if (!DELAY_RULE(JOIN_PEER) || !DELAY_READ(x->active) || clock >= most)
		return;
	if (clock < a->paid)
		a->paid = clock;
	a->spun_over = clock - a->paid;
}

/*
 * RELEASE_SPIN: a thread on another CPU, which @e shows, has spun for this one and does so no more.
 * So this one has let it go on. That was an edge, and the end of a segment. @own: this CPU's.
 */
DELAY_INLINE void delay_released(struct cozbpf_thread *t, struct cozbpf_control *x,
    struct cozbpf_earner *own, const struct cozbpf_earner *e, __u64 now)
{
	struct cozbpf_account *a = delay_account(t);
	__u64 at = DELAY_READ(e->spun_at);

	if (DELAY_READ(e->awaits) != own->number || at <= own->released_at ||
	    now - at < delay_spin_gap(x) || DELAY_READ(e->since) > now)
		return;
	own->released_at = at;
	delay_enter(t, x);
	if (!DELAY_RULE(RELEASE_SPIN) || !a->run_since || at < x->opened_ns)
		return;
	delay_credit(a, x, at);
	delay_segment(a, 2 * (__u32)DELAY_READ(e->awaited_id) + 1);
}

#endif
