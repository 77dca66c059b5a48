/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread's samples tell about its share f, and who is excused from paying: the forecast from
 * the last sample, its correction by the next, the weight of samples, periodic timers. Exact where
 * it says EQ: what is rounded is rounded down at each step.
 */
#include "delay_fixture.h"

/* A thread that has been sampled @n times a millisecond apart, in the line where @in(i) says so. */
static struct cozbpf_thread sampled(int n, int (*in)(int i))
{
	struct cozbpf_thread t = thread(0, 0);

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

/* Samples that alternate tell that stretches are shorter than the period: the share of all of them
 * is the best guess. */
TEST(no_forecast_without_persistence)
{
	struct cozbpf_thread t;

	open(0);
	t = sampled(64, alternating);
	CHECK_EQ(t.account.persistence, 0);
	CHECK_NEAR(t.account.share, COZBPF_SHARE_ONE * 15.5 / 31.5,
	    2); /* the last sample weighs half, and is one of 16 in the line */
	t = sampled(64, always);
	CHECK_EQ(t.account.persistence, 0);
	CHECK_EQ(t.account.share, COZBPF_SHARE_ONE);
}

/* By hand, in 1 / 65536: agree = equal pairs / pairs, chance = (hits^2 + misses^2) / 1024, r =
 * (agree - chance) / (1 - chance). */
TEST(persistence_is_agreement_beyond_chance)
{
	static const struct {
		__u32 hit_bits, edge_bits, persistence;
	} cases[] = {
	    {0x0000ffff, 0, 61306}, /* 30 of 31: (63421 - 32768) / (65536 - 32768) */
	    {0x0000ffff, 1 << 15,
		65535}, /* the change fell on an edge and the other 30 agree: one short of 1 */
	    {0x00ff00ff, 0, 52850},                /* 28 of 31: (59193 - 32768) / 32768 */
	    {0x00ff00ff, 1 << 7 | 1 << 15, 61016}, /* 28 of 29: (63276 - 32768) / 32768 */
	    {0x80000000, 0, 30604}, /* the oldest has no sample before it: 30 of 31, (63421 - 61568)
				       / (65536 - 61568) */
	    {0x0f0f0f0f, 0xffffff00, 32768}, /* 6 of 8: (49152 - 32768) / 32768 */
	    {0xffff0000, 0xffffff00, 65535}, /* 8 of 8 */
	    {0xffff0000, 0xffffffff, 0},     /* no pairs */
	    {0x55555555, 0, 0},              /* less than by chance */
	    {0, 0, 0},
	    {0xffffffff, 0, 0},
	};
	struct cozbpf_thread t = {.account.ring_used = COZBPF_RING};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		t.account.hit_bits = cases[i].hit_bits;
		t.account.edge_bits = cases[i].edge_bits;
		CHECK_EQ(delay_persistence(&t.account), cases[i].persistence);
	}
	t = (struct cozbpf_thread){.account = {.ring_used = COZBPF_RING - 1, .hit_bits = 0xffff}};
	CHECK_EQ(delay_persistence(&t.account), 0);
}

/* Runs of eight. The last of 64 samples has half a weight and was in the line: p = 15.5 / 31.5; 28
 * of 31 pairs agree: r = 2 x 28 / 31 - 1. */
TEST(forecast_follows_the_last_sample)
{
	struct cozbpf_thread t;

	open(0);
	t = sampled(64, in_runs_of_eight);
	CHECK_EQ(t.account.hit_bits, 0x00ff00ff);
	CHECK_EQ(t.account.persistence, 52850);
	CHECK_NEAR(
	    t.account.share, COZBPF_SHARE_ONE * (15.5 / 31.5 + 25 / 31.0 * (1 - 15.5 / 31.5)), 3);
	t = sampled(65, in_runs_of_eight); /* the one after is not: another change, and all 16 in
					      the line weigh 1 */
	CHECK_EQ(t.account.persistence, 48622);
	CHECK_NEAR(t.account.share, COZBPF_SHARE_ONE * (16 / 31.5) * (1 - 23 / 31.0), 3);
	/* the forecast is for as long as the thread meets nobody */
	delay_segment(&t.account, 0);
	CHECK_NEAR(t.account.share, COZBPF_SHARE_ONE * 16 / 31.5, 2);
}

/* Both ends of the range: no persistence, and what comes nearest to 1. */
TEST(forecast_is_a_share)
{
	struct cozbpf_thread t;

	open(0);
	for (__u32 share = 0; share <= COZBPF_SHARE_ONE; share += COZBPF_SHARE_ONE / 8) {
		t = thread(0, share);
		delay_forecast(&t.account);
		CHECK_EQ(t.account.share, share);
		t.account.persistence = COZBPF_SHARE_ONE - 1;
		delay_forecast(&t.account); /* no sample yet, or an edge since */
		CHECK_EQ(t.account.share, share);
		t.account.last_valid = 1;
		delay_forecast(&t.account); /* 0 but for p / 65536 */
		CHECK_EQ(t.account.share, share / COZBPF_SHARE_ONE);
		t.account.last_hit = 1;
		delay_forecast(&t.account);
		CHECK_EQ(t.account.share,
		    share < COZBPF_SHARE_ONE ? COZBPF_SHARE_ONE - 1 : COZBPF_SHARE_ONE);
	}
}

/* A new experiment: bits and persistence are those of the new line, and there is no sample before.
 */
TEST(forecast_over_an_epoch)
{
	struct cozbpf_thread t;

	open(100);
	t = sampled(64, in_runs_of_eight);
	open_at(2, 100, T0 + 64 * MS);
	x.line = 1;
	delay_enter(&t, &x);
	CHECK_EQ(t.account.hit_bits, 0xff00ff00);
	CHECK_EQ(t.account.persistence, 52850);
	CHECK_NEAR(t.account.share, COZBPF_SHARE_ONE * 16 / 31.5, 2);
	delay_credit(&t.account, &x, T0 + 65 * MS);
	CHECK_NEAR((double)t.account.paid, 16e6 / 31.5, 32);
	delay_sample(&t, &x, LINE, T0 + 65 * MS, 0);
	CHECK_NEAR((double)t.account.paid, 16e6 / 31.5, 32); /* and nothing to put right */
	open_at(3, 100, T0 + 65 * MS);
	x.line = 99;
	delay_enter(&t, &x);
	CHECK_EQ(t.account.hit_bits, 0);
	CHECK_EQ(t.account.persistence, 0);
}

/* Of a line, of a function with its lines, and of a couple. Ids go round at 2^32. */
TEST(what_is_selected)
{
	static const struct {
		__u32 line, n_lines, other, n_others, in[3], out[4];
	} cases[] = {{7, 1, 0, 0, {7, 7, 7}, {0, 6, 8, COZBPF_NO_SAMPLE}},
	    {7, 3, 0, 0, {7, 8, 9}, {0, 6, 10, COZBPF_NO_SAMPLE}},
	    {7, 1, 3, 1, {7, 3, 3}, {0, 2, 4, 6}}, {7, 1, 9, 1, {7, 9, 9}, {6, 8, 10, 0}},
	    {7, 2, 20, 3, {8, 20, 22}, {9, 19, 23, 0}}, {20, 3, 7, 2, {8, 20, 22}, {9, 19, 23, 0}},
	    {0, 0, 0, 0, {0}, {0, 1, 7, COZBPF_NO_SAMPLE}},
	    {1, 1, 0x7fffffff, 2, {1, 0x7fffffff, 0x80000000}, {0, 2, 0x7ffffffe, 0x80000001}},
	    {1, 0x80000000, 0xfffffffe, 1, {1, 0x80000000, 0xfffffffe},
		{0, 0x80000001, 0xfffffffd, 0xffffffff}}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cozbpf_control c = {.line = cases[i].line,
		    .n_lines = cases[i].n_lines,
		    .other = cases[i].other,
		    .n_others = cases[i].n_others};

		for (size_t k = 0; k < 3 && c.n_lines; k++)
			CHECK_EQ(delay_is_selected(&c, cases[i].in[k]), 1);
		for (size_t k = 0; k < 4; k++)
			CHECK_EQ(delay_is_selected(&c, cases[i].out[k]), 0);
	}
}

/* What is earned by one line of a function and another one, in turns, a couple's lines earn. */
TEST(both_lines_of_a_couple_earn)
{
	struct cozbpf_thread t[2];
	__u64 required[2];

	for (__u32 couple = 0; couple < 2; couple++) {
		__u32 turns[] = {LINE, couple ? 3 : LINE + 1, 9, 9};

		open(50);
		x.n_lines = couple ? 1 : 2;
		x.other = 3;
		x.n_others = couple;
		t[couple] = thread(0, HALF);
		for (__u64 i = 1; i <= 64; i++)
			delay_sample(&t[couple], &x, turns[i % 4], T0 + i * MS, 0);
		required[couple] = x.required;
	}
	CHECK_EQ(t[0].account.hit_bits, 0x99999999);
	CHECK_EQ(t[1].account.hit_bits, 0x99999999);
	CHECK_EQ(t[1].account.ring_hits, t[0].account.ring_hits);
	CHECK(required[0] > 10 * MS);
	CHECK_EQ(required[1], required[0]);
}

/*
 * From outside into the line: half of the millisecond was in it, of which 1 - r had been guessed
 * already, and so the other way round. L is put right by s x r / 2 of the millisecond, r being that
 * of the sample before. Somebody else is far ahead, so R stays.
 */
TEST(next_sample_corrects_the_credit)
{
	struct cozbpf_thread t;
	__u64 before;

	open(50);
	t = sampled(65, in_runs_of_eight); /* r is 48622 */
	x.required = 200 * MS;
	delay_credit(&t.account, &x, T0 + 66 * MS);
	before = t.account.paid;
	delay_sample(&t, &x, LINE, T0 + 66 * MS, 0);
	CHECK_EQ(t.account.paid - before, 741912 / 4);
	/* 17 of 32 in the line, 26 of 31 agree: (54965 - 32896) / (65536 - 32896) */
	CHECK_EQ(t.account.persistence, 44311);
	x.speedup_pct = 100;
	delay_credit(&t.account, &x, T0 + 67 * MS);
	before = t.account.paid;
	delay_sample(&t, &x, 1, T0 + 67 * MS, 0);
	CHECK_EQ(before - t.account.paid, 676132 / 2);
	CHECK_EQ(x.required, 200 * MS);
	/* the same again tells nothing new */
	delay_credit(&t.account, &x, T0 + 68 * MS);
	before = t.account.paid;
	delay_sample(&t, &x, 1, T0 + 68 * MS, 0);
	CHECK_EQ(t.account.paid, before);
	/* across an edge the two samples speak of different stretches */
	delay_segment(&t.account, 0);
	delay_credit(&t.account, &x, T0 + 69 * MS);
	before = t.account.paid;
	delay_sample(&t, &x, LINE, T0 + 69 * MS, 0);
	CHECK_EQ(t.account.paid, before);
	CHECK_EQ(t.account.edge_bits & 7, 1);
}

/* What is put right takes R with it when it passes it, stops at 0, and waits for an experiment. */
TEST(limits_of_the_correction)
{
	struct cozbpf_thread t;

	open(100);
	t = thread(3 * MS, 0);
	t.account.persistence = HALF, t.account.last_valid = 1, t.account.unsampled = 8 * MS;
	x.required = 4 * MS;
	delay_correct(&t.account, &x, LINE);
	CHECK_EQ(t.account.paid, 5 * MS);
	CHECK_EQ(x.required, 5 * MS);
	t.account.last_hit = 1;
	delay_correct(&t.account, &x, 1);
	CHECK_EQ(t.account.paid, 3 * MS);
	CHECK_EQ(x.required, 5 * MS);
	t.account.paid = 2 * MS - 1;
	delay_correct(&t.account, &x, 1);
	CHECK_EQ(t.account.paid, 0);
	t.account.paid = 3 * MS;
	x.active = 0;
	delay_correct(&t.account, &x, 1);
	CHECK_EQ(t.account.paid, 3 * MS);
}

/* Half of the time before and half of the time after: 1 ms and 3 ms around the middle one make 2
 * ms. */
TEST(samples_weigh_both_sides)
{
	struct cozbpf_thread t = {.account = {.epoch = 1, .run_since = T0}, .member = 1};

	open(0);
	delay_sample(&t, &x, 1, T0 + 1 * MS, 0);
	delay_sample(&t, &x, LINE, T0 + 2 * MS, 0);
	delay_sample(&t, &x, 1, T0 + 5 * MS, 0);
	CHECK_EQ(t.account.ring[0].weight_ns, MS);
	CHECK_EQ(t.account.ring_hits, 2 * MS);
	CHECK_EQ(t.account.ring_weight, 4500 * US);
}

/* A timer's wake-ups at these times after T0, in us; the last one makes the thread paced or not. */
static __u32 paced_after(const __s64 *at_us, int n)
{
	struct cozbpf_thread t = thread(0, 0);

	for (int i = 0; i < n; i++)
		delay_timer_wake(
		    &t, &x, T0 + (__u64)(at_us[i] * 1000), T0 + (__u64)(at_us[i] * 1000));
	CHECK_EQ(t.timer_at, T0 + (__u64)(at_us[n - 1] * 1000));
	CHECK_EQ(t.account.paid, 0);
	return delay_is_fed(&t.account);
}

#define PACED_AFTER(...) \
	paced_after(     \
	    (const __s64[]){__VA_ARGS__}, sizeof((const __s64[]){__VA_ARGS__}) / sizeof(__s64))

TEST(equal_expiries_are_a_pace_from_outside)
{
	const __s64 year_2026 = 1774000000000000, hour = 3600000000;

	open(100);
	CHECK_EQ(PACED_AFTER(10000, 20000), 0);
	CHECK_EQ(PACED_AFTER(10000, 20000, 30000), 1);
	CHECK_EQ(PACED_AFTER(10000, 20000, 50000), 1); /* one missed */
	CHECK_EQ(PACED_AFTER(10000, 20000, 50000, 60000), 1);
	CHECK_EQ(PACED_AFTER(10000, 20000, 25000), 0);
	CHECK_EQ(PACED_AFTER(10000, 20000, 30000, 40001), 0);
	CHECK_EQ(
	    PACED_AFTER(10000, 20000, 30000, 40001, 50001), 0); /* a distance has to come twice */
	CHECK_EQ(PACED_AFTER(10000, 20000, 30000, 40001, 50001, 60001), 1);
	CHECK_EQ(PACED_AFTER(10000, 20000, 20000),
	    0); /* the same expiry is no distance, and forgets none */
	CHECK_EQ(PACED_AFTER(10000, 20000, 20000, 30000), 1);
	CHECK_EQ(PACED_AFTER(10000, 20000, 30000, 30000), 1);
	CHECK_EQ(PACED_AFTER(10000, 30000, 40000), 0); /* missed before its distance was known */
	CHECK_EQ(PACED_AFTER(10000, 30000, 40000, 50000), 1);
	/* another clock, and that one set back: learns anew */
	CHECK_EQ(PACED_AFTER(10000, 20000, 30000, year_2026 + 1), 0);
	CHECK_EQ(PACED_AFTER(10000, 20000, 30000, year_2026 + 1, year_2026 + 10001), 0);
	CHECK_EQ(
	    PACED_AFTER(10000, 20000, 30000, year_2026 + 1, year_2026 + 10001, year_2026 + 20001),
	    1);
	CHECK_EQ(
	    PACED_AFTER(year_2026, year_2026 + 10000, year_2026 + 20000, year_2026 + 29999 - hour),
	    0);
	CHECK_EQ(PACED_AFTER(year_2026, year_2026 + 10000, year_2026 - hour - 1,
		     year_2026 - hour + 9999, year_2026 - hour + 19999),
	    1);
	/* so short that almost any distance is a multiple of it */
	CHECK_EQ(PACED_AFTER(0, 10, 20), 1);
	CHECK_EQ(PACED_AFTER(0, 9, 18), 0);
}

/* A thread that gets the number of one that has ended has not its timer. */
TEST(a_pace_ends_with_its_thread)
{
	struct cozbpf_thread timer = thread(0, 0), heir = timer, fed = timer;

	open(100);
	timer.number = heir.number = 5;
	for (__u64 at = T0; at <= T0 + 20 * MS; at += 10 * MS)
		delay_timer_wake(&timer, &x, at, at);
	CHECK_EQ(timer.account.paced, COZBPF_PACED);
	delay_on_exit(&timer, &x, T0 + 21 * MS);
	heir.account.paced = COZBPF_PACED_ASKS;
	heir.account.pace_phase = heir.number;
	heir.account.pace_ns = T0 + 30 * MS;
	delay_wake(&fed, &heir, &x, T0 + 30 * MS);
	delay_sample(&fed, &x, 0, T0 + 31 * MS, 0);
	CHECK(!delay_is_fed(&fed.account));
}

/* Threads that the timer's thread wakes, before a third expiry tells that it is periodic. */
TEST(a_pace_is_learnt_when_it_is_told)
{
	struct cozbpf_thread timer = thread(0, 0), fed = thread(0, 0), other = fed, next = fed;

	open(100);
	timer.number = 5;
	/* An expiry that is none of the periodic timer's. */
	delay_timer_wake(&timer, &x, T0 + 7 * MS, T0 + 7 * MS);
	delay_wake(&other, &timer, &x, T0 + 7 * MS);
	delay_timer_wake(&timer, &x, T0 + 10 * MS, T0 + 10 * MS);
	delay_wake(&fed, &timer, &x, T0 + 10 * MS);
	delay_wake(&next, &fed, &x, T0 + 11 * MS);
	delay_timer_wake(&timer, &x, T0 + 20 * MS, T0 + 20 * MS);
	delay_sample(&fed, &x, 0, T0 + 21 * MS, 0);
	CHECK(!delay_is_fed(&fed.account) && !delay_is_fed(&timer.account));
	delay_timer_wake(&timer, &x, T0 + 30 * MS, T0 + 30 * MS);
	CHECK_EQ(timer.account.paced, COZBPF_PACED);
	x.required = MS;
	delay_sample(&fed, &x, 0, T0 + 31 * MS, 0);
	CHECK_EQ(fed.account.paced, COZBPF_PACED_LATE);
	CHECK_EQ(fed.account.pace_ns, 10 * MS);
	CHECK_EQ(fed.account.pace_phase, timer.account.pace_phase);
	CHECK_EQ(fed.account.paid, 0); /* it owes as before */
	delay_sample(&other, &x, 0, T0 + 31 * MS, 0);
	CHECK(!delay_is_fed(&other.account));
	/* Threads that wake each other would never get rid of what one was told. */
	delay_sample(&next, &x, 0, T0 + 31 * MS, 0);
	CHECK(!delay_is_fed(&next.account));
	/* Another distance: nobody learns the old one. */
	delay_timer_wake(&timer, &x, T0 + 45 * MS, T0 + 45 * MS);
	delay_wake(&fed, &timer, &x, T0 + 45 * MS);
	delay_sample(&fed, &x, 0, T0 + 46 * MS, 0);
	CHECK(!delay_is_fed(&fed.account));
}

/* Timers that are to fire at once expire at 0 or at 1 ns. */
TEST(expiries_long_ago)
{
	struct cozbpf_thread t = {.account.epoch = 1, .member = 1};

	open(100);
	delay_timer_wake(&t, &x, 0, T0);
	CHECK_EQ(t.timer_period, 0);
	delay_timer_wake(&t, &x, 1, T0);
	delay_timer_wake(&t, &x, T0 + 12345, T0);
	CHECK(!delay_is_fed(&t.account));
	delay_timer_wake(&t, &x, 1, T0);
	delay_timer_wake(&t, &x, 0, T0);
	delay_timer_wake(&t, &x, 1, T0);
	delay_timer_wake(&t, &x, T0 + 12345, T0);
	CHECK(!delay_is_fed(&t.account));
	delay_timer_wake(&t, &x, T0 + 12345 + MS, T0);
	delay_timer_wake(&t, &x, T0 + 12345 + 2 * MS, T0);
	CHECK_EQ(t.account.paced, COZBPF_PACED);
	delay_timer_wake(&t, &x, T0 + 12345 + 3 * MS + 1, T0); /* a nanosecond off */
	CHECK(!delay_is_fed(&t.account));
}

/* Who is paced owes nothing, and raises R by nothing; who is ahead stays so. */
TEST(paced_is_excused)
{
	struct cozbpf_thread t;

	open(100);
	t = thread(2 * MS, 0);
	t.account.carry = MS;
	x.required = 8 * MS;
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + MS, 0), 5 * MS);
	t.account.paced = COZBPF_PACED;
	t.account.pace_ns = t.account.paced_at = T0;
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + 2 * MS, 0), 0);
	CHECK_EQ(t.account.paid, 8 * MS);
	CHECK_EQ(x.required, 8 * MS);
	t.account.paid = 9 * MS;
	delay_debt(&t.account, &x, 0);
	CHECK_EQ(t.account.paid, 9 * MS);
	x.required = 11 * MS;
	x.active = 0;
	delay_sample(&t, &x, 1, T0 + 3 * MS, 0);
	CHECK_EQ(t.account.paid, 9 * MS);
}

/* A paced thread that has not waited for two periods is late: it owes from then on, and it hands
 * its pace on all the same. */
TEST(who_does_not_wait_for_the_pace_is_late)
{
	struct cozbpf_thread t, w;

	open(100);
	t = thread(0, 0);
	w = thread(0, 0);
	for (int i = 1; i <= 3; i++)
		delay_timer_wake(&w, &x, T0 + (__u64)i * 2 * MS + 7, T0);
	CHECK_EQ(w.account.paced, COZBPF_PACED);
	CHECK_EQ(w.account.pace_ns, 2 * MS);
	CHECK_EQ(w.account.pace_phase, (T0 + 7) % (2 * MS));
	delay_wake(&t, &w, &x, T0);
	t.account.run_since = T0;
	x.required = MS;
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + 4 * MS - 1, 0), 0);
	CHECK_EQ(t.account.paced, COZBPF_PACED);
	x.required = 2 * MS;
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + 4 * MS, 0), 0);
	CHECK_EQ(t.account.paced, COZBPF_PACED_LATE);
	CHECK_EQ(t.account.paid, 2 * MS);
	x.required = 3 * MS;
	CHECK_EQ(delay_sample(&t, &x, 1, T0 + 5 * MS, 0), MS);
	w = thread(0, 0);
	delay_wake(&w, &t, &x, T0 + 6 * MS);
	CHECK_EQ(w.account.paced, COZBPF_PACED_LATE);
	CHECK_EQ(w.account.pace_ns, 2 * MS);
	/* Its next wake-up paces it again. */
	w.account.paced = COZBPF_PACED;
	delay_wake(&t, &w, &x, T0 + 6 * MS);
	CHECK_EQ(t.account.paced, COZBPF_PACED);
	CHECK_EQ(t.account.paced_at, T0 + 6 * MS);
}

/* A device or another program that wakes a thread ends its pace. */
TEST(pace_ends_with_a_wake_from_outside)
{
	struct cozbpf_thread t = {.account.paced = 1};

	delay_on_wake(&t, DELAY_BY_OUTSIDE, NULL, 0, 0, &x, T0);
	CHECK_EQ(t.account.paced, 0);
}

/* Who is woken by a paced thread is paced, and who is woken by another is not; a pause's end is no
 * wake-up of the program. */
TEST(pace_is_handed_on)
{
	struct cozbpf_thread t, w;

	open(50);
	t = thread(0, 0);
	w = thread(0, 0);
	w.account.paced = 1;
	t.blocked_at = T0;
	delay_wake(&t, &w, &x, T0 + MS);
	CHECK_EQ(t.account.paced, 1);
	w.account.paced = 0;
	t.pause = COZBPF_PAUSE_BEGUN;
	delay_wake(&t, &w, &x, T0 + 2 * MS);
	CHECK_EQ(t.account.paced, 1);
	delay_timer_wake(&t, &x, T0 + 2 * MS, T0);
	CHECK_EQ(t.account.paced, 1);
	CHECK_EQ(t.timer_at, 0);
	t.pause = COZBPF_PAUSE_NONE;
	delay_wake(&t, &w, &x, T0 + 3 * MS);
	CHECK_EQ(t.account.paced, 0);
}
