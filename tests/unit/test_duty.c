// SPDX-License-Identifier: BSD-3-Clause
/*
 * Days of `--duty` by a clock that the test turns: the share, the guard, and the moments. Seeds are
 * fixed, so nothing here is left to chance. Bounds on moments are what one day in 10,000 would
 * exceed.
 */
#include <math.h>

#include "check.h"
#include "core/experiment/duty.h"

#define SECOND 1000000000ULL
#define DAY (86400 * SECOND)
#define MOST_SERIES 20000

struct series {
	uint64_t began, ended;
};

struct day {
	struct duty duty;
	struct series all[MOST_SERIES];
	size_t n;
	/* how long series took while the guard would have said no */
	uint64_t against_ns;
};

/* Answers at once, and while a series runs once in a second. */
static bool always(uint64_t now)
{
	(void)now;
	return true;
}

/* No for 20 s of each 90 s. */
static bool busy_at_times(uint64_t now)
{
	return now / SECOND % 90 >= 20;
}

static bool never(uint64_t now)
{
	(void)now;
	return false;
}

/* A whole series, from when it begins. Returns when it is over. */
static uint64_t work(struct day *d, bool (*guard)(uint64_t), uint64_t now, uint64_t overrun)
{
	uint64_t due, next;
	enum duty_guard may = DUTY_GUARD_YES;

	d->all[d->n].began = now;
	while (duty_step(&d->duty, may, now, &due) == DUTY_WORKS) {
		next = now + SECOND < due ? now + SECOND : due;
		if (!guard(now))
			d->against_ns += next - now;
		now = next;
		may = guard(now) ? DUTY_GUARD_YES : DUTY_GUARD_NO;
	}
	now += d->duty.is_refused ? 0 : overrun;
	d->all[d->n++].ended = now;
	duty_ended(&d->duty, now);
	return now;
}

static void pass_day(
    struct day *d, double share, uint64_t seed, bool (*guard)(uint64_t), uint64_t overrun)
{
	uint64_t now = 5 * SECOND, end = now + DAY, due;

	memset(d, 0, sizeof(*d));
	duty_init(&d->duty, share, seed, now);
	while (now < end && d->n < MOST_SERIES) {
		switch (
		    duty_step(&d->duty, guard(now) ? DUTY_GUARD_YES : DUTY_GUARD_NO, now, &due)) {
		case DUTY_RESTS:
			CHECK(due > now);
			now = due;
			break;
		case DUTY_WORKS:
			now = work(d, guard, now, overrun);
			break;
		default:
			CHECK(false);
			return;
		}
	}
}

/* A day, and what may lie between its last stretch's end and a series in it. */
static void check_share(const struct day *d, double share)
{
	double day = (double)DAY, spent = (double)d->duty.spent_ns,
	       longest = (double)DUTY_SERIES_NS * 2;

	CHECK(spent <= share * day + longest);
	CHECK_EQ(d->duty.series, d->n);
}

static struct day day, other;

TEST(a_day_has_its_share)
{
	static const double shares[] = {0.001, 0.01, 0.1, 0.5};

	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		pass_day(&day, shares[i], 1 + i, always, 0);
		check_share(&day, shares[i]);
		/* and not less: all but the first and the last stretch are whole */
		CHECK((double)day.duty.spent_ns >=
		      shares[i] * (double)DAY - 2.0 * (double)DUTY_SERIES_NS);
		CHECK_EQ(day.duty.refusals, 0);
	}
}

/* In each stretch, not only in the whole: any three series in a row, which touch four stretches at
 * most, are spread over two of them at least. */
TEST(no_hour_has_more)
{
	pass_day(&day, 0.01, 7, always, 0);
	for (size_t i = 0; i + 2 < day.n; i++)
		CHECK(day.all[i + 2].began - day.all[i].began >= 500 * SECOND);
}

/* An experiment that is open is waited for: the stretch grows. */
TEST(overruns_are_paid_for)
{
	pass_day(&day, 0.01, 3, always, 4 * SECOND);
	check_share(&day, 0.01);
	CHECK((double)day.duty.spent_ns > 0.009 * (double)DAY);
}

TEST(guard_is_respected)
{
	size_t cut = 0;

	pass_day(&day, 0.01, 5, busy_at_times, 0);
	check_share(&day, 0.01);
	CHECK(day.duty.refusals > 20);
	/* A series that is refused gets another moment of its stretch: hardly any is lost. */
	CHECK(day.n > 150);
	for (size_t i = 0; i < day.n; i++) {
		CHECK(busy_at_times(day.all[i].began));
		cut += day.all[i].ended - day.all[i].began < DUTY_SERIES_NS;
	}
	/* What begins in the last 5 of 70 s is cut off, after a second at most. */
	CHECK(cut > 0 && cut < 40);
	CHECK(day.against_ns <= cut * SECOND);
	pass_day(&day, 0.01, 5, never, 0);
	CHECK_EQ(day.n, 0);
	CHECK_EQ(day.duty.spent_ns, 0);
	/* It is not asked all the time either. */
	CHECK(day.duty.refusals < 172 * 20);
}

/* How far moments lie in one phase of a period, as n R^2: of random ones one in 10,000 is above
 * 9.2 (Rayleigh's test). */
static double in_step(const struct day *d, double period_s)
{
	double x = 0, y = 0;

	for (size_t i = 0; i < d->n; i++) {
		double phase = fmod((double)d->all[i].began / 1e9, period_s) / period_s;

		x += cos(2 * M_PI * phase);
		y += sin(2 * M_PI * phase);
	}
	return (x * x + y * y) / (double)d->n;
}

TEST(moments_are_in_step_with_nothing)
{
	/* ticks and timers, cron, and the stretch itself with its parts */
	static const double periods[] = {0.01, 0.1, 1, 10, 60, 100, 125, 250, 500, 600, 3600};

	pass_day(&day, 0.01, 11, always, 0);
	CHECK_NEAR(day.n, 172.5, 0.5);
	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++)
		CHECK(in_step(&day, periods[i]) < 9.2);
}

/* Of 172 gaps of 500 s on average, differences of two uniform moments, an eighth each is below half
 * and above one and a half. */
TEST(gaps_differ)
{
	unsigned is_short = 0, is_long = 0;

	pass_day(&day, 0.01, 13, always, 0);
	for (size_t i = 0; i + 1 < day.n; i++) {
		uint64_t gap = day.all[i + 1].began - day.all[i].began;

		is_short += gap < 250 * SECOND;
		is_long += gap > 750 * SECOND;
	}
	CHECK_NEAR(is_short, 21.5, 17);
	CHECK_NEAR(is_long, 21.5, 17);
}

TEST(seed_decides)
{
	pass_day(&day, 0.01, 17, always, 0);
	pass_day(&other, 0.01, 17, always, 0);
	CHECK(!memcmp(day.all, other.all, sizeof(day.all)));
	pass_day(&other, 0.01, 18, always, 0);
	CHECK(day.all[0].began != other.all[0].began);
}

/* Who was stopped for hours does not make up for them. */
TEST(nothing_is_made_up_for)
{
	struct duty d;
	uint64_t due, now = SECOND;

	duty_init(&d, 0.01, 19, now);
	CHECK_EQ(duty_step(&d, DUTY_GUARD_OPEN, now, &due), DUTY_RESTS);
	now += DAY / 4;
	CHECK_EQ(duty_step(&d, DUTY_GUARD_OPEN, now, &due), DUTY_RESTS);
	CHECK(due >= now && due <= now + 495 * SECOND);
	CHECK_EQ(d.series, 0);
}

/* It has no answer yet: no series, and none at all when the stretch is over. */
TEST(guard_that_does_not_answer)
{
	struct duty d;
	uint64_t due, now;

	duty_init(&d, 0.01, 23, 0);
	duty_step(&d, DUTY_GUARD_OPEN, 0, &now);
	CHECK_EQ(duty_step(&d, DUTY_GUARD_OPEN, now, &due), DUTY_ASKS);
	CHECK_EQ(due, UINT64_MAX);
	CHECK_EQ(duty_step(&d, DUTY_GUARD_OPEN, 499 * SECOND, &due), DUTY_RESTS);
	CHECK(due >= 500 * SECOND);
	CHECK_EQ(d.series, 0);
}

/* Long experiments make long series, from the next stretch on. */
TEST(series_fit_experiments)
{
	struct duty d;
	uint64_t due, now;

	duty_init(&d, 0.01, 29, 0);
	duty_plan(&d, 8 * SECOND);
	duty_step(&d, DUTY_GUARD_YES, 0, &now);
	CHECK_EQ(duty_step(&d, DUTY_GUARD_YES, now, &due), DUTY_WORKS);
	CHECK_EQ(due, now + 5 * SECOND);
	CHECK_EQ(duty_step(&d, DUTY_GUARD_YES, due, &now), DUTY_ENDS);
	duty_ended(&d, due);
	CHECK_EQ(duty_step(&d, DUTY_GUARD_YES, due, &now), DUTY_RESTS);
	CHECK(now >= 500 * SECOND);
	CHECK_EQ(duty_step(&d, DUTY_GUARD_YES, now, &due), DUTY_WORKS);
	CHECK_EQ(due, now + 96 * SECOND);
}
