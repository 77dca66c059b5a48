// SPDX-License-Identifier: BSD-3-Clause
/* The answer in the middle of a run: the profile so far, the leader, the lines wanted, --until. */
#include "check.h"

#include "core/estimate/answer.h"
#include "core/profile/so_far.h"

#define SECOND 1000000000ULL

/* Experiments at five speedups of a line, @n of each, whose slope is @slope; periods scatter by
 * @scatter. */
static void add_line(struct profile *p, const char *line, double slope, double scatter, int n)
{
	for (int i = 0; i < 5 * n; i++) {
		double period = 1 - slope * (i % 5) / 4 + scatter * (i / 5 % 3 - 1);
		struct experiment_record x = {.selected = strdup(line),
		    .speedup = i % 5 / 4.0,
		    .duration_ns = (uint64_t)(period * 100e6),
		    .points = calloc(1, sizeof(*x.points)),
		    .n_points = 1};

		x.points[0].name = strdup("work");
		x.points[0].delta = 1000;
		p->experiments = realloc(p->experiments, (p->n_experiments + 1) * sizeof(x));
		p->experiments[p->n_experiments++] = x;
	}
}

static void add_run(struct profile *p)
{
	p->runs = realloc(p->runs, (p->n_runs + 1) * sizeof(*p->runs));
	p->runs[p->n_runs++] = (struct run_record){.fixed_speedups = 4};
}

static struct source_line lines[] = {{.file = ""}, {.file = "/src/a.c", .line = 1},
    {.file = "/src/b.c", .line = 2}, {.file = "/src/c.c", .line = 3}};
static const struct cozbpf_line_count counts[] = {
    {}, {.all = 700, .free = 350}, {.all = 300, .free = 150}, {.all = 40, .free = 20}};
static const uint64_t before[] = {0, 100, 50, 40}, free_before[] = {0, 50, 25, 20};

static struct run_so_far this_run = {.run = 1,
    .lines = lines,
    .counts = counts,
    .counts_before = before,
    .free_before = free_before,
    .n_lines = 4,
    .has_ids = true,
    .samples = 900,
    .in_scope = 850,
    .runtime_ns = 20 * SECOND,
    .delayed_ns = 8 * SECOND};

TEST(what_the_end_of_the_run_will_add)
{
	struct profile p;
	struct so_far s;

	profile_init(&p);
	add_run(&p);
	add_run(&p);
	p.samples = calloc(1, sizeof(*p.samples));
	p.samples[0] = (struct samples_record){.location = strdup("/src/a.c:1"), .count = 100};
	p.n_samples = 1;
	CHECK_EQ(so_far_init(&s, &p, &this_run), 0);
	CHECK_EQ(s.profile.n_samples, 3); /* line 3 has no new sample */
	CHECK_EQ(s.profile.samples[0].count, 100);
	CHECK_STR(s.profile.samples[1].location, "/src/a.c:1");
	CHECK_EQ(s.profile.samples[1].count, 600);
	CHECK_EQ(s.profile.samples[1].free, 300);
	CHECK(s.profile.samples[1].has_free);
	CHECK_EQ(s.profile.samples[1].run, 1);
	CHECK_EQ(s.profile.samples[1].id, 1);
	CHECK_STR(s.profile.samples[2].location, "/src/b.c:2");
	CHECK_EQ(s.profile.runs[0].runtime_ns, 0);
	CHECK_EQ(s.profile.runs[1].runtime_ns, 20 * SECOND);
	CHECK_EQ(s.profile.runs[1].free_ns, 12 * SECOND);
	CHECK_EQ(s.profile.runs[1].samples, 900);
	CHECK_EQ(s.profile.runs[1].in_scope, 850);
	so_far_deinit(&s);
	/* The profile itself is as it was. */
	CHECK_EQ(p.n_samples, 1);
	CHECK_EQ(p.runs[1].runtime_ns, 0);
	/* Between two runs nothing is added. */
	CHECK_EQ(so_far_init(&s, &p, NULL), 0);
	CHECK_EQ(s.profile.n_samples, 1);
	CHECK_EQ(s.profile.runs[1].runtime_ns, 0);
	so_far_deinit(&s);
	profile_deinit(&p);
}

TEST(a_first_run_has_no_samples_records)
{
	struct run_so_far first = this_run;
	struct profile p;
	struct so_far s;

	first.has_ids = false;
	first.delayed_ns = 30 * SECOND;
	profile_init(&p);
	add_run(&p);
	CHECK_EQ(so_far_init(&s, &p, &first), 0);
	CHECK_EQ(s.profile.n_samples, 2);
	CHECK_EQ(s.profile.samples[0].id, 0);
	CHECK_EQ(s.profile.runs[0].free_ns, 0); /* never below 0 */
	so_far_deinit(&s);
	profile_deinit(&p);
}

TEST(looks_every_few_seconds)
{
	struct answer a = {0};

	CHECK(answer_is_due(&a, 0, SORT_SLOPE));
	answer_looked(&a, 10 * SECOND, 10 * SECOND + 5000000);
	CHECK(!answer_is_due(&a, 13 * SECOND, SORT_SLOPE));
	CHECK(answer_is_due(&a, 13 * SECOND + 5000000, SORT_SLOPE));
	CHECK(answer_is_due(&a, 11 * SECOND, SORT_MAX)); /* another order is asked for */
	/* An estimate that took long is not made often. */
	answer_looked(&a, 20 * SECOND, 21 * SECOND);
	CHECK(!answer_is_due(&a, 71 * SECOND - 1, SORT_SLOPE));
	CHECK(answer_is_due(&a, 71 * SECOND, SORT_SLOPE));
}

TEST(leader_and_lines_wanted)
{
	uint32_t ids[60];
	struct answer a = {.seed = 1};
	struct wanted *wanted;
	struct estimate e;
	struct profile p;
	size_t n;

	profile_init(&p);
	add_run(&p);
	CHECK_EQ(answer_look(&a, &p, SORT_SLOPE, &e), 0);
	CHECK_STR(a.leader, "");
	estimate_deinit(&e);
	add_line(&p, "/src/a.c:1", 0.1, 0.002, 6);
	add_line(&p, "/src/b.c:2", 0.5, 0.002, 6);
	for (size_t i = 0; i < 60; i++)
		ids[i] = i < 30 ? 7 : 9;
	CHECK_EQ(answer_look(&a, &p, SORT_MAX, &e), 0);
	CHECK_STR(a.leader, ", leading: b.c:2");
	answer_looked(&a, 0, 0);
	CHECK(!answer_is_due(&a, SECOND, SORT_MAX)); /* it is in this order */
	wanted = answer_wanted(&e, &p, ids, &n);
	CHECK_EQ(n, 2);
	CHECK_EQ(wanted[0].line, 9);
	CHECK_NEAR(wanted[0].share, 1, 1e-9); /* the only one that could lead */
	CHECK_EQ(wanted[1].line, 7);
	CHECK_NEAR(wanted[1].share, WANTED_MIN, 1e-9);
	CHECK(wanted[0].refine && wanted[1].refine); /* both matter */
	free(wanted);
	e.lines[1].verdict = VERDICT_NO_EFFECT;
	wanted = answer_wanted(&e, &p, ids, &n);
	CHECK(wanted[0].refine && !wanted[1].refine);
	free(wanted);
	for (size_t i = 30; i < 60; i++)
		ids[i] = 0; /* the line has no id */
	wanted = answer_wanted(&e, &p, ids, &n);
	CHECK_EQ(n, 1);
	CHECK_EQ(wanted[0].line, 7);
	free(wanted);
	estimate_deinit(&e);
	profile_deinit(&p);
}

TEST(until)
{
	struct answer a = {.seed = 1};
	struct profile p;

	profile_init(&p);
	add_run(&p);
	add_line(&p, "/src/a.c:1", 0.5, 0.1, 6);
	CHECK(!answer_may_settle(&a, 0, p.n_experiments)); /* no --until */
	a.until_width = 0.01;
	CHECK(!answer_may_settle(&a, 0, 0));
	CHECK(answer_may_settle(&a, 0, p.n_experiments));
	CHECK(!answer_settle(&a, &p, SECOND));                          /* intervals are too wide */
	CHECK(!answer_may_settle(&a, 9 * SECOND, p.n_experiments));     /* nothing new */
	CHECK(!answer_may_settle(&a, 2 * SECOND, p.n_experiments + 1)); /* too soon */
	CHECK(answer_may_settle(&a, 4 * SECOND, p.n_experiments + 1));
	a.until_width = 0.5;
	CHECK(answer_settle(&a, &p, 4 * SECOND));
	CHECK(!answer_may_settle(&a, 99 * SECOND, p.n_experiments + 9)); /* it stays */
	CHECK(a.settled);
	profile_deinit(&p);
}
