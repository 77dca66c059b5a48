/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread's samples tell about its share f, and who is excused from paying: the forecast from the last sample, its correction by the next,
 * the weight of samples, periodic timers. Exact, but for the rounding of fixed-point shares (1 / 65536 of what they multiply).
 */
#include "delay_fixture.h"

#define LINE 7

/* A thread that has been sampled @n times a millisecond apart, in the line where @in(i) says so. */
static struct cozbpf_thread sampled(int n, int (*in)(int i))
{
	struct cozbpf_thread t = thread(0, 0);

	x.line = LINE;
	t.run_since = T0;
	for (int i = 0; i < n; i++)
		delay_sample(&t, &x, in(i) ? LINE : 1, T0 + (__u64)(i + 1) * MS, 0);
	return t;
}

static int alternating(int i)
{
	return i & 1;
}

static int in_runs_of_eight(int i)
{
	return i >> 3 & 1;
}

static int always(int i)
{
	(void)i;
	return 1;
}

TEST(bits_are_counted)
{
	for (__u64 v = 0; v < 1ULL << 32; v += 0x1234567)
		CHECK_EQ(delay_count_bits((__u32)v), __builtin_popcount((__u32)v));
	CHECK_EQ(delay_count_bits(0xffffffff), 32);
	CHECK_EQ(delay_equal(5, 5), 1);
	CHECK_EQ(delay_equal(0, 0xffffffff), 0);
	CHECK_EQ(delay_equal(0xffffffff, 0xffffffff), 1);
}

/* Samples that alternate tell that stretches are shorter than the period: the share of all of them is the best guess. */
TEST(no_forecast_without_persistence)
{
	struct cozbpf_thread t;

	open(0);
	t = sampled(64, alternating);
	CHECK_EQ(t.persistence, 0);
	CHECK_NEAR(t.share / 65536.0, 0.5, 0.02);
	t = sampled(64, always);
	CHECK_EQ(t.share, COZBPF_SHARE_ONE);
}

/* Runs of eight: neighbours agree 28 or 27 times of 31, chance is 1/2, so r is (27.5 / 31 - 1/2) * 2, give or take one run's end. */
TEST(forecast_follows_the_last_sample)
{
	struct cozbpf_thread t;

	open(0);
	t = sampled(64, in_runs_of_eight); /* the last eight were in the line */
	CHECK_NEAR(t.persistence / 65536.0, 0.775, 0.04);
	CHECK_NEAR(t.share / 65536.0, 0.5 + 0.775 * 0.5, 0.03);
	t = sampled(65, in_runs_of_eight); /* and the one after is not */
	CHECK_NEAR(t.share / 65536.0, 0.5 - 0.775 * 0.5, 0.04);
}

/* From outside into the line: half of the millisecond was in it, of which 1 - r had been guessed already. */
TEST(next_sample_corrects_the_credit)
{
	struct cozbpf_thread t;
	__u64 before;
	__u32 r;

	open(100);
	t = sampled(65, in_runs_of_eight);
	r = t.persistence;
	before = t.paid;
	x.required = before + 100 * MS; /* somebody else is far ahead, so R stays */
	delay_credit(&t, &x, T0 + 66 * MS);
	before = t.paid;
	delay_sample(&t, &x, LINE, T0 + 66 * MS, 0);
	CHECK_NEAR((double)(t.paid - before), 0.5e6 * r / 65536, 1e6 / 65536 + 1);
	before = t.paid;
	r = t.persistence;
	delay_credit(&t, &x, T0 + 67 * MS);
	before = t.paid;
	delay_sample(&t, &x, 1, T0 + 67 * MS, 0);
	CHECK_NEAR((double)(before - t.paid), 0.5e6 * r / 65536, 1e6 / 65536 + 1);
	/* across an edge the two samples speak of different stretches */
	t.last_valid = 0;
	before = t.paid;
	delay_credit(&t, &x, T0 + 68 * MS);
	before = t.paid;
	delay_sample(&t, &x, LINE, T0 + 68 * MS, 0);
	CHECK_EQ(t.paid, before);
}

/* Half of the time before and half of the time after: 1 ms and 3 ms around the middle one make 2 ms. */
TEST(samples_weigh_both_sides)
{
	struct cozbpf_thread t = thread(0, 0);

	open(0);
	x.line = LINE;
	t.epoch = x.epoch;
	t.run_since = T0;
	delay_sample(&t, &x, 1, T0 + 1 * MS, 0);
	delay_sample(&t, &x, LINE, T0 + 2 * MS, 0);
	delay_sample(&t, &x, 1, T0 + 5 * MS, 0);
	CHECK_EQ(t.ring_hits, 2 * MS);
	CHECK_EQ(t.ring_weight, 4500 * US);
}

TEST(equal_expiries_are_a_pace_from_outside)
{
	struct cozbpf_thread t;

	open(100);
	t = thread(0, 0);
	x.required = 8 * MS;
	for (int i = 1; i <= 2; i++) {
		delay_timer_wake(&t, &x, T0 + (__u64)i * 10 * MS);
		CHECK_EQ(t.paced, 0);
	}
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + 21 * MS, 0), 8 * MS);
	delay_timer_wake(&t, &x, T0 + 30 * MS);
	CHECK_EQ(t.paced, 1);
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + 31 * MS, 0), 0);
	CHECK_EQ(t.paid, x.required);
	delay_timer_wake(&t, &x, T0 + 50 * MS); /* one period missed */
	CHECK_EQ(t.paced, 1);
	delay_timer_wake(&t, &x, T0 + 60 * MS + 1);
	CHECK_EQ(t.paced, 0);
}

/* Who is woken by a paced thread is paced, and who is woken by another is not. */
TEST(pace_is_handed_on)
{
	struct cozbpf_thread t, w;

	open(50);
	t = thread(0, 0);
	w = thread(0, 0);
	w.paced = 1;
	t.blocked_at = T0;
	delay_wake(&t, &w, &x, T0 + MS);
	CHECK_EQ(t.paced, 1);
	w.paced = 0;
	delay_wake(&t, &w, &x, T0 + 2 * MS);
	CHECK_EQ(t.paced, 0);
}
