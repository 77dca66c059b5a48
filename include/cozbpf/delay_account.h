/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * An account: the delay L that one line of execution has taken or been credited, its debt and its
 * carry, and the required delay R of all. Who runs, waits or pauses is elsewhere (delay_pause.h,
 * delay_switch.h); the share f is in delay_share.h.
 */
#ifndef COZBPF_DELAY_ACCOUNT_H
#define COZBPF_DELAY_ACCOUNT_H

#include <cozbpf/abi.h>
#include <cozbpf/delay_rules.h>

/* The verifier needs one function for each event. Whoever checks the arithmetic alone may define it
 * otherwise before, since so much inlining takes compilers long. */
#ifndef DELAY_INLINE
#define DELAY_INLINE static inline __attribute__((always_inline, unused))
#endif
/* Rare or long: a function of its own. The verifier checks it once and by itself, so its pointers
 * may be NULL. */
#ifdef __bpf__
#define DELAY_OUTLINE __attribute__((noinline, weak))
#else
#define DELAY_OUTLINE static inline __attribute__((unused))
#endif
#define DELAY_READ(x) (*(const volatile __typeof__(x) *)&(x))
/* What was written before @x is read behind it. x86-64 reads in order. BPF has such loads for arm64
 * from 6.15 on only; an atomic operation that returns a value is a full barrier in every kernel,
 * and dearer. */
#if defined(__bpf__) && defined(__TARGET_ARCH_arm64)
#define DELAY_ACQUIRE(x) __sync_fetch_and_or(&(x), 0)
#else
#define DELAY_ACQUIRE(x) DELAY_READ(x)
#endif

/* The account of what thread @t runs. A runtime that has threads of its own is looked up here. */
#define delay_account(t) (&(t)->account)

/* The most that R can be at @now, whoever says so: a line that has all the time, and what samples
 * cost besides. */
DELAY_INLINE __u64 delay_most_required(const struct cozbpf_control *x, __u64 now)
{
	__u64 passed = now - x->opened_ns;

	return passed * x->speedup_pct / 100 + passed / 8;
}

/* What all CPUs share is raised to @v, and never falls. Bounded: after eight lost races others have
 * raised it; the next look raises it to ours. */
DELAY_OUTLINE int delay_raise(__u64 *shared, __u64 v)
{
	if (!shared)
		return 0;
	for (int i = 0; i < 8; i++) {
		__u64 now = DELAY_READ(*shared);

		if (v <= now || __sync_val_compare_and_swap(shared, now, v) == now)
			return 0;
	}
	return 0;
}

/* R = max(R, v). */
DELAY_INLINE int delay_raise_required(struct cozbpf_control *x, __u64 v)
{
	return delay_raise(&x->required, v);
}

/* L grows by @by without standing still; R follows when L passes it (paper 3.4.3). */
DELAY_INLINE void delay_give(struct cozbpf_account *a, struct cozbpf_control *x, __u64 by)
{
	a->paid += by;
	if (a->paid > DELAY_READ(x->required))
		delay_raise_required(x, a->paid);
}

/* What was given too much for executed time is taken back. Never below 0. */
DELAY_INLINE void delay_take_back(struct cozbpf_account *a, __u64 by)
{
	a->paid -= by < a->paid ? by : a->paid;
}

/* Credit that the time executed up to @now has earned and L does not hold yet (CREDIT). */
DELAY_INLINE __u64 delay_pending(__u64 run_since, __u32 share, __u32 speedup_pct, __u64 now)
{
	if (!run_since || now <= run_since)
		return 0;
	return (now - run_since) * share / COZBPF_SHARE_ONE * speedup_pct / 100;
}

/* Executed since the last sample, up to @now. */
DELAY_INLINE __u64 delay_unsampled(const struct cozbpf_account *a, __u64 now)
{
	return a->unsampled + (a->run_since && now > a->run_since ? now - a->run_since : 0);
}

/* CREDIT: L grows by s x f x the time executed since the last look. Between experiments and without
 * a share only the time is booked. */
DELAY_INLINE void delay_credit(struct cozbpf_account *a, struct cozbpf_control *x, __u64 now)
{
	__u64 from = a->run_since;

	if (!from || now <= from)
		return;
	a->run_since = now;
	a->unsampled += now - from;
	if (!DELAY_RULE(CREDIT) || !DELAY_READ(x->active) || !a->share || !x->speedup_pct)
		return;
	delay_give(a, x, delay_pending(from, a->share, x->speedup_pct, now));
}

/* Nothing was executed for @stood: that pays the debt, and what exceeds it is carry, never R
 * (CARRY). */
DELAY_INLINE void delay_stand_still(
    struct cozbpf_account *a, const struct cozbpf_control *x, __u64 stood)
{
	__u64 required = DELAY_READ(x->required),
	      debt = required > a->paid ? required - a->paid : 0;

	if (stood <= debt) {
		a->paid += stood;
		return;
	}
	a->paid += debt;
	if (DELAY_RULE(CARRY))
		a->carry += stood - debt;
}

/* What is owed up to @required when the carry is used up. */
DELAY_INLINE __u64 delay_owed(struct cozbpf_account *a, __u64 required)
{
	__u64 debt;

	if (a->paid >= required)
		return 0;
	debt = required - a->paid;
	if (a->carry >= debt) {
		a->carry -= debt;
		a->paid = required;
		return 0;
	}
	a->paid += a->carry;
	debt -= a->carry;
	a->carry = 0;
	return debt;
}

/* The account is woken by its pace: a timer's period and phase. */
DELAY_INLINE void delay_pace(
    struct cozbpf_account *a, __u32 state, __u64 period, __u32 phase, __u64 now)
{
	a->paced = (__u8)state;
	a->pace_ns = period;
	a->pace_phase = phase;
	a->paced_at = now;
}

/* Whether a periodic timer feeds the account, on time or late. */
DELAY_INLINE int delay_is_fed(const struct cozbpf_account *a)
{
	return a->paced == COZBPF_PACED || a->paced == COZBPF_PACED_LATE;
}

/* Whether a timer has woken the account's own thread @number, which may be periodic. */
DELAY_INLINE int delay_asks(const struct cozbpf_account *a, __u32 number)
{
	return a->paced == COZBPF_PACED_ASKS && a->pace_phase == number;
}

/* PACED_LEARNT: a thread woke the account when its timer expired, and that timer has turned out as
 * periodic. No debt is forgiven, for whoever waits for the pace is paced at the next expiry. */
DELAY_INLINE void delay_learn_pace(struct cozbpf_account *a, const struct cozbpf_control *x)
{
	const struct cozbpf_timer *timer = &x->timers[a->pace_phase & (COZBPF_TIMERS - 1)];
	__u64 period = DELAY_READ(timer->period_ns);

	if (a->paced == COZBPF_PACED_ASKS && period && timer->thread == a->pace_phase &&
	    (__u32)(a->pace_ns % period) == timer->phase)
		delay_pace(a, COZBPF_PACED_LATE, period, timer->phase, a->paced_at);
}

/* PACED_LATE: an account whose pace came twice without being waited for is the bottleneck. From
 * now on it owes what others earn. */
DELAY_INLINE void delay_fall_late(
    struct cozbpf_account *a, const struct cozbpf_control *x, __u64 now)
{
	__u64 required = DELAY_READ(x->required);

	if (!DELAY_RULE(PACED_LATE) || a->paced != COZBPF_PACED ||
	    now < a->paced_at + 2 * a->pace_ns)
		return;
	a->paced = COZBPF_PACED_LATE;
	if (a->paid < required)
		a->paid = required;
}

/* The pause owed now, 0 for none. PACED: a paced account owes nothing. MIN_DEBT: a small debt
 * waits. A long debt is paid in parts. */
DELAY_INLINE __u64 delay_debt(struct cozbpf_account *a, struct cozbpf_control *x, __u32 min_debt)
{
	__u64 required = DELAY_READ(x->required), debt;

	if (!DELAY_READ(x->active))
		return 0;
	if (a->paced == COZBPF_PACED && a->paid < required)
		a->paid = required;
	debt = delay_owed(a, required);
	if (DELAY_RULE(MIN_DEBT) && debt < min_debt)
		return 0;
	return debt < COZBPF_PAUSE_MAX_NS ? debt : COZBPF_PAUSE_MAX_NS;
}

/*
 * The join in virtual time (paper 3.4.1). Real time less L is an account's virtual time. One that
 * waited goes on, virtually, at the later of two virtual times: its own, had it not waited at all,
 * and that of who released it. So L = min(L + waited, clock of who released it).
 *
 *   rule           released by                       waited             clock
 *   JOIN_WAKER     a thread of the target            blocked            the waker's L
 *   SLACK_LATENCY  the same, on the way to its CPU   wake-up latency    the waker's L then
 *   JOIN_CPU       the CPU that it waited for        runnable           the CPU's L, or own L
 *                                                                       + L's growth there
 *   JOIN_SPIN      whoever it spins for              spun               R
 *   JOIN_CALL      a probed call, by another thread  R's growth in it,  R
 *                                                    JOIN_CALL_BOUND
 *   JOIN_PARENT    its birth                         any                the parent's L
 *   JOIN_ADOPT     becoming the target's             any                R
 *   -              a timer, a device, an outsider    0                  own L
 */
DELAY_INLINE __u64 delay_join(const struct cozbpf_account *a, __u64 waited, __u64 clock)
{
	__u64 own = a->paid + waited;

	return own < clock ? own : clock;
}

#endif
