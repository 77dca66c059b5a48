/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole sessions of experiments against a simulated clock: when they open and close, which of them
 * count, and what stands in their records. */
#include "check.h"
#include "session_fixture.h"

#include <math.h>

#include "core/estimate/estimate.h"

TEST(ordinary_session)
{
	static struct session s;
	size_t baselines = 0, hot = 0;

	begin(&s, (struct experiment_options){.length_ns = 100 * MS});
	session_run(&s, 120 * S);
	CHECK(s.n_records > 500);
	CHECK_EQ(s.x.dropped, 0);
	CHECK_EQ(s.n[EXPERIMENT_OPEN], s.n[EXPERIMENT_CLOSE] + experiment_is_open(&s.x));
	CHECK(s.n[EXPERIMENT_COOLED] <= s.n[EXPERIMENT_CLOSE]);
	for (size_t i = 0; i < s.n_records; i++) {
		const struct experiment_record *x = &s.records[i];
		double share = s.p.share[s.record_lines[i]];

		baselines += x->speedup == 0;
		hot += s.record_lines[i] == HOT;
		/* A visit more or less in a window of 100 ms, whose close waits for one. */
		CHECK_NEAR(period_of(x) / (10.0 * MS), 1 - share * x->speedup, 0.12);
		CHECK_EQ(x->elapsed_ns - x->duration_ns > 0, x->speedup > 0);
		CHECK(!x->fixed && !x->has_selected_ns);
		CHECK_EQ(x->n_lines, x->speedup > 0 ? 0 : 2);
		if (i)
			CHECK(x->start_ns >=
			      s.records[i - 1].start_ns + s.records[i - 1].elapsed_ns + 3 * MS);
	}
	CHECK_NEAR((double)baselines / (double)s.n_records, 0.5, 0.05);
	CHECK_NEAR((double)hot / (double)s.n_records, 0.6, 0.08);
	session_deinit(&s);
}

TEST(opening)
{
	static struct session s;
	uint64_t settle_ns;

	begin(&s, (struct experiment_options){0});
	CHECK_EQ(s.n[EXPERIMENT_ASK], 1);
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	/* The question is answered after 2 ms. */
	CHECK_EQ(s.at[EXPERIMENT_OPEN] - s.at[EXPERIMENT_ASK], 2 * MS);
	settle_ns = s.x.opening.settle_ns;
	CHECK(settle_ns >= 20 * MS && settle_ns < 40 * MS);
	CHECK(s.x.opening.period >= 0.95 && s.x.opening.period <= 1.05);
	/* 500 ms, and a quarter more to wait for a visit, fit into the buckets. */
	CHECK((uint64_t)COZBPF_BUCKETS << s.x.opening.shift >= 625 * MS);
	CHECK((uint64_t)COZBPF_BUCKETS << s.x.opening.shift < 2 * 625 * MS);
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	CHECK(s.x.opening.settle_ns != settle_ns);
	session_deinit(&s);
}

TEST(answer_is_drawn_from_a_period)
{
	static struct session s;

	begin(&s, (struct experiment_options){0});
	s.in.counters.picked_line = HOT; /* by the first sample, at once */
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	CHECK_EQ(s.at[EXPERIMENT_OPEN] - s.at[EXPERIMENT_ASK], MS);
	session_deinit(&s);
}

TEST(baseline_is_split_when_visits_count)
{
	static struct session s;
	const struct experiment_record *x = &s.records[0];
	uint64_t settle_ns;

	begin(&s,
	    (struct experiment_options){.speedups_pct = (const unsigned[]){0}, .n_speedups = 1});
	CHECK(session_until(&s, EXPERIMENT_SPLIT));
	settle_ns = s.x.opening.settle_ns;
	CHECK_EQ(s.at[EXPERIMENT_SPLIT] - s.at[EXPERIMENT_OPEN], settle_ns);
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_EQ(s.n[EXPERIMENT_SPLIT], 1);
	CHECK_EQ(x->n_lines, 2);
	CHECK_EQ(x->lines[0].id, HOT);
	CHECK_NEAR(x->lines[0].opening, 0.6 * (double)settle_ns / (double)MS, 1);
	CHECK_NEAR(x->lines[0].observed, 0.6 * (double)x->elapsed_ns / (double)MS, 2);
	CHECK_NEAR(x->lines[1].opening, 0.4 * (double)settle_ns / (double)MS, 1);
	CHECK_EQ(x->observed_ns, x->elapsed_ns);
	session_deinit(&s);
}

TEST(cools_off_until_no_thread_is_in_a_pause)
{
	static struct session s;

	begin(&s, (struct experiment_options){0});
	CHECK(session_until(&s, EXPERIMENT_COOLED));
	/* three periods; a question follows at once */
	CHECK_EQ(s.at[EXPERIMENT_COOLED] - s.at[EXPERIMENT_CLOSE], 3 * MS);
	CHECK_EQ(s.at[EXPERIMENT_ASK], s.at[EXPERIMENT_COOLED]);
	s.pause_ns = 9 * MS;
	CHECK(session_until(&s, EXPERIMENT_COOLED));
	CHECK_EQ(s.at[EXPERIMENT_COOLED] - s.at[EXPERIMENT_CLOSE], 10 * MS);
	session_deinit(&s);
}

TEST(equal_seeds_give_equal_sessions)
{
	static struct session s[3];
	size_t n, same = 0;

	for (int i = 0; i < 3; i++) {
		begin(&s[i], (struct experiment_options){.fixed_line = HOT, .seed = i < 2 ? 7 : 8});
		session_run(&s[i], 30 * S);
	}
	n = s[0].n_records;
	CHECK(n > 40);
	CHECK_EQ(n, s[1].n_records);
	for (size_t i = 0; i < n; i++) {
		CHECK(s[0].records[i].speedup == s[1].records[i].speedup);
		CHECK_EQ(s[0].records[i].start_ns, s[1].records[i].start_ns);
		same += i < s[2].n_records && s[0].records[i].speedup == s[2].records[i].speedup;
	}
	CHECK(same < n / 2);
	for (int i = 0; i < 3; i++)
		session_deinit(&s[i]);
}

TEST(fixed_line_waits_for_the_first_sample)
{
	static struct session s;

	begin(&s, (struct experiment_options){.fixed_line = HOT});
	s.p.start_ns += 100 * MS;
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	CHECK_EQ(s.n[EXPERIMENT_ASK], 0);
	CHECK_EQ(ran_ns(&s, s.now), MS);
	session_run(&s, 10 * S);
	CHECK(s.n_records > 10);
	for (size_t i = 0; i < s.n_records; i++) {
		CHECK_EQ(s.record_lines[i], HOT);
		CHECK(s.records[i].fixed && s.records[i].has_selected_ns);
		/* The baselines of a line that was named serve that line alone. */
		CHECK_EQ(s.records[i].n_lines, 0);
	}
	CHECK_EQ(s.n[EXPERIMENT_ASK] + s.n[EXPERIMENT_SPLIT], 0);
	/* It is taken whatever is known of it. */
	want(&s, HOT, 0, 0);
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	CHECK_EQ(s.at[EXPERIMENT_OPEN], s.at[EXPERIMENT_COOLED]);
	session_deinit(&s);
}

TEST(line_that_is_not_known_yet_is_waited_for)
{
	static struct session s;

	begin(&s, (struct experiment_options){0});
	s.in.n_lines = 1;
	session_run(&s, 1 * S);
	CHECK_EQ(s.n[EXPERIMENT_OPEN], 0);
	CHECK_EQ(s.n[EXPERIMENT_ASK], 1);
	s.in.n_lines = LINES;
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	session_deinit(&s);
}

TEST(close_falls_on_a_rare_visit)
{
	static struct session s;
	uint64_t last;

	begin_open(&s, 0, 500 * MS);
	s.p.visit_ns = 170 * MS;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	/* Three or four visits are too few, so the next one is twice as long. */
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	last = s.now - ran_ns(&s, s.now) % s.p.visit_ns;
	/* two buckets after the visit that came after the length was over */
	CHECK_EQ(s.x.planned_ns, 1 * S);
	CHECK(last >= s.at[EXPERIMENT_OPEN] + s.x.opening.settle_ns + 1 * S);
	CHECK(s.now - last >= 2ULL << s.x.opening.shift);
	CHECK(s.now - last <= (2ULL << s.x.opening.shift) + 2 * MS);
	CHECK_NEAR(s.records[s.n_records - 1].points[0].delta, 6.5, 0.5);
	session_deinit(&s);
}

TEST(close_waits_a_quarter_of_the_length)
{
	static struct session s;

	begin_open(&s, 0, 500 * MS);
	s.p.visit_ns = 60 * S;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_EQ(s.now - s.at[EXPERIMENT_OPEN], s.x.opening.settle_ns + (500 + 125) * MS);
	session_deinit(&s);
	/* Where visits are many it does not wait at all. */
	begin_open(&s, 0, 500 * MS);
	s.p.visit_ns = 4 * MS;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_EQ(s.now - s.at[EXPERIMENT_OPEN], s.x.opening.settle_ns + 500 * MS);
	session_deinit(&s);
}

TEST(rare_visits_make_experiments_longer)
{
	static struct session s;

	begin(&s, (struct experiment_options){0});
	s.p.visit_ns = 1500 * MS;
	session_run(&s, 120 * S);
	/* 500 ms, 1 s, 2 s, 4 s, 8 s: from 5 visits on it stays */
	CHECK_EQ(s.x.length.ns, 8 * S);
	s.p.visit_ns = 5 * MS;
	session_run(&s, 120 * S);
	CHECK(s.x.length.ns <= 500 * MS);
	session_deinit(&s);
}

TEST(time_executed_is_a_visit_each_millisecond)
{
	static struct session s;

	begin_open(&s, 0, 500 * MS);
	s.points[0].unit = 1000;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_NEAR(s.records[1].points[0].delta, 50, 2);
	session_deinit(&s);
}

TEST(paced_visits_count_in_real_time)
{
	static struct session s;
	const struct experiment_record *x;

	begin_open(&s, 50, 500 * MS);
	CHECK(!experiment_is_paced(&s.x, 0));
	s.points[0].paced = 40;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK(experiment_is_paced(&s.x, 0));
	x = &s.records[s.n_records - 1];
	CHECK_EQ(x->points[0].paced_ns, s.now - s.at[EXPERIMENT_OPEN]);
	CHECK_NEAR(x->points[0].delta, (double)x->points[0].paced_ns / (10.0 * MS), 1);
	CHECK_EQ(x->points[0].bursts, x->points[0].delta);
	CHECK_EQ(x->points[0].pace_ns, 0);
	/* Fewer than half of them do not count so; a timer feeds nine of ten, or none. */
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	s.points[0].paced += 20;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK(!experiment_is_paced(&s.x, 0));
	x = &s.records[s.n_records - 1];
	CHECK_EQ(x->points[0].paced_ns, 0);
	CHECK_EQ(x->points[0].pace_ns, 0);
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	s.points[0].fed += 60;
	s.points[0].pace_ns = 2 * MS;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_EQ(s.records[s.n_records - 1].points[0].pace_ns, 2 * MS);
	CHECK_EQ(experiment_pace_ns(&s.x, 0), 2 * MS);
	session_deinit(&s);
}

TEST(paused_and_resumed)
{
	static struct session s;
	size_t records;
	unsigned opened;

	begin(&s, (struct experiment_options){0});
	session_run(&s, 20 * S);
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	records = s.n_records;
	opened = s.n[EXPERIMENT_OPEN];
	/* What is open is closed, and neither counts nor is spoilt. */
	CHECK_EQ(experiment_pause(&s.x), EXPERIMENT_CLOSE);
	session_apply(&s, EXPERIMENT_CLOSE);
	CHECK_EQ(s.n_records, records);
	CHECK_EQ(s.x.dropped, 0);
	CHECK_EQ(experiment_pause(&s.x), EXPERIMENT_NONE);
	session_run(&s, 60 * S);
	CHECK_EQ(s.n[EXPERIMENT_OPEN], opened);
	CHECK(s.due == UINT64_MAX);
	experiment_resume(&s.x, s.now);
	CHECK(session_until(&s, EXPERIMENT_COOLED));
	session_run(&s, 20 * S);
	CHECK(s.n_records > records + 10);
	session_deinit(&s);
}

TEST(paused_before_a_run)
{
	static struct session s;

	session_init(&s, &(struct experiment_options){0});
	s.p.share[HOT] = 1;
	CHECK_EQ(experiment_pause(&s.x), EXPERIMENT_NONE);
	session_begin(&s);
	session_run(&s, 10 * S);
	CHECK_EQ(s.n[EXPERIMENT_ASK] + s.n[EXPERIMENT_OPEN], 0);
	experiment_resume(&s.x, s.now);
	/* a second time it means nothing */
	experiment_resume(&s.x, s.now + 10 * S);
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	session_deinit(&s);
}

TEST(end_of_a_run_cuts_off)
{
	static struct session s;
	uint64_t delayed;

	begin_open(&s, 50, 500 * MS);
	delayed = s.x.delayed_ns;
	s.now += 100 * MS;
	CHECK_EQ(experiment_end(&s.x, true), EXPERIMENT_CLOSE);
	session_apply(&s, EXPERIMENT_CLOSE);
	CHECK_EQ(s.n_records, s.n[EXPERIMENT_CLOSE] - 1);
	CHECK_EQ(s.x.dropped, 0);
	CHECK_EQ(s.x.delayed_ns - delayed, 100 * MS);
	CHECK_EQ(experiment_end(&s.x, true), EXPERIMENT_NONE);
	/* The next run begins anew. */
	session_begin(&s);
	CHECK_EQ(s.x.delayed_ns, 0);
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	session_deinit(&s);
}

static void end_run(struct session *s, bool target_ended)
{
	session_run(s, 2 * S);
	s->exit.sum = 1500 * MS;
	session_apply(s, experiment_end(&s->x, target_ended));
}

/* Nobody watched it, and its pauses ended before it did. */
TEST(expired)
{
	static struct session s;
	size_t records;

	begin_open(&s, 50, 500 * MS);
	records = s.n_records;
	s.next.was_disturbed = true;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_EQ(s.n_records, records);
	CHECK_EQ(s.x.verdicts.spoilt_by[SPOILT_STOP], 1);
	s.next.was_disturbed = false;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_EQ(s.n_records, records + 1);
	session_deinit(&s);
	begin(&s, (struct experiment_options){.end_to_end = true, .fixed_line = HOT});
	s.next.was_disturbed = true;
	end_run(&s, true);
	CHECK_EQ(s.n_records, 0);
	CHECK_EQ(s.x.verdicts.spoilt_by[SPOILT_STOP], 1);
	session_deinit(&s);
}

TEST(end_to_end)
{
	static struct session s;
	const struct experiment_record *x = &s.records[0];

	begin(&s, (struct experiment_options){.end_to_end = true, .fixed_line = HOT});
	/* It opens with the run, visits count at once, and nothing ends it but the run. */
	CHECK_EQ(s.n[EXPERIMENT_OPEN], 1);
	CHECK_EQ(s.x.opening.settle_ns, 0);
	CHECK(1ULL << s.x.opening.shift >= 3600 * S);
	CHECK_EQ(experiment_pause(&s.x), EXPERIMENT_NONE);
	end_run(&s, true);
	CHECK_EQ(s.n_records, 1);
	CHECK_EQ(x->duration_ns, 1500 * MS);
	CHECK_EQ(x->n_points, 1);
	CHECK_STR(x->points[0].name, "end-to-end");
	CHECK_EQ(x->points[0].delta, 1);
	CHECK(x->fixed && !x->has_selected_ns);
	/* Ended by us, by several threads at once, or not seen to end. */
	session_begin(&s);
	end_run(&s, false);
	CHECK_EQ(s.x.dropped, 0);
	s.exit.count = 2;
	session_begin(&s);
	end_run(&s, true);
	CHECK_EQ(s.x.verdicts.spoilt_by[SPOILT_STOP], 1);
	/* A stop of the command spoils the run. */
	s.exit.count = 1;
	session_begin(&s);
	experiment_spoil(&s.x, SPOILT_STOP);
	end_run(&s, true);
	CHECK_EQ(s.x.verdicts.spoilt_by[SPOILT_STOP], 2);
	CHECK_EQ(s.n_records, 1);
	session_deinit(&s);
}

/* Each line has its runs, which are at few speedups. */
TEST(end_to_end_runs_follow_a_plan)
{
	static struct session s;
	unsigned hot = 0, baselines = 0;

	/* The first run has no samples of before it: it has no experiment. */
	begin(&s, (struct experiment_options){.end_to_end = true, .runs = 201});
	CHECK_EQ(s.n[EXPERIMENT_OPEN], 0);
	end_run(&s, true);
	CHECK_EQ(s.n_records, 0);
	for (int i = 0; i < 200; i++) {
		session_begin(&s);
		end_run(&s, true);
		hot += s.record_lines[i] == HOT;
		baselines += s.records[i].speedup == 0;
		CHECK(s.records[i].speedup == 0 || s.records[i].speedup == 0.5 ||
		      s.records[i].speedup == 0.9);
	}
	CHECK_EQ(s.n_records, 200);
	CHECK_NEAR(hot, 100, 2);
	CHECK_NEAR(baselines, 200 / (1 + 1.414), 2);
	session_deinit(&s);
}

/* A pair whose begins come every 10 ms and never end. 3 were in flight as a second run began, and 5
 * more at V0, of which @mistaken are not. */
static void begin_pair(struct session *s, int mistaken)
{
	const unsigned list[] = {25};
	struct experiment_options o = {
	    .fixed_line = HOT, .length_ns = 100 * MS, .speedups_pct = list, .n_speedups = 1};

	session_init(s, &o);
	s->p.share[HOT] = 1;
	s->p.start_ns -= 30 * MS;
	s->in.n_points = 2;
	s->points[1] = (struct point_reading){.name = "pair", .unit = 1, .buckets = s->buckets[1]};
	s->points[0].name = "pair";
	s->points[0].latency = &s->latency;
	s->points[0].in_flight = 3 + 5;
	s->latency.matched = 100;
	s->latency.unmatched = 3;
	s->latency.doubtful = 7;
	session_begin(s);
	session_begin(s);
	s->latency.doubtful = 7 + mistaken;
	s->latency.cells[10] = 4;
	s->latency.sum = 4000;
}

TEST(latency_record)
{
	static struct session s;
	const struct point_record *p = NULL;

	begin_pair(&s, 2);
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_EQ(s.records[0].n_points, 1);
	p = &s.records[0].points[0];
	CHECK(p->is_latency);
	/* 3 in flight at V0, and a new one every 10 ms */
	CHECK_EQ(p->least, 3);
	CHECK_NEAR(p->arrivals, (double)s.records[0].duration_ns / (10.0 * MS), 1);
	CHECK_EQ(p->departures, 0);
	CHECK_NEAR(p->difference, 3 + (double)p->arrivals / 2, 1);
	CHECK_EQ(p->pairs, 4);
	CHECK_EQ(p->pairs_ns, 4000);
	CHECK_EQ(p->n_cells, 1);
	CHECK_EQ(p->unmatched, 3);
	/* Such are told once. */
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_EQ(s.records[1].points[0].unmatched, 0);
	session_deinit(&s);
}

/* Three more began before the probes were there. Where most ends have no begin, that says
 * nothing. */
TEST(requests_from_before_are_in_flight)
{
	static struct session s;

	begin_pair(&s, -3);
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_EQ(s.records[0].points[0].least, 5 + 3);
	s.latency.unmatched = 100;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK_EQ(s.records[1].points[0].least, 5);
	session_deinit(&s);
}

TEST(latencies_set_the_length)
{
	static struct session s;
	const struct point_record *p = NULL;
	double latency;

	begin_pair(&s, 2);
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	p = &s.records[0].points[0];
	latency = (double)p->integral_ns / (double)p->arrivals;
	/* ten of them make a length, five to settle */
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	CHECK(latency > 50.0 * MS);
	CHECK_NEAR((double)s.x.planned_ns, 10 * latency, 1e5);
	CHECK_NEAR((double)s.x.opening.settle_ns, 5 * latency + 10.0 * MS, 10.0 * MS);
	/* No requests: a tenth is forgotten with each experiment. */
	s.p.visit_ns = 600 * S;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	CHECK_NEAR((double)s.x.planned_ns, 9 * latency, 1e5);
	/* Requests of a second: what settles is bounded, and so is a length. */
	s.points[0].in_flight = 1000;
	s.p.visit_ns = 10 * MS;
	CHECK(session_until(&s, EXPERIMENT_CLOSE));
	CHECK(session_until(&s, EXPERIMENT_OPEN));
	CHECK(s.x.opening.settle_ns >= 2 * S && s.x.opening.settle_ns < 2 * S + 20 * MS);
	CHECK_EQ(s.x.planned_ns, 8 * S);
	session_deinit(&s);
}

/*
 * Phase correction (paper 3.4.4): two lines take turns of 2 s. Each is measured when it runs, where
 * ending it would save all of its 60 or 80 %, and over the whole program it is half of that.
 */
TEST(phases_are_corrected)
{
	static struct session s;
	const double halves[] = {0.3, 0.4};
	struct estimate_options eo = {.seed = 1};
	struct run_record run = {0};
	struct samples_record samples[2];
	struct profile p = {.runs = &run, .n_runs = 1, .samples = samples, .n_samples = 2};
	struct estimate e;

	begin(&s, (struct experiment_options){.length_ns = 200 * MS});
	s.p = (struct program){.start_ns = s.now, .visit_ns = 2 * MS, .phase_ns = 2 * S};
	s.p.share[HOT] = 0.6;
	s.p.share[COLD] = 0.8;
	session_run(&s, 600 * S);
	run.runtime_ns = 600 * S;
	run.free_ns = run.runtime_ns - s.x.delayed_ns;
	run.samples = run.in_scope = 600000;
	for (size_t i = 0; i < s.n_records; i++)
		s.records[i].selected = strdup(s.record_lines[i] == HOT ? "a.c:1" : "a.c:2");
	for (uint32_t i = 0; i < 2; i++)
		samples[i] = (struct samples_record){.location = i ? "a.c:2" : "a.c:1",
		    .count = s.lines[i + 1].all,
		    .free = s.lines[i + 1].all * run.free_ns / run.runtime_ns,
		    .has_free = true,
		    .id = i + 1};
	p.experiments = s.records;
	p.n_experiments = s.n_records;
	CHECK(!estimate_profile(&p, &eo, &e));
	CHECK_EQ(e.n_lines, 2);
	for (size_t i = 0; i < e.n_lines; i++)
		CHECK_NEAR(e.lines[i].slope, halves[!strcmp(e.lines[i].line, "a.c:2")], 0.04);
	estimate_deinit(&e);
	session_deinit(&s);
}
