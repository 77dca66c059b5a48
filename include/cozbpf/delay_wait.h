/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * Waits as units of what is made faster (--off-cpu): events that end a wait, and what a shorter one
 * is worth. They take the place of delay_on_wake() and delay_on_switch() of delay.h.
 */
#ifndef COZBPF_DELAY_WAIT_H
#define COZBPF_DELAY_WAIT_H

#include <cozbpf/delay.h>

/* A wait that has ended. */
struct delay_wait {
	__u32 unit;        /* 0: of none */
	__u64 lasted;      /* ns */
	__u64 waited;      /* of that, in the experiment that is open */
	__u64 paid, carry; /* when it ended, before any join */
	int selected;
};

/*
 * SHORTEN: the selected wait is shorter by s. L grows by s of the time waited, or by the join if
 * that is more; R follows, so others stand still as long. A join may have made L smaller, where who
 * released the lock is behind: that counts for nothing. What a join has made carry of is not
 * counted twice. Not of a paced thread, whose waits follow real time.
 */
DELAY_INLINE void delay_shorten(
    struct cozbpf_account *a, struct cozbpf_control *x, const struct delay_wait *w)
{
	__s64 by = (__s64)(w->waited * x->speedup_pct / 100), grown = (__s64)(a->paid - w->paid),
	      joined = grown + (__s64)(a->carry - w->carry);

	if (!DELAY_RULE(SHORTEN) || !DELAY_READ(x->active) || !w->selected ||
	    a->paced == COZBPF_PACED || grown >= by)
		return;
	a->carry = w->carry + (joined > by ? (__u64)(joined - by) : 0);
	delay_give(a, x, (__u64)(by - grown));
}

/*
 * SAME_LOCK: a line's waits for locks stand for the lock. The thread begins to wait for @lock,
 * never 0. The first one that the selected line waits for in an experiment is selected, in all
 * lines. Each line of a couple has a lock of its own.
 */
DELAY_INLINE void delay_select_lock(struct cozbpf_thread *t, struct cozbpf_control *x, __u64 lock)
{
	t->wait_selected = 0;
	if (!DELAY_RULE(SAME_LOCK) || !DELAY_READ(x->active))
		return;
	if (!delay_is_selected(x, t->wait))
		t->wait_selected =
		    DELAY_READ(x->wait_lock) == lock || DELAY_READ(x->other_lock) == lock;
	else if (delay_is_within(t->wait, x->other, x->n_others) >> 63)
		__sync_val_compare_and_swap(&x->other_lock, 0, lock);
	else
		__sync_val_compare_and_swap(&x->wait_lock, 0, lock);
}

/*
 * FOLLOW_WAIT: the thread is in the wait from @now on, as number @number. Others are to stand still
 * meanwhile, not afterwards, or they would take locks that the waiter virtually has. Not where the
 * thread's last wait was ended by one of the target, for that one would stand still as well.
 */
DELAY_INLINE void delay_begin_wait(
    struct cozbpf_thread *t, struct cozbpf_control *x, __u32 number, __u64 now)
{
	const struct cozbpf_account *a = delay_account(t);
	__u32 at = number & (COZBPF_WAITERS - 1);
	struct cozbpf_waiter *w = &x->waiters[at];

	if (!DELAY_RULE(FOLLOW_WAIT) || !t->wait_outside || t->wait_is_lock ||
	    !DELAY_READ(x->active) || !delay_is_selected(x, t->wait) || a->paced == COZBPF_PACED ||
	    !__sync_bool_compare_and_swap(&w->since, 0, now))
		return;
	w->paid = a->paid;
	w->epoch = a->epoch;
	__sync_lock_test_and_set(&w->unit, t->wait); /* last: it says that the rest is there */
	t->waiter = (__u8)(at + 1);
	__sync_fetch_and_add(&x->waiting, 1);
}

DELAY_INLINE void delay_end_wait(struct cozbpf_thread *t, struct cozbpf_control *x)
{
	__u32 at = t->waiter - 1U;

	if (!t->waiter || at >= COZBPF_WAITERS)
		return;
	x->waiters[at].unit = 0;
	x->waiters[at].since = 0;
	t->waiter = 0;
	__sync_fetch_and_add(&x->waiting, -1);
}

/* R is what waits have earned up to @now. */
DELAY_OUTLINE int delay_follow_waits(struct cozbpf_control *x, __u64 now)
{
	__u64 most = 0;

	if (!x || !DELAY_READ(x->waiting) || !DELAY_READ(x->active))
		return 0;
	for (int i = 0; i < COZBPF_WAITERS; i++) {
		struct cozbpf_waiter *w = &x->waiters[i];
		__u32 unit = DELAY_ACQUIRE(w->unit);
		__u64 since = DELAY_READ(w->since), paid = w->paid;

		if (!since || !delay_is_selected(x, unit))
			continue;
		if (w->epoch != x->epoch) { /* as delay_enter_epoch() */
			since = x->opened_ns;
			paid = 0;
		}
		if (now > since && paid + (now - since) * x->speedup_pct / 100 > most)
			most = paid + (now - since) * x->speedup_pct / 100;
	}
	return delay_raise_required(x, most);
}

/*
 * delay_on_wake() of a thread in a wait that may be a unit. What a thread of the target ends is no
 * shorter by itself: JOIN_WAKER says when it ends. A lock is, as if it were never contended.
 */
DELAY_INLINE void delay_on_wake_waiter(struct cozbpf_thread *t, enum delay_cause cause,
    struct cozbpf_thread *by, __u32 id, __u64 expiry, struct cozbpf_control *x, __u64 now,
    struct delay_wait *ret)
{
	struct cozbpf_account *a = delay_account(t);
	int same = a->epoch == DELAY_READ(x->epoch); /* as when its lock was looked at */

	delay_enter(t, x);
	*ret = (struct delay_wait){.paid = a->paid, .carry = a->carry};
	if (t->wait && t->blocked_at && now > t->blocked_at && t->pause != COZBPF_PAUSE_BEGUN) {
		ret->unit = t->wait;
		ret->lasted = now - t->wait_at;
		ret->waited = now - t->blocked_at;
		ret->selected = delay_is_selected(x, t->wait) || (t->wait_selected && same);
		t->wait_outside = cause >= DELAY_BY_TIMER;
	}
	delay_end_wait(t, x);
	delay_on_wake(t, cause, by, id, expiry, x, now);
	if (ret->unit && (cause >= DELAY_BY_TIMER || t->wait_is_lock))
		delay_shorten(a, x, ret);
	t->wait = 0;
	t->wait_at = now;
}

/* delay_on_switch() where the wait for a CPU may be a unit. */
DELAY_INLINE void delay_on_switch_waiter(struct cozbpf_thread *out, int how,
    struct cozbpf_thread *in, __u64 ran, struct cozbpf_control *x, struct cozbpf_cpu *cpu,
    __u64 now, struct delay_wait *ret)
{
	*ret = (struct delay_wait){0};
	if (in) {
		delay_enter(in, x);
		delay_end_wait(in, x); /* of one that was woken before it had left its CPU */
		ret->paid = delay_account(in)->paid;
		ret->carry = delay_account(in)->carry;
		if (in->queue && in->runnable_at && now > in->runnable_at &&
		    in->pause != COZBPF_PAUSE_BEGUN) {
			ret->unit = in->queue;
			ret->lasted = now - in->wait_at;
			ret->waited = now - in->runnable_at;
			ret->selected = delay_is_selected(x, in->queue);
		}
	}
	delay_on_switch(out, how, in, ran, x, cpu, now);
	if (!in)
		return;
	if (ret->unit)
		delay_shorten(delay_account(in), x, ret);
	in->queue = 0;
}

#endif
