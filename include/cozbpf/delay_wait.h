/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * Waits as units of what is made faster (--off-cpu): events that end a wait, and what a shorter one
 * is worth. They take the place of delay_on_wake() and delay_on_switch() of delay.h.
 */
#ifndef COZBPF_DELAY_WAIT_H
#define COZBPF_DELAY_WAIT_H

#include <cozbpf/delay.h>

/* A wait that has ended, in the experiment that is open. */
struct delay_wait {
	__u32 unit; /* 0: of none */
	__u64 waited, paid; /* ns; L when it ended, before any join */
};

/*
 * SHORTEN: the selected wait is shorter by s. L is at least what it was, and s of the time waited;
 * R follows, so others stand still as long. Not of a paced thread, whose waits follow real time.
 */
DELAY_INLINE void delay_shorten(
    struct cozbpf_account *a, struct cozbpf_control *x, const struct delay_wait *w)
{
	__u64 paid = w->paid + w->waited * x->speedup_pct / 100;

	if (!DELAY_RULE(SHORTEN) || !DELAY_READ(x->active) || !delay_is_selected(x, w->unit) ||
	    a->paced == COZBPF_PACED || a->paid >= paid)
		return;
	delay_give(a, x, paid - a->paid);
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

	delay_enter(t, x);
	*ret = (struct delay_wait){.paid = a->paid};
	if (t->wait && t->blocked_at && now > t->blocked_at && t->pause != COZBPF_PAUSE_BEGUN) {
		ret->unit = t->wait;
		ret->waited = now - t->blocked_at;
	}
	delay_on_wake(t, cause, by, id, expiry, x, now);
	if (ret->unit && (cause >= DELAY_BY_TIMER || t->wait_is_lock))
		delay_shorten(a, x, ret);
	t->wait = 0;
}

/* delay_on_switch() where the wait for a CPU may be a unit. */
DELAY_INLINE void delay_on_switch_waiter(struct cozbpf_thread *out, int how,
    struct cozbpf_thread *in, __u64 ran, struct cozbpf_control *x, struct cozbpf_cpu *cpu,
    __u64 now, struct delay_wait *ret)
{
	*ret = (struct delay_wait){0};
	if (in) {
		delay_enter(in, x);
		ret->paid = delay_account(in)->paid;
		if (in->queue && in->runnable_at && now > in->runnable_at &&
		    in->pause != COZBPF_PAUSE_BEGUN) {
			ret->unit = in->queue;
			ret->waited = now - in->runnable_at;
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
