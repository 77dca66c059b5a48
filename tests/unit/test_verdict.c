/* SPDX-License-Identifier: BSD-3-Clause */
/* Which experiments of a simulated session count, why others do not, and what is made longer so
 * that it counts or fits. */
#include "check.h"
#include "session_fixture.h"

/* An experiment at 50 % that is disturbed by what the caller has done since begin_open(). */
static void check_spoilt(struct session *s, enum spoilt why)
{
	size_t records = s->n_records;
	uint64_t before = s->x.verdicts.spoilt_by[why], dropped = s->x.dropped;

	CHECK(session_until(s, EXPERIMENT_CLOSE));
	CHECK_EQ(s->n_records, records);
	CHECK_EQ(s->x.verdicts.spoilt_by[why], before + 1);
	CHECK_EQ(s->x.dropped, dropped + 1);
	s->next = (struct snapshot){0};
	/* The next one counts. */
	CHECK(session_until(s, EXPERIMENT_CLOSE));
	CHECK_EQ(s->n_records, records + 1);
}

TEST(spoilt_by_a_stop)
{
	static struct session s;

	begin_open(&s, 50, 500 * MS);
	experiment_spoil(&s.x, SPOILT_STOP);
	check_spoilt(&s, SPOILT_STOP);
	session_deinit(&s);
	/* The machine was suspended: nobody looked for long. */
	begin_open(&s, 50, 500 * MS);
	s.now += s.x.opening.settle_ns + 2 * 500 * MS + 1 * S + 1;
	check_spoilt(&s, SPOILT_STOP);
	session_deinit(&s);
	/* A thread stood still, or a CPU came. */
	begin_open(&s, 50, 500 * MS);
	s.next.was_disturbed = true;
	check_spoilt(&s, SPOILT_STOP);
	session_deinit(&s);
	begin_open(&s, 50, 500 * MS);
	s.now += s.x.opening.settle_ns + 2 * 500 * MS;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_EQ(s.x.dropped, 0);
	session_deinit(&s);
}

TEST(spoilt_by_debt)
{
	static struct session s;

	begin_open(&s, 50, 500 * MS);
	/* of some 520 samples */
	s.next.deep_debt = 40;
	check_spoilt(&s, SPOILT_DEBT);
	session_deinit(&s);
	begin_open(&s, 50, 500 * MS);
	s.next.deep_debt = 20;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_EQ(s.x.dropped, 0);
	session_deinit(&s);
	/* In a baseline nobody has debts. */
	begin_open(&s, 0, 500 * MS);
	s.next.deep_debt = 400;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_EQ(s.x.dropped, 0);
	session_deinit(&s);
}

/* The next experiment, of which outsiders have @ns of CPU time; whether it counts. */
static bool counts_beside(struct session *s, uint64_t ns)
{
	size_t records = s->n_records;

	s->next.use.outsiders_ns = ns;
	CHECK(session_until(s, EXPERIMENT_CLOSE));
	s->next.use.outsiders_ns = 0;
	return s->n_records > records;
}

TEST(spoilt_by_other_programs)
{
	static struct session s;

	/* 500 ms are some 520 of execution; before four experiments nothing is usual. */
	begin_open(&s, 50, 500 * MS);
	for (int i = s.n[EXPERIMENT_CLOSE]; i < 3; i++)
		CHECK(counts_beside(&s, 0));
	CHECK(counts_beside(&s, 200 * MS));
	/* 7 % is usual by now: twice that is not enough to drop it, more is. */
	CHECK_NEAR(verdict_noise(&s.x.verdicts), 0.07, 0.01);
	CHECK(counts_beside(&s, 75 * MS));
	CHECK(!counts_beside(&s, 125 * MS));
	CHECK_EQ(s.x.verdicts.spoilt_by[SPOILT_BUSY], 1);
	CHECK(counts_beside(&s, 0));
	session_deinit(&s);
	/* On a quiet machine a tenth is none. */
	begin_open(&s, 50, 500 * MS);
	for (int i = 0; i < 9; i++)
		CHECK(counts_beside(&s, 0));
	CHECK(counts_beside(&s, 55 * MS));
	CHECK(!counts_beside(&s, 62 * MS));
	session_deinit(&s);
	/* A machine that is always busy has experiments, too. */
	begin_open(&s, 50, 500 * MS);
	for (int i = 0; i < 20; i++)
		CHECK(counts_beside(&s, 200 * MS));
	CHECK_NEAR(verdict_noise(&s.x.verdicts), 0.28, 0.03);
	session_deinit(&s);
}

TEST(spoilt_when_no_time_is_left)
{
	static struct session s;
	uint64_t opened;

	begin_open(&s, 100, 100 * MS);
	s.p.share[HOT] = 1;
	opened = s.at[EXPERIMENT_OPEN];
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	/* Drawn out by half a second, in steps of the 40 ms that it always lacks, and up to the
	 * next visit. */
	CHECK(s.now - opened >= 620 * MS && s.now - opened <= 680 * MS);
	CHECK_EQ(s.n_records, s.n[EXPERIMENT_CLOSE] - 1);
	CHECK_EQ(s.x.verdicts.spoilt_by[SPOILT_NO_TIME], 1);
	session_deinit(&s);
}

TEST(extended_while_there_is_no_window)
{
	static struct session s;
	const struct experiment_record *x;

	begin_open(&s, 100, 100 * MS);
	s.p.share[HOT] = 0.92;
	s.p.visit_ns = MS;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	x = &s.records[s.n_records - 1];
	/* 20 ms of virtual time at 8 %, beside those that pass before visits count */
	CHECK_EQ(x->speedup, 1);
	CHECK_EQ(s.x.dropped, 0);
	CHECK(x->duration_ns >= 20 * MS && x->duration_ns <= 22 * MS);
	CHECK_NEAR(period_of(x) / (double)MS, 0.08, 0.004);
	/* At half the speedup there is a window in time. */
	session_deinit(&s);
	begin_open(&s, 50, 100 * MS);
	s.p.share[HOT] = 0.92;
	s.p.visit_ns = MS;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	x = &s.records[s.n_records - 1];
	CHECK_NEAR(x->elapsed_ns / MS, 100, 1);
	session_deinit(&s);
}

/* Virtual, of the one CPU, in an experiment of 500 ms that is open or was the last one. */
static double cpu_time(const struct session *s)
{
	return (double)(s->x.opening.settle_ns + 500 * MS) * (s->x.opening.speedup_pct ? 0.7 : 1);
}

TEST(stretched_to_fit_the_cpus)
{
	static struct session s;
	const struct experiment_record *x;
	double cpu_ns;

	begin_open(&s, 50, 500 * MS);
	s.next.use.virtual_ns = 600 * MS;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	x = &s.records[s.n_records - 1];
	/* some 530 ms less 30 % had one CPU for 600 */
	CHECK_EQ(s.x.verdicts.stretched, 1);
	cpu_ns = cpu_time(&s);
	CHECK_NEAR((double)x->duration_ns / (cpu_ns - (double)s.x.opening.settle_ns),
	    600.0 * MS / cpu_ns, 0.02);
	/* 1 % too much is no finding. */
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	s.next.use.virtual_ns = (uint64_t)(1.009 * cpu_time(&s));
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_EQ(s.x.verdicts.stretched, 1);
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	s.next.use.virtual_ns = (uint64_t)(1.044 * cpu_time(&s));
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_EQ(s.x.verdicts.stretched, 2);
	session_deinit(&s);
}

/* Outsiders are counted since the opening, but visits later: both are of the same stretch then. */
TEST(outsiders_while_visits_count)
{
	static struct session s;
	const struct experiment_record *x;
	double real, elapsed;

	begin_open(&s, 50, 500 * MS);
	CHECK(s.x.opening.settle_ns > 0);
	CHECK(counts_beside(&s, 20 * MS));
	x = &s.records[s.n_records - 1];
	elapsed = (double)x->elapsed_ns;
	real = elapsed + (double)s.x.opening.settle_ns;
	CHECK_NEAR((double)x->outsiders_ns, 20e6 * elapsed / real, 1);
	session_deinit(&s);
}
