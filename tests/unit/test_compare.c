// SPDX-License-Identifier: BSD-3-Clause
/*
 * Comparisons of simulated profiles whose truth is known: how often the interval of a measured
 * change holds it, and whether predictions are found to hold. Coverage: of 200 comparisons 190
 * should hold the truth, with a standard deviation of 3; three of them are allowed.
 */
#include "check.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "core/estimate/compare.h"
#include "core/estimate/sums.h"
#include "report/compare.h"
#include "fleet.h"

struct side {
	struct profile profile;
	struct estimate estimate;
	struct compare_side side;
};

/* A line of slope @slope in a program that makes @visits a window. */
static void side_init(struct side *s, enum arrivals arrivals, double visits, double slope,
    int experiments, uint64_t seed)
{
	struct simulation sim = {.arrivals = arrivals,
	    .visits = visits,
	    .spans = true,
	    .slope = slope,
	    .saturation = 1,
	    .rng = {seed * 31 + 7}};
	struct estimate_options o = {.seed = 1, .replicates = 200};

	profile_init(&s->profile);
	for (int i = 0; i < experiments; i++)
		sim_experiment(&sim, &s->profile, "/src/a.c:1", i % 5 * 0.25);
	CHECK_EQ(estimate_profile(&s->profile, &o, &s->estimate), 0);
	s->side = (struct compare_side){&s->profile, &s->estimate};
}

static void side_deinit(struct side *s)
{
	estimate_deinit(&s->estimate);
	profile_deinit(&s->profile);
}

/* How many of @rounds intervals hold a change of a fifth. */
static int coverage(enum arrivals arrivals, int rounds)
{
	int held = 0;

	for (int i = 0; i < rounds; i++) {
		struct comparison c;
		struct side b, a;

		side_init(&b, arrivals, 60, 0.5, 60, (uint64_t)i * 2);
		side_init(&a, arrivals, 75, 0.4, 60, (uint64_t)i * 2 + 1);
		CHECK_EQ(compare_profiles(&b.side, &a.side, &c), 0);
		CHECK_EQ(c.n_points, 1);
		CHECK_STR(c.points[0].progress, "work");
		held += c.points[0].speedup.lo <= 0.2 && 0.2 <= c.points[0].speedup.hi;
		comparison_deinit(&c);
		side_deinit(&b);
		side_deinit(&a);
	}
	return held;
}

TEST(measured_changes_hold_the_truth)
{
	int regular = coverage(REGULAR, 200), erlang = coverage(ERLANG, 200),
	    poisson = coverage(POISSON, 200);

	printf("     of 200: regular %d, Erlang %d, Poisson %d\n", regular, erlang, poisson);
	CHECK(regular >= 181 && erlang >= 181 && poisson >= 181);
}

/* The line was made faster by @by; the period became shorter by @shorter. */
static struct compare_prediction predict(double by, double shorter, int *ret_err)
{
	struct compare_prediction ret = {.at = {NAN, NAN, NAN}};
	struct comparison c;
	struct side b, a;

	side_init(&b, ERLANG, 60, 0.6, 100, 1);
	side_init(&a, ERLANG, 60 / (1 - shorter), 0.5, 100, 2);
	CHECK_EQ(compare_profiles(&b.side, &a.side, &c), 0);
	*ret_err = compare_predict(&c, &b.side, &a.side, "a.c:1", by);
	if (!*ret_err) {
		CHECK_EQ(c.n_predictions, 1);
		ret = c.predictions[0];
	}
	comparison_deinit(&c);
	side_deinit(&b);
	side_deinit(&a);
	return ret;
}

TEST(predictions_hold_or_not)
{
	struct compare_prediction p;
	int err;

	p = predict(0.5, 0.3, &err);
	CHECK_EQ(err, 0);
	CHECK_EQ(p.source, CURVE_POINT);
	CHECK_EQ(p.agreement, AGREE_YES);
	CHECK(p.predicted.lo < 0.3 && 0.3 < p.predicted.hi);
	CHECK(p.by_slope.lo < 0.3 && 0.3 < p.by_slope.hi);
	p = predict(0.6, 0.36, &err); /* between 50 and 75 % */
	CHECK_EQ(p.source, CURVE_BETWEEN);
	CHECK_EQ(p.agreement, AGREE_YES);
	CHECK(p.predicted.lo < 0.36 && 0.36 < p.predicted.hi);
	p = predict(0.1, 0.06, &err); /* between nothing and 25 % */
	CHECK_EQ(p.source, CURVE_BETWEEN);
	CHECK_EQ(p.agreement, AGREE_YES);
	p = predict(0.5, 0.0, &err); /* without effect */
	CHECK_EQ(p.agreement, AGREE_LESS);
	CHECK(p.difference.hi < 0);
	p = predict(0.25, 0.5, &err);
	CHECK_EQ(p.agreement, AGREE_MORE);
	p = predict(0.05, 0.0, &err); /* 3 % cannot be told from nothing, but from 5 % */
	CHECK(p.agreement == AGREE_LESS || p.agreement == AGREE_YES);
	p = predict(NAN, 0.3, &err); /* the profiles hold no samples */
	CHECK_EQ(err, 0);
	CHECK(isnan(p.at.value));
	CHECK_EQ(p.source, CURVE_UNKNOWN);
	CHECK_EQ(p.agreement, AGREE_UNKNOWN);
}

static struct profile read_text(const char *text)
{
	struct profile p;
	struct error e;
	FILE *in = fmemopen((void *)text, strlen(text), "r");

	profile_init(&p);
	CHECK_EQ(profile_read(&p, in, "test", &e), 0);
	fclose(in);
	return p;
}

/* An interval that also holds 'no gain at all' confirms nothing. */
TEST(wide_intervals_confirm_nothing)
{
	struct comparison c;
	struct side b, a;

	side_init(&b, POISSON, 8, 0.2, 30, 1);
	side_init(&a, POISSON, 8 / 0.9, 0.2, 30, 2);
	CHECK_EQ(compare_profiles(&b.side, &a.side, &c), 0);
	CHECK_EQ(compare_predict(&c, &b.side, &a.side, "a.c:1", 0.5), 0);
	CHECK(c.predictions[0].difference.lo < 0 && c.predictions[0].difference.hi > 0);
	CHECK(c.predictions[0].difference.hi - c.predictions[0].difference.lo > 0.2);
	CHECK_EQ(c.predictions[0].agreement, AGREE_UNKNOWN);
	comparison_deinit(&c);
	side_deinit(&b);
	side_deinit(&a);
}

/* Experiments on @unit, and on /y/a.c:1, before and after. After: visits take 80 % of the time, and
 * samples per time fell from 500 to 400. So 64 % of the unit's time per visit is left. */
struct text_sides {
	struct profile p[2];
	struct estimate e[2];
	struct compare_side s[2];
};

static void text_sides_init(struct text_sides *t, const char *unit, const char *samples)
{
	static const char head[] = "startup\ttime=%d\n";
	static const char experiment[] = "experiment\tselected=%s\tspeedup=%s\tduration=%d\n"
					 "throughput-point\tname=p\tdelta=%d\n";
	static const char tail[] =
	    "samples\tlocation=%s\tcount=1000\tfree=%d\n"
	    "runtime\ttime=2000000000\tfree=1000000000\tsamples=1000\texecuted=1000000000\n";
	struct estimate_options o = {.seed = 1};

	for (int i = 0; i < 2; i++) {
		int ns = i ? 80000000 : 100000000;
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		fprintf(out, head, i + 1);
		fprintf(out, experiment, unit, "0", ns, 100);
		fprintf(out, experiment, unit, "0", ns, 101);
		fprintf(out, experiment, unit, "0.5", ns, 100);
		fprintf(out, experiment, "/y/a.c:1", "0.5", ns, 100);
		fprintf(out, tail, samples, i ? 400 : 500);
		fclose(out);
		t->p[i] = read_text(text);
		free(text);
		CHECK_EQ(estimate_profile(&t->p[i], &o, &t->e[i]), 0);
		t->s[i] = (struct compare_side){&t->p[i], &t->e[i]};
	}
}

static void text_sides_deinit(struct text_sides *t)
{
	for (int i = 0; i < 2; i++) {
		estimate_deinit(&t->e[i]);
		profile_deinit(&t->p[i]);
	}
}

/* Names: all of it, its end, several, none. And what a line's samples per visit tell about it. */
TEST(lines_are_found_and_their_speed_is_known_by_samples)
{
	struct comparison c;
	struct text_sides t;

	text_sides_init(&t, "/x/a.c:1", "/x/a.c:1");
	CHECK_EQ(compare_profiles(&t.s[0], &t.s[1], &c), 0);
	CHECK_NEAR(c.points[0].speedup.value, 0.2, 1e-9);
	CHECK_EQ(compare_predict(&c, &t.s[0], &t.s[1], "a.c:1", NAN), -EEXIST);
	CHECK_EQ(compare_predict(&c, &t.s[0], &t.s[1], "b.c:1", NAN), -ENOENT);
	CHECK_EQ(compare_predict(&c, &t.s[0], &t.s[1], "x/a.c:1", NAN), 0);
	CHECK_EQ(c.n_predictions, 1);
	CHECK_NEAR(c.predictions[0].at.value, 0.36, 1e-9);
	CHECK(c.predictions[0].at.lo < 0.36 && c.predictions[0].at.hi > 0.36);
	CHECK_EQ(compare_predict(&c, &t.s[0], &t.s[1], "/x/a.c:1", 0.25), 0);
	CHECK_NEAR(c.predictions[0].at.value, 0.25, 1e-9);
	comparison_deinit(&c);
	text_sides_deinit(&t);
}

/* A function has no samples of its own: they are those of its lines. Its module may be left out. */
TEST(functions_have_the_samples_of_their_lines)
{
	struct comparison c;
	struct text_sides t;

	text_sides_init(&t, "server:parse", "/x/b.c:7\tfunction=server:parse");
	CHECK_EQ(compare_profiles(&t.s[0], &t.s[1], &c), 0);
	CHECK_EQ(compare_predict(&c, &t.s[0], &t.s[1], "pars", NAN), -ENOENT);
	CHECK_EQ(compare_predict(&c, &t.s[0], &t.s[1], "parse", NAN), 0);
	CHECK_EQ(c.n_predictions, 1);
	CHECK_NEAR(c.predictions[0].at.value, 0.36, 1e-9);
	comparison_deinit(&c);
	text_sides_deinit(&t);
}

static struct estimate_line ranked(const char *line, double slope, double half, enum verdict v)
{
	return (struct estimate_line){.line = line,
	    .progress = "p",
	    .slope = slope,
	    .slope_lo = slope - half,
	    .slope_hi = slope + half,
	    .df = INFINITY,
	    .verdict = v};
}

TEST(rankings_side_by_side)
{
	struct estimate_line before[] = {ranked("a.c:1", 0.5, 0.05, VERDICT_OPTIMIZE),
	    ranked("b.c:1", 0.2, 0.05, VERDICT_OPTIMIZE),
	    ranked("c.c:1", 0.1, 0.02, VERDICT_OPTIMIZE),
	    ranked("d.c:1", 0.3, NAN, VERDICT_NOT_ENOUGH_DATA),
	    ranked("f.c:1", NAN, NAN, VERDICT_NOT_ENOUGH_DATA)};
	struct estimate_line after[] = {ranked("b.c:1", 0.4, 0.05, VERDICT_OPTIMIZE),
	    ranked("d.c:1", 0.3, 0.05, VERDICT_OPTIMIZE),
	    ranked("e.c:1", 0.2, 0.05, VERDICT_OPTIMIZE),
	    ranked("a.c:1", 0.01, 0.05, VERDICT_NO_EFFECT),
	    ranked("f.c:1", NAN, NAN, VERDICT_NOT_ENOUGH_DATA)};
	struct estimate e[] = {
	    {.lines = before, .n_lines = 5, .runs = 1}, {.lines = after, .n_lines = 5, .runs = 1}};
	struct profile none[2];
	struct compare_side s[] = {{&none[0], &e[0]}, {&none[1], &e[1]}};
	const struct {
		const char *line;
		size_t then, now;
		enum compare_move move;
	} expected[] = {{"b.c:1", 2, 1, MOVE_ROSE}, {"d.c:1", 0, 2, MOVE_UNKNOWN},
	    {"e.c:1", 0, 3, MOVE_APPEARED}, {"a.c:1", 1, 4, MOVE_FELL},
	    {"c.c:1", 3, 0, MOVE_VANISHED}};
	struct comparison c;

	profile_init(&none[0]);
	profile_init(&none[1]);
	CHECK_EQ(compare_profiles(&s[0], &s[1], &c), 0);
	CHECK_EQ(c.n_points, 0);
	CHECK_EQ(c.n_lines, 5);
	for (size_t i = 0; i < 5 && i < c.n_lines; i++) {
		const struct compare_line *l = &c.lines[i];

		CHECK_STR((l->before ? l->before : l->after)->line, expected[i].line);
		CHECK_EQ(l->rank_before, expected[i].then);
		CHECK_EQ(l->rank_after, expected[i].now);
		CHECK_EQ(l->move, expected[i].move);
	}
	CHECK_NEAR(c.lines[0].slope.value, 0.2, 1e-9);
	CHECK_NEAR(c.lines[0].slope.lo, 0.2 - 0.05 * M_SQRT2, 1e-9);
	comparison_deinit(&c);
}

/* Runs that differ by more than the scatter of their experiments: the interval is that of runs, and
 * holds. */
TEST(runs_that_differ_widen_the_interval)
{
	static const char text[] = "startup\ttime=%d\n";
	struct profile p[2];
	struct estimate e[2];
	struct compare_side s[2];
	struct estimate_options o = {.seed = 1};
	struct comparison c;

	for (int side = 0; side < 2; side++) {
		char *all = NULL;
		size_t size;
		FILE *out = open_memstream(&all, &size);

		for (int run = 0; run < 4; run++) {
			fprintf(out, text, side * 10 + run + 1);
			for (int i = 0; i < 10; i++)
				fprintf(out,
				    "experiment\tselected=a.c:1\tspeedup=0\tduration=%"
				    "d\nthroughput-point\tname=p\tdelta=100\n",
				    100000000 + run * 5000000 + i * 1000);
		}
		fclose(out);
		p[side] = read_text(all);
		free(all);
		CHECK_EQ(estimate_profile(&p[side], &o, &e[side]), 0);
		s[side] = (struct compare_side){&p[side], &e[side]};
	}
	CHECK_EQ(compare_profiles(&s[0], &s[1], &c), 0);
	CHECK_EQ(c.points[0].before.runs, 4);
	CHECK_EQ(c.points[0].before.df, 3);
	CHECK_NEAR(c.points[0].speedup.value, 0, 1e-9);
	/* Four runs with a standard deviation of 6 %, so 3 % for their mean, twice; t of 6 degrees
	 * is 2.45. */
	CHECK(c.points[0].speedup.hi > 0.08 && c.points[0].speedup.hi < 0.12);
	comparison_deinit(&c);
	for (int i = 0; i < 2; i++) {
		estimate_deinit(&e[i]);
		profile_deinit(&p[i]);
	}
}

/* A profile of @n lines, each of slope 0.3 and with @experiments. */
static void many_init(struct side *s, int n, int experiments, uint64_t seed)
{
	struct simulation sim = {.arrivals = ERLANG,
	    .visits = 30,
	    .spans = true,
	    .slope = 0.3,
	    .saturation = 1,
	    .rng = {seed * 31 + 7}};
	struct estimate_options o = {.seed = seed, .replicates = 100};

	profile_init(&s->profile);
	for (int i = 0; i < n * experiments; i++) {
		char line[32];

		snprintf(line, sizeof(line), "a.c:%d", i % n + 1);
		sim_experiment(&sim, &s->profile, line, i / n % 5 * 0.25);
	}
	CHECK_EQ(estimate_profile(&s->profile, &o, &s->estimate), 0);
	s->side = (struct compare_side){&s->profile, &s->estimate};
}

/* Of sixty lines three have a 95 % interval of the difference that misses 0. Yet in 95 % of the
 * comparisons nothing may have moved for certain. */
TEST(nothing_moves_that_has_not_changed)
{
	int still = 0, missed = 0, compared = 0;

	for (uint64_t i = 0; i < 200; i++) {
		struct comparison c;
		struct side b, a;
		bool moved = false;

		many_init(&b, 60, 25, 2 * i + 1);
		many_init(&a, 60, 25, 2 * i + 2);
		CHECK_EQ(compare_profiles(&b.side, &a.side, &c), 0);
		for (size_t k = 0; k < c.n_lines; k++) {
			moved |= c.lines[k].move == MOVE_ROSE || c.lines[k].move == MOVE_FELL;
			missed += c.lines[k].slope.lo > 0 || c.lines[k].slope.hi < 0;
			compared += !isnan(c.lines[k].slope.lo);
		}
		still += !moved;
		comparison_deinit(&c);
		side_deinit(&b);
		side_deinit(&a);
	}
	printf(
	    "     of 200: %d without a move; %d of %d intervals miss 0\n", still, missed, compared);
	CHECK(still >= 190 - 9);
	CHECK(missed > 100);
}

/* A line that moved is still seen among many that did not. */
TEST(a_large_move_is_seen_among_many)
{
	struct estimate_line before[60], after[60];
	struct estimate e[] = {{.lines = before, .n_lines = 60, .runs = 1},
	    {.lines = after, .n_lines = 60, .runs = 1}};
	static char names[60][16];
	struct profile none[2];
	struct compare_side s[] = {{&none[0], &e[0]}, {&none[1], &e[1]}};
	struct comparison c;

	for (int i = 0; i < 60; i++) {
		snprintf(names[i], sizeof(names[i]), "a.c:%d", i + 1);
		before[i] = after[i] = ranked(names[i], 0.3, 0.05, VERDICT_OPTIMIZE);
	}
	after[0] = ranked(names[0], 0.45, 0.05, VERDICT_OPTIMIZE); /* 4.2 standard deviations */
	/* 2.8: among 60 lines that happens in three comparisons of ten */
	after[1] = ranked(names[1], 0.2, 0.05, VERDICT_OPTIMIZE);
	profile_init(&none[0]);
	profile_init(&none[1]);
	CHECK_EQ(compare_profiles(&s[0], &s[1], &c), 0);
	CHECK_EQ(c.n_lines, 60);
	CHECK_EQ(c.lines[0].move, MOVE_ROSE);
	CHECK(c.lines[1].slope.hi < 0);
	CHECK_EQ(c.lines[1].move, MOVE_NONE);
	comparison_deinit(&c);
	/* With all the weight on this line, the same evidence is enough. */
	before[1].samples = after[1].samples = 10000;
	CHECK_EQ(compare_profiles(&s[0], &s[1], &c), 0);
	CHECK_EQ(c.lines[1].move, MOVE_FELL);
	comparison_deinit(&c);
}

static char *text_of(const struct compare_report *r)
{
	struct text_options o = {0};
	char *ret = NULL;
	size_t size;
	FILE *out = open_memstream(&ret, &size);

	CHECK_EQ(compare_text(out, r, &o), 0);
	fclose(out);
	return ret;
}

TEST(units_are_called_what_they_are)
{
	static const char *const names[] = {"server:f", "a.c:1"};
	static const char *const words[] = {"function", "unit", "line"};

	for (int i = 0; i < 3; i++) {
		struct estimate_line before = ranked(names[i == 2], 0.3, 0.05, VERDICT_OPTIMIZE),
				     after = ranked(names[i > 0], 0.3, 0.05, VERDICT_OPTIMIZE);
		struct estimate e[] = {
		    {.lines = &before, .n_lines = 1}, {.lines = &after, .n_lines = 1}};
		struct profile none = {0};
		struct compare_side s[] = {{&none, &e[0]}, {&none, &e[1]}};
		struct compare_point point = {.progress = "p"};
		struct compare_line line = {.before = &before, .after = &after, .rank_after = 1};
		struct comparison c = {
		    .points = &point, .n_points = 1, .lines = &line, .n_lines = 1};
		struct compare_report r = {"before", "after", &s[0], &s[1], &c};
		char *text, words_of_none[64], head[32];

		snprintf(head, sizeof(head), "# now  %s ", words[i]);
		text = text_of(&r);
		CHECK(strstr(text, head));
		free(text);
		c.n_lines = 0;
		snprintf(words_of_none, sizeof(words_of_none), "no %s has enough data", words[i]);
		text = text_of(&r);
		CHECK(strstr(text, words_of_none));
		free(text);
	}
}

/* Damaged files and other tools' files can have many runs and points: the work is in proportion to
 * the experiments, not to runs times points. */
TEST(many_points_of_many_runs)
{
	enum { N = 30000 };
	struct estimate_options o = {.seed = 1};
	struct compare_side s;
	struct comparison c;
	struct estimate e;
	struct profile p;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	clock_t begun;

	for (int i = 1; i <= N; i++)
		fprintf(out,
		    "startup\ttime=%d\nexperiment\tselected=a.c:1\tspeedup=0\tduration="
		    "100\nthroughput-point\tname=p%d\tdelta=9\n",
		    i, i);
	fclose(out);
	p = read_text(text);
	free(text);
	CHECK_EQ(p.n_runs, N);
	begun = clock();
	CHECK_EQ(estimate_profile(&p, &o, &e), 0);
	CHECK(clock() - begun < 5 * CLOCKS_PER_SEC);
	s = (struct compare_side){&p, &e};
	begun = clock();
	CHECK_EQ(compare_profiles(&s, &s, &c), 0);
	CHECK(clock() - begun < 2 * CLOCKS_PER_SEC);
	CHECK_EQ(c.n_points, N);
	comparison_deinit(&c);
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* The same runs twice. */
static void fleets_init(struct profile p[2], unsigned runs, unsigned experiments)
{
	struct error e = {0};

	for (int i = 0; i < 2; i++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size), *in;

		profile_init(&p[i]);
		for (unsigned run = 0; run < runs; run++)
			fleet_write(out, run, experiments);
		fclose(out);
		in = fmemopen(text, size, "r");
		CHECK_EQ(profile_read(&p[i], in, "test", &e), 0);
		fclose(in);
		free(text);
	}
}

/*
 * A sum's rate scatters as its runs do: baselines that many lines share count once. Of two machines
 * nothing tells how far machines differ, and the scatter of experiments is left. From 32 sums that
 * is known to an eighth, so a third more or less is 2.6 standard deviations of seeds that are
 * fixed.
 */
TEST(rates_of_sums_scatter_as_their_runs_do)
{
	static const unsigned shapes[][2] = {{40, 100}, {2, 2000}};

	for (size_t i = 0; i < 2; i++) {
		struct estimate none = {0};
		struct profile p[2];
		struct comparison c;
		const struct compare_rate *x, *y;
		double ratio;

		fleets_init(p, shapes[i][0], shapes[i][1]);
		CHECK_EQ(profile_sum(&p[1]), 0);
		CHECK_EQ(compare_profiles(&(struct compare_side){&p[0], &none},
			     &(struct compare_side){&p[1], &none}, &c),
		    0);
		CHECK_EQ(c.n_points, 1);
		x = &c.points[0].before;
		y = &c.points[0].after;
		ratio = sqrt(y->variance / x->variance);
		printf("     deviation %.5f, of the sum by %.2f\n", sqrt(x->variance), ratio);
		CHECK(ratio > 1 / 1.35 && ratio < 1.35);
		CHECK_NEAR(y->period / x->period, 1, 1e-6);
		CHECK_EQ(x->experiments, y->experiments);
		CHECK_NEAR((double)y->visits / (double)x->visits, 1, 1e-3);
		comparison_deinit(&c);
		profile_deinit(&p[0]);
		profile_deinit(&p[1]);
	}
}
