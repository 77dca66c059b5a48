/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* Pauses from the ask to their begin (design.md 4.2, 4.7), and what samples cost beside them; part
 * of delay.h, under the same rules. */
#ifndef COZBPF_DELAY_PAUSE_H
#define COZBPF_DELAY_PAUSE_H

#include <cozbpf/delay.h>

/*
 * A sample that asks for a pause looks at the clock `late` after it was due. How long it takes
 * until then, and with it the whole of what samples cost, changes with the machine's state by the
 * second, where it is a virtual one: hence the running mean. What is far off is something else: the
 * CPU was taken away as the sample fell due.
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

/*
 * What a pause takes beside its time from the sample's look at the clock to its end: the way into
 * the sample (`sampled`: it is one that asks for the pause) and the way out of the handler.
 * Baselines lose the whole cost of a sample each time that a period has been executed; a thread
 * that pauses is sampled after less. Gains compare the two, so that what is made up for is the
 * difference, which is below 0 where samples cost a baseline more.
 */
DELAY_INLINE __s32 delay_aside(
    const struct cozbpf_thread *t, const struct cozbpf_control *x, int sampled, __u32 exit_ns)
{
	__u64 cost;

	if (!DELAY_RULE(ASIDE) || !sampled || x->sample_free || !x->sample_entry_ns ||
	    !x->period_ns)
		return (__s32)exit_ns;
	cost = DELAY_RULE(ENTRY_MEAN) ? x->sample_cost_ns * t->entries / x->sample_entry_ns
				      : x->sample_cost_ns;
	return (__s32)(exit_ns + t->entry) - (__s32)(cost * t->sampled / x->period_ns);
}

/*
 * Plans the pause of `debt` that thread `t` owes now; returns its end, and delay_asked() follows.
 * 0: it has stood still for longer already, on its way into the sample, and owes no more.
 */
DELAY_INLINE __u64 delay_plan(struct cozbpf_thread *t, struct cozbpf_control *x, int sampled,
    __u64 debt, __u32 exit_ns, __u64 now)
{
	__s64 aside = delay_aside(t, x, sampled, DELAY_RULE(EXIT_EARLY) ? exit_ns : 0),
	      most = (__s64)debt - (__s64)COZBPF_PAUSE_MAX_NS;

	if (aside >= (__s64)debt) {
		t->pause_from = now - debt;
		delay_serve(t, x, now);
		return 0;
	}
	if (aside < most) /* the handler pauses no longer */
		aside = most;
	t->aside = (__s32)aside;
	return (now + debt - t->aside) & ~COZBPF_HOLD;
}

/*
 * The signal for a pause until `end`, of `debt`, has been sent. Who owes what accrued while it
 * slept would virtually sleep yet: it does, and leaves its CPU to others.
 */
DELAY_INLINE void delay_asked(struct cozbpf_thread *t, __u64 now, __u64 end, __u64 debt, __u32 hold)
{
	t->pause = COZBPF_PAUSE_ASKED;
	t->asked_at = now;
	t->pause_end = end;
	t->pause_hold = hold && !(DELAY_RULE(SLEEP_OFF) && t->rested);
	if (debt < COZBPF_PAUSE_MAX_NS)
		t->rested = 0; /* the last part of it */
}

/* The handler of the pause that was asked for begins. The way from the sample to the handler is
 * pause as well: the program does not run. */
DELAY_INLINE void delay_begin(struct cozbpf_thread *t, struct cozbpf_control *x, __u64 now)
{
	if (now >= t->pause_end || !t->run_since) {
		delay_pause_over(t); /* came too late: the handler returns at once */
		return;
	}
	if (!DELAY_RULE(WAY_IN))
		delay_credit(t, x, now);
	t->pause = COZBPF_PAUSE_BEGUN;
	t->pause_from = (t->run_since < now ? t->run_since : now) - t->aside;
	t->run_since = t->pause_end;
}

/*
 * An ask that has waited too long is withdrawn, but not before its end: until then its signal,
 * should it still come, pauses the thread, and that has to be counted. 1 when it was withdrawn.
 */
DELAY_INLINE int delay_withdraw(struct cozbpf_thread *t, __u64 now)
{
	if (!DELAY_RULE(WITHDRAW) || t->pause != COZBPF_PAUSE_ASKED ||
	    now - t->asked_at <= COZBPF_ASK_TIMEOUT_NS || now < t->pause_end)
		return 0;
	t->pause = COZBPF_PAUSE_NONE;
	return 1;
}

#endif
