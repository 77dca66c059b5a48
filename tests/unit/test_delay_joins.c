/* SPDX-License-Identifier: BSD-3-Clause */
/* The delay arithmetic where threads meet, are born or sleep over an epoch,
 * rule by rule. What a thread does by itself is in test_delay.c. Times are exact: the arithmetic
 * has no tolerance. */
#include "delay_fixture.h"

/* The table at delay_join(), one row each. */
TEST(woken_by_a_thread_of_the_target)
{
	struct cozbpf_thread t, w;

	open(100);
	x.required = 20 * MS;
	/* would virtually have waited: carries the waker's L over, and with it its debt */
	t = thread(5 * MS, 0), w = thread(9 * MS, 0);
	t.account.run_since = 0, t.blocked_at = T0 + MS;
	delay_wake(&t, &w, &x, T0 + 11 * MS);
	CHECK_EQ(t.account.paid, 9 * MS);
	/* would virtually not have waited at all: its own virtual time stands still */
	t = thread(5 * MS, 0), w = thread(19 * MS, 0);
	t.account.run_since = 0, t.blocked_at = T0 + MS;
	delay_wake(&t, &w, &x, T0 + 11 * MS);
	CHECK_EQ(t.account.paid, 15 * MS);
	/* the waker is behind */
	t = thread(5 * MS, 0), w = thread(2 * MS, 0);
	t.account.run_since = 0, t.blocked_at = T0 + MS;
	delay_wake(&t, &w, &x, T0 + 11 * MS);
	CHECK_EQ(t.account.paid, 2 * MS);
	CHECK_EQ(x.required, 20 * MS);
	/* clocks of CPUs may differ a little: a wait is never negative */
	t = thread(5 * MS, 0), w = thread(19 * MS, 0);
	t.account.run_since = 0, t.blocked_at = T0 + 12 * MS;
	delay_wake(&t, &w, &x, T0 + 11 * MS);
	CHECK_EQ(t.account.paid, 5 * MS);
}

/* The same by data from another node, with the L that came with them. */
TEST(woken_by_data_of_a_peer)
{
	struct cozbpf_thread t;

	open(100);
	x.required = 20 * MS;
	t = thread(5 * MS, 0);
	t.account.run_since = 0, t.blocked_at = T0 + MS, t.account.rested = 1;
	delay_on_arrival(&t, &x, 9 * MS, T0 + 11 * MS);
	CHECK_EQ(t.account.paid, 9 * MS);
	CHECK_EQ(t.runnable_at, T0 + 11 * MS);
	CHECK_EQ(t.account.rested, 0);
	t = thread(5 * MS, 0);
	t.account.run_since = 0, t.blocked_at = T0 + MS;
	delay_on_arrival(&t, &x, 19 * MS, T0 + 11 * MS);
	CHECK_EQ(t.account.paid, 15 * MS);
	CHECK_EQ(t.slack, 4 * MS);
	/* the sender is behind: its debt comes with the data */
	t = thread(5 * MS, 0);
	t.account.run_since = 0, t.blocked_at = T0 + MS;
	delay_on_arrival(&t, &x, 2 * MS, T0 + 11 * MS);
	CHECK_EQ(t.account.paid, 2 * MS);
	/* of before this experiment nothing counts */
	t = thread(5 * MS, 0);
	t.account.run_since = 0, t.blocked_at = T0 - MS, t.account.epoch = 0;
	delay_on_arrival(&t, &x, 19 * MS, T0 + 11 * MS);
	CHECK_EQ(t.account.paid, 11 * MS);
	/* in a pause it stays */
	t = thread(5 * MS, 0);
	t.pause = COZBPF_PAUSE_BEGUN;
	delay_on_arrival(&t, &x, 9 * MS, T0 + 11 * MS);
	CHECK_EQ(t.account.paid, 5 * MS);
}

/* The waker is looked at first: what it has executed and what it has served count. */
TEST(waker_is_brought_up_to_date)
{
	struct cozbpf_thread t, w;

	open(100);
	t = thread(0, 0), w = thread(0, COZBPF_SHARE_ONE);
	t.account.run_since = 0, t.blocked_at = T0;
	delay_wake(&t, &w, &x, T0 + 3 * MS);
	CHECK_EQ(w.account.paid, 3 * MS);
	CHECK_EQ(t.account.paid, 3 * MS);
	CHECK_EQ(x.required, 3 * MS);
	/* a waker back from its pause */
	x.required = 8 * MS;
	t = thread(0, 0), w = thread(3 * MS, 0);
	t.account.run_since = 0, t.blocked_at = T0;
	delay_asked(&w, T0, T0 + 5 * MS, 5 * MS, 1);
	delay_begin(&w, &x, T0);
	delay_wake(&t, &w, &x, T0 + 20 * MS);
	CHECK_EQ(w.account.paid, 8 * MS);
	CHECK_EQ(t.account.paid, 8 * MS);
}

/* A thread that virtually did not wait for its waker does not wait for its CPU to wake up either,
 * up to the waker's clock. */
TEST(woken_on_an_idle_cpu)
{
	struct cozbpf_thread t, w;

	open(100);
	x.required = 8 * MS;
	t = thread(0, 0), w = thread(8 * MS, 0);
	delay_switch_out(&t, &x, &cpu, DELAY_BLOCKED, T0);
	delay_wake(&t, &w, &x, T0 + 2 * MS);
	CHECK_EQ(t.account.paid, 2 * MS);
	delay_on_born(&t, &x, T0 + 2 * MS);
	delay_switch_in(&t, &x, &cpu, 0, T0 + 3 * MS);
	CHECK_EQ(t.account.paid, 3 * MS);
	CHECK_EQ(t.slack, 0);
	/* the waker's clock is the limit */
	t = thread(0, 0), w = thread(3 * MS, 0);
	delay_switch_out(&t, &x, &cpu, DELAY_BLOCKED, T0);
	delay_wake(&t, &w, &x, T0 + 2 * MS);
	delay_on_born(&t, &x, T0 + 2 * MS);
	delay_switch_in(&t, &x, &cpu, 0, T0 + 5 * MS);
	CHECK_EQ(t.account.paid, 3 * MS);
	/* it did wait virtually: the latency is real */
	t = thread(0, 0), w = thread(MS, 0);
	delay_switch_out(&t, &x, &cpu, DELAY_BLOCKED, T0);
	delay_wake(&t, &w, &x, T0 + 2 * MS);
	delay_on_born(&t, &x, T0 + 2 * MS);
	delay_switch_in(&t, &x, &cpu, 0, T0 + 3 * MS);
	CHECK_EQ(t.account.paid, MS);
}

TEST(woken_in_its_pause)
{
	struct cozbpf_thread t, w;

	open(100);
	x.required = 8 * MS;
	t = thread(MS, 0), w = thread(0, 0);
	delay_asked(&t, T0, T0 + 5 * MS, 5 * MS, 0);
	delay_begin(&t, &x, T0);
	delay_switch_out(&t, &x, &cpu, 0, T0);
	delay_wake(&t, &w, &x, T0 + 2 * MS);
	CHECK_EQ(t.account.paid, MS);
	CHECK_EQ(t.pause, COZBPF_PAUSE_BEGUN);
}

TEST(woken_by_a_timer_pays)
{
	struct cozbpf_thread t;

	open(100);
	t = thread(0, 0);
	delay_switch_out(&t, &x, &cpu, 0, T0 + MS);
	CHECK_EQ(t.blocked_at, T0 + MS);
	CHECK_EQ(t.runnable_at, 0);
	x.required = 6 * MS;
	delay_on_born(&t, &x, T0 + 7 * MS);
	delay_switch_in(&t, &x, &cpu, 0, T0 + 7 * MS);
	CHECK_EQ(t.account.paid, 0);
	CHECK_EQ(t.blocked_at, 0);
	CHECK_EQ(t.runnable_at, 0);
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + 8 * MS, 0), 6 * MS);
}

TEST(gets_a_cpu_that_the_target_used)
{
	struct cozbpf_thread t, other;

	open(100);
	x.required = 20 * MS;
	t = thread(2 * MS, 0), other = thread(4 * MS, 0);
	delay_switch_out(&t, &x, &cpu, 1, T0 + MS);
	CHECK_EQ(cpu.paid, 2 * MS);
	CHECK_EQ(cpu.left_at, T0 + MS);
	CHECK_EQ(t.blocked_at, 0);
	delay_switch_in(&other, &x, &cpu, 0, T0 + MS);
	delay_switch_out(&other, &x, &cpu, 1, T0 + 4 * MS);
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 0, T0 + 4 * MS), 1);
	CHECK_EQ(t.account.paid, 4 * MS); /* min(2 + 3, 4) */
	/* the first operand */
	t = thread(0, 0);
	t.runnable_at = T0 + 3 * MS;
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 0, T0 + 4 * MS), 1);
	CHECK_EQ(t.account.paid, MS);
	/* the CPU stood idle since: no join */
	t = thread(0, 0);
	delay_wants_cpu(&t, &x, T0 + 4 * MS + 1);
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 0, T0 + 9 * MS), 0);
	CHECK_EQ(t.account.paid, 0);
	/* the CPU stood idle after the last thread of the target: all of the wait counts */
	t = thread(0, 0);
	t.runnable_at = T0 + 3 * MS;
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 0, T0 + 5 * MS), 1);
	CHECK_EQ(t.account.paid, 2 * MS);
	/* a clock of the experiment before says nothing */
	t = thread(0, 0);
	delay_wants_cpu(&t, &x, T0 + 3 * MS);
	cpu.epoch = 0;
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 0, T0 + 4 * MS), 0);
	CHECK_EQ(t.account.paid, 0);
}

/* How long a thread has waited beside an idle CPU: for CPU 1 in [T0 + 10, T0 + 20) ms, where the
 * last thread before it left at @left. */
static __u64 misplaced(__u64 left)
{
	struct cozbpf_thread t = thread(0, 0);

	cpu = (struct cozbpf_cpu){.number = 1, .left_at = left, .epoch = x.epoch};
	t.account.run_since = 0;
	t.runnable_at = T0 + 10 * MS;
	delay_switch_in(&t, &x, &cpu, 0, T0 + 20 * MS);
	return cpu.misplaced_ns;
}

TEST(waits_beside_an_idle_cpu)
{
	open(0);
	x.idle = (struct cozbpf_idle){0};
	CHECK_EQ(misplaced(T0 + 20 * MS), 0);
	delay_idle_begins(&x, 2, T0 + 12 * MS);
	CHECK_EQ(misplaced(T0 + 20 * MS), 8 * MS);
	/* one is known at a time */
	delay_idle_begins(&x, 3, T0 + 14 * MS);
	CHECK_EQ(misplaced(T0 + 20 * MS), 8 * MS);
	CHECK(delay_is_idle(&x, 2) && !delay_is_idle(&x, 3));
	delay_idle_ends(&x, T0 + 16 * MS);
	CHECK_EQ(misplaced(T0 + 20 * MS), 4 * MS);
	CHECK(!delay_is_idle(&x, 2));
	/* no thread of the target had the CPU: only the wake-up took so long */
	CHECK_EQ(misplaced(T0 + 9 * MS), 0);
	/* that was before the wait, or began as it ended */
	x.idle = (struct cozbpf_idle){.from = T0, .to = T0 + 10 * MS};
	CHECK_EQ(misplaced(T0 + 20 * MS), 0);
	delay_idle_begins(&x, 1, T0 + 20 * MS);
	CHECK_EQ(misplaced(T0 + 20 * MS), 0);
	/* a CPU that has its number there, and not its time yet, shows the time before */
	x.idle = (struct cozbpf_idle){.from = T0 + 11 * MS, .to = T0 + 13 * MS, .cpu = 2};
	CHECK_EQ(misplaced(T0 + 20 * MS), 2 * MS);
}

/* `other` has the CPU for [from, to) and pauses for `paused` of it at its end. */
static void use_cpu(__u64 owes, __u64 from, __u64 to, __u64 paused)
{
	struct cozbpf_thread other = thread(x.required - owes, 0);

	delay_switch_in(&other, &x, &cpu, 0, from);
	if (paused) {
		delay_asked(&other, to - paused, to, paused, 1);
		other.account.run_since = to - paused;
		delay_begin(&other, &x, to - paused);
	}
	delay_switch_out(&other, &x, &cpu, DELAY_PREEMPTED, to);
}

TEST(who_waits_for_a_cpu_does_not_inherit_debt)
{
	struct cozbpf_thread t;

	open(100);
	x.required = 20 * MS;
	t = thread(20 * MS, 0);
	delay_switch_out(&t, &x, &cpu, DELAY_PREEMPTED, T0 + MS);
	/* it wakes with a debt of 9 ms, runs for 2 and pays nothing: 2 ms are what the CPU lost */
	use_cpu(9 * MS, T0 + MS, T0 + 3 * MS, 0);
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 0, T0 + 3 * MS), 1);
	CHECK_EQ(t.account.paid, 20 * MS);
	CHECK_EQ(t.account.carry, 0);
	/* what it pauses meanwhile is no loss: the one that waits stood still as well */
	delay_switch_out(&t, &x, &cpu, DELAY_PREEMPTED, T0 + 4 * MS);
	use_cpu(9 * MS, T0 + 4 * MS, T0 + 9 * MS, 3 * MS);
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 0, T0 + 9 * MS), 1);
	CHECK_EQ(t.account.paid, 20 * MS);
	CHECK_EQ(t.account.carry, 3 * MS);
	/* in debt itself it has paid as much */
	t = thread(10 * MS, 0);
	delay_switch_out(&t, &x, &cpu, DELAY_PREEMPTED, T0 + 10 * MS);
	use_cpu(9 * MS, T0 + 10 * MS, T0 + 15 * MS, 3 * MS);
	delay_switch_in(&t, &x, &cpu, 0, T0 + 15 * MS);
	CHECK_EQ(t.account.paid,
	    14 * MS); /* as far as the other is, 11 + 3, which is more than 10 + 3 */
}

TEST(last_slice_of_a_cpu)
{
	open(100);
	x.required = 1000 * MS;
	CHECK_EQ(delay_grown_since(&cpu, T0), 0);
	/* 4 ms each, the last one of them in a pause */
	for (int i = 0; i < 3; i++)
		use_cpu(500 * MS, T0 + (__u64)i * 4 * MS, T0 + (__u64)(i + 1) * 4 * MS, MS);
	CHECK_EQ(delay_grown_since(&cpu, T0), MS);
	/* part of a slice has as much of what it grew by */
	CHECK_EQ(delay_grown_since(&cpu, T0 + 10 * MS), MS / 2);
	CHECK_EQ(delay_grown_since(&cpu, T0 + 12 * MS), 0);
}

/* A waits for B and C, which it has made. C ends first, in debt; B ends ahead and wakes A. */
TEST(who_waits_for_all_waits_for_the_last_one_virtually)
{
	struct cozbpf_thread a, b = {0}, c = {0};

	open(100);
	a = thread(0, 0);
	a.number = 7;
	delay_on_fork(&b, &a, &x, T0);
	delay_on_fork(&c, &a, &x, T0);
	CHECK_EQ(b.maker, 7);
	delay_switch_out(&a, &x, &cpu, DELAY_BLOCKED, T0);
	delay_on_exit(&c, &x, T0 + 4 * MS);
	b.account.paid = x.required = 6 * MS;
	delay_on_wake(&a, DELAY_BY_EXIT, &b, 0, 0, &x, T0 + 6 * MS);
	CHECK_EQ(a.account.paid, 2 * MS);
	/* One that ended earlier is no longer the last, nor is one of another family. */
	c.account.paid = MS;
	delay_on_exit(&c, &x, T0 + 4 * MS);
	a.blocked_at = T0;
	delay_on_wake(&a, DELAY_BY_EXIT, &b, 0, 0, &x, T0 + 6 * MS);
	CHECK_EQ(a.account.paid, 2 * MS);
	a.number = 7 + COZBPF_FAMILIES;
	a.blocked_at = T0;
	delay_on_wake(&a, DELAY_BY_EXIT, &b, 0, 0, &x, T0 + 6 * MS);
	CHECK_EQ(a.account.paid, 6 * MS);
	/* A wake-up by a thread that goes on tells nothing about the others. */
	a.number = 7;
	a.account.paid = 0;
	a.blocked_at = T0;
	delay_on_wake(&a, DELAY_BY_THREAD, &b, 0, 0, &x, T0 + 6 * MS);
	CHECK_EQ(a.account.paid, 6 * MS);
}

TEST(who_slept_into_its_debt_sleeps_it_off)
{
	struct cozbpf_thread t, w;

	open(100);
	x.required = 15 * MS;
	t = thread(0, 0), w = thread(15 * MS, 0);
	delay_switch_out(&t, &x, &cpu, DELAY_BLOCKED, T0);
	delay_timer_wake(&t, &x, T0 + 3 * MS, T0 + 3 * MS);
	CHECK_EQ(t.account.rested, 1);
	/* in parts: all of it */
	delay_asked(&t, T0 + 4 * MS, T0 + 4 * MS + COZBPF_PAUSE_MAX_NS, COZBPF_PAUSE_MAX_NS, 1);
	CHECK_EQ(t.pause_hold, 0);
	delay_asked(&t, T0 + 15 * MS, T0 + 20 * MS, 5 * MS, 1);
	CHECK_EQ(t.pause_hold, 0);
	/* what it owes from then on it owes for what it executes */
	delay_asked(&t, T0 + 21 * MS, T0 + 22 * MS, MS, 1);
	CHECK_EQ(t.pause_hold, 1);
	/* a device, but no thread of the target, be it told by its calls */
	delay_on_wake(&t, DELAY_BY_OUTSIDE, NULL, 0, 0, &x, T0);
	CHECK_EQ(t.account.rested, 1);
	delay_on_wake(&t, DELAY_BY_CALLER, NULL, 0, 0, &x, T0);
	CHECK_EQ(t.account.rested, 0);
	t = thread(0, 0);
	t.account.rested = 1;
	delay_wake(&t, &w, &x, T0 + MS);
	CHECK_EQ(t.account.rested, 0);
	/* no debt when it is looked at */
	t = thread(15 * MS, 0);
	t.account.rested = 1;
	CHECK_EQ(delay_sample(&t, &x, 0, T0 + MS, 0), 0);
	CHECK_EQ(t.account.rested, 0);
}

/* A thread that an outsider ousts would have paused for what others earn meanwhile. */
TEST(ousted_while_others_earn)
{
	struct cozbpf_thread t;

	open(50);
	x.required = MS;
	t = thread(0, 0);
	delay_switch_out(&t, &x, &cpu, DELAY_OUSTED, T0 + MS);
	x.required = 9 * MS;
	delay_switch_in(&t, &x, &cpu, 0, T0 + 3 * MS);
	CHECK_EQ(t.account.paid, 2 * MS);
	CHECK_EQ(t.account.run_since, T0 + 3 * MS);
	CHECK_EQ(t.account.unsampled, MS);
	/* No more than that: what it owed before is for the next sample to find, and for the rest
	 * of its turn the outsider made the CPU slower. */
	open(50);
	x.required = MS;
	t = thread(0, 0);
	delay_switch_out(&t, &x, &cpu, DELAY_OUSTED, T0 + MS);
	x.required = MS * 3 / 2;
	delay_switch_in(&t, &x, &cpu, 0, T0 + 5 * MS);
	CHECK_EQ(t.account.paid, MS / 2);
	CHECK_EQ(t.account.run_since, T0 + MS + MS / 2);
	/* What the CPU has executed since is without what its thread stood still. */
	delay_switch_out(&t, &x, &cpu, DELAY_BLOCKED, T0 + 6 * MS);
	CHECK_EQ(cpu.executed_ns, 5 * MS - MS / 2);
	/* What it was paused too long goes first. */
	open(50);
	t = thread(0, 0);
	t.account.carry = MS / 4;
	delay_switch_out(&t, &x, &cpu, DELAY_OUSTED, T0 + MS);
	x.required = MS;
	delay_switch_in(&t, &x, &cpu, 0, T0 + 5 * MS);
	CHECK_EQ(t.account.paid, MS);
	CHECK_EQ(t.account.carry, 0);
	CHECK_EQ(t.account.run_since, T0 + MS + MS * 3 / 4);
	/* A pause that ends meanwhile comes first: 1 ms of that are left. */
	open(50);
	x.required = 4 * MS;
	t = thread(0, 0);
	delay_asked(&t, T0, T0 + 2 * MS, 2 * MS, 1);
	delay_begin(&t, &x, T0);
	delay_switch_out(&t, &x, &cpu, DELAY_OUSTED, T0 + MS);
	x.required = MS * 9 / 2;
	delay_switch_in(&t, &x, &cpu, 0, T0 + 5 * MS);
	CHECK_EQ(t.account.paid, MS * 5 / 2);
	CHECK_EQ(t.account.run_since, T0 + MS * 5 / 2);
	/* An experiment has opened meanwhile: what others have earned in it. */
	open(50);
	x.required = 5 * MS;
	t = thread(0, 0);
	delay_switch_out(&t, &x, &cpu, DELAY_OUSTED, T0 + MS);
	open(50);
	x.required = MS;
	delay_switch_in(&t, &x, &cpu, 0, T0 + 5 * MS);
	CHECK_EQ(t.account.paid, MS);
	/* Nothing earned; paced; between experiments: it executes. */
	for (int i = 0; i < 3; i++) {
		open(50);
		t = thread(0, 0);
		t.account.paced = i == 1;
		t.account.pace_ns = t.account.paced_at = T0;
		delay_switch_out(&t, &x, &cpu, DELAY_OUSTED, T0 + MS);
		x.required = i == 0 ? 0 : 2 * MS;
		x.active = i != 2;
		delay_switch_in(&t, &x, &cpu, 0, T0 + 3 * MS);
		CHECK_EQ(t.account.paid, 0);
		delay_credit(&t.account, &x, T0 + 3 * MS);
		CHECK_EQ(t.account.unsampled, 3 * MS);
	}
}

/* The same of one that is woken while an outsider has the CPU; it executes none of its wait. */
TEST(woken_while_others_earn)
{
	struct cozbpf_thread t;

	/* the waker's slack is part of the wait, and counts once */
	for (int slack = 0; slack <= 2; slack += 2) {
		open(50);
		x.required = MS;
		t = thread(0, 0);
		delay_switch_out(&t, &x, &cpu, DELAY_BLOCKED, T0 + MS);
		x.required = 2 * MS;
		delay_on_wake(&t, DELAY_BY_OUTSIDE, NULL, 0, 0, &x, T0 + 2 * MS);
		t.slack = (__u32)(slack * MS);
		x.required = 9 * MS;
		CHECK_EQ(delay_switch_in(&t, &x, &cpu, 1, T0 + 5 * MS), 0);
		CHECK_EQ(t.account.paid, 3 * MS);
		CHECK_EQ(t.account.run_since, T0 + 5 * MS);
	}
	/* What others earned before it was woken is for a sample to find, also where its wake-up is
	 * the first that is seen of it in an experiment (1). An idle CPU is no outsider (2). */
	for (int i = 0; i < 3; i++) {
		open(50);
		t = thread(0, 0);
		delay_switch_out(&t, &x, &cpu, DELAY_BLOCKED, T0 + MS);
		if (i == 1)
			open(50);
		x.required = 8 * MS;
		delay_on_wake(&t, DELAY_BY_OUTSIDE, NULL, 0, 0, &x, T0 + 2 * MS);
		x.required = 9 * MS;
		delay_switch_in(&t, &x, &cpu, i != 2, T0 + 5 * MS);
		CHECK_EQ(t.account.paid, i == 2 ? 0 : MS);
	}
}

/* Another thread of the target had the CPU for 2 ms, and then an outsider for 2 ms. The former is a
 * join; the latter makes the CPU a slower one for who was preempted, not for who was woken. What
 * others earned in the latter is stood still. */
TEST(an_outsider_comes_last)
{
	struct cozbpf_thread t, other;

	for (int how = DELAY_BLOCKED; how <= DELAY_PREEMPTED; how++) {
		open(100);
		x.required = 20 * MS;
		t = thread(0, COZBPF_SHARE_ONE), other = thread(9 * MS, 0);
		delay_switch_out(&t, &x, &cpu, how, T0 + MS);
		if (how == DELAY_BLOCKED)
			delay_on_wake(&t, DELAY_BY_OUTSIDE, NULL, 0, 0, &x, T0 + MS);
		delay_switch_in(&other, &x, &cpu, 0, T0 + MS);
		x.required += MS;
		delay_switch_out(&other, &x, &cpu, DELAY_OUSTED, T0 + 3 * MS);
		x.required += MS / 2;
		CHECK_EQ(delay_switch_in(&t, &x, &cpu, 1, T0 + 5 * MS), 1);
		CHECK_EQ(t.account.paid, 3 * MS + MS / 2); /* 1 of that before the wait */
		CHECK_EQ(
		    t.account.run_since, T0 + (how == DELAY_BLOCKED ? 5 * MS : 3 * MS + MS / 2));
	}
	/* a pause goes on in that turn: 1 ms before the wait, 2 by the join, 1 then */
	open(100);
	x.required = 20 * MS;
	t = thread(0, 0), other = thread(9 * MS, 0);
	delay_asked(&t, T0, T0 + 4 * MS, 4 * MS, 1);
	delay_begin(&t, &x, T0);
	delay_switch_out(&t, &x, &cpu, DELAY_PREEMPTED, T0 + MS);
	delay_switch_in(&other, &x, &cpu, 0, T0 + MS);
	delay_switch_out(&other, &x, &cpu, DELAY_OUSTED, T0 + 3 * MS);
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 1, T0 + 5 * MS), 1);
	CHECK_EQ(t.account.paid, 4 * MS);
	CHECK_EQ(t.account.run_since, T0 + 4 * MS);
}

/* An outsider's turn counts as executed by the thread that it took the CPU from, and as pause where
 * that one stood still. */
TEST(ousted)
{
	struct cozbpf_thread t;

	open(50);
	t = thread(0, COZBPF_SHARE_ONE);
	delay_switch_out(&t, &x, &cpu, DELAY_OUSTED, T0 + MS);
	CHECK_EQ(t.account.paid, MS / 2);
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 0, T0 + 3 * MS), 0);
	CHECK_EQ(t.account.run_since, T0 + MS);
	delay_credit(&t.account, &x, T0 + 4 * MS);
	CHECK_EQ(t.account.paid, 2 * MS);
	CHECK_EQ(t.account.unsampled, 4 * MS);
	/* a thread of the target had the CPU as well: that is a join */
	delay_switch_out(&t, &x, &cpu, DELAY_OUSTED, T0 + 5 * MS);
	cpu.left_at = T0 + 6 * MS;
	cpu.paid = 20 * MS;
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 0, T0 + 7 * MS), 1);
	CHECK_EQ(t.account.run_since, T0 + 7 * MS);
	/* a pause that ends meanwhile: executed from there on */
	delay_asked(&t, T0 + 7 * MS, T0 + 9 * MS, 2 * MS, 1);
	delay_begin(&t, &x, T0 + 7 * MS);
	delay_switch_out(&t, &x, &cpu, DELAY_OUSTED, T0 + 8 * MS);
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 0, T0 + 10 * MS), 0);
	CHECK_EQ(t.pause, COZBPF_PAUSE_NONE);
	CHECK_EQ(t.account.run_since, T0 + 9 * MS);
	/* preempted by the target, and the CPU that it gets was free: nothing */
	delay_switch_out(&t, &x, &cpu, DELAY_PREEMPTED, T0 + 11 * MS);
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 0, T0 + 12 * MS), 0);
	CHECK_EQ(t.account.run_since, T0 + 12 * MS);
}

TEST(born_with_the_parents_delays)
{
	struct cozbpf_thread t = {0}, parent;

	open(50);
	parent = thread(3 * MS, COZBPF_SHARE_ONE);
	x.required = 3 * MS;
	delay_on_fork(&t, &parent, &x, T0 + 2 * MS);
	CHECK_EQ(parent.account.paid, 4 * MS);
	CHECK_EQ(t.account.paid, 4 * MS);
	CHECK_EQ(t.account.epoch, 1);
	CHECK_EQ(t.member, 1);
	CHECK_EQ(x.required, 4 * MS);
	/* the parent's debt is inherited as well */
	memset(&t, 0, sizeof(t));
	x.required = 9 * MS;
	delay_on_fork(&t, &parent, &x, T0 + 2 * MS);
	CHECK_EQ(t.account.paid, 4 * MS);
	/* a parent asleep since the last experiment enters first */
	open_at(2, 50, T0 + 10 * MS);
	memset(&t, 0, sizeof(t));
	delay_on_fork(&t, &parent, &x, T0 + 10 * MS);
	CHECK_EQ(t.account.paid, 0);
	CHECK_EQ(t.account.epoch, 2);
}

/* A sleeper over an epoch: its debt, credit, carry and pause are gone, its wait counts from the
 * opening only. */
TEST(asleep_over_an_epoch)
{
	struct cozbpf_thread t, w;

	open(100);
	x.required = 50 * MS;
	t = thread(9 * MS, 0);
	t.account.carry = 3 * MS;
	delay_switch_out(&t, &x, &cpu, 0, T0);
	open_at(2, 100, T0 + 100 * MS);
	w = thread(0, COZBPF_SHARE_ONE);
	w.account.run_since = T0 + 100 * MS;
	delay_wake(&t, &w, &x, T0 + 104 * MS);
	CHECK_EQ(t.account.paid, 4 * MS); /* both operands: waited 4 since the opening, w has 4 */
	CHECK_EQ(t.account.carry, 0);
	CHECK_EQ(t.blocked_at, T0 + 100 * MS);
	/* woken by a timer: owes what accrued in this experiment */
	open(100);
	t = thread(9 * MS, 0);
	delay_switch_out(&t, &x, &cpu, 0, T0);
	open_at(2, 100, T0 + 100 * MS);
	x.required = 5 * MS;
	delay_on_born(&t, &x, T0 + 105 * MS);
	delay_switch_in(&t, &x, &cpu, 0, T0 + 105 * MS);
	CHECK_EQ(t.account.paid, 0);
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + 106 * MS, 0), 5 * MS);
}

/* Born after the opening, by a thread that had not met it: what R was then stays known. */
TEST(born_over_an_epoch)
{
	struct cozbpf_thread parent, t = {0};

	open(100);
	parent = thread(9 * MS, 0);
	delay_on_fork(&t, &parent, &x, T0);
	open_at(2, 100, T0 + 100 * MS);
	x.required = 5 * MS;
	delay_on_born(&t, &x, T0 + 105 * MS);
	delay_switch_in(&t, &x, &cpu, 0, T0 + 105 * MS);
	CHECK_EQ(t.account.wanted_required, 5 * MS);
	CHECK_EQ(t.account.paid, 0);
}

TEST(running_waiting_pausing_over_an_epoch)
{
	struct cozbpf_thread t;

	/* executing: credit only since the opening, with the share of the new line */
	open(100);
	t = thread(7 * MS, HALF);
	open_at(2, 100, T0 + 10 * MS);
	x.line = 1;
	delay_enter(&t, &x);
	CHECK_EQ(t.account.share, HALF);
	CHECK_EQ(t.account.ring_hits, 16 * MS);
	delay_credit(&t.account, &x, T0 + 12 * MS);
	CHECK_EQ(t.account.paid, MS);
	x.line = 99;
	x.epoch = 3;
	delay_enter(&t, &x);
	CHECK_EQ(t.account.share, 0);
	/* waiting for a CPU since before */
	open(100);
	t = thread(7 * MS, 0);
	t.account.run_since = 0, t.runnable_at = T0 + MS;
	open_at(2, 100, T0 + 10 * MS);
	x.required = 5 * MS;
	cpu = (struct cozbpf_cpu){.paid = 5 * MS, .left_at = T0 + 12 * MS, .epoch = 2};
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 0, T0 + 12 * MS), 1);
	CHECK_EQ(t.account.paid, 2 * MS);
	/* in a pause: what it goes on serving was for the experiment before */
	open(100);
	x.required = 9 * MS;
	t = thread(0, COZBPF_SHARE_ONE);
	delay_asked(&t, T0, T0 + 9 * MS, 9 * MS, 1);
	delay_begin(&t, &x, T0);
	open_at(2, 100, T0 + 5 * MS);
	delay_enter(&t, &x);
	CHECK_EQ(t.pause, COZBPF_PAUSE_NONE);
	delay_settle(&t, &x, T0 + 10 * MS);
	delay_credit(&t.account, &x, T0 + 10 * MS);
	CHECK_EQ(t.account.paid, MS); /* executes since the pause's end */
	/* a second look changes nothing */
	t.account.carry = 5;
	delay_enter(&t, &x);
	CHECK_EQ(t.account.carry, 5);
	CHECK_EQ(t.account.paid, MS);
}

/* What a CPU has executed, virtually: time less what L grew by, from slice to slice and from sample
 * to sample, in experiments. */
TEST(executed_by_the_cpu)
{
	struct cozbpf_thread t;

	open(50);
	t = thread(0, 0);
	t.account.run_since = 0;
	delay_switch_in(&t, &x, &cpu, 0, T0 + MS);
	t.account.share = HALF;
	delay_credit(&t.account, &x, T0 + 5 * MS);
	delay_executed(&cpu, &t.account, &x, T0 + 5 * MS); /* a sample: of 4 ms a quarter is none */
	CHECK_EQ(cpu.executed_ns, 3 * MS);
	delay_switch_out(&t, &x, &cpu, DELAY_BLOCKED, T0 + 9 * MS);
	CHECK_EQ(cpu.executed_ns, 6 * MS);
	/* Idle, or others': nothing. */
	delay_executed(&cpu, &t.account, &x, T0 + 20 * MS);
	CHECK_EQ(cpu.executed_ns, 6 * MS);
	/* Across an opening, from there; between experiments nothing. */
	delay_switch_in(&t, &x, &cpu, 0, T0 + 21 * MS);
	x.active = 0;
	delay_executed(&cpu, &t.account, &x, T0 + 22 * MS);
	CHECK_EQ(cpu.executed_ns, 6 * MS);
	x.opened_ns = T0 + 25 * MS;
	x.required = 0;
	x.epoch++;
	x.active = 1;
	delay_enter(&t, &x);
	t.account.share = 0;
	delay_executed(&cpu, &t.account, &x, T0 + 27 * MS);
	CHECK_EQ(cpu.executed_ns, 8 * MS);
	/* More growth than time: a debt that was forgiven. */
	t.account.paid += 5 * MS;
	delay_executed(&cpu, &t.account, &x, T0 + 28 * MS);
	CHECK_EQ(cpu.executed_ns, 8 * MS);
}
