/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * Threads that get a CPU and leave it, and wait for one meanwhile (design.md 4.5); part of delay.h,
 * under the same rules. Each CPU looks at its own state only, and at control.lone, which is one
 * CPU's at a time.
 */
#ifndef COZBPF_DELAY_CPU_H
#define COZBPF_DELAY_CPU_H

#include <cozbpf/delay.h>

/* Thread @t, which has the CPU, is as far as @now: what it executes from here on is counted by the
 * next delay_executed(). */
DELAY_INLINE void delay_executed_from(
    struct cozbpf_cpu *cpu, const struct cozbpf_thread *t, __u64 now)
{
	if (cpu->executed_epoch != t->epoch)
		cpu->executed_before = cpu->executed_ns;
	cpu->executed_to = now;
	cpu->executed_paid = t->paid;
	cpu->executed_epoch = t->epoch;
}

/* Counts what it has executed since: the time less what its L grew by, which is no time virtually.
 * At the opening of an experiment L is 0. */
DELAY_INLINE void delay_executed(struct cozbpf_cpu *cpu, const struct cozbpf_thread *t,
    const struct cozbpf_control *x, __u64 now)
{
	int before = cpu->executed_epoch != t->epoch;
	__u64 began = cpu->executed_to,
	      from = before && began < x->opened_ns ? x->opened_ns : began,
	      paid = before ? 0 : cpu->executed_paid;
	__u64 executed =
	    now > from && now - from + paid > t->paid ? now - from + paid - t->paid : 0;

	delay_executed_from(cpu, t, now);
	if (DELAY_READ(x->active) && began)
		cpu->executed_ns += executed;
}

/* A thread has got the CPU; its L is as it goes on with, and it executes since run_since. */
DELAY_INLINE void delay_slice_begin(struct cozbpf_cpu *cpu, const struct cozbpf_thread *t)
{
	cpu->began = t->run_since;
	cpu->began_paid = t->paid;
	cpu->began_epoch = t->epoch;
}

/* The thread leaves it. At the opening of an experiment L is 0. */
DELAY_INLINE void delay_slice_end(struct cozbpf_cpu *cpu, const struct cozbpf_thread *t,
    const struct cozbpf_control *x, __u64 now)
{
	struct cozbpf_slice *s = &cpu->slices[cpu->next_slice++ & (COZBPF_SLICES - 1)];
	int begun_before = cpu->began_epoch != t->epoch;
	__u64 paid = begun_before ? 0 : cpu->began_paid,
	      from = begun_before && cpu->began < x->opened_ns ? x->opened_ns : cpu->began;

	s->from = cpu->began && from < now ? from : now;
	s->to = now;
	s->took = now - s->from + paid > t->paid ? now - s->from + paid - t->paid : 0;
	cpu->began = 0;
}

/*
 * By how much L grew in the slices of the target's threads on this CPU since `since`. Where they
 * are more than are known, those that are speak for the others.
 */
DELAY_OUTLINE __u64 delay_grown_since(const struct cozbpf_cpu *cpu, __u64 since, __u64 now)
{
	__u64 length = 0, took = 0, part, oldest = now;

	if (!cpu || now <= since)
		return 0;
	for (__u32 i = 1; i <= COZBPF_SLICES && oldest > since; i++) {
		const struct cozbpf_slice *s =
		    &cpu->slices[(cpu->next_slice - i) & (COZBPF_SLICES - 1)];

		if (s->to <= since) {
			oldest = since;
			break;
		}
		oldest = s->from > since ? s->from : since;
		part = s->to - oldest;
		length += part;
		took += s->from < oldest ? s->took * part / (s->to - s->from) : s->took;
	}
	if (length <= took)
		return 0;
	return DELAY_RULE(SLICES_REST) && oldest > since && oldest < now
		   ? (length - took) * (now - since) / (now - oldest)
		   : length - took;
}

/* of virtual time: a CPU that has executed more in this experiment has no room */
#define DELAY_ROOM_TENTHS 9
/* behind R by no more than that a thread that runs the line soon makes it grow */
#define DELAY_LONE_BEHIND_NS 100000ULL

/*
 * Thread @t has the CPU, @alone if no other one waits for it. If that makes R grow, all others
 * stand still or execute in debt meanwhile, and virtually no time passes: the CPU is free as soon
 * as it was taken. Really it is not, and who waits for another one would have moved to this one,
 * were it not for this CPU's thread itself, which goes on: where the CPU has been busy, virtually,
 * for most of the experiment, there is no room for others on it.
 */
DELAY_OUTLINE int delay_lone(struct cozbpf_control *x, const struct cozbpf_cpu *cpu,
    const struct cozbpf_thread *t, int alone, __u64 now)
{
	struct cozbpf_lone *lone;
	__u64 required, passed, executed;
	int lasts;

	if (!x || !cpu || !t)
		return 0;
	lone = &x->lone;
	required = DELAY_READ(x->required);
	passed = now > x->opened_ns + required ? now - x->opened_ns - required : 0;
	executed = cpu->executed_ns - cpu->executed_before;
	lasts = lone->epoch == t->epoch && !lone->to;
	if (lasts && lone->cpu != cpu->number)
		return 0;
	if (alone && DELAY_READ(x->active) && t->share && t->pause != COZBPF_PAUSE_BEGUN &&
	    t->paid + (DELAY_RULE(LONE_BEHIND) ? DELAY_LONE_BEHIND_NS : 0) >= required &&
	    (!DELAY_RULE(LONE_ROOM) || 10 * executed < DELAY_ROOM_TENTHS * passed)) {
		if (!lasts)
			lone->from = now;
		lone->share = t->share;
		lone->cpu = cpu->number;
		lone->epoch = t->epoch;
		lone->to = 0;
	} else if (lasts) {
		lone->to = now;
	}
	return 0;
}

/* How much L of a thread with a CPU for itself, and room on it, grew since @since. */
DELAY_INLINE __u64 delay_lone_grown_since(const struct cozbpf_control *x, __u64 since, __u64 now)
{
	__u64 from = DELAY_READ(x->lone.from), to = DELAY_READ(x->lone.to);

	if (!DELAY_RULE(LONE_CPU) || x->lone.epoch != DELAY_READ(x->epoch))
		return 0;
	return delay_pending(
	    from > since ? from : since, x->lone.share, x->speedup_pct, to && to < now ? to : now);
}

/* A sample has met an outsider on this CPU: had it not come, the thread that it has taken the CPU
 * from would have been told to pause, if it owes enough. */
DELAY_INLINE void delay_sample_missed(
    struct cozbpf_cpu *cpu, const struct cozbpf_control *x, __u32 min_debt, __u64 now)
{
	__u64 required = DELAY_READ(x->required);

	if (cpu->epoch != DELAY_READ(x->epoch) || required < cpu->paid + min_debt)
		return;
	if (!cpu->missed_at)
		cpu->missed_at = now;
	cpu->missed_required = required;
}

/*
 * An outsider had the CPU when a sample fell due that would have told thread `t` to pause, which
 * owed up to `required`: it has stood still since `missed`. Outsiders that come while it pauses and
 * stay are in its way after the pause; they must not be when they come before it, too.
 */
DELAY_INLINE void delay_stood_still(
    struct cozbpf_thread *t, struct cozbpf_control *x, __u64 missed, __u64 required, __u64 now)
{
	__u64 owed, stood = now - missed;

	if (t->paced)
		return;
	delay_credit(t, x, missed);
	owed = delay_owed(t, required);
	if (stood > owed)
		stood = owed;
	t->paid += stood;
	t->run_since = missed + stood;
}

/* How a thread leaves its CPU: it blocks, is preempted by another thread of the target, or by an
 * outsider. */
enum { DELAY_BLOCKED, DELAY_PREEMPTED, DELAY_OUSTED };

/* The thread leaves its CPU; the CPU's clock is its L (rule 5). */
DELAY_INLINE void delay_switch_out(
    struct cozbpf_thread *t, struct cozbpf_control *x, struct cozbpf_cpu *cpu, int how, __u64 now)
{
	int runnable = how != DELAY_BLOCKED;

	delay_enter(t, x);
	delay_settle(t, x, now);
	if (t->pause != COZBPF_PAUSE_BEGUN)
		delay_credit(t, x, now);
	t->run_since = 0;
	if (runnable)
		t->runnable_at = now; /* else a wake-up that came before the thread was off its CPU
					 has set it already */
	t->blocked_at = runnable || t->pause == COZBPF_PAUSE_BEGUN ? 0 : now;
	t->ousted = how == DELAY_OUSTED;
	if (t->call == COZBPF_CALL_MADE && !runnable && t->pause != COZBPF_PAUSE_BEGUN) {
		t->call = COZBPF_CALL_BLOCKED;
		t->call_required = DELAY_READ(x->required);
		t->call_at = now;
	}
	/*
	 * A thread that goes to sleep in debt takes its debt along; it is not for those that come
	 * next to pay it as well. One that wakes now and then for a moment, and owes all that
	 * accrued meanwhile, would slow down whomever it interrupts.
	 */
	if (!DELAY_RULE(ASLEEP_IN_DEBT) || runnable || cpu->epoch != t->epoch ||
	    cpu->paid < t->paid)
		cpu->paid = t->paid;
	cpu->left_at = now;
	cpu->missed_at = 0;
	cpu->epoch = t->epoch;
	delay_slice_end(cpu, t, x, now);
	delay_executed(cpu, t, x, now);
	cpu->executed_to = 0;
	if (x->lone.cpu == cpu->number && !x->lone.to)
		x->lone.to = now;
}

/*
 * A thread has waited for its CPU while others of the target used it: rule 5. It need not be as far
 * as they are, who may be in debt: at the latest it goes on when the CPU has done, virtually, what
 * it really did meanwhile. Nor need it wait while another CPU was, virtually, free. What it stood
 * still beyond R is carry.
 */
DELAY_INLINE void delay_wait_for_cpu(
    struct cozbpf_thread *t, struct cozbpf_control *x, const struct cozbpf_cpu *cpu, __u64 now)
{
	__u64 waited = now - t->runnable_at, own = t->paid + waited,
	      clock = own < cpu->paid ? own : cpu->paid;
	__u64 grown = DELAY_RULE(SLICES) ? delay_grown_since(cpu, t->runnable_at, now) : 0,
	      lone = delay_lone_grown_since(x, t->runnable_at, now);
	__u64 required = DELAY_READ(x->required);

	if (grown < lone)
		grown = lone;
	t->paid += grown < waited ? grown : waited;
	if (t->paid < clock)
		t->paid = clock;
	if (t->paid > required) {
		if (DELAY_RULE(CPU_CARRY))
			t->carry += t->paid - required;
		t->paid = required;
	}
}

/* The thread gets a CPU. Where it waited for it while threads of the target used it, that is a join
 * with them (rule 5). 1 when it was. */
DELAY_INLINE int delay_switch_in(
    struct cozbpf_thread *t, struct cozbpf_control *x, struct cozbpf_cpu *cpu, __u64 now)
{
	int joined, slowed, missed;

	delay_enter(t, x);
	delay_share_look_up(t);
	/* Later than: the thread itself, preempted by an outsider, was the last to leave this CPU
	 * at that very moment. */
	joined = DELAY_RULE(JOIN_CPU) && t->runnable_at && cpu->left_at > t->runnable_at &&
		 cpu->epoch == t->epoch;
	/*
	 * An outsider that takes the CPU for a while makes it a slower one: to a thread that loses
	 * a hundredth of its time that way the line costs a hundredth more, and a faster line saves
	 * that as well. So the time counts as executed, as that of interrupts and of a stolen CPU
	 * does.
	 */
	slowed = DELAY_RULE(OUSTED_SLOWER) && t->ousted && !joined && t->runnable_at;
	/*
	 * A sleep is served until it really ends; a wait for the CPU that is a join is credited
	 * below, and not twice. A pause that an outsider has interrupted goes on being served
	 * meanwhile: the thread stands still, as it should.
	 */
	if (t->pause == COZBPF_PAUSE_BEGUN && !t->pause_hold)
		delay_serve(t, x, joined ? t->runnable_at : now);
	else if (DELAY_RULE(OUSTED_PAUSE) && t->pause == COZBPF_PAUSE_BEGUN && !joined)
		delay_serve(t, x, now < t->pause_end ? now : t->pause_end);
	if (joined) {
		delay_wait_for_cpu(t, x, cpu, now);
	} else if (t->slack && t->runnable_at) {
		/* The wait ends here, not with the wake-up: a thread that would virtually not have
		 * waited would not have waited for its CPU to wake up. */
		__u64 latency = now - t->runnable_at;

		t->paid += latency < t->slack ? latency : t->slack;
	}
	t->slack = 0;
	t->run_since = slowed ? t->runnable_at : now;
	missed = DELAY_RULE(STOOD_STILL) && slowed && cpu->left_at == t->runnable_at &&
		 cpu->missed_at > t->runnable_at && t->pause == COZBPF_PAUSE_NONE;
	t->ousted = 0;
	t->runnable_at = 0;
	t->blocked_at = 0;
	delay_slice_begin(cpu, t);
	if (t->pause == COZBPF_PAUSE_BEGUN && now >= t->pause_end) {
		delay_pause_over(t); /* the handler returns at once; what is still owed shows at the
					next sample */
		t->run_since = slowed && t->pause_hold ? t->pause_end : now;
	} else if (t->pause == COZBPF_PAUSE_BEGUN) {
		if (t->pause_from < now)
			t->pause_from = now;
		t->run_since = t->pause_end;
	}
	delay_executed_from(cpu, t, t->run_since);
	if (missed)
		delay_stood_still(t, x, cpu->missed_at, cpu->missed_required, now);
	return joined;
}

#endif
