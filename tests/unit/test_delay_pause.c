/* SPDX-License-Identifier: BSD-3-Clause */
/* What samples cost beside pauses, and pauses that are over but not looked at yet; delay_pause.h
 * and delay.h. */
#include "delay_fixture.h"

/* What a sample costs its thread is a pause that it has served already, and that others owe; it is
 * not executed. */
TEST(cost_of_a_sample)
{
	struct cozbpf_thread t, other;

	open(0);
	x.sample_cost_ns = 20 * US;
	x.sample_free = 1;
	t = thread(0, HALF);
	CHECK_EQ(delay_sample(&t, &x, 0, T0 + MS, 50 * US), 0);
	CHECK_EQ(t.account.paid, 20 * US);
	CHECK_EQ(x.required, 20 * US);
	CHECK_EQ(delay_virtual_time(&t, &x, T0 + MS + 20 * US), T0 + MS);
	delay_sample(&t, &x, 0, T0 + 2 * MS, 50 * US);
	CHECK_EQ(x.required, 40 * US);
	CHECK_EQ(t.account.ring[(t.account.ring_next - 2) & (COZBPF_RING - 1)].weight_ns,
	    MS / 2 + (MS - 20 * US) / 2);
	delay_sample(&t, &x, 0, T0 + 3 * MS, 50 * US);
	other = thread(0, HALF);
	CHECK_EQ(
	    delay_sample(&other, &x, 0, T0 + 3 * MS, 50 * US), 0); /* of 60 us it has served 20 */
	delay_sample(&t, &x, 0, T0 + 4 * MS, 50 * US);
	delay_sample(&t, &x, 0, T0 + 5 * MS, 50 * US);
	CHECK_EQ(delay_sample(&other, &x, 0, T0 + 5 * MS, 50 * US), 60 * US);
	/* Switched out before it is over; no experiment. */
	delay_switch_out(&t, &x, &cpu, DELAY_BLOCKED, T0 + 5 * MS + US);
	CHECK_EQ(t.account.paid, 100 * US);
	open(0);
	x.sample_cost_ns = 20 * US;
	x.sample_free = 1;
	x.active = 0;
	t = thread(0, HALF);
	delay_sample(&t, &x, 0, T0 + MS, 50 * US);
	CHECK_EQ(t.account.paid, 0);
	CHECK_EQ(t.account.run_since, T0 + MS);
}

/* A thread that pauses is sampled after less than a period executed: what samples cost it more, or
 * less, than a baseline counts as paused. */
TEST(aside_of_a_pause)
{
	const struct {
		__u64 executed;
		__s64 aside;
	} after[] = {{MS / 4, 5 * US}, {MS, -10 * US}, {2 * MS, -30 * US}, {9 * MS, -70 * US}};
	struct cozbpf_thread t;
	__u64 now, debt, end;

	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
		open(50);
		x.period_ns = MS;
		x.sample_cost_ns = 20 * US;
		x.sample_entry_ns = 9 * US;
		x.sample_early_ns = US;
		x.required = 400 * US;
		t = thread(0, 0);
		now = T0 + after[i].executed;
		delay_sample_entry(&t, &x, 8 * US);
		debt = delay_sample(&t, &x, 0, now, 50 * US);
		CHECK_EQ(debt, 400 * US);
		CHECK_EQ(
		    delay_aside(&t, &x, 0, US), US); /* a call's: no sample has cost it anything */
		end = delay_plan(&t, &x, 1, debt, US, now);
		CHECK_EQ(end, now + 400 * US - after[i].aside);
		delay_asked(&t, now, end, debt, 1);
		delay_begin(&t, &x, now + 4 * US);
		CHECK_EQ(t.pause, COZBPF_PAUSE_BEGUN);
		delay_settle(&t, &x,
		    now + 2 * US); /* before what counts as its beginning, where that is later */
		delay_settle(&t, &x, end);
		CHECK_EQ(t.account.paid, 400 * US);
		CHECK_EQ(t.account.carry, 0);
		CHECK_EQ(delay_virtual_time(&t, &x, end + US), end + US - 400 * US);
	}
	x.sample_free = 1; /* then all of it is paused already */
	CHECK_EQ(delay_aside(&t, &x, 1, US), US);
	x.sample_free = 0;
	t.entry = MS;
	t.account.paid = 340 * US; /* it has stood still for longer than what it owes: so much is
			      paid, and it need not pause */
	CHECK_EQ(delay_plan(&t, &x, 1, 60 * US, US, now), 0);
	CHECK_EQ(t.account.paid, 400 * US);
	CHECK_EQ(t.account.carry, 0);
	/* The handler pauses no longer than that. */
	t.entry = 0;
	t.entries = 20 * US;
	t.excess = -60 * (__s32)US;
	CHECK(delay_plan(&t, &x, 1, COZBPF_PAUSE_MAX_NS, US, now) <= now + COZBPF_PAUSE_MAX_NS);
}

/* Samples that ask for no pause cost as much, and the next pause makes up for what they have taken
 * beyond a baseline's: each loses as much of a sample's cost as it comes early. */
TEST(samples_in_excess)
{
	static const struct {
		__u64 executed;
		__s32 excess; /* after it, in us */
	} samples[] = {
	    {MS, 0}, {MS / 4, 15}, {MS / 2, 25}, {3 * MS / 2, 15}, {0, 35}, {20 * MS, -25}};
	__u64 now = T0;
	struct cozbpf_thread t;

	open(50);
	x.period_ns = MS;
	x.sample_cost_ns = 20 * US;
	x.sample_entry_ns = 9 * US;
	t = thread(0, 0);
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		now += samples[i].executed;
		CHECK_EQ(delay_sample(&t, &x, 0, now, 50 * US), 0);
		CHECK_EQ(t.excess, samples[i].excess * (__s32)US);
	}
	for (int i = 0; i < 20; i++) /* one after the other: no more than eight samples' cost */
		CHECK_EQ(delay_sample(&t, &x, 0, now, 50 * US), 0);
	CHECK_EQ(t.excess, 160 * US);
	/* The next pause is shorter by that, and begins anew. Its own sample is pause as a whole.
	 */
	delay_sample_entry(&t, &x, 9 * US);
	x.required = MS;
	CHECK_EQ(delay_sample(&t, &x, 0, now + MS, 50 * US), MS);
	CHECK_EQ(delay_plan(&t, &x, 1, MS, US, now + MS), now + 2 * MS - (1 + 9 + 160 - 20) * US);
	CHECK_EQ(t.excess, 0);
	/* Nor does an experiment begin with the one before's. */
	t.excess = 30 * US;
	x.epoch++;
	delay_advance(&t, &x, now + MS);
	CHECK_EQ(t.excess, 0);
	/* A baseline loses as much itself. */
	x.active = 0;
	CHECK_EQ(delay_sample(&t, &x, 0, now + MS, 50 * US), 0);
	CHECK_EQ(t.excess, 0);
}

/* The way into samples is looked at each time, and what they cost in all goes with it. What is far
 * off is no sample's cost, but time that the thread stood still. */
TEST(entry_of_a_sample)
{
	struct cozbpf_thread t;

	open(50);
	x.period_ns = MS;
	x.sample_cost_ns = 20 * US;
	x.sample_entry_ns = 10 * US;
	t = thread(0, 0);
	delay_sample_entry(&t, &x, 10 * US);
	CHECK_EQ(t.entries, 10 * US);
	CHECK_EQ(delay_aside(&t, &x, 1, 0), -10 * (__s32)US);
	for (int i = 0; i < 100; i++) /* the machine is slower now, by half */
		delay_sample_entry(&t, &x, 15 * US);
	CHECK_NEAR(t.entries, 15 * US, 10);
	CHECK_NEAR(delay_aside(&t, &x, 1, 0), -15 * (__s32)US, 20);
	delay_sample_entry(&t, &x, 2 * MS);
	CHECK_EQ(t.entry, 2 * MS);
	CHECK_NEAR(t.entries, (7 * 15 + 40) * US / 8, 20);
	delay_sample_entry(&t, &x, 1000 * MS);
	CHECK_EQ(t.entry, COZBPF_PAUSE_MAX_NS);
	delay_sample_entry(&t, &x, -5 * (__s64)US); /* clocks disagree */
	CHECK_EQ(t.entry, 0);
	/* When samples are due is not known on this kernel: the way out alone. */
	t.entry = t.entries = 0;
	CHECK_EQ(delay_aside(&t, &x, 1, US), US);
	/* Nothing was measured. */
	x.sample_cost_ns = x.sample_entry_ns = 0;
	delay_sample_entry(&t, &x, 10 * US);
	CHECK_EQ(delay_aside(&t, &x, 1, US), US);
}

/* A visit after a pause, before the next sample has settled it: the pause is over, and virtual time
 * is without it. */
TEST(visit_after_a_pause)
{
	struct cozbpf_thread t;

	open(50);
	x.required = 3 * MS;
	t = thread(0, 0);
	delay_asked(&t, T0, T0 + 3 * MS, 3 * MS, 1);
	delay_begin(&t, &x, T0);
	CHECK_EQ(delay_virtual_time(&t, &x, T0 + MS), T0);
	CHECK_EQ(delay_virtual_time(&t, &x, T0 + 4 * MS), T0 + MS);
	CHECK_EQ(t.account.paid, 0); /* it only looks */
	delay_settle(&t, &x, T0 + 4 * MS);
	CHECK_EQ(delay_virtual_time(&t, &x, T0 + 4 * MS), T0 + MS);
	/* Not more than is owed: the rest is carry. */
	x.required = 2 * MS;
	t = thread(0, 0);
	delay_asked(&t, T0, T0 + 3 * MS, 3 * MS, 1);
	delay_begin(&t, &x, T0);
	CHECK_EQ(delay_virtual_time(&t, &x, T0 + 4 * MS), T0 + 2 * MS);
	/* Asked, not begun. */
	t = thread(0, 0);
	delay_asked(&t, T0, T0 + 3 * MS, 3 * MS, 1);
	CHECK_EQ(delay_virtual_time(&t, &x, T0 + MS), T0 + MS);
}

/* Nobody watches the experiment any more: what is owed stays so. */
TEST(no_pause_after_the_expiry)
{
	struct cozbpf_thread t;

	open(50);
	x.required = 3 * MS;
	x.expires_ns = T0 + 2 * MS;
	t = thread(0, 0);
	CHECK_EQ(delay_on_ask(&t, &x, 1, 3 * MS, 0, 1, T0 + 2 * MS), 0);
	CHECK_EQ(t.pause, COZBPF_PAUSE_NONE);
	CHECK_EQ(t.account.paid, 0);
	CHECK_EQ(x.pause_horizon, 0);
	CHECK_EQ(delay_on_ask(&t, &x, 1, 3 * MS, 0, 1, T0 + 2 * MS - 2), T0 + 5 * MS - 2);
	CHECK_EQ(t.pause, COZBPF_PAUSE_ASKED);
}

#define QUANTUM (200 * US)

/* A signal is delivered @at; the programs decide so (bpf/pause.bpf.c). Returns whether the next one
 * is sent. */
static int deliver_quantum(struct cozbpf_thread *t, __u64 at)
{
	int more = delay_owes_quantum(t, QUANTUM, at + QUANTUM);

	delay_on_quantum(t, &x, more, at + QUANTUM, at);
	return more;
}

/* A pause is as many quanta as come nearest to the debt, and L has what was stood still for. */
TEST(quanta_of_a_pause)
{
	static const struct {
		__u64 debt;
		unsigned signals;
	} pauses[] = {{200 * US, 1}, {290 * US, 1}, {310 * US, 2}, {1000 * US, 5}, {9950 * US, 50}};

	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		struct cozbpf_thread t;
		__u64 now = T0 + MS;
		unsigned signals = 0;

		open(50);
		x.required = 20 * MS;
		x.expires_ns = T0 + 1000 * MS;
		t = thread(0, 0);
		t.account.run_since = now;
		CHECK(delay_on_ask(&t, &x, 0, pauses[i].debt, 0, 1, now));
		now += US; /* the way into the handler */
		while (deliver_quantum(&t, now)) {
			now += QUANTUM + US; /* and from one signal to the next */
			CHECK_EQ(delay_on_interrupt(&t, &x, now - QUANTUM / 2), 1);
			CHECK_EQ(delay_on_interrupt(&t, &x, now), 1); /* between two of them */
			signals++;
		}
		now += QUANTUM;
		CHECK_EQ(++signals, pauses[i].signals);
		CHECK(x.pause_horizon >= now);
		CHECK_EQ(delay_on_interrupt(&t, &x, now), 0);
		CHECK_EQ(t.pause, COZBPF_PAUSE_NONE);
		CHECK_EQ(t.account.paid, now - T0 - MS);
	}
}

/* A signal that comes when its pause has been withdrawn holds the CPU as well. What ran before was
 * executed, and earns. */
TEST(quantum_out_of_season)
{
	struct cozbpf_thread t;

	open(50);
	x.required = 20 * MS;
	t = thread(0, COZBPF_SHARE_ONE);
	t.account.run_since = T0;
	t.aside = 77;
	CHECK_EQ(deliver_quantum(&t, T0 + MS), 0);
	CHECK_EQ(t.account.paid, MS / 2);
	CHECK_EQ(delay_on_interrupt(&t, &x, T0 + MS + QUANTUM), 0);
	CHECK_EQ(t.account.paid, MS / 2 + QUANTUM);
}

/* The last signal was held up, so the pause seems to be over: it goes on by one quantum. */
TEST(quantum_too_late)
{
	struct cozbpf_thread t;

	open(50);
	x.required = 20 * MS;
	x.expires_ns = T0 + 1000 * MS;
	t = thread(0, 0);
	t.account.run_since = T0;
	CHECK(delay_on_ask(&t, &x, 0, 2 * QUANTUM, 0, 1, T0));
	CHECK_EQ(deliver_quantum(&t, T0), 1);
	CHECK_EQ(deliver_quantum(&t, T0 + 3 * QUANTUM), 0);
	CHECK_EQ(delay_on_interrupt(&t, &x, T0 + 4 * QUANTUM), 0);
	CHECK_EQ(t.account.paid, 3 * QUANTUM);
	/* no more than was asked for, and the quantum */
	CHECK_EQ(t.account.carry, 0);
}
