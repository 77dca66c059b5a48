// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sums of runs: the same records give the same answers, one by one or added up.
 *
 * The slope is held to a quarter of its half-width. It is the same ratio of sums up to which runs
 * are levelled together. Half-widths may differ by a third: the scatter of a cell is known from 32
 * sums to an eighth, that of single experiments is shared among neighbours, and 1000 draws add a
 * twentieth.
 */
#include "check.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/estimate/estimate.h"
#include "core/estimate/sums.h"
#include "core/profile/line_counts.h"
#include "core/profile/runs.h"
#include "core/profile/wait_stacks.h"
#include "fleet.h"

#define SLOPE_OFF 0.25
#define WIDTH_OFF 1.35

static void add(struct profile *p, const char *text, size_t size)
{
	FILE *in = fmemopen((void *)text, size, "r");
	struct error e = {0};

	CHECK_EQ(profile_read(p, in, "test", &e), 0);
	CHECK_STR(e.cause, "");
	fclose(in);
}

static void add_run(struct profile *p, unsigned number, unsigned experiments)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fleet_write(out, number, experiments);
	fclose(out);
	add(p, text, size);
	free(text);
}

/* As `cozbpf merge` writes it. */
static char *written(const struct profile *p, size_t *ret_size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);
	size_t x = 0, s = 0, m = 0;

	for (size_t run = 0; run < p->n_runs; run++) {
		profile_write_startup(out, &p->runs[run]);
		for (; m < p->n_members && p->members[m].run == run; m++)
			profile_write_member(out, &p->members[m]);
		for (; x < p->n_experiments && p->experiments[x].run == run; x++)
			profile_write_experiment(out, &p->experiments[x]);
		for (; s < p->n_samples && p->samples[s].run == run; s++)
			profile_write_samples(out, &p->samples[s]);
		profile_write_runtime(out, &p->runs[run]);
	}
	fclose(out);
	return text;
}

static void estimate(const struct profile *p, struct estimate *ret)
{
	struct estimate_options o = {.seed = 3, .scatter_only = true};

	CHECK_EQ(estimate_profile(p, &o, ret), 0);
}

static const struct estimate_line *find(const struct estimate *e, const struct estimate_line *l)
{
	for (size_t i = 0; i < e->n_lines; i++)
		if (!strcmp(e->lines[i].line, l->line) && estimate_same_point(&e->lines[i], l))
			return &e->lines[i];
	return NULL;
}

static void compare_lines(const struct estimate_line *a, const struct estimate_line *b)
{
	double half = (a->slope_hi - a->slope_lo) / 2, other = (b->slope_hi - b->slope_lo) / 2;

	CHECK(fabs(a->slope - b->slope) <= SLOPE_OFF * half);
	CHECK(other <= WIDTH_OFF * half && half <= WIDTH_OFF * other);
	CHECK_EQ(a->experiments, b->experiments);
	CHECK_EQ(a->samples, b->samples);
	CHECK_EQ(a->n_points, b->n_points);
	CHECK_NEAR(a->phase_factor, b->phase_factor, 0.02);
}

/* The estimates of both have the same lines, which agree. */
static void compare(const struct profile *single, const struct profile *sum)
{
	struct estimate a, b;

	estimate(single, &a);
	estimate(sum, &b);
	CHECK_EQ(a.n_lines, b.n_lines);
	CHECK_EQ(a.experiments, b.experiments);
	CHECK_EQ(a.runs, b.runs);
	CHECK_EQ(a.builds, b.builds);
	CHECK_EQ(a.samples, b.samples);
	CHECK_EQ(a.totals.runtime_ns, b.totals.runtime_ns);
	for (size_t i = 0; i < a.n_lines; i++) {
		const struct estimate_line *line = find(&b, &a.lines[i]);

		CHECK(line);
		if (line)
			compare_lines(&a.lines[i], line);
	}
	estimate_deinit(&a);
	estimate_deinit(&b);
}

/* Machines of different speed, lines picked by samples, baselines that lines share. */
TEST(sums_answer_as_their_experiments_do)
{
	struct profile single, once, steps;

	profile_init(&single);
	profile_init(&once);
	profile_init(&steps);
	for (unsigned i = 0; i < 40; i++) {
		add_run(&single, i, 400);
		add_run(&once, i, 400);
		add_run(&steps, i, 400);
		if (i % 10 == 9)
			CHECK_EQ(profile_sum(&steps), 0);
	}
	CHECK_EQ(profile_sum(&once), 0);
	CHECK_EQ(once.n_runs, 1);
	CHECK_EQ(once.n_members, 40);
	CHECK_EQ(steps.n_members, 40);
	CHECK_EQ(profile_experiments(&once), 16000);
	CHECK(once.n_experiments <= SUM_PIECES * FLEET_LINES * 21);
	compare(&single, &once);
	compare(&single, &steps);
	profile_deinit(&single);
	profile_deinit(&once);
	profile_deinit(&steps);
}

TEST(sums_are_written_and_read)
{
	struct profile sum, read;
	struct estimate a, b;
	size_t size;
	char *text;

	profile_init(&sum);
	profile_init(&read);
	for (unsigned i = 0; i < 10; i++)
		add_run(&sum, i, 200);
	CHECK_EQ(profile_sum(&sum), 0);
	text = written(&sum, &size);
	add(&read, text, size);
	CHECK_EQ(read.n_skipped, 0);
	CHECK(profile_is_summed(&read));
	CHECK_EQ(read.n_members, 10);
	CHECK_EQ(profile_sum(&read), 0); /* there is nothing left to add */
	CHECK_EQ(read.n_experiments, sum.n_experiments);
	estimate(&sum, &a);
	estimate(&read, &b);
	CHECK_EQ(a.n_lines, FLEET_LINES);
	for (size_t i = 0; i < a.n_lines; i++) {
		CHECK_STR(a.lines[i].line, b.lines[i].line);
		CHECK_NEAR(a.lines[i].slope, b.lines[i].slope, 1e-12);
		CHECK_NEAR(a.lines[i].slope_lo, b.lines[i].slope_lo, 1e-12);
		CHECK_NEAR(a.lines[i].scatter, b.lines[i].scatter, 1e-12);
	}
	estimate_deinit(&a);
	estimate_deinit(&b);
	free(text);
	profile_deinit(&sum);
	profile_deinit(&read);
}

/* How many intervals of a fleet's lines hold the true slope. */
static int count_held(const struct profile *p)
{
	struct estimate e;
	int held = 0;

	estimate(p, &e);
	CHECK_EQ(e.n_lines, FLEET_LINES);
	for (size_t i = 0; i < e.n_lines; i++) {
		double truth = fleet_slope((uint32_t)atoi(strchr(e.lines[i].line, ':') + 1) - 100);

		held += e.lines[i].slope_lo <= truth && e.lines[i].slope_hi >= truth;
	}
	estimate_deinit(&e);
	return held;
}

TEST(intervals_of_sums_hold_the_truth)
{
	int single = 0, sums = 0, all = 16 * FLEET_LINES;

	for (unsigned fleet = 0; fleet < 16; fleet++) {
		struct profile p;

		profile_init(&p);
		for (unsigned i = 0; i < 10; i++)
			add_run(&p, 1000 + 10 * fleet + i, 400);
		single += count_held(&p);
		CHECK_EQ(profile_sum(&p), 0);
		sums += count_held(&p);
		profile_deinit(&p);
	}
	printf("     of %d intervals %d one by one, %d of sums hold the true slope\n", all, single,
	    sums);
	CHECK(sums >= all * 90 / 100); /* 95 % expected; fewer happens once in five hundred */
}

/* A line that the user named, beside a neighbour that takes CPU time. */
static void add_named(struct profile *p, unsigned run, enum noise noise)
{
	struct simulation s = {.arrivals = REGULAR,
	    .visits = 60,
	    .spans = true,
	    .close_at_visit = true,
	    .slope = 0.6,
	    .saturation = 1,
	    .noise = noise,
	    .rng = {run}};
	struct run_record start = {.startup_time_ns = run + 1, .build_id = "ab"};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct profile one;

	profile_init(&one);
	profile_write_startup(out, &start);
	for (int i = 0; i < 240; i++) {
		sim_experiment(
		    &s, &one, "a.c:1", i % 2 ? (double)(1 + rng_below(&s.rng, 5)) / 5 : 0);
		one.experiments[i].fixed = true;
		profile_write_experiment(out, &one.experiments[i]);
	}
	fclose(out);
	profile_deinit(&one);
	add(p, text, size);
	free(text);
}

TEST(named_lines_and_their_noise_are_added_up)
{
	static const enum noise noises[] = {NO_NOISE, WANDERING, NEIGHBOUR};

	for (size_t k = 0; k < sizeof(noises) / sizeof(noises[0]); k++) {
		struct profile single, sum;
		struct estimate a, b;
		double half;

		profile_init(&single);
		profile_init(&sum);
		for (unsigned i = 0; i < 20; i++) {
			add_named(&single, i, noises[k]);
			add_named(&sum, i, noises[k]);
		}
		CHECK_EQ(profile_sum(&sum), 0);
		estimate(&single, &a);
		estimate(&sum, &b);
		half = (a.lines[0].slope_hi - a.lines[0].slope_lo) / 2;
		printf("     noise %zu: %.4f +- %.4f one by one, %.4f +- %.4f added up; scatter "
		       "%.3f, %.3f\n",
		    k, a.lines[0].slope, half, b.lines[0].slope,
		    (b.lines[0].slope_hi - b.lines[0].slope_lo) / 2, a.lines[0].scatter,
		    b.lines[0].scatter);
		CHECK(fabs(a.lines[0].slope - b.lines[0].slope) < half);
		CHECK_NEAR(a.lines[0].scatter, b.lines[0].scatter, 0.5 * a.lines[0].scatter);
		CHECK_EQ(b.lines[0].experiments, 4800);
		estimate_deinit(&a);
		estimate_deinit(&b);
		profile_deinit(&single);
		profile_deinit(&sum);
	}
}

/* Latencies: histograms add up, and so do the requests in flight. */
TEST(latencies_are_added_up)
{
	struct profile single, sum;
	struct estimate a, b;

	profile_init(&single);
	profile_init(&sum);
	for (int run = 0; run < 4; run++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		fprintf(out, "startup\ttime=%d\tbuild-id=ab\n", run + 1);
		for (int i = 0; i < 60; i++)
			fprintf(out,
			    "experiment\tselected=a.c:1\tspeedup=0.%d0\tduration=%d\tfixed=1\n"
			    "latency-point\tname=req\tarrivals=100\tdepartures=99\tdifference=2\t"
			    "integral=%d\tleast=-1\tpairs=90\tpairs-sum=%d\tunmatched=3\t"
			    "histogram=%d:40,300:50\tbursts=99\tspan-delta=98\tspan=%d\n",
			    i % 6, 1000000 + i * 100, 3000000 - 200000 * (i % 6) + i * 1000, 900000,
			    200 + i % 7, 990000 + i * 99);
		fclose(out);
		add(&single, text, size);
		add(&sum, text, size);
		free(text);
	}
	estimate(&single, &a);
	CHECK_EQ(profile_sum(&sum), 0);
	estimate(&sum, &b);
	CHECK_EQ(b.n_latencies, 1);
	CHECK_EQ(b.latencies[0].arrivals, 24000);
	CHECK_EQ(b.latencies[0].pairs, 21600);
	CHECK_EQ(b.latencies[0].unmatched, 720);
	CHECK_EQ(b.latencies[0].missing, a.latencies[0].missing);
	CHECK_NEAR(b.latencies[0].in_flight, a.latencies[0].in_flight, 1e-6);
	CHECK_NEAR(b.latencies[0].now.mean.value, a.latencies[0].now.mean.value, 0.01);
	CHECK_NEAR(b.latencies[0].now.p50.value, a.latencies[0].now.p50.value, 1e-9);
	CHECK_NEAR(b.latencies[0].now.p99.value, a.latencies[0].now.p99.value, 1e-9);
	CHECK_EQ(a.n_lines, 2); /* the ends, and the latency */
	CHECK_EQ(b.n_lines, 2);
	for (size_t i = 0; i < b.n_lines; i++)
		CHECK_NEAR(b.lines[i].slope, find(&a, &b.lines[i])->slope, 1e-3);
	estimate_deinit(&a);
	estimate_deinit(&b);
	profile_deinit(&single);
	profile_deinit(&sum);
}

static void add_text(struct profile *p, const char *text)
{
	add(p, text, strlen(text));
}

#define RUN(time, build) "startup\ttime=" #time "\tbuild-id=" build "\tperiod=1000\n"
#define EXPERIMENT(speedup, ns, more)                                          \
	"experiment\tselected=a.c:1\tspeedup=" #speedup "\tduration=" #ns more \
	"\nthroughput-point\tname=p\tdelta=9\n"

/* Whole runs of the command stay single observations. */
TEST(whole_runs_are_not_added_up)
{
	struct profile single, sum;
	struct estimate a, b;

	profile_init(&single);
	profile_init(&sum);
	for (int i = 0; i < 12; i++) {
		char text[400];

		snprintf(text, sizeof(text),
		    "startup\ttime=%d\texperiments=0\nexperiment\tselected=a.c:1\tspeedup=0.%d0\t"
		    "duration=%d\nthroughput-point\tname=" END_TO_END "\tdelta=1\n",
		    i + 1, i % 3, 1000000 - 100000 * (i % 3) + 1000 * i);
		add_text(&single, text);
		add_text(&sum, text);
	}
	CHECK_EQ(profile_sum(&sum), 0);
	CHECK_EQ(sum.n_runs, 1);
	CHECK_EQ(sum.n_experiments, 12);
	estimate(&single, &a);
	estimate(&sum, &b);
	CHECK_EQ(b.lines[0].experiments, a.lines[0].experiments);
	CHECK_NEAR(b.lines[0].slope, a.lines[0].slope, 1e-12);
	CHECK_NEAR(b.lines[0].slope_lo, a.lines[0].slope_lo, 1e-12);
	estimate_deinit(&a);
	estimate_deinit(&b);
	profile_deinit(&single);
	profile_deinit(&sum);
}

/* A timer's bound is in what is added up, with each run's own cost of samples. A sum has none. */
TEST(bounds_are_settled_before)
{
#define FED(cost)                                                                \
	"startup\ttime=1\tbuild-id=ab\tperiod=1000" cost                         \
	"\nexperiment\tselected=a.c:1\tspeedup=0.00\tduration=100000\tfixed=1\n" \
	"throughput-point\tname=p\tdelta=10\tpace=4500\n"                        \
	"experiment\tselected=a.c:1\tspeedup=0.90\tduration=20000\tfixed=1\n"    \
	"throughput-point\tname=p\tdelta=10\tpace=4500\n"
	uint64_t faster = 0;
	struct profile p;

	profile_init(&p);
	add_text(&p, FED("") FED("\tsample-cost=100"));
	CHECK_EQ(profile_sum(&p), 0);
	CHECK_EQ(p.n_runs, 1);
	CHECK_EQ(p.runs[0].sample_ns, 0);
	for (size_t i = 0; i < p.n_experiments; i++)
		faster += p.experiments[i].speedup > 0 ? p.experiments[i].duration_ns : 0;
	CHECK_EQ(faster, 10 * 4500 + 10 * 5000);
	profile_deinit(&p);
}

/* Visits in real time keep it, and what is not known of one experiment is not known of the sum. */
TEST(what_visits_owe_is_settled_before)
{
	struct profile p;

	profile_init(&p);
	for (int i = 0; i < 3; i++)
		add_text(&p, "startup\ttime=1\tbuild-id=ab\n"
			     "experiment\tselected=a.c:1\tspeedup=0.50\tduration=1000\tfixed=1\t"
			     "selected-time=10\tloops=2\tloop-time=6\n"
			     "throughput-point\tname=p\tdelta=9\tpaced=800\n"
			     "throughput-point\tname=q\tdelta=4\n");
	CHECK_EQ(profile_sum(&p), 0);
	CHECK_EQ(p.n_experiments, 6); /* three pieces of two points */
	for (size_t i = 0; i < p.n_experiments; i++) {
		const struct experiment_record *x = &p.experiments[i];
		bool paced = !strcmp(x->points[0].name, "p");

		CHECK_EQ(x->experiments, 1);
		CHECK_EQ(x->n_points, 1);
		CHECK_EQ(x->duration_ns, paced ? 800 : 1000);
		CHECK_EQ(x->has_selected_ns, !paced);
		CHECK_EQ(x->loops, 2);
		CHECK_EQ(x->loop_ns, 6);
	}
	profile_deinit(&p);
}

/* Runs that say other things about themselves stay apart. */
TEST(builds_and_periods_stay_apart)
{
	struct profile p;

	profile_init(&p);
	add_text(&p, RUN(1, "aa") EXPERIMENT(0, 10, "") "runtime\ttime=5\tsamples=3\n");
	add_text(&p, RUN(2, "bb") EXPERIMENT(0, 10, ""));
	add_text(&p, RUN(3, "aa") EXPERIMENT(0, 10, "") "runtime\ttime=6\tsamples=4\n");
	add_text(&p, "startup\ttime=4\tbuild-id=aa\tperiod=2000\n");
	CHECK_EQ(profile_sum(&p), 0);
	CHECK_EQ(p.n_runs, 3);
	CHECK_EQ(p.runs[0].runs, 2);
	CHECK_EQ(p.runs[0].experiments, 2);
	CHECK_EQ(p.runs[0].runtime_ns, 11);
	CHECK_EQ(p.runs[0].samples, 7);
	CHECK_STR(p.runs[1].build_id, "bb");
	CHECK_EQ(p.runs[2].period_ns, 2000);
	CHECK_EQ(runs_count_builds(&p), 2);
	CHECK_EQ(profile_runs(&p), 4);
	/* Where nothing would be gained all stays as it is. */
	for (int i = 0; i < 100; i++) {
		char text[60];

		snprintf(text, sizeof(text), "startup\ttime=9\tperiod=%d\n", i + 1);
		add_text(&p, text);
	}
	CHECK_EQ(profile_sum(&p), -E2BIG);
	CHECK_EQ(p.n_runs, 103);
	CHECK_EQ(profile_runs(&p), 104);
	profile_deinit(&p);
}

#define WAITS(run, a, b)                                                                \
	RUN(run, "ab")                                                                  \
	"samples\tlocation=a.c:1\tcount=4\tfree=2\tid=" #a "\tfunction=f\n"             \
	"samples\tlocation=io a.c:2\tcount=10\tid=" #b "\tstacks=7:" #a ",3:" #a "/" #b \
	"\twakers=6:" #a ",4:timer\tcalls=read:8\n"

TEST(samples_and_waits_are_added_up)
{
	struct unit_stacks stacks;
	struct line_counts counts;
	struct profile p;

	profile_init(&p);
	add_text(&p, WAITS(1, 1, 2));
	add_text(&p, WAITS(2, 9, 5)); /* what a run calls a line is its own affair */
	CHECK_EQ(profile_sum(&p), 0);
	CHECK_EQ(p.n_samples, 2);
	CHECK_STR(p.samples[0].location, "a.c:1");
	CHECK_STR(p.samples[0].function, "f");
	CHECK_EQ(p.samples[0].count, 8);
	CHECK_EQ(p.samples[0].free, 4);
	CHECK(p.samples[0].has_free);
	CHECK_STR(p.samples[1].stacks, "14:1,6:1/2");
	CHECK_STR(p.samples[1].wakers, "12:1,8:timer");
	CHECK_STR(p.samples[1].calls, "read:16");
	CHECK(!p.samples[1].has_free);
	CHECK_EQ(unit_stacks_init(&stacks, &p, false), 0);
	CHECK_EQ(stacks.n, 2);
	CHECK_EQ(stacks.stacks[0].count, 14);
	CHECK_STR(stacks.stacks[0].frames[0]->location, "a.c:1");
	unit_stacks_deinit(&stacks);
	CHECK_EQ(line_counts_init(&counts, &p), 0);
	CHECK_EQ(line_counts_find(&counts, "io a.c:2"), 20);
	line_counts_deinit(&counts);
	profile_deinit(&p);
}

/* A run that is in a sum is known when it comes again. */
TEST(members_are_met_again)
{
	bool drop[4] = {false};
	struct profile p;
	size_t torn;

	profile_init(&p);
	add_text(&p, RUN(1, "ab") EXPERIMENT(0, 10, "\tstart=5"));
	add_text(&p, RUN(2, "ab") EXPERIMENT(0, 20, "\tstart=5"));
	CHECK_EQ(profile_sum(&p), 0);
	add_text(&p, RUN(2, "ab") EXPERIMENT(0, 20, "\tstart=5") EXPERIMENT(0, 21, "\tstart=9"));
	add_text(&p, RUN(2, "ab") EXPERIMENT(0, 20, "\tstart=6")); /* another in the same ns */
	add_text(&p, RUN(2, "cd") EXPERIMENT(0, 20, "\tstart=5"));
	CHECK_EQ(runs_find_members(&p, drop, &torn), 0);
	CHECK_EQ(torn, SIZE_MAX);
	CHECK(!drop[0]);
	CHECK(drop[1]);
	CHECK(!drop[2]);
	CHECK(!drop[3]);
	runs_drop(&p, drop);
	CHECK_EQ(p.n_members, 2);
	CHECK_EQ(p.n_runs, 3);
	profile_deinit(&p);
}

#define SUM(runs, members)                                                            \
	"startup\ttime=1\tbuild-id=ab\truns=" #runs "\texperiments=9\n" members       \
	"experiment\tselected=a.c:1\tspeedup=0\tduration=9" #runs "\texperiments=9\n" \
	"throughput-point\tname=p\tdelta=9\n"
#define MEMBER(time) "member\ttime=" #time "\tfirst=7\n"

TEST(sums_that_share_runs)
{
	bool drop[3] = {false};
	struct profile p;
	size_t torn;

	/* All of one is in another one. */
	profile_init(&p);
	add_text(&p, SUM(1, MEMBER(1)));
	add_text(&p, SUM(2, MEMBER(1) MEMBER(2)));
	CHECK_EQ(p.n_skipped, 0);
	CHECK_EQ(runs_find_members(&p, drop, &torn), 0);
	CHECK_EQ(torn, SIZE_MAX);
	CHECK(drop[0]);
	CHECK(!drop[1]);
	profile_deinit(&p);
	/* A part of it is. */
	drop[0] = false;
	profile_init(&p);
	add_text(&p, SUM(2, MEMBER(1) MEMBER(3)));
	add_text(&p, SUM(3, MEMBER(1) MEMBER(2) MEMBER(4)));
	CHECK_EQ(runs_find_members(&p, drop, &torn), 0);
	CHECK_EQ(torn, 0);
	CHECK(!drop[0]);
	CHECK(!drop[1]);
	profile_deinit(&p);
	/* A member without a run that it could be of is damage. */
	profile_init(&p);
	add_text(&p, MEMBER(1) RUN(1, "ab") "member\ttime=1\n");
	CHECK_EQ(p.n_members, 0);
	CHECK_EQ(p.n_skipped, 2);
	profile_deinit(&p);
}

/* The reader stops before a run when there is no room for it, and goes on with it. */
TEST(reading_stops_between_runs)
{
	struct profile whole, parts;
	struct profile_reader *r;
	struct error e = {0};
	int stops = 0, ret;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size), *in;

	for (unsigned i = 0; i < 20; i++)
		fleet_write(out, i, 50);
	fclose(out);
	profile_init(&whole);
	profile_init(&parts);
	add(&whole, text, size);
	CHECK_EQ(profile_sum(&whole), 0);
	in = fmemopen(text, size, "r");
	r = profile_reader_new(&parts, in, "test", &e);
	while ((ret = profile_reader_next(r, 300000, &e)) > 0) {
		stops++;
		CHECK(parts.bytes + parts.names.bytes > 300000);
		CHECK_EQ(profile_experiments(&parts) % 50, 0);
		CHECK_EQ(profile_sum(&parts), 0);
	}
	CHECK_EQ(ret, 0);
	CHECK(stops > 1);
	CHECK(profile_reader_known(r) > 1000);
	profile_reader_free(r);
	fclose(in);
	free(text);
	CHECK_EQ(profile_sum(&parts), 0);
	CHECK_EQ(profile_runs(&parts), 20);
	CHECK_EQ(profile_experiments(&parts), 1000);
	CHECK_EQ(parts.n_skipped, 0);
	CHECK_EQ(parts.runs[0].samples, whole.runs[0].samples);
	CHECK_EQ(parts.n_samples, whole.n_samples);
	CHECK_EQ(parts.samples[3].count, whole.samples[3].count);
	profile_deinit(&whole);
	profile_deinit(&parts);
}
