/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * Pauses, which a thread of the kernel serves for its account: the ask, the begin in the signal's
 * handler, what has been served, the end. NONE -> ASKED -> BEGUN -> NONE. Part of delay.h.
 */
#ifndef COZBPF_DELAY_PAUSE_H
#define COZBPF_DELAY_PAUSE_H

#include <cozbpf/delay_window.h>

/* The pause's time is over. After a stall of a virtual machine a sample that is overdue can still
 * come before the handler returns. */
DELAY_INLINE void delay_pause_over(struct cozbpf_thread *t)
{
	t->pause = COZBPF_PAUSE_NONE;
	t->returning = 1;
}

/* [pause_from, @end) of the pause has been served. */
DELAY_OUTLINE int delay_serve(struct cozbpf_thread *t, struct cozbpf_control *x, __u64 end)
{
	if (!t || !x || end <= t->pause_from)
		return 0;
	delay_stand_still(delay_account(t), x, end - t->pause_from);
	t->pause_from = end;
	return 0;
}

/* Brings a thread in a pause up to @now. A pause that holds its CPU ends at its end, a sleeping one
 * when the thread has a CPU again. */
DELAY_INLINE void delay_settle(struct cozbpf_thread *t, struct cozbpf_control *x, __u64 now)
{
	if (t->pause != COZBPF_PAUSE_BEGUN)
		return;
	delay_serve(t, x, now < t->pause_end ? now : t->pause_end);
	if (now >= t->pause_end)
		delay_pause_over(t);
}

/*
 * A sample that asks for a pause looks at the clock @late after it was due. ENTRY_MEAN: what
 * samples cost changes with a virtual machine's state by the second, so a running mean follows it.
 * Its weight of 1/8 is that of TCP's round-trip time (RFC 6298). A value far off says that the CPU
 * was taken away as the sample fell due.
 */
DELAY_INLINE void delay_sample_entry(
    struct cozbpf_thread *t, const struct cozbpf_control *x, __s64 late)
{
	__s64 entry = late + x->sample_early_ns, most = 4LL * x->sample_entry_ns;

	if (entry < 0)
		entry = 0;
	t->entry = (__u64)entry < COZBPF_PAUSE_MAX_NS ? (__u32)entry : (__u32)COZBPF_PAUSE_MAX_NS;
	if (entry > most)
		entry = most;
	if (!t->entries)
		t->entries = (__u32)entry;
	t->entries = (t->entries * 7 + (__u32)entry) / 8;
}

/* ASIDE applies: what samples cost is known, and is not in L already. */
DELAY_INLINE int delay_sets_aside(const struct cozbpf_control *x)
{
	return DELAY_RULE(ASIDE) && !x->sample_free && x->sample_entry_ns && x->period_ns;
}

/* What a sample keeps the thread from executing, where ASIDE applies. */
DELAY_INLINE __u64 delay_cost_of_sample(
    const struct cozbpf_thread *t, const struct cozbpf_control *x)
{
	return DELAY_RULE(ENTRY_MEAN) && t->entries
		   ? x->sample_cost_ns * t->entries / x->sample_entry_ns
		   : x->sample_cost_ns;
}

/*
 * ASIDE: a baseline loses a sample's whole cost once per period executed. Pauses end anywhere
 * between two samples, so a thread that pauses is sampled after less. Gains compare the two, so the
 * next pause makes up for what samples have taken beyond a baseline's. What the last pause had set
 * aside counts as executed, but was none. Beyond four periods samples were lost: the kernel
 * throttles them to the end of a tick, 4 ms.
 */
DELAY_OUTLINE int delay_count_excess(struct cozbpf_thread *t, const struct cozbpf_control *x)
{
	__u64 executed, cost;
	__s64 most, excess;

	if (!t || !x || !delay_sets_aside(x) || !DELAY_READ(x->active))
		return 0;
	executed = delay_account(t)->unsampled;
	if (t->aside > 0 && t->pause == COZBPF_PAUSE_NONE) {
		executed -= executed < (__u64)t->aside ? executed : (__u64)t->aside;
		t->aside = 0;
	}
	cost = delay_cost_of_sample(t, x);
	most = 8 * (__s64)cost;
	if (executed > 4 * x->period_ns)
		executed = 4 * x->period_ns;
	excess = t->excess + (__s64)cost - (__s64)(cost * executed / x->period_ns);
	t->excess = (__s32)(excess > most ? most : excess < -most ? -most : excess);
	return 0;
}

/*
 * What a pause takes beside its time from the sample's look at the clock to its end: the way into
 * the sample, the way out of the handler, and what samples have taken in excess. The whole cost of
 * the sample that asks is pause, so none of it is in excess. Below 0 where a baseline loses more.
 */
DELAY_INLINE __s32 delay_aside(
    const struct cozbpf_thread *t, const struct cozbpf_control *x, int sampled, __u32 exit_ns)
{
	if (!sampled || !t->entries || !delay_sets_aside(x))
		return (__s32)exit_ns;
	return (__s32)(exit_ns + t->entry) + t->excess - (__s32)delay_cost_of_sample(t, x);
}

/*
 * Plans the pause of @debt, @sampled or asked for by a probe; returns its end, and delay_asked()
 * follows. 0: on its way into the sample the thread has stood still for longer already.
 */
DELAY_INLINE __u64 delay_plan(struct cozbpf_thread *t, struct cozbpf_control *x, int sampled,
    __u64 debt, __u32 exit_ns, __u64 now)
{
	__s64 aside = delay_aside(t, x, sampled, DELAY_RULE(EXIT_EARLY) ? exit_ns : 0),
	      most = (__s64)debt - (__s64)COZBPF_PAUSE_MAX_NS;

	if (aside >= (__s64)debt) {
		t->pause_from = now - debt;
		delay_serve(t, x, now);
		t->excess -= (__s32)debt;
		return 0;
	}
	if (sampled)
		t->excess = 0;
	if (aside < most) /* the handler pauses no longer */
		aside = most;
	t->aside = (__s32)aside;
	return (now + debt - t->aside) & ~COZBPF_HOLD;
}

/* The signal for a pause until @end, of @debt, is on its way. SLEEP_OFF: a thread that slept into
 * its debt would virtually sleep yet, so it leaves its CPU to others. */
DELAY_INLINE void delay_asked(struct cozbpf_thread *t, __u64 now, __u64 end, __u64 debt, __u32 hold)
{
	struct cozbpf_account *a = delay_account(t);

	t->pause = COZBPF_PAUSE_ASKED;
	t->asked_at = now;
	t->pause_end = end;
	t->pause_hold = hold && !(DELAY_RULE(SLEEP_OFF) && a->rested);
	if (debt < COZBPF_PAUSE_MAX_NS)
		a->rested = 0; /* the last part of it */
}

/* The handler begins. WAY_IN: the program did not run between the sample and the handler, so that
 * is pause as well. */
DELAY_INLINE void delay_begin(struct cozbpf_thread *t, struct cozbpf_control *x, __u64 now)
{
	struct cozbpf_account *a = delay_account(t);

	if (now >= t->pause_end || !a->run_since) {
		delay_pause_over(t); /* came too late: the handler returns at once */
		return;
	}
	if (!DELAY_RULE(WAY_IN))
		delay_credit(a, x, now);
	t->pause = COZBPF_PAUSE_BEGUN;
	t->pause_from = (a->run_since < now ? a->run_since : now) - t->aside;
	a->run_since = t->pause_end;
}

/* Mode `quanta`: whether a thread that stands still up to @end has to for another quantum. What is
 * less than half of one is left as debt, and the rest of one becomes carry. */
DELAY_INLINE int delay_owes_quantum(const struct cozbpf_thread *t, __u64 quantum, __u64 end)
{
	return t->pause != COZBPF_PAUSE_NONE && t->pause_end >= end + quantum / 2;
}

/*
 * Mode `quanta`: the quantum that begins lasts up to @end. With @more to come, a pause that was
 * asked for ends where it was planned to, and the last quantum puts its end right. A signal that
 * nobody has asked for, or that came late, pauses as well: the thread stands still.
 */
DELAY_INLINE void delay_quantum(
    struct cozbpf_thread *t, struct cozbpf_control *x, int more, __u64 end, __u64 now)
{
	if (t->pause == COZBPF_PAUSE_NONE)
		t->aside = 0;
	if (!more)
		t->pause_end = end;
	if (t->pause == COZBPF_PAUSE_BEGUN)
		delay_account(t)->run_since = t->pause_end;
	else
		delay_begin(t, x, now);
	delay_raise(&x->pause_horizon, t->pause_end);
}

/*
 * WITHDRAW: an ask that has waited too long is withdrawn, but not before its end. Until then its
 * signal, should it still come, pauses the thread, and that has to be counted. 1: withdrawn.
 */
DELAY_INLINE int delay_withdraw(struct cozbpf_thread *t, __u64 now)
{
	if (!DELAY_RULE(WITHDRAW) || t->pause != COZBPF_PAUSE_ASKED ||
	    now - t->asked_at <= COZBPF_ASK_TIMEOUT_NS || now < t->pause_end)
		return 0;
	t->pause = COZBPF_PAUSE_NONE;
	return 1;
}

/* VISIT_SERVED: what has been served up to @now of a pause that L does not hold yet: of the one the
 * thread is in, or has come out of since it was last looked at. */
DELAY_INLINE __u64 delay_unsettled(
    const struct cozbpf_thread *t, const struct cozbpf_control *x, __u64 now)
{
	__u64 end, served, required, paid;

	if (!DELAY_RULE(VISIT_SERVED) || DELAY_READ(t->pause) != COZBPF_PAUSE_BEGUN)
		return 0;
	end = now < DELAY_READ(t->pause_end) ? now : DELAY_READ(t->pause_end);
	served = end > DELAY_READ(t->pause_from) ? end - DELAY_READ(t->pause_from) : 0;
	required = DELAY_READ(x->required);
	paid = DELAY_READ(delay_account(t)->paid);
	if (paid + served > required)
		return required > paid ? required - paid : 0;
	return served;
}

#endif
