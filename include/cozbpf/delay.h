/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * The delay arithmetic (design.md section 4), and nowhere else. Pure: no clock, no map, no helper;
 * compiled into the BPF programs and into the host's unit tests. `now` is monotonic ns. Each
 * function looks at threads that cannot be looked at by another CPU at the same moment, except
 * delay_virtual_time(), which only reads; `required` is the one word that all share, and is only
 * ever raised, atomically.
 */
#ifndef COZBPF_DELAY_H
#define COZBPF_DELAY_H

#include <cozbpf/abi.h>
#include <cozbpf/delay_share.h>

/* R = max(R, v). Bounded: after eight lost races the others have raised it and ours comes at the
 * next look. */
DELAY_OUTLINE int delay_raise_required(struct cozbpf_control *x, __u64 v)
{
	if (!x)
		return 0;
	for (int i = 0; i < 8; i++) {
		__u64 r = DELAY_READ(x->required);

		if (v <= r || __sync_val_compare_and_swap(&x->required, r, v) == r)
			return 0;
	}
	return 0;
}

/*
 * No program keeps a shorter period by timer, and almost any distance is a multiple of a very short
 * one. Programs that want a timer to fire at once set it to 1 ns (systemd's event loop does), which
 * makes such a distance; with it all wake-ups ever after would look periodic.
 */
#define DELAY_PERIOD_MIN_NS 10000ULL

/*
 * The pause's time is over. Its handler may need a moment yet: a virtual machine that was taken off
 * its CPU meets the sample that fell due meanwhile before the handler looks at the clock.
 */
DELAY_INLINE void delay_pause_over(struct cozbpf_thread *t)
{
	t->pause = COZBPF_PAUSE_NONE;
	t->returning = 1;
}

/* Opening level for a thread that is looked at for the first time in this experiment (rule 4). */
DELAY_OUTLINE int delay_enter_epoch(struct cozbpf_thread *t, struct cozbpf_control *x)
{
	__u64 opened, hits = 0;
	__u32 line;

	if (!t || !x)
		return 0;
	opened = x->opened_ns;
	t->epoch = DELAY_READ(x->epoch);
	t->paid = 0;
	t->slack = 0;
	t->carry = 0;
	if (t->pause != COZBPF_PAUSE_NONE)
		delay_pause_over(t);
	if (t->run_since && t->run_since < opened)
		t->run_since = opened;
	if (t->blocked_at && t->blocked_at < opened)
		t->blocked_at = opened;
	if (t->runnable_at && t->runnable_at < opened)
		t->runnable_at = opened;
	line = x->line;
	for (int k = 0; k < COZBPF_SEGMENTS; k++)
		t->segment_hits[k] = 0;
	t->hit_bits = 0;
	for (__u32 i = 0; i < COZBPF_RING; i++) {
		__u32 at = (t->ring_next - 1 - i) & (COZBPF_RING - 1);
		__u64 equal = delay_equal(t->ring[at].line, line),
		      hit = t->ring[at].weight_ns & -equal;

		hits += hit;
		t->hit_bits |= (__u32)equal << i;
		t->segment_hits[t->ring_segment[at] & (COZBPF_SEGMENTS - 1)] += hit;
	}
	t->ring_hits = hits;
	t->call_required = 0;
	t->share_known = 0;
	t->last_valid = 0;
	if (t->ring_used < COZBPF_RING)
		t->persistence = (__u16)delay_young_persistence(x);
	t->persistence = (__u16)delay_persistence(t);
	t->share = delay_share(t);
	return 0;
}

DELAY_INLINE void delay_enter(struct cozbpf_thread *t, struct cozbpf_control *x)
{
	if (t->epoch != DELAY_READ(x->epoch))
		delay_enter_epoch(t, x);
}

/* Credit that the time executed up to `now` has earned but that L does not hold yet (rule 1). */
DELAY_INLINE __u64 delay_pending(__u64 run_since, __u32 share, __u32 speedup_pct, __u64 now)
{
	if (!run_since || now <= run_since)
		return 0;
	return (now - run_since) * share / COZBPF_SHARE_ONE * speedup_pct / 100;
}

/* Rule 1: L grows by s x f x the time executed since the last look; R follows when L passes it
 * (minimal delays, paper 3.4.3). */
DELAY_INLINE void delay_credit(struct cozbpf_thread *t, struct cozbpf_control *x, __u64 now)
{
	__u64 from = t->run_since;

	if (!from || now <= from)
		return;
	t->run_since = now;
	t->unsampled += now - from;
	if (!DELAY_RULE(CREDIT) || !DELAY_READ(x->active) || !t->share || !x->speedup_pct)
		return;
	t->paid += delay_pending(from, t->share, x->speedup_pct, now);
	if (t->paid > DELAY_READ(x->required))
		delay_raise_required(x, t->paid);
}

/* Rule 2: [pause_from, end) of a pause has been served; what exceeds the debt goes to carry, never
 * to R (rule 3). */
DELAY_OUTLINE int delay_serve(struct cozbpf_thread *t, struct cozbpf_control *x, __u64 end)
{
	__u64 served, required, room;

	if (!t || !x || end <= t->pause_from)
		return 0;
	required = DELAY_READ(x->required);
	room = required > t->paid ? required - t->paid : 0;
	served = end - t->pause_from;
	t->pause_from = end;
	if (served <= room) {
		t->paid += served;
	} else {
		t->paid += room;
		if (DELAY_RULE(CARRY))
			t->carry += served - room;
	}
	return 0;
}

/* Brings a thread in a pause up to `now`. A pause that holds its CPU ends at its end; a sleeping
 * one when the thread has a CPU again. */
DELAY_INLINE void delay_settle(struct cozbpf_thread *t, struct cozbpf_control *x, __u64 now)
{
	if (t->pause != COZBPF_PAUSE_BEGUN)
		return;
	delay_serve(t, x, now < t->pause_end ? now : t->pause_end);
	if (now >= t->pause_end)
		delay_pause_over(t);
}

/* Changes the weight of one sample of the window, and the sums with it. */
DELAY_INLINE void delay_ring_weigh(
    struct cozbpf_thread *t, const struct cozbpf_control *x, __u32 at, __u32 weight)
{
	struct cozbpf_ring_entry *e = &t->ring[at & (COZBPF_RING - 1)];
	__u32 k = t->ring_segment[at & (COZBPF_RING - 1)] & (COZBPF_SEGMENTS - 1);
	__u64 grown = (__u64)weight - e->weight_ns; /* modulo 2^64 when it shrinks */

	t->ring_weight += grown;
	t->segment_weight[k] += grown;
	if (e->line == x->line) {
		t->ring_hits += grown;
		t->segment_hits[k] += grown;
	}
	e->weight_ns = weight;
}

/*
 * Puts a sample into the thread's window. It weighs half of the time executed since the sample
 * before, and that one the other half: pauses make the time between samples depend on where they
 * fall, so that all of it for one side would lean to the line or away from it.
 */
DELAY_INLINE void delay_ring_push(
    struct cozbpf_thread *t, const struct cozbpf_control *x, __u32 line)
{
	__u32 at = t->ring_next & (COZBPF_RING - 1), before = (at - 1) & (COZBPF_RING - 1);
	__u32 half = t->unsampled > 0xffffffffULL ? 0x7fffffffU : (__u32)(t->unsampled / 2);
	__u32 earlier = DELAY_RULE(HALF_WEIGHT) ? half : 0;

	t->unsampled = 0;
	if (t->ring_used && earlier < 0xffffffffU - t->ring[before].weight_ns)
		delay_ring_weigh(t, x, before, t->ring[before].weight_ns + earlier);
	delay_ring_weigh(t, x, at, 0);
	t->ring[at].line = line;
	t->ring_segment[at] = t->segment & (COZBPF_SEGMENTS - 1);
	t->hit_bits = t->hit_bits << 1 | (line == x->line);
	t->edge_bits = t->edge_bits << 1 | !t->last_valid;
	delay_ring_weigh(t, x, at, DELAY_RULE(HALF_WEIGHT) ? half : 2 * half);
	t->share_known = 0;
	t->ring_next++;
	if (t->ring_used < COZBPF_RING)
		t->ring_used++;
	t->persistence = (__u16)delay_persistence(t);
	t->last_hit = line == x->line;
	t->last_valid = 1;
	delay_forecast(t);
}

/* What the thread has been given too little, or too much, of credit for what it executed. Never
 * below 0. */
DELAY_INLINE void delay_put_right(
    struct cozbpf_thread *t, struct cozbpf_control *x, __u32 hit, __u64 by)
{
	if (!hit) {
		t->paid -= by < t->paid ? by : t->paid;
		return;
	}
	t->paid += by;
	if (t->paid > DELAY_READ(x->required))
		delay_raise_required(x, t->paid);
}

/*
 * The time since the last sample was credited with the guess made there. The sample now says where
 * the line stands at its other end: what the two ends tell together is half way between them, so L
 * is put right by s x executed x r x (h1 - h0) / 2. Never below 0.
 */
DELAY_INLINE void delay_correct(struct cozbpf_thread *t, struct cozbpf_control *x, __u32 line)
{
	__u32 hit = line == x->line;
	__u64 by;

	if (!DELAY_RULE(CORRECT) || !t->last_valid || hit == t->last_hit || !DELAY_READ(x->active))
		return;
	by = t->unsampled * t->persistence / COZBPF_SHARE_ONE * x->speedup_pct / 200;
	delay_put_right(t, x, hit, by);
}

/*
 * The first sample of a thread that was born with its elders' share p: as far as one sample tells
 * about the next it tells about the time since the birth, too: f was p + r (h - p) there, and p was
 * credited.
 */
DELAY_INLINE void delay_correct_first(
    struct cozbpf_thread *t, struct cozbpf_control *x, __u32 line, __u64 now)
{
	__u64 since = now > x->opened_ns ? now - x->opened_ns : 0,
	      executed = t->unsampled < since ? t->unsampled : since;
	__u32 hit = line == x->line, off = hit ? COZBPF_SHARE_ONE - t->share : t->share;

	if (!DELAY_RULE(CORRECT_FIRST) || t->ring_used || !t->ring_weight || !t->persistence ||
	    t->share > COZBPF_SHARE_ONE || !DELAY_READ(x->active))
		return;
	delay_put_right(t, x, hit,
	    executed * t->persistence / COZBPF_SHARE_ONE * off / COZBPF_SHARE_ONE * x->speedup_pct /
		100);
}

/* The thread executes, yet its switch-in was not seen (kernels have been met that switch without
 * passing the tracepoint): it begins here. */
DELAY_INLINE int delay_heal(struct cozbpf_thread *t, __u64 now)
{
	if (!DELAY_RULE(HEAL) || t->run_since)
		return 0;
	t->run_since = now;
	t->runnable_at = 0;
	t->blocked_at = 0;
	delay_share_look_up(t);
	return 1;
}

/* A paced thread owes nothing. */
DELAY_INLINE void delay_excuse(struct cozbpf_thread *t, const struct cozbpf_control *x)
{
	__u64 required = DELAY_READ(x->required);

	if (t->paced && t->paid < required)
		t->paid = required;
}

/*
 * The sample itself has kept the thread from executing. Virtually nobody executes meanwhile: L
 * grows as by credit, and others stand still as long, later. Else the program is that much slower
 * than it is without us, which gains do not show, but waits in queues do. Between experiments
 * nothing is inserted.
 */
DELAY_INLINE void delay_sample_cost(struct cozbpf_thread *t, struct cozbpf_control *x, __u64 now)
{
	if (!DELAY_RULE(SAMPLE_COST) || !x->sample_free || !DELAY_READ(x->active))
		return;
	delay_put_right(t, x, 1, x->sample_cost_ns);
	t->run_since = now + x->sample_cost_ns;
}

/* What the thread owes up to `required` when its carry is used up. */
DELAY_INLINE __u64 delay_owed(struct cozbpf_thread *t, __u64 required)
{
	__u64 debt;

	if (t->paid >= required)
		return 0;
	debt = required - t->paid;
	if (t->carry >= debt) {
		t->carry -= debt;
		t->paid = required;
		return 0;
	}
	t->paid += t->carry;
	debt -= t->carry;
	t->carry = 0;
	return debt;
}

/* The length of the pause that the thread owes now, 0 for none. Longer debts are paid in parts. */
DELAY_INLINE __u64 delay_debt(struct cozbpf_thread *t, struct cozbpf_control *x, __u32 min_debt)
{
	__u64 debt;

	delay_excuse(t, x);
	debt = delay_owed(t, DELAY_READ(x->required));
	if (DELAY_RULE(MIN_DEBT) && debt < min_debt)
		return 0;
	return debt < COZBPF_PAUSE_MAX_NS ? debt : COZBPF_PAUSE_MAX_NS;
}

/*
 * A sample in `line` (0: none in scope) outside a pause. Returns the length of the pause that the
 * thread owes now, 0 for none. The caller has settled the thread and found it not pausing.
 */
DELAY_INLINE __u64 delay_sample(
    struct cozbpf_thread *t, struct cozbpf_control *x, __u32 line, __u64 now, __u32 min_debt)
{
	__u64 executed, debt;

	delay_credit(t, x, now);
	executed = t->unsampled;
	t->sampled = executed < 4 * x->period_ns ? (__u32)executed : (__u32)(4 * x->period_ns);
	if (DELAY_RULE(FIRST_SAMPLE) && !t->ring_weight && line && line == x->line &&
	    DELAY_READ(x->active)) {
		/* Where nothing is known yet the first sample speaks for the time before it as
		 * well, which was not credited for want of a share. */
		__u64 since = now > x->opened_ns ? now - x->opened_ns : 0;

		t->paid += (executed < since ? executed : since) * x->speedup_pct / 100;
		if (t->paid > DELAY_READ(x->required))
			delay_raise_required(x, t->paid);
	}
	if (t->ring_used < COZBPF_YOUNG) {
		/*
		 * Two CPUs may take the same place: one sample is lost. A sample stands for the
		 * executed time of a period, less what was paused in it; the first one for all of
		 * it: what was executed before the birth stands for what will be after the last
		 * one. Else short threads would look as if they ended soon after their beginning.
		 */
		struct cozbpf_young_entry *e = &x->young[x->young_next++ & (COZBPF_RING - 1)];

		e->line = line;
		if (DELAY_RULE(YOUNG_FIRST) && !t->ring_used && executed < x->period_ns)
			executed = x->period_ns;
		e->weight_ns = executed > 0xffffffffULL ? 0xffffffffU : (__u32)executed;
		e->before = t->ring_used && t->last_valid
				? t->ring[(t->ring_next - 1) & (COZBPF_RING - 1)].line
				: COZBPF_NO_SAMPLE;
	}
	delay_correct_first(t, x, line, now);
	delay_correct(t, x, line);
	delay_ring_push(t, x, line);
	delay_sample_cost(t, x, now);
	debt = DELAY_READ(x->active) ? delay_debt(t, x, min_debt) : 0;
	if (!debt)
		t->rested = 0;
	return debt;
}

/*
 * --sync=uprobe: the thread begins a call that may wake another or, when `blocks`, may block
 * (paper, Tables 1 and 2). It pays first: returns the length of the pause owed, 0 for none. `id`
 * tells the object of the call from others.
 */
DELAY_INLINE __u64 delay_call(struct cozbpf_thread *t, struct cozbpf_control *x, int blocks,
    __u32 id, __u64 now, __u32 min_debt)
{
	delay_enter(t, x);
	delay_settle(t, x, now);
	t->call = blocks ? COZBPF_CALL_MADE : COZBPF_CALL_NONE;
	if (t->pause != COZBPF_PAUSE_NONE)
		return 0;
	delay_credit(t, x, now);
	delay_segment(t, 2 * id);
	return DELAY_READ(x->active) ? delay_debt(t, x, min_debt) : 0;
}

/*
 * The thread is about to hand something over that another one may take without having waited for
 * it, and so without an edge. It pays first, lest the other one have it before it is there,
 * virtually: returns the length of the pause owed, 0 for none.
 */
DELAY_INLINE __u64 delay_hand_over(
    struct cozbpf_thread *t, struct cozbpf_control *x, __u64 now, __u32 min_debt)
{
	delay_enter(t, x);
	delay_settle(t, x, now);
	if (!DELAY_RULE(HAND_OVER) || t->pause != COZBPF_PAUSE_NONE)
		return 0;
	delay_credit(t, x, now);
	return DELAY_READ(x->active) ? delay_debt(t, x, min_debt) : 0;
}

/*
 * The call returns. When the thread blocked in it and another one let it go on (`released`: no
 * timeout, no EINTR), it need not pay what was inserted meanwhile: the other one has (paper 3.4.1).
 * R may hold late what others had earned before: no thread earns more than s of a time.
 */
DELAY_INLINE void delay_return(
    struct cozbpf_thread *t, struct cozbpf_control *x, int released, __u32 id, __u64 now)
{
	__u64 required, accrued, most;

	delay_enter(t, x);
	delay_settle(t, x, now);
	if (t->pause != COZBPF_PAUSE_BEGUN)
		delay_credit(t, x, now);
	required = DELAY_READ(x->required);
	if (DELAY_RULE(JOIN_CALL) && t->call == COZBPF_CALL_BLOCKED && released &&
	    required > t->call_required) {
		accrued = required - t->call_required;
		most = (now - t->call_at) * x->speedup_pct / 100;
		t->paid += accrued < most || !DELAY_RULE(JOIN_CALL_BOUND) ? accrued : most;
		if (t->paid > required)
			t->paid = required;
	}
	t->call = COZBPF_CALL_NONE;
	delay_segment(t, 2 * id + 1);
}

/* Thread `t`, blocked, is woken by `w`, which executes: the join in virtual time (rule 5, the
 * paper's credit of 3.4.1). */
DELAY_INLINE void delay_wake(
    struct cozbpf_thread *t, struct cozbpf_thread *w, struct cozbpf_control *x, __u64 now)
{
	__u64 own;

	delay_enter(t, x);
	delay_enter(w, x);
	if (t->pause == COZBPF_PAUSE_BEGUN)
		return;
	delay_settle(w, x, now);
	delay_credit(w, x, now);
	own = t->paid + (t->blocked_at && now > t->blocked_at ? now - t->blocked_at : 0);
	t->slack = 0;
	if (DELAY_RULE(SLACK_LATENCY) && own < w->paid)
		t->slack = w->paid - own < 0xffffffffU ? (__u32)(w->paid - own) : 0xffffffffU;
	if (DELAY_RULE(JOIN_WAKER))
		t->paid = own < w->paid ? own : w->paid;
	t->paced = DELAY_RULE(PACED_WAKER) ? w->paced : 0;
	t->rested = 0;
}

/*
 * Thread `t`, blocked, is woken by a timer that was set to `expiry`. It pays what accrued while it
 * slept, unless the timer is periodic: then its pace comes from outside and no delay moves it
 * (design.md section 5). Expiries at exactly equal distances tell: a program that sleeps for a
 * while, or until a while from now, never meets the same nanosecond twice. Whole multiples are
 * periods that were missed.
 */
DELAY_INLINE void delay_timer_wake(struct cozbpf_thread *t, struct cozbpf_control *x, __u64 expiry)
{
	__u64 period = expiry - t->timer_at;

	delay_enter(t, x);
	if (!period || t->pause == COZBPF_PAUSE_BEGUN)
		return;
	t->paced =
	    DELAY_RULE(PACED) &&
	    t->timer_period >= (DELAY_RULE(PACED_MIN) ? DELAY_PERIOD_MIN_NS : 1) &&
	    (DELAY_RULE(PACED_MISSED) ? period % t->timer_period == 0 : period == t->timer_period);
	if (!t->paced)
		t->timer_period = period;
	t->timer_at = expiry;
	t->rested = 1;
}

/*
 * Woken by a device or a process outside the target: unchanged (rule 5), and what paced it before
 * does no longer. Or `by_thread` of the target, where calls tell of it (--sync=uprobe).
 */
DELAY_INLINE void delay_outside_wake(struct cozbpf_thread *t, int by_thread)
{
	t->paced = 0;
	t->rested = !by_thread;
}

/* The thread becomes runnable, whoever woke it; after delay_wake(). */
DELAY_INLINE void delay_runnable(struct cozbpf_thread *t, __u64 now)
{
	t->runnable_at = now;
}

/* The window of threads that were young before this one, for a thread that has none: many end
 * before they have been sampled often. */
DELAY_OUTLINE int delay_inherit(struct cozbpf_thread *t, struct cozbpf_control *x)
{
	__u64 all = 0, hits = 0;

	if (!DELAY_RULE(YOUNG_WINDOW) || !t || !x)
		return 0;
	for (int i = 0; i < COZBPF_RING; i++) {
		__u32 line = x->young[i].line, weight = x->young[i].weight_ns;

		t->ring[i].line = line;
		t->ring[i].weight_ns = weight;
		all += weight;
		hits += weight & -delay_equal(line, x->line);
	}
	t->ring_weight = all;
	t->ring_hits = hits;
	t->segment_weight[0] = all;
	t->segment_hits[0] = hits;
	t->share_known = 0;
	t->persistence = (__u16)delay_young_persistence(x);
	t->share = delay_share(t);
	return 0;
}

/*
 * A new thread or process starts at its parent's L (paper 3.4, Thread creation), and with the
 * window of those born before it. `t` is zeroed.
 */
DELAY_INLINE void delay_fork(
    struct cozbpf_thread *t, struct cozbpf_thread *parent, struct cozbpf_control *x, __u64 now)
{
	delay_enter(parent, x);
	delay_settle(parent, x, now);
	delay_credit(parent, x, now);
	t->epoch = parent->epoch;
	t->paid = DELAY_RULE(JOIN_PARENT) ? parent->paid : DELAY_READ(x->required);
	t->member = 1;
	delay_inherit(t, x);
}

/* A thread that ran already becomes the target's: it owes nothing for what was before. */
DELAY_INLINE void delay_adopt(struct cozbpf_thread *t, struct cozbpf_control *x)
{
	t->epoch = DELAY_READ(x->epoch);
	t->paid = DELAY_RULE(JOIN_ADOPT) ? DELAY_READ(x->required) : 0;
	t->member = 1;
	delay_inherit(t, x);
}

/* What has been served up to `now` of the pause that thread `t` is in, or has come out of since it
 * was last looked at, and L does not hold yet. */
DELAY_INLINE __u64 delay_unsettled(
    const struct cozbpf_thread *t, const struct cozbpf_control *x, __u64 now)
{
	__u64 end, served, required, paid;

	if (!DELAY_RULE(VISIT_SERVED) || DELAY_READ(t->pause) != COZBPF_PAUSE_BEGUN)
		return 0;
	end = now < DELAY_READ(t->pause_end) ? now : DELAY_READ(t->pause_end);
	served = end > DELAY_READ(t->pause_from) ? end - DELAY_READ(t->pause_from) : 0;
	required = DELAY_READ(x->required);
	paid = DELAY_READ(t->paid);
	if (paid + served > required)
		return required > paid ? required - paid : 0;
	return served;
}

/* Virtual time of a thread that executes, without touching it: the sample program may come in
 * between, hence the second look. */
DELAY_INLINE __u64 delay_virtual_time(
    const struct cozbpf_thread *t, const struct cozbpf_control *x, __u64 now)
{
	__u64 from = 0, paid = 0, served = 0;

	if (t->epoch != x->epoch)
		return now; /* not looked at in this experiment: has neither paid nor been credited
			     */
	for (int i = 0; i < 3; i++) {
		from = DELAY_READ(t->run_since);
		paid = DELAY_READ(t->paid);
		served = delay_unsettled(t, x, now);
		if (DELAY_READ(t->run_since) == from && DELAY_READ(t->paid) == paid)
			break;
	}
	paid += served;
	/* Between experiments nothing is credited. */
	return now - paid -
	       (DELAY_RULE(VISIT_PENDING) && DELAY_READ(x->active)
		       ? delay_pending(from, t->share, x->speedup_pct, now)
		       : 0);
}

/* These build on the above. */
#include <cozbpf/delay_pause.h>
#include <cozbpf/delay_cpu.h>

#endif
