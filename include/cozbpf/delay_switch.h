/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * A thread leaves its CPU, blocked or runnable, and gets one again. Three time stamps say what it
 * does: run_since (it executes), blocked_at, runnable_at (it waits for a CPU). They are words of
 * their own because its waker, on another CPU, writes runnable_at at the moment of the switch, or
 * even where no switch follows. Part of delay.h.
 */
#ifndef COZBPF_DELAY_SWITCH_H
#define COZBPF_DELAY_SWITCH_H

#include <cozbpf/delay_cpu.h>

/* How a thread leaves its CPU: it blocks, is preempted by another thread of the target, or by an
 * outsider. */
enum { DELAY_BLOCKED, DELAY_PREEMPTED, DELAY_OUSTED };

/* The thread waits for a CPU from @now on. */
DELAY_INLINE void delay_wants_cpu(
    struct cozbpf_thread *t, const struct cozbpf_control *x, __u64 now)
{
	t->runnable_at = now;
	delay_account(t)->wanted_required = DELAY_READ(x->required);
}

/* The thread leaves its CPU, and the CPU's clock is its L. */
DELAY_INLINE void delay_switch_out(
    struct cozbpf_thread *t, struct cozbpf_control *x, struct cozbpf_cpu *cpu, int how, __u64 now)
{
	struct cozbpf_account *a = delay_account(t);
	int runnable = how != DELAY_BLOCKED;

	delay_advance(t, x, now);
	a->run_since = 0;
	if (runnable) /* else a wake-up that came early has set it already */
		delay_wants_cpu(t, x, now);
	t->blocked_at = runnable || t->pause == COZBPF_PAUSE_BEGUN ? 0 : now;
	t->left = (__u8)how;
	if (t->call == COZBPF_CALL_MADE && !runnable && t->pause != COZBPF_PAUSE_BEGUN) {
		t->call = COZBPF_CALL_BLOCKED;
		t->call_required = DELAY_READ(x->required);
		t->call_at = now;
	}
	cpu->paid = a->paid;
	cpu->left_at = now;
	cpu->left_required = DELAY_READ(x->required);
	cpu->epoch = a->epoch;
	delay_slice_end(cpu, a, x, now);
	delay_executed(cpu, a, x, now);
	cpu->executed_to = 0;
}

/*
 * JOIN_CPU: threads of the target used the CPU while this one waited for it. LAST_SLICE: those
 * threads may be in debt, so at the latest the wait ends, virtually, when they have done what they
 * really did. What the thread stood still beyond R is carry.
 */
DELAY_INLINE void delay_wait_for_cpu(
    struct cozbpf_thread *t, struct cozbpf_control *x, struct cozbpf_cpu *cpu, __u64 now)
{
	struct cozbpf_account *a = delay_account(t);
	__u64 since = t->runnable_at,
	      clock = a->paid + (DELAY_RULE(LAST_SLICE) ? delay_grown_since(cpu, since) : 0);

	cpu->misplaced_ns += delay_idle_since(x, since, now);
	if (clock < cpu->paid)
		clock = cpu->paid;
	delay_stand_still(a, x, delay_join(a, now - since, clock) - a->paid);
}

/*
 * The thread gets a CPU again, and has waited for threads of the target, if @joined, up to @from:
 * that part is credited as a join, not as pause. OUSTED_PAUSE: an outsider's turn is pause as well.
 */
DELAY_INLINE void delay_serve_off_cpu(struct cozbpf_thread *t, struct cozbpf_control *x,
    struct cozbpf_cpu *cpu, int joined, __u64 from, __u64 now)
{
	int pauses = t->pause == COZBPF_PAUSE_BEGUN;

	if (joined) {
		if (pauses && !t->pause_hold)
			delay_serve(t, x, t->runnable_at);
		delay_wait_for_cpu(t, x, cpu, from);
		if (t->pause_from < from)
			t->pause_from = from;
	}
	if (pauses && !t->pause_hold)
		delay_serve(t, x, now);
	else if (pauses && DELAY_RULE(OUSTED_PAUSE))
		delay_serve(t, x, now < t->pause_end ? now : t->pause_end);
}

/*
 * STOOD_STILL: an outsider has had the CPU since @since, when the thread wanted it and R was
 * @before. Had the outsider not come, the thread would have paused for what others earned
 * meanwhile, so it has stood still as long. Outsiders that come while a thread pauses are not in
 * its way; those that come before, or outlast the pause, must not be either. Returns since when the
 * outsider was in its way.
 */
DELAY_OUTLINE __u64 delay_behind_outsider(
    struct cozbpf_thread *t, const struct cozbpf_control *x, __u64 before, __u64 since, __u64 now)
{
	struct cozbpf_account *a;
	__u64 required, owed, stood;

	if (!t || !x)
		return now;
	a = delay_account(t);
	required = DELAY_READ(x->required);
	if (t->pause == COZBPF_PAUSE_BEGUN) {
		if (!t->pause_hold || now < t->pause_end)
			return now;
		since = since < t->pause_end ? t->pause_end : since;
	}
	stood = now - since;
	if (!stood || !DELAY_RULE(STOOD_STILL) || !DELAY_READ(x->active) ||
	    a->paced == COZBPF_PACED)
		return since;
	if (stood > required - before)
		stood = required - before;
	owed = delay_owed(a, required);
	if (stood > owed)
		stood = owed;
	a->paid += stood;
	return since + stood;
}

/*
 * The thread gets a CPU, from an @outsider or not. 1: that is a join with the threads that had
 * the CPU meanwhile. OUSTED_SLOWER: an outsider makes the CPU a slower one, and a faster line saves
 * that as well. So its turn counts as executed, as an interrupt's time does, by whom it kept from
 * going on; not by who was woken, for a faster line does not make that rarer.
 */
DELAY_INLINE int delay_switch_in(struct cozbpf_thread *t, struct cozbpf_control *x,
    struct cozbpf_cpu *cpu, int outsider, __u64 now)
{
	struct cozbpf_account *a = delay_account(t);
	__u64 waited, had, turn, slack, since;
	int joined;

	delay_enter(t, x);
	delay_share_look_up(a);
	/* Later than: the thread itself, preempted by an outsider, was the last to leave this CPU
	 * at that very moment. */
	joined = DELAY_RULE(JOIN_CPU) && t->runnable_at && cpu->left_at > t->runnable_at &&
		 cpu->epoch == a->epoch;
	waited = t->runnable_at && t->runnable_at < now ? now - t->runnable_at : 0;
	/* Outsiders, or a quota, have had the CPU since a thread of the target left it last. */
	had = outsider ? now - cpu->left_at : 0;
	slack = joined ? 0 : t->slack < waited ? t->slack : waited;
	turn = waited - slack;
	if ((joined || t->left != DELAY_OUSTED) && turn > had)
		turn = had;
	delay_serve_off_cpu(t, x, cpu, joined, now - turn, now);
	a->paid += slack; /* SLACK_LATENCY: the wait for the waker ends here */
	t->slack = 0;
	since = delay_behind_outsider(
	    t, x, joined ? cpu->left_required : a->wanted_required, now - turn, now);
	a->run_since = DELAY_RULE(OUSTED_SLOWER) && t->left != DELAY_BLOCKED ? since : now;
	if (t->blocked_at)
		a->forks = 0;
	t->left = DELAY_BLOCKED;
	t->runnable_at = 0;
	t->blocked_at = 0;
	delay_slice_begin(cpu, a);
	if (t->pause == COZBPF_PAUSE_BEGUN && now >= t->pause_end) {
		delay_pause_over(t); /* what is still owed shows at the next sample */
	} else if (t->pause == COZBPF_PAUSE_BEGUN) {
		if (t->pause_from < now)
			t->pause_from = now;
		a->run_since = t->pause_end;
	}
	delay_executed_from(cpu, a, a->run_since);
	return joined;
}

#endif
