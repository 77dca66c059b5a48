/* SPDX-License-Identifier: BSD-3-Clause */
/* Busy waiting: what a spinner is credited with, who let it go on, and when; delay_spin.h. */
#include "delay_fixture.h"

#define PLACE 3
#define TURN 500 /* ns: a turn of a loop with a probe in it */

static struct cozbpf_earner earners[2];

static void open_two(__u32 pct)
{
	open(pct);
	memset(earners, 0, sizeof(earners));
	earners[0].number = 1;
	earners[1].number = 2;
}

/* The thread spins on the first CPU from @from to @to; the thread on the second one leads. */
static void spin(struct cozbpf_thread *t, __u64 from, __u64 to)
{
	for (__u64 now = from; now <= to; now += TURN)
		delay_on_spin(t, &x, &earners[0], &earners[1], PLACE, now);
}

/* Whoever spins takes over what the others have earned meanwhile, and not more than it has spun. */
TEST(spinning_is_waiting)
{
	struct cozbpf_thread t, leader;

	open_two(50);
	t = thread(0, 0);
	leader = thread(0, COZBPF_SHARE_ONE);
	delay_show(&earners[1], &leader.account);
	spin(&t, T0, T0 + 2 * MS);
	CHECK_NEAR(t.account.paid, MS, US);
	CHECK_EQ(x.required, t.account.paid); /* LEADER_SPIN: the leader was not looked at */
	CHECK_EQ(earners[0].spun_ns, 2 * MS);
	/* What it owed before, it pays by spinning as well. */
	open_two(50);
	t = thread(0, 0);
	x.required = 5 * MS;
	spin(&t, T0, T0 + 2 * MS);
	CHECK_EQ(t.account.paid, 2 * MS);
	CHECK_EQ(x.required, 5 * MS);
}

/* SPIN_WHOLE: R was raised late, by what another node has told. A stretch ends with the spinning.
 */
TEST(spun_before_it_was_known)
{
	struct cozbpf_thread t;

	open_two(50);
	x.has_peers = 1;
	t = thread(0, 0);
	spin(&t, T0, T0 + 2 * MS);
	CHECK_EQ(t.account.paid, 0);
	x.required = MS;
	spin(&t, T0 + 2 * MS + TURN, T0 + 2 * MS + TURN);
	CHECK_EQ(t.account.paid, MS);
	x.required = 3 * MS;
	spin(&t, T0 + 2 * MS + 2 * TURN, T0 + 2 * MS + 2 * TURN);
	CHECK_EQ(t.account.paid, 2 * MS + 2 * TURN);
	x.required = 9 * MS;
	spin(&t, T0 + 4 * MS, T0 + 4 * MS + 2 * TURN);
	CHECK_EQ(t.account.paid, 2 * MS + 4 * TURN);
	/* Where R is this machine's alone it is known in time. */
	open_two(50);
	t = thread(0, 0);
	spin(&t, T0, T0 + 2 * MS);
	x.required = MS;
	spin(&t, T0 + 2 * MS + TURN, T0 + 2 * MS + TURN);
	CHECK_EQ(t.account.paid, TURN);
}

static int receive(struct cozbpf_thread *t, __u64 paid, __u64 at, __u64 now)
{
	return delay_on_receive(t, &x, &earners[0], paid, at, now);
}

/* JOIN_PEER of who polls: at most what it has spun, and at most the sender's clock, which goes on
 * from when the data came. */
TEST(polls_for_data_of_a_peer)
{
	struct cozbpf_thread t;

	open_two(100);
	x.has_peers = 1;
	t = thread(0, 0);
	CHECK_EQ(receive(&t, 0, T0, T0 + MS), 0); /* it did not spin */
	x.required = 9 * MS;
	t = thread(0, 0);
	spin(&t, T0, T0 + 2 * MS);
	CHECK_EQ(t.account.paid, 2 * MS);
	CHECK_EQ(receive(&t, 9 * MS, T0 + 2 * MS, T0 + 2 * MS + US), 1);
	CHECK_EQ(t.account.paid, 2 * MS + US);
	/* the sender is behind: its debt comes with the data */
	t = thread(0, 0);
	spin(&t, T0, T0 + 2 * MS);
	CHECK_EQ(receive(&t, MS, T0 + 2 * MS, T0 + 2 * MS + US), 1);
	CHECK_EQ(t.account.paid, MS + US);
	/* what was spun before does not count again */
	spin(&t, T0 + 2 * MS + 2 * US, T0 + 2 * MS + 2 * US);
	CHECK_EQ(t.account.paid, MS + 2 * US);
	/* it was there long before it was taken */
	t = thread(0, 0);
	spin(&t, T0, T0 + 2 * MS);
	CHECK_EQ(receive(&t, MS, T0, T0 + 2 * MS + US), 1);
	CHECK_EQ(t.account.paid, 2 * MS + US);
}

/* It earns nothing, and no sample in it tells what it executes, or asks for a pause. */
TEST(samples_of_a_spinner)
{
	struct cozbpf_thread t;
	__u32 samples;

	open_two(50);
	t = thread(0, COZBPF_SHARE_ONE);
	x.required = 100 * MS;
	samples = t.account.ring_next;
	spin(&t, T0 + MS, T0 + 2 * MS);
	CHECK_NEAR(t.account.paid, MS / 2 + MS, 0); /* executed in the line for 1 ms, then spun */
	CHECK_EQ(delay_on_spinning_sample(&t, &x, &cpu, &earners[0], T0 + 2 * MS + 5 * US), 1);
	CHECK_EQ(t.account.ring_next, samples);
	CHECK_NEAR(t.account.paid, MS / 2 + MS + 5 * US, 0);
	/* Later than a turn of any loop it has gone on, and is a thread like others. */
	CHECK_EQ(delay_on_spinning_sample(&t, &x, &cpu, &earners[0], T0 + 3 * MS), 0);
	CHECK(delay_on_sample(&t, &x, &cpu, LINE, T0 + 3 * MS, 50 * US) > 0);
	CHECK_EQ(t.account.ring_next, samples + 1);
}

/* Between experiments and in a baseline nobody owes, so spinning gives nothing. */
TEST(nothing_owed)
{
	struct cozbpf_thread t;

	open_two(0);
	t = thread(0, 0);
	spin(&t, T0, T0 + MS);
	CHECK_EQ(t.account.paid, 0);
	open_two(50);
	x.active = 0;
	x.required = 5 * MS;
	t = thread(0, 0);
	spin(&t, T0, T0 + MS);
	CHECK_EQ(t.account.paid, 0);
}

/* When the spinner has gone on, the segment of the thread that it spun for has ended there, and was
 * credited with that segment's share. */
TEST(release_is_an_edge)
{
	struct cozbpf_thread t, leader;
	__u64 went_on = T0 + MS;

	open_two(100);
	t = thread(0, 0);
	leader = thread(0, COZBPF_SHARE_ONE);
	leader.account.segment_weight[2 * PLACE + 1] = MS; /* after it: never in the line */
	delay_show(&earners[1], &leader.account);
	spin(&t, T0, went_on);
	/* Seen to spin a moment ago: nothing has ended. */
	delay_released(&leader, &x, &earners[1], &earners[0], went_on + US);
	CHECK_EQ(leader.account.segment, 0);
	delay_released(&leader, &x, &earners[1], &earners[0], went_on + MS);
	CHECK_EQ(leader.account.segment, 2 * PLACE + 1);
	CHECK_EQ(leader.account.paid, MS);
	delay_credit(&leader.account, &x, went_on + MS);
	CHECK_EQ(leader.account.paid, MS);
	/* Once. */
	delay_segment(&leader.account, 0);
	delay_released(&leader, &x, &earners[1], &earners[0], went_on + 2 * MS);
	CHECK_EQ(leader.account.segment, 0);
}

/* A spinner of the experiment before says nothing in this one, whoever looks first. */
TEST(release_of_the_experiment_before)
{
	struct cozbpf_thread t, leader;

	open_two(100);
	t = thread(0, 0);
	leader = thread(0, COZBPF_SHARE_ONE);
	delay_show(&earners[1], &leader.account);
	spin(&t, T0, T0 + MS);
	x.epoch++;
	x.opened_ns = T0 + 5 * MS;
	x.required = 0;
	delay_released(&leader, &x, &earners[1], &earners[0], T0 + 6 * MS);
	CHECK_EQ(leader.account.segment, 0);
	CHECK_EQ(x.required, 0);
	delay_credit(&leader.account, &x, T0 + 6 * MS);
	CHECK_EQ(x.required, MS);
}

/* A thread that spins, has no CPU, or is of an experiment before shows nothing. */
TEST(who_leads)
{
	struct cozbpf_thread t;

	open_two(50);
	t = thread(3 * MS, COZBPF_SHARE_ONE);
	delay_show(&earners[1], &t.account);
	CHECK_EQ(delay_shown(&earners[1], &x, T0 + 2 * MS), 4 * MS);
	x.active = 0;
	CHECK_EQ(delay_shown(&earners[1], &x, T0 + 2 * MS), 0);
	x.active = 1;
	x.epoch++;
	CHECK_EQ(delay_shown(&earners[1], &x, T0 + 2 * MS), 0);
	x.epoch--;
	delay_show(&earners[1], NULL);
	CHECK_EQ(delay_shown(&earners[1], &x, T0 + 2 * MS), 0);
	t.account.spun_at = T0 + 2 * MS - US;
	delay_show(&earners[1], &t.account);
	CHECK_EQ(delay_shown(&earners[1], &x, T0 + 2 * MS), 0);
}
