/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The delay arithmetic of a thread by itself, rule by rule: credit,
 * pauses, the window of samples. Joins are in test_delay_joins.c, all orders of events in
 * test_delay_orders.c, whole programs in test_delay_sim.c. Times are exact: the arithmetic has no
 * tolerance.
 */
#include "delay_fixture.h"

TEST(credit_is_share_of_executed_time)
{
	struct cozbpf_thread t;

	open(50);
	t = thread(0, HALF);
	delay_credit(&t.account, &x, T0 + 8 * MS);
	CHECK_EQ(t.account.paid, 2 * MS);
	CHECK_EQ(x.required, 2 * MS);
	CHECK_EQ(t.account.run_since, T0 + 8 * MS);
	CHECK_EQ(t.account.unsampled, 8 * MS);
	delay_credit(&t.account, &x, T0 + 8 * MS);
	delay_credit(&t.account, &x, T0); /* a look from the past changes nothing */
	CHECK_EQ(t.account.paid, 2 * MS);
	CHECK_EQ(t.account.run_since, T0 + 8 * MS);
	CHECK_EQ(t.account.unsampled, 8 * MS);
	/* in many looks as in one, up to a nanosecond a look */
	for (__u64 at = T0 + 8 * MS; at < T0 + 16 * MS; at += 777)
		delay_credit(&t.account, &x, at);
	CHECK_NEAR((double)t.account.paid, 4e6, 8e6 / 777 + 777);
}

TEST(no_credit_without_experiment_or_execution)
{
	struct cozbpf_thread t;

	open(0);
	t = thread(0, COZBPF_SHARE_ONE);
	delay_credit(&t.account, &x, T0 + MS);
	CHECK_EQ(t.account.paid, 0);
	open(100);
	x.active = 0;
	delay_credit(&t.account, &x, T0 + 2 * MS);
	CHECK_EQ(t.account.paid, 0);
	CHECK_EQ(t.account.run_since, T0 + 2 * MS); /* and no credit for it later */
	x.active = 1;
	t.account.run_since = 0;
	delay_credit(&t.account, &x, T0 + 3 * MS);
	CHECK_EQ(t.account.paid, 0);
	CHECK_EQ(x.required, 0);
}

/* Minimal delays: who is behind R works off its debt by credit before R rises (paper 3.4.3). */
TEST(credit_of_a_debtor_does_not_raise_required)
{
	struct cozbpf_thread t;

	open(100);
	x.required = 5 * MS;
	t = thread(MS, COZBPF_SHARE_ONE);
	delay_credit(&t.account, &x, T0 + 3 * MS);
	CHECK_EQ(t.account.paid, 4 * MS);
	CHECK_EQ(x.required, 5 * MS);
	delay_credit(&t.account, &x, T0 + 5 * MS);
	CHECK_EQ(x.required, 6 * MS);
	delay_raise_required(&x, 3 * MS);
	CHECK_EQ(x.required, 6 * MS);
}

TEST(sample_asks_for_the_debt)
{
	struct cozbpf_thread t;

	open(100);
	x.required = 4 * MS;
	t = thread(MS, 0);
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + MS, 50 * US), 3 * MS);
	CHECK_EQ(t.account.paid, MS); /* asked is not paid */
	x.required = MS + 49999;
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + 2 * MS, 50 * US), 0);
	CHECK_EQ(t.account.paid, MS);
	x.required = MS + 50000;
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + 3 * MS, 50 * US), 50000);
	x.required = 100 * MS;
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + 4 * MS, 50 * US), COZBPF_PAUSE_MAX_NS);
	x.active = 0;
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + 5 * MS, 50 * US), 0);
}

TEST(carry_is_used_up_first)
{
	struct cozbpf_thread t;

	open(100);
	x.required = 4 * MS;
	t = thread(MS, 0);
	t.account.carry = 2 * MS;
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + MS, 0), MS);
	CHECK_EQ(t.account.paid, 3 * MS);
	CHECK_EQ(t.account.carry, 0);
	t.account.carry = 5 * MS;
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + 2 * MS, 0), 0);
	CHECK_EQ(t.account.paid, 4 * MS);
	CHECK_EQ(t.account.carry, 4 * MS);
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + 3 * MS, 0), 0); /* no debt: carry stays */
	CHECK_EQ(t.account.carry, 4 * MS);
	CHECK_EQ(x.required, 4 * MS);
}

TEST(pause_is_paid_as_it_is_served)
{
	struct cozbpf_thread t;
	__u64 now = T0 + MS;

	open(100);
	x.required = 3 * MS;
	t = thread(0, 0);
	CHECK_EQ(delay_sample(&t, &x, 1, now, 0), 3 * MS);
	delay_asked(&t, now, now + 3 * MS, 3 * MS, 1);
	CHECK_EQ(t.pause, COZBPF_PAUSE_ASKED);
	delay_settle(&t, &x, now + 4 * US);
	CHECK_EQ(t.account.paid, 0);
	delay_begin(&t, &x, now + 4 * US);
	CHECK_EQ(t.pause, COZBPF_PAUSE_BEGUN);
	delay_settle(&t, &x, now + MS);
	CHECK_EQ(t.account.paid, MS); /* from the sample on: the way to the handler is pause */
	CHECK_EQ(t.pause, COZBPF_PAUSE_BEGUN);
	delay_credit(&t.account, &x, now + 2 * MS); /* a pause is not executed time */
	CHECK_EQ(t.account.unsampled, 0);
	delay_settle(&t, &x, now + 5 * MS);
	CHECK_EQ(t.account.paid, 3 * MS);
	CHECK_EQ(t.account.carry, 0);
	CHECK_EQ(t.pause, COZBPF_PAUSE_NONE);
	CHECK_EQ(t.returning,
	    1); /* a sample may meet the handler still: its blocked signal is no fault */
	delay_credit(&t.account, &x, now + 5 * MS); /* it executes again since the pause's end */
	CHECK_EQ(t.account.unsampled, 2 * MS);
}

/* Served beyond the debt: carry, never R. What R has grown meanwhile is debt as well. */
TEST(serving_beyond_the_debt)
{
	struct cozbpf_thread t;

	open(100);
	x.required = 3 * MS;
	t = thread(MS, 0);
	t.pause = COZBPF_PAUSE_BEGUN;
	t.pause_from = T0;
	t.pause_end = T0 + 10 * MS;
	delay_serve(&t, &x, T0 + MS);
	x.required = 5 * MS;
	delay_serve(&t, &x, T0 + 6 * MS);
	CHECK_EQ(t.account.paid, 5 * MS);
	CHECK_EQ(t.account.carry, 2 * MS);
	CHECK_EQ(x.required, 5 * MS);
	delay_serve(&t, &x, T0 + 6 * MS);
	CHECK_EQ(t.account.carry, 2 * MS);
}

TEST(late_begin)
{
	struct cozbpf_thread t;

	open(100);
	x.required = 2 * MS;
	t = thread(0, 0);
	delay_asked(&t, T0, T0 + 2 * MS, 2 * MS, 1);
	delay_begin(&t, &x, T0 + 2 * MS); /* its end has passed: the handler returns at once */
	CHECK_EQ(t.pause, COZBPF_PAUSE_NONE);
	CHECK_EQ(t.account.run_since, T0);
	CHECK_EQ(t.account.paid, 0);
}

TEST(ask_withdrawn)
{
	struct cozbpf_thread t;

	open(100);
	t = thread(0, 0);
	CHECK_EQ(delay_withdraw(&t, T0 + 100 * MS), 0);
	delay_asked(&t, T0, T0 + MS, MS, 1);
	CHECK_EQ(delay_withdraw(&t, T0 + COZBPF_ASK_TIMEOUT_NS), 0);
	CHECK_EQ(t.pause, COZBPF_PAUSE_ASKED);
	CHECK_EQ(delay_withdraw(&t, T0 + COZBPF_ASK_TIMEOUT_NS + 1), 1);
	CHECK_EQ(t.pause, COZBPF_PAUSE_NONE);
	delay_asked(&t, T0, T0 + MS, MS, 1);
	delay_begin(&t, &x, T0 + US);
	CHECK_EQ(delay_withdraw(&t, T0 + 100 * MS), 0); /* begun */
}

/* A long pause's signal may come after the timeout and still pause the thread: it must not have
 * been withdrawn by then. */
TEST(ask_is_not_withdrawn_while_its_signal_would_pause)
{
	struct cozbpf_thread t;

	open(100);
	x.required = 10 * MS;
	t = thread(0, 0);
	delay_asked(&t, T0, T0 + 9 * MS, 9 * MS, 1);
	CHECK_EQ(delay_withdraw(&t, T0 + 6 * MS), 0);
	t.account.run_since = T0 + 7 * MS;
	delay_begin(&t, &x, T0 + 7 * MS);
	delay_settle(&t, &x, T0 + 9 * MS);
	CHECK_EQ(t.account.paid, 2 * MS);
	delay_asked(&t, T0, T0 + 9 * MS, 9 * MS, 1);
	CHECK_EQ(delay_withdraw(&t, T0 + 9 * MS), 1);
}

/* A pause that holds its CPU is not served while the thread is off it, and is over when its end
 * passes meanwhile. */
TEST(held_pause_preempted)
{
	struct cozbpf_thread t;

	open(100);
	x.required = 9 * MS;
	t = thread(0, 0);
	delay_asked(&t, T0, T0 + 5 * MS, 5 * MS, 1);
	delay_begin(&t, &x, T0);
	delay_switch_out(&t, &x, &cpu, 1, T0 + MS);
	CHECK_EQ(t.account.paid, MS);
	CHECK_EQ(t.blocked_at, 0);
	/* an outsider had the CPU: no join, and the pause went on being served */
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 0, T0 + 3 * MS), 0);
	CHECK_EQ(t.account.paid, 3 * MS);
	CHECK_EQ(t.pause, COZBPF_PAUSE_BEGUN);
	CHECK_EQ(t.account.run_since, T0 + 5 * MS);
	delay_switch_out(&t, &x, &cpu, 1, T0 + 4 * MS);
	CHECK_EQ(t.account.paid, 4 * MS);
	CHECK_EQ(t.account.unsampled, 0);
	delay_switch_in(&t, &x, &cpu, 0, T0 + 6 * MS); /* up to its end */
	CHECK_EQ(t.pause, COZBPF_PAUSE_NONE);
	CHECK_EQ(t.account.paid, 5 * MS);
	CHECK_EQ(t.account.carry, 0);
	CHECK_EQ(t.account.run_since, T0 + 6 * MS);
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + 7 * MS, 0), 4 * MS); /* the rest is asked again */
}

TEST(sleeping_pause_oversleeps_to_carry)
{
	struct cozbpf_thread t;

	open(100);
	x.required = 4 * MS;
	t = thread(MS, 0);
	delay_asked(&t, T0, T0 + 3 * MS, 3 * MS, 0);
	delay_begin(&t, &x, T0);
	delay_switch_out(&t, &x, &cpu, 0, T0 + 10 * US);
	CHECK_EQ(t.account.paid, MS + 10 * US);
	CHECK_EQ(t.blocked_at, 0); /* a pause is no wait */
	CHECK_EQ(t.account.run_since, 0);
	delay_on_born(&t, &x, T0 + 3 * MS + 60 * US);
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 0, T0 + 3 * MS + 70 * US), 0);
	CHECK_EQ(t.account.paid, 4 * MS);
	CHECK_EQ(t.account.carry, 70 * US);
	CHECK_EQ(x.required, 4 * MS);
	CHECK_EQ(t.pause, COZBPF_PAUSE_NONE);
	CHECK_EQ(t.account.run_since, T0 + 3 * MS + 70 * US);
	/* woken early, it goes on pausing */
	t = thread(MS, 0);
	delay_asked(&t, T0, T0 + 3 * MS, 3 * MS, 0);
	delay_begin(&t, &x, T0);
	delay_switch_out(&t, &x, &cpu, 0, T0);
	delay_switch_in(&t, &x, &cpu, 0, T0 + MS);
	CHECK_EQ(t.account.paid, 2 * MS);
	CHECK_EQ(t.pause, COZBPF_PAUSE_BEGUN);
	CHECK_EQ(t.account.run_since, T0 + 3 * MS);
}

/* The wait for the CPU after a sleeping pause is a join or oversleep, but not both: nothing counts
 * twice. */
TEST(sleeping_pause_then_waits_for_the_cpu)
{
	struct cozbpf_thread t;

	open(100);
	x.required = 10 * MS;
	t = thread(6 * MS, 0);
	delay_asked(&t, T0, T0 + 2 * MS, 2 * MS, 0);
	delay_begin(&t, &x, T0);
	delay_switch_out(&t, &x, &cpu, 0, T0);
	delay_on_born(&t, &x, T0 + 2 * MS);
	cpu = (struct cozbpf_cpu){.paid = 9 * MS, .left_at = T0 + 5 * MS, .epoch = 1};
	CHECK_EQ(delay_switch_in(&t, &x, &cpu, 0, T0 + 5 * MS), 1);
	CHECK_EQ(t.account.paid, 9 * MS); /* 6 + 2 served + 3 waited, but the CPU's clock is at 9 */
	CHECK_EQ(t.account.carry, 0);
}

TEST(window_of_samples)
{
	struct cozbpf_thread t = {.account.epoch = 1, .member = 1};

	open(0);
	t.account.run_since = T0;
	/* the weight of a sample is half of the time executed since the one before, and half of
	 * that until the next */
	delay_sample(&t, &x, LINE, T0 + 3 * MS, 0);
	CHECK_EQ(t.account.ring_weight, 1500 * US);
	delay_sample(&t, &x, 1, T0 + 4 * MS, 0);
	CHECK_EQ(t.account.ring_weight, 2500 * US); /* 3 / 2 + 1 / 2, and 1 / 2 */
	CHECK_EQ(t.account.ring_hits, 2 * MS);
	CHECK_EQ(t.account.share, COZBPF_SHARE_ONE * 4 / 5);
	CHECK_EQ(t.account.unsampled, 0);
	/* the oldest make room: after 31 more the first one is out */
	for (int i = 0; i < 31; i++)
		delay_sample(&t, &x, 1, T0 + (5 + (__u64)i) * MS, 0);
	CHECK_EQ(t.account.ring_used, COZBPF_RING);
	CHECK_EQ(t.account.ring_weight, 31500 * US); /* the last one has nothing after it yet */
	CHECK_EQ(t.account.ring_hits, 0);
	CHECK_EQ(t.account.share, 0);
	for (int i = 0; i < 64; i++)
		delay_sample(&t, &x, LINE, T0 + (36 + (__u64)i) * MS, 0);
	CHECK_EQ(t.account.share, COZBPF_SHARE_ONE);
	/* line 0 is no line */
	delay_sample(&t, &x, 0, T0 + 100 * MS, 0);
	CHECK_EQ(t.account.ring_hits, 31 * MS);
}

/* Each kind of segment has a share of its own; one without samples has the share of all. */
TEST(segments)
{
	struct cozbpf_thread t = {.account = {.epoch = 1, .run_since = T0}, .member = 1};
	__u64 now = T0;

	open(0);
	for (int i = 0; i < 40; i++) {
		delay_segment(&t.account, i & 1 ? 5 : 2 + COZBPF_SEGMENTS);
		delay_sample(&t, &x, i & 1 ? LINE : 1, now += MS, 0);
	}
	delay_segment(&t.account, 5);
	CHECK_EQ(t.account.share, COZBPF_SHARE_ONE);
	delay_segment(&t.account, 2);
	CHECK_EQ(t.account.share, 0);
	/* 15.5 ms, since the last sample weighs half, and 16 */
	delay_segment(&t.account, 3);
	CHECK_NEAR(t.account.share, COZBPF_SHARE_ONE * 15.5 / 31.5, 2);
	/* sums follow the window and the line */
	for (int i = 0; i < 32; i++)
		delay_sample(&t, &x, LINE, now += MS, 0);
	CHECK_EQ(t.account.segment_weight[5], 0);
	CHECK_EQ(t.account.segment_hits[5], 0);
	CHECK_EQ(t.account.segment_weight[3], 31500 * US);
	CHECK_EQ(t.account.segment_hits[3], 31500 * US);
	delay_segment(&t.account, 4);
	delay_sample(&t, &x, 9, now += MS,
	    0); /* 0.5 ms, and the one before it, of segment 3, the other half */
	CHECK_EQ(t.account.segment_weight[3], 31 * MS);
	CHECK_EQ(t.account.segment_weight[4], 500 * US);
	open_at(2, 100, now);
	x.line = 9;
	delay_enter(&t, &x);
	CHECK_EQ(t.account.segment_hits[3], 0);
	CHECK_EQ(t.account.segment_hits[4], 500 * US);
	CHECK_EQ(t.account.ring_hits, 500 * US);
	CHECK_EQ(t.account.share, COZBPF_SHARE_ONE);
}

/* A new thread starts from the samples of those that were young before it, and its own replace
 * them. */
TEST(born_with_its_elders_window)
{
	struct cozbpf_thread t = {0}, parent;

	open(50);
	parent = thread(0, 0);
	for (int n = 0; n < 40; n++) {
		struct cozbpf_thread child = {0};

		delay_on_fork(&child, &parent, &x, T0);
		child.account.run_since = T0;
		delay_sample(&child, &x, n & 1 ? LINE : 1, T0 + MS, 0);
	}
	delay_on_fork(&t, &parent, &x, T0 + 2 * MS);
	CHECK_EQ(t.account.share, HALF);
	CHECK_EQ(t.account.ring_weight, 32 * MS);
	CHECK_EQ(t.account.segment_hits[0], 16 * MS);
	t.account.run_since = T0 + 2 * MS;
	for (__u64 i = 0; i < 32; i++)
		delay_sample(&t, &x, LINE, T0 + (3 + i) * MS, 0);
	CHECK_EQ(t.account.share, COZBPF_SHARE_ONE);
	CHECK_EQ(x.young[0].next, 40 + COZBPF_RING);
	/* nobody's first sample speaks for more than was executed, once elders are known */
	CHECK_NEAR((double)t.account.paid, 0.5 * (0.5 + 1) / 2 * 32e6, 1e6);
}

/* The first thread that is made after a wait runs the line, the second one does not. While few of a
 * kind are known all threads' window holds. */
TEST(kinds_of_new_threads)
{
	struct cozbpf_thread child, parent;

	open(50);
	parent = thread(0, 0);
	for (int n = 0; n < 64; n++) {
		child = (struct cozbpf_thread){0};
		delay_on_fork(&child, &parent, &x, T0);
		CHECK_EQ(child.account.kind, 1 + (n & 1));
		child.account.run_since = T0;
		delay_sample(&child, &x, n & 1 ? 1 : LINE, T0 + MS, 0);
		parent.blocked_at = T0;
		if (n & 1)
			delay_switch_in(&parent, &x, &cpu, 0, T0);
		if (n == 40) {
			child = (struct cozbpf_thread){0};
			delay_on_fork(&child, &parent, &x, T0);
			CHECK_NEAR((double)child.account.share, HALF, HALF / 10);
			parent.account.forks--;
		}
	}
	for (__u32 i = 1; i <= 2 * COZBPF_KINDS; i++) {
		child = (struct cozbpf_thread){0};
		delay_on_fork(&child, &parent, &x, T0);
		CHECK_EQ(child.account.kind, i < COZBPF_KINDS ? i : COZBPF_KINDS - 1);
		if (i < 3)
			CHECK_EQ(child.account.share, i == 1 ? COZBPF_SHARE_ONE : 0);
	}
}

TEST(virtual_time)
{
	struct cozbpf_thread t, before;

	open(50);
	t = thread(MS, HALF);
	before = t;
	CHECK_EQ(delay_virtual_time(&t, &x, T0 + 8 * MS), T0 + 8 * MS - MS - 2 * MS);
	CHECK(!memcmp(&t, &before, sizeof(t)));
	delay_credit(&t.account, &x, T0 + 8 * MS);
	CHECK_EQ(delay_virtual_time(&t, &x, T0 + 8 * MS), T0 + 5 * MS); /* the same, looked at */
	t.account.epoch = 0;
	CHECK_EQ(delay_virtual_time(&t, &x, T0 + 8 * MS), T0 + 8 * MS);
}

/* Between experiments nothing is credited, so nothing is pending. */
TEST(virtual_time_between_experiments)
{
	struct cozbpf_thread t;

	open(50);
	t = thread(MS, HALF);
	x.active = 0;
	CHECK_EQ(delay_virtual_time(&t, &x, T0 + 8 * MS), T0 + 7 * MS);
}

/* Who hands something over pays first, up to that moment, whatever it owes above the least that is
 * worth a signal; its virtual time does not change by it. */
TEST(hand_over)
{
	struct cozbpf_thread t;
	__u64 before;

	open(50);
	x.required = 5 * MS;
	t = thread(MS, HALF);
	before = delay_virtual_time(&t, &x, T0 + 4 * MS);
	CHECK_EQ(delay_on_hand_over(&t, &x, T0 + 4 * MS, 50 * US), 3 * MS);
	CHECK_EQ(delay_virtual_time(&t, &x, T0 + 4 * MS), before);
	CHECK_EQ(t.account.paid, 2 * MS);
	/* Asked for already. */
	delay_asked(&t, T0 + 4 * MS, T0 + 7 * MS, 3 * MS, 1);
	CHECK_EQ(delay_on_hand_over(&t, &x, T0 + 4 * MS, 50 * US), 0);
	/* Nothing owed, too little owed, no experiment. */
	t = thread(5 * MS, 0);
	CHECK_EQ(delay_on_hand_over(&t, &x, T0 + 4 * MS, 50 * US), 0);
	t = thread(5 * MS - 20 * US, 0);
	CHECK_EQ(delay_on_hand_over(&t, &x, T0 + 4 * MS, 50 * US), 0);
	t = thread(MS, 0);
	x.active = 0;
	CHECK_EQ(delay_on_hand_over(&t, &x, T0 + 4 * MS, 50 * US), 0);
}

TEST(unseen_switch_in)
{
	struct cozbpf_thread t;

	open(100);
	t = thread(0, COZBPF_SHARE_ONE);
	CHECK_EQ(delay_heal(&t, T0 + MS), 0);
	CHECK_EQ(t.account.run_since, T0);
	delay_switch_out(&t, &x, &cpu, 0, T0 + MS);
	CHECK_EQ(delay_heal(&t, T0 + 5 * MS), 1);
	delay_credit(&t.account, &x, T0 + 6 * MS);
	CHECK_EQ(t.account.paid, 2 * MS);
	CHECK_EQ(t.blocked_at, 0);
}

/* An outsider that is not a fair task tells all the time that it ever had. At most it has had the
 * CPU since a thread of the target left. Nobody has waited for longer than he wanted the CPU. */
TEST(the_turn_of_an_outsider)
{
	static const struct {
		__u64 wanted, ran, counts;
	} turns[] = {{T0 + MS, MS, MS}, {T0 + MS, 100 * MS, 2 * MS}, {T0 + 3 * MS, 100 * MS, MS},
	    {0, 100 * MS, 0}};
	struct cozbpf_thread t, other;

	for (size_t i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
		open(50);
		t = thread(0, 0);
		other = thread(0, 0);
		t.account.run_since = 0;
		t.runnable_at = turns[i].wanted;
		delay_on_switch(&other, DELAY_BLOCKED, NULL, 0, &x, &cpu, T0 + 2 * MS);
		delay_on_switch(NULL, DELAY_BLOCKED, &t, turns[i].ran, &x, &cpu, T0 + 4 * MS);
		CHECK_EQ(cpu.outsiders_ns, turns[i].counts);
	}
}

TEST(extremes)
{
	struct cozbpf_thread t, w;
	const __u64 late = 1ULL << 62;

	/* a machine that has been up for 146 years; a day executed at one look */
	open_at(1, 100, late);
	t = thread(0, COZBPF_SHARE_ONE);
	t.account.run_since = late;
	delay_credit(&t.account, &x, late + 86400000 * MS);
	CHECK_EQ(t.account.paid, 86400000 * MS);
	CHECK_EQ(x.required, 86400000 * MS);
	/* a sample weighs at most what 32 bits hold, and the window's sum stays below a share's
	 * overflow */
	for (int i = 0; i < 40; i++) {
		t.account.unsampled = 10000 * MS;
		delay_window_push(&t.account, &x, i & 1 ? LINE : 1);
	}
	/* 63 halves: all but the last have two, and the last is one of the 16 in the line */
	CHECK_EQ(t.account.ring_weight, 63 * 0x7fffffffULL);
	CHECK_EQ(t.account.ring_hits, 31 * 0x7fffffffULL);
	CHECK_EQ(t.account.share, COZBPF_SHARE_ONE * 31 / 63);
	/* executed without end since the last sample: L is put right by no more than s / 2 of it,
	 * and never below 0 */
	t.account.persistence = COZBPF_SHARE_ONE - 1;
	for (int shift = 30; shift < 64; shift++) {
		__u64 bound = (1ULL << shift) / 2;

		t.account.paid = x.required = late;
		t.account.unsampled = 1ULL << shift;
		t.account.last_valid = 1;
		t.account.last_hit = 0;
		delay_correct(&t.account, &x, LINE);
		CHECK(t.account.paid >= late && t.account.paid - late <= bound);
		CHECK_EQ(x.required, t.account.paid);
		t.account.paid = 1;
		t.account.last_hit = 1;
		delay_correct(&t.account, &x, 1);
		CHECK(t.account.paid <= 1);
	}
	delay_window_push(&t.account, &x, 1);
	CHECK_EQ(t.account.ring_weight, 63 * 0x7fffffffULL);
	/* min() of a wait of a week and of an L near the limit */
	t = thread(0, 0), w = thread(late, 0);
	t.account.run_since = 0, t.blocked_at = late;
	w.account.run_since = late;
	delay_wake(&t, &w, &x, late + 7 * 86400000 * MS);
	CHECK_EQ(t.account.paid, 7 * 86400000 * MS);
	/* the epoch's number wraps */
	open_at(0xffffffffU, 100, T0);
	t = thread(5, 0);
	open_at(0, 100, T0);
	delay_enter(&t, &x);
	CHECK_EQ(t.account.paid, 0);
	/* a debt of hours is asked in pauses of the longest length */
	x.required = 3600000 * MS;
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + MS, 0), COZBPF_PAUSE_MAX_NS);
}

/* Between experiments the hooks were off for an hour. Nothing of that hour is credited, nor taken
 * for a wait; what the thread has learned of itself stays. */
TEST(thread_that_is_seen_again)
{
	const __u64 later = T0 + 3600000 * MS;
	struct cozbpf_thread t, waker;

	open(50);
	t = thread(0, HALF);
	t.pause = COZBPF_PAUSE_ASKED;
	t.runnable_at = T0 + MS;
	x.active = 0;
	delay_on_seen_again(&t, 1, later);
	CHECK_EQ(t.pause, COZBPF_PAUSE_NONE);
	CHECK_EQ(t.blocked_at, later);
	CHECK_EQ(t.runnable_at, 0);
	CHECK_EQ(t.account.ring_used, COZBPF_RING);
	open_at(2, 50, later + 10 * MS);
	waker = thread(4 * MS, 0);
	waker.account.run_since = later + 10 * MS;
	delay_on_wake(&t, DELAY_BY_THREAD, &waker, 0, 0, &x, later + 12 * MS);
	CHECK_EQ(t.account.paid, 2 * MS); /* it waited since the opening */
	delay_on_seen_again(&t, 0, later + 20 * MS);
	CHECK_EQ(t.blocked_at, 0);
	CHECK_EQ(delay_unsampled(&t.account, later + 90 * MS), 0);
	/* Its first sample shows that it executes. */
	delay_on_interrupt(&t, &x, later + 90 * MS);
	CHECK_EQ(t.account.run_since, later + 90 * MS);
}

/* A sample takes a while, and knows L of the experiment before. R of the new one begins at 0. */
TEST(an_experiment_opens_within_a_sample)
{
	for (__u32 pct = 0; pct <= 100; pct += 100) {
		struct cozbpf_thread t;

		open(100);
		t = thread(5 * MS, COZBPF_SHARE_ONE);
		x.required = 5 * MS;
		t.account.last_valid = 1; /* and a forecast to put right */
		CHECK_EQ(delay_on_interrupt(&t, &x, T0 + MS), 0);
		open_at(2, pct, T0 + 2 * MS);
		CHECK_EQ(delay_sample(&t, &x, LINE, T0 + MS, 0), 0);
		CHECK_EQ(x.required, 0);
		CHECK_EQ(t.account.paid, 0);
	}
}
