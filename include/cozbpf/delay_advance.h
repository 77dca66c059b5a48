/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* Bringing a thread up to now, which each event begins with: into the experiment that is open,
 * through its pause, credited. And its virtual time. Part of delay.h. */
#ifndef COZBPF_DELAY_ADVANCE_H
#define COZBPF_DELAY_ADVANCE_H

#include <cozbpf/delay_pause.h>

/* The opening level of a thread that is looked at for the first time in this experiment. */
DELAY_OUTLINE int delay_enter_epoch(struct cozbpf_thread *t, struct cozbpf_control *x)
{
	struct cozbpf_account *a;
	__u64 opened;
	__u32 epoch;

	if (!t || !x)
		return 0;
	a = delay_account(t);
	/* All that the loader has set for this experiment is read behind its number: with what R
	 * was before, the thread would owe as much. */
	epoch = DELAY_ACQUIRE(x->epoch);
	opened = x->opened_ns;
	a->paid = 0;
	a->carry = 0;
	a->spun_over = 0;
	a->wanted_required = 0;
	t->slack = 0;
	t->excess = 0;
	if (t->pause != COZBPF_PAUSE_NONE)
		delay_pause_over(t);
	if (a->run_since && a->run_since < opened)
		a->run_since = opened;
	if (t->blocked_at && t->blocked_at < opened)
		t->blocked_at = opened;
	if (t->runnable_at && t->runnable_at < opened)
		t->runnable_at = opened;
	t->call_required = 0;
	/* Behind the rest: a sample may come in between, and would raise R to what L was before. */
	__sync_lock_test_and_set(&a->epoch, epoch);
	delay_window_reopen(a, x);
	return 0;
}

DELAY_INLINE void delay_enter(struct cozbpf_thread *t, struct cozbpf_control *x)
{
	if (delay_account(t)->epoch != DELAY_READ(x->epoch))
		delay_enter_epoch(t, x);
}

/* A thread in a pause executes from its end on, so no credit is due in it. */
DELAY_INLINE void delay_advance(struct cozbpf_thread *t, struct cozbpf_control *x, __u64 now)
{
	delay_enter(t, x);
	delay_settle(t, x, now);
	delay_credit(delay_account(t), x, now);
}

/* HEAL: the thread executes, yet its switch-in was not seen. It begins here. */
DELAY_INLINE int delay_heal(struct cozbpf_thread *t, __u64 now)
{
	struct cozbpf_account *a = delay_account(t);

	if (!DELAY_RULE(HEAL) || a->run_since)
		return 0;
	a->run_since = now;
	t->runnable_at = 0;
	t->blocked_at = 0;
	delay_share_look_up(a);
	return 1;
}

/* What the virtual time of a thread that executes is made of. False: the sample program has come in
 * between. */
DELAY_INLINE int delay_glance(const struct cozbpf_thread *t, const struct cozbpf_control *x,
    __u64 now, __u64 *ret_from, __u64 *ret_paid)
{
	const struct cozbpf_account *a = delay_account(t);
	__u64 from = DELAY_READ(a->run_since), paid = DELAY_READ(a->paid);

	*ret_from = from;
	*ret_paid = paid + delay_unsettled(t, x, now);
	return DELAY_READ(a->run_since) == from && DELAY_READ(a->paid) == paid;
}

/* Virtual time of a thread that executes, which is not touched. Up to three looks; no loop, which
 * verifiers before 6.8 do not take everywhere. */
DELAY_OUTLINE __u64 delay_virtual_time(
    const struct cozbpf_thread *t, const struct cozbpf_control *x, __u64 now)
{
	const struct cozbpf_account *a;
	__u64 from, paid;

	if (!t || !x)
		return now;
	a = delay_account(t);
	if (a->epoch != x->epoch) /* not looked at in this experiment: L is 0 */
		return now;
	if (!delay_glance(t, x, now, &from, &paid) && !delay_glance(t, x, now, &from, &paid))
		delay_glance(t, x, now, &from, &paid);
	/* VISIT_PENDING. Between experiments nothing is credited. */
	if (DELAY_RULE(VISIT_PENDING) && DELAY_READ(x->active))
		paid += delay_pending(from, a->share, x->speedup_pct, now);
	return now - paid;
}

#endif
