// SPDX-License-Identifier: BSD-3-Clause
/* The runs of profiles that are put together: builds, runs that are there twice, sources that lie
 * elsewhere; and interned names. */
#include "check.h"

#include "core/profile/line_counts.h"
#include "core/profile/runs.h"

#define RUN(time, build) "startup\ttime=" #time "\tbuild-id=" build "\n"
#define EXPERIMENT(line, ns)                                         \
	"experiment\tselected=" line "\tspeedup=0.25\tduration=" #ns \
	"\tselected-samples=1\nthroughput-point\tname=p\tdelta=9\n"
#define SAMPLES(line, n) "samples\tlocation=" line "\tcount=" #n "\n"

static void add(struct profile *p, const char *text)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	struct error e = {0};

	CHECK_EQ(profile_read(p, in, "test", &e), 0);
	CHECK_STR(e.cause, "");
	fclose(in);
}

TEST(builds_are_told_apart)
{
	struct profile p;
	size_t a = 9, b = 9;

	profile_init(&p);
	CHECK(!runs_other_build(&p, &a, &b));
	add(&p, "startup\ttime=1\n" RUN(2, "aa11") RUN(3, "aa11"));
	CHECK(!runs_other_build(&p, &a, &b));
	CHECK_EQ(runs_count_builds(&p), 1);
	add(&p, RUN(4, "aa22"));
	CHECK(runs_other_build(&p, &a, &b));
	CHECK_EQ(a, 1);
	CHECK_EQ(b, 3);
	CHECK_EQ(runs_count_builds(&p), 2);
	CHECK_EQ(runs_without_build(&p), 1);
	CHECK(runs_is_of(&p.runs[3], "aa"));
	CHECK(runs_is_of(&p.runs[3], "aa22"));
	CHECK(!runs_is_of(&p.runs[3], "aa221"));
	CHECK(!runs_is_of(&p.runs[0], "a"));
	profile_deinit(&p);
}

TEST(twins_are_found)
{
	uint32_t twins[8];
	struct profile p;

	profile_init(&p);
	CHECK_EQ(runs_find_twins(&p, twins), 0);
	add(&p, RUN(1, "aa") EXPERIMENT("a.c:1", 10) EXPERIMENT("a.c:2", 20));
	add(&p, RUN(1, "aa") EXPERIMENT("a.c:1", 10)); /* a copy of the file made earlier */
	add(&p, RUN(1, "bb") EXPERIMENT("a.c:1", 10)); /* the same moment on another machine */
	/* likewise, of the same build */
	add(&p, RUN(1, "aa") EXPERIMENT("a.c:1", 10) EXPERIMENT("a.c:2", 21));
	add(&p, RUN(2, "aa") EXPERIMENT("a.c:1", 10) EXPERIMENT("a.c:2", 20));
	add(&p, RUN(1, "aa") EXPERIMENT("a.c:1", 10) EXPERIMENT("a.c:2", 20) "runtime\ttime=50\n");
	CHECK_EQ(runs_find_twins(&p, twins), 0);
	CHECK_EQ(twins[0], 5); /* the copy that says more */
	CHECK_EQ(twins[1], 5);
	CHECK_EQ(twins[2], 2);
	CHECK_EQ(twins[3], 3);
	CHECK_EQ(twins[4], 4);
	CHECK_EQ(twins[5], 5);
	profile_deinit(&p);
	/* Without a start nothing can be known. */
	profile_init(&p);
	add(&p, EXPERIMENT("a.c:1", 10));
	add(&p, EXPERIMENT("a.c:1", 10));
	CHECK_EQ(runs_find_twins(&p, twins), 0);
	CHECK_EQ(twins[0], 0);
	CHECK_EQ(twins[1], 1);
	profile_deinit(&p);
}

TEST(runs_are_taken_out)
{
	const bool drop[] = {true, false, true, false};
	struct profile p;

	profile_init(&p);
	add(&p, RUN(1, "aa") EXPERIMENT("a.c:1", 10) SAMPLES("a.c:1", 1));
	add(&p, RUN(2, "bb") EXPERIMENT("a.c:1", 20) EXPERIMENT("a.c:1", 21) SAMPLES("a.c:1", 2));
	add(&p, RUN(3, "cc") EXPERIMENT("a.c:1", 30) SAMPLES("a.c:1", 3));
	add(&p, RUN(4, "dd") EXPERIMENT("a.c:1", 40) SAMPLES("a.c:1", 4));
	runs_drop(&p, drop);
	CHECK_EQ(p.n_runs, 2);
	CHECK_STR(p.runs[1].build_id, "dd");
	CHECK_EQ(p.n_experiments, 3);
	CHECK_EQ(p.experiments[1].run, 0);
	CHECK_EQ(p.experiments[1].duration_ns, 21);
	CHECK_EQ(p.experiments[2].run, 1);
	CHECK_EQ(p.n_samples, 2);
	CHECK_EQ(p.samples[1].run, 1);
	CHECK_EQ(p.samples[1].count, 4);
	profile_deinit(&p);
}

TEST(sources_move)
{
	const char *a = NULL, *b = NULL;
	struct profile p;
	size_t run = 9;

	profile_init(&p);
	CHECK_EQ(runs_find_moved(&p, &run, &a, &b), 0);
	add(&p, RUN(1, "aa") EXPERIMENT("/x/src/a.c:1", 10) SAMPLES("/x/lib/a.c:1", 1));
	add(&p, RUN(2, "aa") EXPERIMENT("/x/src/a.c:1", 10) SAMPLES("/y/src/a.c:1", 1));
	CHECK_EQ(runs_find_moved(&p, &run, &a, &b), 0); /* one line in common: the same tree */
	add(&p, RUN(3, "bb") EXPERIMENT("/yy/src/a.c:1", 10) SAMPLES("/yy/src/b.c:1", 1));
	CHECK_EQ(runs_find_moved(&p, &run, &a, &b), 1);
	CHECK_EQ(run, 2);
	CHECK_STR(b, "/yy/src/a.c:1");
	CHECK_EQ(runs_move_sources(&p, 0, "/y", "/x"), 1); /* not /yy */
	CHECK_STR(p.samples[1].location, "/x/src/a.c:1");
	CHECK_EQ(runs_move_sources(&p, 0, "/yy/", "/x/"), 2);
	CHECK_STR(p.experiments[2].selected, "/x/src/a.c:1");
	CHECK(p.experiments[2].selected == p.experiments[0].selected);
	CHECK_EQ(runs_find_moved(&p, &run, &a, &b), 0);
	CHECK_EQ(runs_move_sources(&p, 0, "/x/src", ""), 5);
	CHECK_STR(p.experiments[2].selected, "a.c:1");
	CHECK_EQ(runs_move_sources(&p, 0, "/", "/z"), 0);
	/* Both of a couple; runs that were moved already stay. */
	add(&p, RUN(4, "cc") EXPERIMENT("/b/a.c:1 + /b/b.c:2", 10) EXPERIMENT("f + /b/b.c:2", 10));
	CHECK_EQ(runs_move_sources(&p, 4, "/b", "/b/x"), 0);
	CHECK_EQ(runs_move_sources(&p, 3, "/b", "/b/x"), 2);
	CHECK_STR(p.experiments[3].selected, "/b/x/a.c:1 + /b/x/b.c:2");
	CHECK_STR(p.experiments[4].selected, "f + /b/x/b.c:2");
	profile_deinit(&p);
}

/* Within a file the last record of a run counts; runs add up. */
TEST(line_counts_add_up)
{
	struct line_counts c;
	struct profile p;

	profile_init(&p);
	CHECK_EQ(line_counts_init(&c, &p), 0);
	CHECK_EQ(c.n, 0);
	line_counts_deinit(&c);
	add(&p, RUN(1, "aa") SAMPLES("b.c:1", 5) SAMPLES("a.c:1", 7)
		    SAMPLES("b.c:1", 8) "runtime\ttime=9\tsamples=20\tin-scope=15\n");
	CHECK_EQ(p.n_samples, 2); /* a sample that a later record supersedes is not kept */
	add(&p, RUN(2, "aa") SAMPLES("b.c:1", 2) SAMPLES("c.c:1", 0));
	CHECK_EQ(p.n_samples, 4);
	CHECK_EQ(line_counts_init(&c, &p), 0);
	CHECK_EQ(c.n, 2);
	CHECK_STR(c.lines[0].line, "a.c:1");
	CHECK_EQ(c.lines[0].count, 7);
	CHECK_STR(c.lines[1].line, "b.c:1");
	CHECK_EQ(c.lines[1].count, 10);
	CHECK_EQ(c.outside, 5);
	CHECK_EQ(line_counts_find(&c, "b.c:1"), 10);
	CHECK_EQ(line_counts_find(&c, "c.c:1"), 0);
	line_counts_deinit(&c);
	/* Two lines that are one from now on. */
	add(&p, RUN(3, "aa") SAMPLES("/x/d.c:1", 3) SAMPLES("/y/d.c:1", 4));
	CHECK_EQ(runs_move_sources(&p, 0, "/y", "/x"), 1);
	CHECK_EQ(line_counts_init(&c, &p), 0);
	CHECK_EQ(line_counts_find(&c, "/x/d.c:1"), 7);
	line_counts_deinit(&c);
	/* The same, written and read again: the baselines' ids tell the lines apart. */
	add(&p, RUN(4, "aa") "samples\tlocation=/x/e.c:1\tcount=3\tid=1\nsamples\tlocation=/x/"
			     "e.c:1\tcount=4\tid=2\n");
	CHECK_EQ(line_counts_init(&c, &p), 0);
	CHECK_EQ(line_counts_find(&c, "/x/e.c:1"), 7);
	line_counts_deinit(&c);
	profile_deinit(&p);
}

/* A file may say anything: what adds up to 2^64 is not nothing. */
TEST(line_counts_do_not_wrap)
{
	struct line_counts c;
	struct profile p;

	profile_init(&p);
	add(&p, RUN(1, "aa") SAMPLES("a.c:1", 5));
	add(&p, RUN(2, "aa") SAMPLES("a.c:1", 5));
	CHECK_EQ(p.n_samples, 2);
	for (size_t i = 0; i < 2; i++) {
		p.samples[i].count = 1ULL << 63;
		p.runs[i].samples = (1ULL << 63) + 1;
		p.runs[i].in_scope = 1;
	}
	CHECK_EQ(line_counts_init(&c, &p), 0);
	CHECK_EQ(c.n, 1);
	CHECK(line_counts_find(&c, "a.c:1") >= 1ULL << 63);
	CHECK(c.outside >= 1ULL << 63);
	line_counts_deinit(&c);
	profile_deinit(&p);
}

TEST(names_are_kept_once)
{
	struct names t = {0};
	char name[100000];
	uint32_t id, other;

	CHECK_EQ(names_find(&t, "x"), UINT32_MAX);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		CHECK_EQ(names_copy(&t, name, &id), 0);
		CHECK_EQ(id, i);
	}
	CHECK_EQ(names_copy(&t, "name 7", &id), 0);
	CHECK_EQ(id, 7);
	CHECK_STR(t.items[7], "name 7");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	CHECK_EQ(names_copy(&t, name, &id), 0);
	CHECK_EQ(names_copy(&t, "after a long one", &other), 0);
	CHECK(t.items[id] != name);
	CHECK_STR(t.items[id], name);
	CHECK_EQ(names_find(&t, "after a long one"), other);
	CHECK(t.bytes > 100000 && t.bytes < 400000);
	names_deinit(&t);
}

/* The memory limit of a profile covers everything that is read into it, and reaching it is told. */
TEST(memory_is_bounded)
{
	static char text[200 * 128];
	struct profile p;
	struct error e = {0};
	size_t used = 0;
	FILE *in;

	for (int i = 0; i < 200; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, EXPERIMENT("a.c:1", 10));
	profile_init(&p);
	p.max_bytes = 200000;
	add(&p, text);
	in = fmemopen(text, used, "r");
	for (int i = 0; i < 20 && !e.status; i++) {
		rewind(in);
		profile_read(&p, in, "big.coz", &e);
	}
	fclose(in);
	CHECK_EQ(e.status, EXIT_OTHER);
	CHECK(strstr(e.cause, "'big.coz' is too large"));
	CHECK(strstr(e.hint, "startup"));
	/* Arrays grow by doubling, so at worst half of the room is used. */
	CHECK(p.n_experiments * 2 * (sizeof(*p.experiments) + sizeof(struct point_record)) >
	      p.max_bytes);
	CHECK(p.n_experiments * sizeof(*p.experiments) < p.max_bytes);
	profile_deinit(&p);
	/* The same samples again and again take no room. */
	profile_init(&p);
	p.max_bytes = 200000;
	add(&p, RUN(1, "aa") SAMPLES("a.c:1", 1) SAMPLES("b.c:1", 1));
	in = fmemopen(text, sizeof(text), "w+");
	for (int i = 0; i < 800; i++)
		fprintf(in, "samples\tlocation=a.c:1\tcount=%d\n", i);
	fflush(in);
	for (int i = 0; i < 20; i++) {
		rewind(in);
		CHECK_EQ(profile_read(&p, in, "samples", &e), 0);
	}
	fclose(in);
	CHECK_EQ(p.n_samples, 2 + 20);
	profile_deinit(&p);
}
