// SPDX-License-Identifier: BSD-3-Clause
/*
 * Machines held against each other, on simulated fleets whose truth is known.
 *
 * Rates were measured before, with 100 fleets of each kind: how many told anything false of a
 * speed, and in how many the slow machine was told. Half of the experiments are baselines, and
 * visits are Erlang's if nothing else is said. Wandering speeds have a memory of 20 experiments.
 *
 * | fleet                                                    | false | told          |
 * | 40 equal machines, 60 experiments each                   |     0 |               |
 * | 200 experiments, visits of Erlang, Poisson, regular      |     0 |               |
 * | the same, speeds wander by 2 %, by 5 %                   |     0 |               |
 * | 60 experiments, regular visits, speeds wander by 2 %     |     2 |               |
 * | 4 runs of 60, which differ by 3 % and wander by 2 %      |     0 |               |
 * | 2 or 3 machines, 200 experiments, wandering by 2 %       |     0 |               |
 * | one of 40 is 12 % slower; 60, 100, 200, 400 experiments  | 0 to 1| 93 to 100     |
 * | one of 3 is 12 % slower, 200 experiments                 |     1 | 91            |
 *
 * The 95 % interval of one machine held the truth in 90 to 98, but in 82 where regular visits
 * wander and a run is three memories short. Of machines on which a line of slope 0.6 has none,
 * beside 37 on which it has, 92 to 100 % were told. One line was told wrongly in all 1600 fleets.
 *
 * Seeds are fixed, so no run of this test differs. By the rates above, other seeds would exceed its
 * limits less than once in a hundred times.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "core/estimate/estimate.h"
#include "core/estimate/sums.h"
#include "report/report.h"
#include "simulate.h"

#define MOST_MACHINES 40

/* A fleet. Times are logarithms. */
struct fleet {
	int machines, runs, experiments; /* runs of a machine, experiments of a run */
	double drift;                    /* of speeds within a run */
	double run_spread, spread;       /* of runs of one machine; of machines */
	double slow;                     /* of the first machine */
	int without; /* machines, from the second on, where line A has no effect */
	enum arrivals arrivals;
	uint64_t seed;
};

static char names[MOST_MACHINES][16];

static void write_run(FILE *out, const struct fleet *f, int machine, struct rng *rng)
{
	struct simulation s = {.arrivals = f->arrivals,
	    .spans = true,
	    .saturation = 1,
	    .drift = f->drift,
	    .rng = {rng_next(rng)}};
	struct run_record start = {.startup_time_ns = 1 + rng_below(rng, 1ULL << 60),
	    .build_id = "ab",
	    .node = names[machine],
	    .runtime_ns = 1000000000};
	struct profile p;

	profile_init(&p);
	s.speed = f->drift * sim_normal(&s.rng);
	profile_write_startup(out, &start);
	s.visits = 60 * exp(f->run_spread * sim_normal(rng) - (machine ? 0 : f->slow));
	for (int i = 0; i < f->experiments; i++) {
		bool first = rng_below(&s.rng, 2);
		double speedup =
		    rng_below(&s.rng, 2) ? 0 : (double)(1 + rng_below(&s.rng, 20)) / 20;

		s.slope = !first ? 0.2 : machine && machine <= f->without ? 0 : 0.6;
		sim_experiment(&s, &p, first ? "a.c:1" : "b.c:2", speedup);
		profile_write_experiment(out, &p.experiments[i]);
	}
	profile_write_runtime(out, &start);
	profile_deinit(&p);
}

static void make(struct profile *p, const struct fleet *f)
{
	struct rng rng = {f->seed};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size), *in;
	struct error e = {0};

	for (int i = 0; i < f->machines; i++) {
		struct fleet one = *f;

		snprintf(names[i], sizeof(names[i]), "n%d", i + 1);
		if (i)
			one.slow = 0;
		for (int run = 0; run < f->runs; run++)
			write_run(out, &one, i, &rng);
	}
	fclose(out);
	in = fmemopen(text, size, "r");
	profile_init(p);
	CHECK_EQ(profile_read(p, in, "fleet", &e), 0);
	fclose(in);
	free(text);
}

static void look(const struct profile *p, struct estimate *ret)
{
	struct estimate_options o = {.seed = 3, .replicates = 40, .machines = true};

	CHECK_EQ(estimate_profile(p, &o, ret), 0);
}

/* What is told of fleets. */
struct told {
	int wrong_fleets; /* that tell of the speed of a machine that is not slow */
	int slow;         /* the slow machine is told, */
	double slower;    /* by so much, all fleets added */
	int held;         /* its interval holds the truth */
	int right, wrong; /* machines without an effect of line A; others, or other lines */
};

static void look_at_speeds(const struct estimate *e, const struct fleet *f, struct told *ret)
{
	bool wrong = false;

	CHECK_EQ(e->machines.n_speeds, f->machines);
	for (size_t i = 0; i < e->machines.n_speeds; i++) {
		const struct machine_speed *s = &e->machines.speeds[i];

		if (strcmp(e->machines.names[s->machine], "n1") != 0) {
			wrong |= s->differs;
			continue;
		}
		ret->slow += s->differs;
		ret->slower += s->slower;
		ret->held += s->lo <= expm1(f->slow) && s->hi >= expm1(f->slow);
	}
	ret->wrong_fleets += wrong;
}

static void look_at_lines(const struct estimate *e, const struct fleet *f, struct told *ret)
{
	for (size_t i = 0; i < e->machines.n_lines; i++) {
		const struct machine_line *l = &e->machines.lines[i];
		int number = atoi(e->machines.names[l->machine] + 1);

		if (!l->no_effect)
			continue;
		if (!strcmp(l->line, "a.c:1") && number > 1 && number <= 1 + f->without)
			ret->right++;
		else
			ret->wrong++;
	}
}

static struct told tell(struct fleet f, int fleets)
{
	struct told ret = {0};

	for (int i = 0; i < fleets; i++) {
		struct profile p;
		struct estimate e;

		f.seed++;
		make(&p, &f);
		look(&p, &e);
		CHECK_EQ(e.machines.n, f.machines);
		look_at_speeds(&e, &f, &ret);
		look_at_lines(&e, &f, &ret);
		estimate_deinit(&e);
		profile_deinit(&p);
	}
	printf("     %d machines, %d x %d: false in %d of %d fleets, slow one told in %d (%+.3f), "
	       "its interval holds in %d; lines: %d right, %d wrong\n",
	    f.machines, f.runs, f.experiments, ret.wrong_fleets, fleets, ret.slow,
	    ret.slower / fleets, ret.held, ret.right, ret.wrong);
	return ret;
}

TEST(equal_machines_do_not_differ)
{
	struct told t = tell(
	    (struct fleet){
		.machines = 40, .runs = 1, .experiments = 60, .arrivals = ERLANG, .seed = 100},
	    10);

	CHECK(t.wrong_fleets + t.slow <= 1);
	CHECK_EQ(t.wrong, 0);
	t = tell((struct fleet){.machines = 40,
		     .runs = 1,
		     .experiments = 200,
		     .drift = 0.02,
		     .arrivals = ERLANG,
		     .seed = 200},
	    5);
	CHECK(t.wrong_fleets + t.slow <= 1);
	t = tell((struct fleet){.machines = 20,
		     .runs = 4,
		     .experiments = 60,
		     .drift = 0.02,
		     .run_spread = 0.03,
		     .arrivals = ERLANG,
		     .seed = 300},
	    3);
	CHECK(t.wrong_fleets + t.slow <= 1);
	t = tell((struct fleet){.machines = 2,
		     .runs = 1,
		     .experiments = 200,
		     .drift = 0.02,
		     .arrivals = ERLANG,
		     .seed = 400},
	    10);
	CHECK(t.wrong_fleets + t.slow <= 1);
}

/* Beside it, three on which a line does not matter. */
TEST(a_slow_machine_is_told)
{
	struct told t = tell((struct fleet){.machines = 40,
				 .runs = 1,
				 .experiments = 100,
				 .drift = 0.02,
				 .slow = log(1.12),
				 .without = 3,
				 .arrivals = ERLANG,
				 .seed = 500},
	    6);

	CHECK_EQ(t.slow, 6);
	CHECK(t.wrong_fleets <= 1);
	CHECK_NEAR(t.slower / 6, 0.12, 0.03); /* one fleet knows it to 2.5 % */
	CHECK(t.held >= 4);
	CHECK(t.right >= 14); /* of 18 */
	CHECK_EQ(t.wrong, 0);
	t = tell((struct fleet){.machines = 2,
		     .runs = 1,
		     .experiments = 400,
		     .drift = 0.02,
		     .slow = log(1.12),
		     .arrivals = ERLANG,
		     .seed = 600},
	    3);
	CHECK_EQ(t.slow, 3);
	CHECK_EQ(t.wrong_fleets, 0); /* the other one is the reference */
}

/* Sums */

static void check_same(double a, double b)
{
	CHECK(isnan(a) == isnan(b));
	if (!isnan(a))
		CHECK_NEAR(a, b, 1e-4 + 0.01 * fabs(a));
}

static void compare(const struct machines *a, const struct machines *b)
{
	CHECK_EQ(a->n, b->n);
	CHECK_EQ(a->n_speeds, b->n_speeds);
	CHECK_EQ(a->n_lines, b->n_lines);
	for (size_t i = 0; i < a->n_speeds && i < b->n_speeds; i++) {
		CHECK_STR(a->names[a->speeds[i].machine], b->names[b->speeds[i].machine]);
		CHECK_EQ(a->speeds[i].baselines, b->speeds[i].baselines);
		CHECK_EQ(a->speeds[i].differs, b->speeds[i].differs);
		check_same(a->speeds[i].slower, b->speeds[i].slower);
		check_same(a->speeds[i].lo, b->speeds[i].lo);
		check_same(a->speeds[i].hi, b->speeds[i].hi);
	}
	for (size_t i = 0; i < a->n_lines && i < b->n_lines; i++) {
		CHECK_STR(a->names[a->lines[i].machine], b->names[b->lines[i].machine]);
		CHECK_STR(a->lines[i].line, b->lines[i].line);
		CHECK_EQ(a->lines[i].no_effect, b->lines[i].no_effect);
		check_same(a->lines[i].slope, b->lines[i].slope);
		check_same(a->lines[i].lo, b->lines[i].lo);
		check_same(a->lines[i].others, b->lines[i].others);
	}
}

/* As `cozbpf merge` writes it. */
static void write_and_read(struct profile *p)
{
	char *text = NULL;
	size_t size, x = 0, n = 0;
	FILE *out = open_memstream(&text, &size), *in;
	struct error e = {0};

	for (size_t run = 0; run < p->n_runs; run++) {
		profile_write_startup(out, &p->runs[run]);
		for (; n < p->n_nodes && p->nodes[n].run == run; n++)
			profile_write_node(out, &p->nodes[n]);
		for (; x < p->n_experiments && p->experiments[x].run == run; x++)
			profile_write_experiment(out, &p->experiments[x]);
		profile_write_runtime(out, &p->runs[run]);
	}
	fclose(out);
	profile_deinit(p);
	in = fmemopen(text, size, "r");
	CHECK_EQ(profile_read(p, in, "sum", &e), 0);
	CHECK_EQ(p->n_skipped, 0);
	fclose(in);
	free(text);
}

/* A slope's level is that of the runs that are added up at a time, and its verdict may be on the
 * other side of a limit, so lines have to be told clearly: they are here. */
TEST(sums_tell_the_same)
{
	struct fleet f = {.machines = 12,
	    .runs = 2,
	    .experiments = 100,
	    .drift = 0.02,
	    .slow = log(1.12),
	    .without = 2,
	    .arrivals = ERLANG,
	    .seed = 700};
	struct profile single, sum;
	struct estimate a, b;

	make(&single, &f);
	look(&single, &a);
	CHECK(a.machines.speeds[0].differs);
	make(&sum, &f);
	CHECK_EQ(profile_sum(&sum), 0);
	CHECK_EQ(sum.n_runs, 1);
	CHECK_EQ(sum.n_nodes, 12 * 3); /* a speed and two lines */
	look(&sum, &b);
	compare(&a.machines, &b.machines);
	estimate_deinit(&b);
	write_and_read(&sum);
	look(&sum, &b);
	compare(&a.machines, &b.machines);
	estimate_deinit(&b);
	estimate_deinit(&a);
	profile_deinit(&single);
	profile_deinit(&sum);
}

/* Machines of the first half are in a sum when those of the second half come. */
TEST(sums_of_sums_tell_the_same)
{
	struct fleet f = {.machines = 12,
	    .runs = 1,
	    .experiments = 200,
	    .drift = 0.02,
	    .slow = log(1.12),
	    .arrivals = ERLANG,
	    .seed = 800};
	struct profile all, parts;
	struct estimate a, b;
	char *text = NULL;
	size_t size, x = 0;
	FILE *out, *in;
	struct error e = {0};

	make(&all, &f);
	look(&all, &a);
	profile_init(&parts);
	for (size_t run = 0; run < all.n_runs; run++) {
		out = open_memstream(&text, &size);
		profile_write_startup(out, &all.runs[run]);
		for (; x < all.n_experiments && all.experiments[x].run == run; x++)
			profile_write_experiment(out, &all.experiments[x]);
		fclose(out);
		in = fmemopen(text, size, "r");
		CHECK_EQ(profile_read(&parts, in, "part", &e), 0);
		fclose(in);
		free(text);
		text = NULL;
		if (run == 5)
			CHECK_EQ(profile_sum(&parts), 0);
	}
	CHECK_EQ(profile_sum(&parts), 0);
	look(&parts, &b);
	CHECK_EQ(a.machines.n, b.machines.n);
	for (size_t i = 0; i < a.machines.n_speeds; i++) {
		check_same(a.machines.speeds[i].slower, b.machines.speeds[i].slower);
		check_same(a.machines.speeds[i].hi, b.machines.speeds[i].hi);
	}
	CHECK_EQ(a.machines.n_lines, b.machines.n_lines);
	estimate_deinit(&a);
	estimate_deinit(&b);
	profile_deinit(&all);
	profile_deinit(&parts);
}

static void read_text(struct profile *p, const char *text)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	struct error e = {0};

	profile_init(p);
	CHECK_EQ(profile_read(p, in, "test", &e), 0);
	fclose(in);
}

/* Files come from others. Figures that fit no machine are judged without harm. */
TEST(odd_figures)
{
	static const char text[] =
	    "startup\ttime=1\truns=2\texperiments=2\n"
	    "node-speed\tnode=a\tpoint=p\tbaselines=99\ttime=3000000000000000000\tcount=40\t"
	    "error=0\tdf=98\thalf-error=9\thalf-df=1\trun-df=0\n"
	    "node-speed\tnode=b\tpoint=p\tbaselines=99\ttime=1\tcount=9000000000000000\t"
	    "error=3000000000000000000\tdf=98\n"
	    "node-speed\tnode=c\tpoint=p\n"
	    "node-speed\tnode=d\tpoint=p\tlatency=1\tbaselines=9\tdf=8\tcount=50\ttime=5\n"
	    "node-line\tnode=a\tpoint=p\tline=a.c:1\tbase-time=1\tbase-count=1\tbase-df=9\t"
	    "experiments=9\tcount=1\ttime=3000000000000000000\tsquare=1\n"
	    "node-line\tnode=b\tpoint=p\tline=a.c:1\n"
	    "node-line\tnode=b\tline=a.c:1\n"
	    "node-line\tnode=b\tpoint=p\n"
	    "node-speed\tpoint=p\n"
	    "node-speed\tnode=a\tpoint=p\ttime=-1\n"
	    "runtime\ttime=9\n";
	struct text_options o = {0};
	struct profile p;
	struct estimate e;
	FILE *null;

	read_text(&p, text);
	CHECK_EQ(p.n_skipped, 4);
	CHECK_EQ(p.n_nodes, 6);
	look(&p, &e);
	CHECK_EQ(e.machines.n, 4);
	CHECK_EQ(e.machines.n_speeds, 4);
	null = fopen("/dev/null", "w");
	CHECK(null);
	CHECK_EQ(report_json(null, &e), 0);
	CHECK_EQ(report_text(null, &e, &o), 0);
	fclose(null);
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* One machine is none to be held against others, and neither is one without a name. */
TEST(one_machine)
{
	struct profile p;
	struct estimate e;

	read_text(&p, "startup\ttime=1\tnode=n1\nstartup\ttime=2\tnode=n1\nstartup\ttime=3\n");
	CHECK_STR(p.runs[1].node, "n1");
	CHECK(!p.runs[2].node);
	look(&p, &e);
	CHECK_EQ(e.machines.n, 0);
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* What people read. */

static bool report_says(const struct fleet *f, const char *line)
{
	struct text_options o = {0};
	struct profile p;
	struct estimate e;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool ret;

	make(&p, f);
	look(&p, &e);
	CHECK_EQ(report_text(out, &e, &o), 0);
	fclose(out);
	ret = strstr(text, line);
	if (!ret)
		printf("%.800s\n", text);
	estimate_deinit(&e);
	profile_deinit(&p);
	free(text);
	return ret;
}

TEST(sentences)
{
	struct fleet two = {.machines = 2,
	    .runs = 1,
	    .experiments = 200,
	    .slow = log(1.12),
	    .arrivals = REGULAR,
	    .seed = 900};
	struct fleet many = {.machines = 12,
	    .runs = 1,
	    .experiments = 200,
	    .slow = log(1.12),
	    .without = 1,
	    .arrivals = REGULAR,
	    .seed = 901};

	CHECK(report_says(&two, " 2 runs on 2 nodes"));
	CHECK(report_says(&two, "\nnode n1 is 12 % slower than n2 ("));
	CHECK(report_says(&many, "\nnode n1 is 12 % slower than the median node ("));
	CHECK(report_says(&many, "\na.c:1 does not matter on 1 of 12 nodes: n2\n"));
	many.slow = -log(1.12);
	CHECK(report_says(&many, "\nnode n1 is 11 % faster than the median node ("));
}
