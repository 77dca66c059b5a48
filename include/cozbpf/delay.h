/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * The door of the delay arithmetic: one function for each event, called by the BPF programs and by
 * the simulator of the tests. A hook only says which event it was and looks up thread and CPU.
 *
 * Pure: no clock, no map, no helper. `now` is monotonic ns. An event's threads are looked at by one
 * CPU at a time; delay_virtual_time() only reads. `required` is the one word that all share, and is
 * only ever raised, atomically.
 *
 *   delay_account.h   L, R, debt, carry, the join
 *   delay_share.h     the share f
 *   delay_window.h    the samples that f is taken from
 *   delay_pause.h     asking for pauses, serving them
 *   delay_advance.h   bringing a thread up to now
 *   delay_cpu.h       a CPU's clock and slice
 *   delay_switch.h    leaving and getting a CPU
 *   delay_spin.h      busy waiting
 *   delay_rules.h     the rules by name
 */
#ifndef COZBPF_DELAY_H
#define COZBPF_DELAY_H

#include <cozbpf/delay_spin.h>

/* A sample has interrupted thread @t. 1: in its pause, so the sample counts for nothing. Credit
 * waits for delay_on_sample(): what the hook does in between verifies faster that way. */
DELAY_INLINE int delay_on_interrupt(struct cozbpf_thread *t, struct cozbpf_control *x, __u64 now)
{
	delay_enter(t, x);
	delay_settle(t, x, now);
	delay_heal(t, now);
	return t->pause == COZBPF_PAUSE_BEGUN;
}

/* SAMPLE_COST: the sample has kept the thread from executing. L grows by as much, and others stand
 * still as long, so that no virtual time passes. */
DELAY_INLINE void delay_sample_cost(struct cozbpf_account *a, struct cozbpf_control *x, __u64 now)
{
	if (!DELAY_RULE(SAMPLE_COST) || !x->sample_free || !DELAY_READ(x->active))
		return;
	delay_give(a, x, x->sample_cost_ns);
	a->run_since = now + x->sample_cost_ns;
}

/* The sample is one in @line, 0: in none in scope. Returns the pause
 * that the thread owes now, 0 for none. */
DELAY_INLINE __u64 delay_sample(
    struct cozbpf_thread *t, struct cozbpf_control *x, __u32 line, __u64 now, __u32 min_debt)
{
	struct cozbpf_account *a = delay_account(t);
	__u64 debt;

	/* An experiment may have opened since delay_on_interrupt(): R would rise to the L of
	 * before. */
	delay_enter(t, x);
	delay_credit(a, x, now);
	delay_learn_pace(a, x);
	delay_fall_late(a, x, now);
	delay_count_excess(t, x);
	delay_teach_young(a, x, line);
	delay_correct_first(a, x, line, now);
	delay_correct(a, x, line);
	delay_window_push(a, x, line);
	delay_sample_cost(a, x, now);
	debt = delay_debt(a, x, min_debt);
	if (!debt)
		a->rested = 0;
	return debt;
}

/* The same of a thread that spins, which pays by that. 0: it does not. */
DELAY_INLINE int delay_on_spinning_sample(struct cozbpf_thread *t, struct cozbpf_control *x,
    struct cozbpf_cpu *cpu, struct cozbpf_earner *own, __u64 now)
{
	struct cozbpf_account *a = delay_account(t);

	if (!delay_spins(a, x, now))
		return 0;
	delay_spin(a, x, own, now);
	delay_executed(cpu, a, x, now);
	delay_show(own, a);
	return 1;
}

/* The sample that delay_on_interrupt() began, in @line. Returns the pause that the thread owes now,
 * 0 for none. */
DELAY_INLINE __u64 delay_on_sample(struct cozbpf_thread *t, struct cozbpf_control *x,
    struct cozbpf_cpu *cpu, __u32 line, __u64 now, __u32 min_debt)
{
	__u64 debt = delay_sample(t, x, line, now, min_debt);

	delay_executed(cpu, delay_account(t), x, now);
	return debt;
}

/*
 * JOIN_SPIN, LEADER_SPIN: the thread is seen to spin, at the place @id: it waits for another one by
 * trying again and again. @leader: of the other CPUs the one that shows most by delay_shown(), NULL
 * for none. The first time begins a stretch, which is an edge.
 */
DELAY_INLINE void delay_on_spin(struct cozbpf_thread *t, struct cozbpf_control *x,
    struct cozbpf_earner *own, const struct cozbpf_earner *leader, __u32 id, __u64 now)
{
	struct cozbpf_account *a = delay_account(t);

	delay_enter(t, x);
	delay_settle(t, x, now);
	delay_heal(t, now);
	if (t->pause == COZBPF_PAUSE_BEGUN)
		return;
	own->awaits = leader ? leader->number : 0;
	own->awaited_id = id;
	if (leader && DELAY_RULE(LEADER_SPIN))
		delay_raise_required(x, delay_shown(leader, x, now));
	if (delay_spins(a, x, now)) {
		delay_spin(a, x, own, now);
	} else {
		delay_credit(a, x, now);
		delay_segment(a, 2 * id);
		a->spun_at = now;
		a->spun_over = 0;
	}
	delay_show(own, a);
}

/* JOIN_PEER: @t has taken data from a thread of another node, which had @paid as it sent them; they
 * came @at. 0: it did not spin, and has not waited for them in that way. */
DELAY_INLINE int delay_on_receive(struct cozbpf_thread *t, struct cozbpf_control *x,
    struct cozbpf_earner *own, __u64 paid, __u64 at, __u64 now)
{
	struct cozbpf_account *a = delay_account(t);

	delay_enter(t, x);
	delay_settle(t, x, now);
	if (t->pause == COZBPF_PAUSE_BEGUN || !delay_spins(a, x, now))
		return 0;
	delay_spun_for(a, x, own, paid, at, now);
	delay_show(own, a);
	return 1;
}

/*
 * Asks for the pause of @debt, @sampled or from a probe's program. Returns its end, to be sent to
 * the thread with t->pause_hold; 0: it need not pause. All pauses are asked for here, so here is
 * where none is when nobody watches the experiment any more.
 */
DELAY_INLINE __u64 delay_on_ask(struct cozbpf_thread *t, struct cozbpf_control *x, int sampled,
    __u64 debt, __u32 exit_ns, __u32 hold, __u64 now)
{
	__u64 end = 0;

	if (now < DELAY_READ(x->expires_ns))
		end = delay_plan(t, x, sampled, debt, exit_ns, now);
	if (!end)
		return 0;
	delay_asked(t, now, end, debt, hold);
	delay_raise(&x->pause_horizon, end);
	return end;
}

/* CPU @cpu changes from thread @out, which leaves as @how says, to thread @in. NULL: not the
 * target's. @ran: for how long an outsider had the CPU, or longer. */
DELAY_INLINE void delay_on_switch(struct cozbpf_thread *out, int how, struct cozbpf_thread *in,
    __u64 ran, struct cozbpf_control *x, struct cozbpf_cpu *cpu, __u64 now)
{
	__u64 since;

	if (out)
		delay_switch_out(out, x, cpu, how, now);
	if (!in)
		return;
	since = out ? 0 : in->runnable_at;
	delay_switch_in(in, x, cpu, ran > 0, now);
	if (!since)
		return;
	/* Before the outsider others of the target ran, or a quota held the thread back. */
	if (since < cpu->left_at)
		since = cpu->left_at;
	cpu->outsiders_ns += now - since < ran ? now - since : ran;
}

/* SLACK_LATENCY, and the join of @t, which is blocked, with the clock @paid of who wakes it, where
 * @joins. */
DELAY_INLINE void delay_release(struct cozbpf_thread *t, __u64 paid, int joins, __u64 now)
{
	struct cozbpf_account *a = delay_account(t);
	__u64 waited = t->blocked_at && now > t->blocked_at ? now - t->blocked_at : 0,
	      own = a->paid + waited;

	t->slack = 0;
	if (DELAY_RULE(SLACK_LATENCY) && own < paid)
		t->slack = paid - own < 0xffffffffU ? (__u32)(paid - own) : 0xffffffffU;
	if (joins)
		a->paid = delay_join(a, waited, paid);
	a->paced = COZBPF_PACED_NONE;
}

/* JOIN_WAKER, SLACK_LATENCY, PACED_WAKER: @w, which executes, wakes @t, which is blocked. */
DELAY_INLINE void delay_wake(
    struct cozbpf_thread *t, struct cozbpf_thread *w, struct cozbpf_control *x, __u64 now)
{
	struct cozbpf_account *a = delay_account(t), *by = delay_account(w);

	delay_enter(t, x);
	if (t->pause == COZBPF_PAUSE_BEGUN)
		return;
	delay_advance(w, x, now);
	delay_release(t, by->paid, DELAY_RULE(JOIN_WAKER), now);
	if (DELAY_RULE(PACED_WAKER) && (delay_is_fed(by) || delay_asks(by, w->number)))
		delay_pace(a, by->paced, by->pace_ns, by->pace_phase, now);
	a->rested = 0;
}

/*
 * PACED_MIN: no program keeps a shorter period by timer. Some set a timer to 1 ns to make it fire
 * at once (systemd's event loop does), and any distance is a multiple of that.
 */
#define DELAY_PERIOD_MIN_NS 10000ULL

/*
 * PACED: @t is woken by a timer that was set to @expiry. Expiries at exactly equal distances tell a
 * periodic timer: a program that sleeps for a while never meets the same nanosecond twice.
 * PACED_MISSED: whole multiples are periods that were missed.
 */
DELAY_INLINE void delay_timer_wake(
    struct cozbpf_thread *t, struct cozbpf_control *x, __u64 expiry, __u64 now)
{
	struct cozbpf_account *a = delay_account(t);
	struct cozbpf_timer *timer = &x->timers[t->number & (COZBPF_TIMERS - 1)];
	__u64 period = expiry - t->timer_at;
	int periodic;

	delay_enter(t, x);
	if (!period || t->pause == COZBPF_PAUSE_BEGUN)
		return;
	periodic =
	    DELAY_RULE(PACED) &&
	    t->timer_period >= (DELAY_RULE(PACED_MIN) ? DELAY_PERIOD_MIN_NS : 1) &&
	    (DELAY_RULE(PACED_MISSED) ? period % t->timer_period == 0 : period == t->timer_period);
	if (periodic) {
		delay_pace(
		    a, COZBPF_PACED, t->timer_period, (__u32)(expiry % t->timer_period), now);
		*timer = (struct cozbpf_timer){t->timer_period, a->pace_phase, t->number};
	} else {
		delay_pace(a, DELAY_RULE(PACED_LEARNT) ? COZBPF_PACED_ASKS : COZBPF_PACED_NONE,
		    expiry, t->number, now);
		t->timer_period = period;
		if (timer->thread == t->number)
			timer->period_ns = 0;
	}
	t->timer_at = expiry;
	a->rested = 1;
}

/*
 * JOIN_EXIT: @t waits for threads that it has made, and the last one to end, really, wakes it. One
 * that ended before, in debt, may virtually be the last. It wakes nobody.
 */
DELAY_INLINE void delay_wait_for_family(
    struct cozbpf_thread *t, const struct cozbpf_control *x, __u64 now)
{
	const struct cozbpf_family *f = &x->families[t->number & (COZBPF_FAMILIES - 1)];
	struct cozbpf_account *a = delay_account(t);
	__u64 ended = f->ended;

	if (!DELAY_RULE(JOIN_EXIT) || !t->number || f->maker != t->number || f->epoch != a->epoch ||
	    t->pause == COZBPF_PAUSE_BEGUN)
		return;
	if (ended < now && a->paid > now - ended)
		a->paid = now - ended;
}

/* Who or what wakes a thread. */
enum delay_cause {
	DELAY_BY_EXIT,   /* a thread of the target, by ending */
	DELAY_BY_THREAD, /* of the target */
	DELAY_BY_CALLER, /* the same, where probed calls tell of it (--sync=uprobe) */
	DELAY_BY_TIMER,
	DELAY_BY_OUTSIDE, /* a device, a process outside the target */
};

/*
 * @t becomes runnable, by @cause: thread @w through the object @id, or a timer that was set to
 * @expiry. A thread woken from outside pays what accrued while it was blocked.
 */
DELAY_INLINE void delay_on_wake(struct cozbpf_thread *t, enum delay_cause cause,
    struct cozbpf_thread *w, __u32 id, __u64 expiry, struct cozbpf_control *x, __u64 now)
{
	if (cause <= DELAY_BY_THREAD && w) {
		delay_wake(t, w, x, now);
		if (cause == DELAY_BY_EXIT)
			delay_wait_for_family(t, x, now);
		delay_segment_ahead(delay_account(t), 2 * id + 1);
		delay_segment(delay_account(w), 2 * id);
	} else if (cause == DELAY_BY_TIMER) {
		delay_timer_wake(t, x, expiry, now);
	} else {
		delay_enter(t, x);
		delay_account(t)->paced = COZBPF_PACED_NONE;
		delay_account(t)->rested = cause == DELAY_BY_OUTSIDE;
	}
	delay_wants_cpu(t, x, now);
}

/*
 * JOIN_PEER: @t becomes runnable by data from a thread of another node, which had @paid as it sent
 * them. Which segment begins there is not known, so the thread stays in its own.
 */
DELAY_INLINE void delay_on_arrival(
    struct cozbpf_thread *t, struct cozbpf_control *x, __u64 paid, __u64 now)
{
	delay_enter(t, x);
	delay_wants_cpu(t, x, now);
	if (t->pause == COZBPF_PAUSE_BEGUN)
		return;
	delay_release(t, paid, DELAY_RULE(JOIN_PEER), now);
	delay_account(t)->rested = 0;
}

/* The signal of the pause that was asked for arrives. */
DELAY_INLINE void delay_on_deliver(struct cozbpf_thread *t, struct cozbpf_control *x, __u64 now)
{
	delay_begin(t, x, now);
}

/*
 * Mode `quanta`: a signal is delivered, and holds the CPU up to about @end whoever sent it. @more:
 * the next one follows at once, so the pause goes on beyond @end.
 */
DELAY_INLINE void delay_on_quantum(
    struct cozbpf_thread *t, struct cozbpf_control *x, int more, __u64 end, __u64 now)
{
	if (t->pause != COZBPF_PAUSE_ASKED)
		delay_advance(t, x, now);
	delay_quantum(t, x, more, end, now);
}

/* JOIN_PARENT: a thread or process is born; @t is zeroed. */
DELAY_INLINE void delay_on_fork(
    struct cozbpf_thread *t, struct cozbpf_thread *parent, struct cozbpf_control *x, __u64 now)
{
	struct cozbpf_account *a = delay_account(t), *from = delay_account(parent);

	delay_advance(parent, x, now);
	a->epoch = from->epoch;
	a->paid = DELAY_RULE(JOIN_PARENT) ? from->paid : DELAY_READ(x->required);
	t->member = 1;
	t->maker = parent->number;
	if (from->forks < COZBPF_KINDS - 1)
		from->forks++;
	a->kind = from->forks;
	delay_inherit(a, x);
}

/* JOIN_EXIT: the thread ends. Of two that end at once one may be lost. Its number may be another
 * thread's next, which keeps no timer yet. */
DELAY_INLINE void delay_on_exit(const struct cozbpf_thread *t, struct cozbpf_control *x, __u64 now)
{
	struct cozbpf_family *f = &x->families[t->maker & (COZBPF_FAMILIES - 1)];
	struct cozbpf_timer *timer = &x->timers[t->number & (COZBPF_TIMERS - 1)];
	__u32 epoch = DELAY_READ(x->epoch);
	__u64 ended = delay_virtual_time(t, x, now);

	if (timer->thread == t->number)
		timer->period_ns = 0;
	if (!t->maker || (f->maker == t->maker && f->epoch == epoch && ended <= f->ended))
		return;
	f->maker = t->maker;
	f->epoch = epoch;
	f->ended = ended;
}

/* It waits for a CPU for the first time. */
DELAY_INLINE void delay_on_born(struct cozbpf_thread *t, struct cozbpf_control *x, __u64 now)
{
	delay_enter(t, x);
	delay_wants_cpu(t, x, now);
}

/* JOIN_ADOPT: a thread that ran already becomes the target's. */
DELAY_INLINE void delay_on_adopt(struct cozbpf_thread *t, struct cozbpf_control *x)
{
	struct cozbpf_account *a = delay_account(t);

	a->epoch = DELAY_READ(x->epoch);
	a->paid = DELAY_RULE(JOIN_ADOPT) ? DELAY_READ(x->required) : 0;
	t->member = 1;
	delay_inherit(a, x);
}

/* Between experiments the hooks were off for a while, so nothing is known of what the thread did.
 * @blocked: it waits. Its time stamps of before would stand for all that time. */
DELAY_INLINE void delay_on_seen_again(struct cozbpf_thread *t, int blocked, __u64 now)
{
	struct cozbpf_account *a = delay_account(t);

	t->pause = COZBPF_PAUSE_NONE;
	t->returning = 0;
	t->blocked_at = blocked ? now : 0;
	t->runnable_at = 0;
	t->slack = 0;
	t->left = DELAY_BLOCKED;
	t->call = COZBPF_CALL_NONE;
	t->timer_at = 0;
	a->run_since = 0;
	a->unsampled = 0;
	a->spun_at = 0;
	a->last_valid = 0;
	a->paced = COZBPF_PACED_NONE;
	a->rested = 0;
}

/* A new program image is in place; its handler is not there any more. */
DELAY_INLINE void delay_on_exec(struct cozbpf_thread *t)
{
	t->pause = COZBPF_PAUSE_NONE;
}

/* Returns the pause that the thread owes before it goes on, 0 for none. */
DELAY_INLINE __u64 delay_pay_first(
    struct cozbpf_thread *t, struct cozbpf_control *x, __u32 min_debt)
{
	return t->pause == COZBPF_PAUSE_NONE ? delay_debt(delay_account(t), x, min_debt) : 0;
}

/*
 * --sync=uprobe: the thread begins a call on object @id that may wake another or, when @blocks, may
 * block (paper, Tables 1 and 2). It pays first.
 */
DELAY_INLINE __u64 delay_on_call(struct cozbpf_thread *t, struct cozbpf_control *x, int blocks,
    __u32 id, __u64 now, __u32 min_debt)
{
	delay_advance(t, x, now);
	t->call = blocks ? COZBPF_CALL_MADE : COZBPF_CALL_NONE;
	if (t->pause != COZBPF_PAUSE_NONE)
		return 0;
	delay_segment(delay_account(t), 2 * id);
	return delay_pay_first(t, x, min_debt);
}

/*
 * JOIN_CALL: the call returns. When the thread blocked in it and another one let it go on
 * (@released: no timeout, no EINTR), the other one has paid what was inserted meanwhile.
 * JOIN_CALL_BOUND: R may hold late what others earned before. No thread earns more than s of a
 * time.
 */
DELAY_INLINE void delay_on_return(
    struct cozbpf_thread *t, struct cozbpf_control *x, int released, __u32 id, __u64 now)
{
	struct cozbpf_account *a = delay_account(t);
	__u64 required, grown, most;

	delay_advance(t, x, now);
	required = DELAY_READ(x->required);
	if (DELAY_RULE(JOIN_CALL) && t->call == COZBPF_CALL_BLOCKED && released &&
	    required > t->call_required) {
		grown = required - t->call_required;
		most = (now - t->call_at) * x->speedup_pct / 100;
		if (DELAY_RULE(JOIN_CALL_BOUND) && grown > most)
			grown = most;
		a->paid = delay_join(a, grown, required);
	}
	t->call = COZBPF_CALL_NONE;
	delay_segment(a, 2 * id + 1);
}

/* HAND_OVER: the thread hands something over that another one may take without having waited for
 * it, and so without an edge. It pays first, lest the other one have it too early, virtually. */
DELAY_INLINE __u64 delay_on_hand_over(
    struct cozbpf_thread *t, struct cozbpf_control *x, __u64 now, __u32 min_debt)
{
	delay_advance(t, x, now);
	return DELAY_RULE(HAND_OVER) ? delay_pay_first(t, x, min_debt) : 0;
}

#endif
