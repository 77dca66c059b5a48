// SPDX-License-Identifier: BSD-3-Clause
/* What `report --csv` and `report --folded` print, to the byte: other programs read it. */
#include "check.h"

#include <math.h>

#include "report/report.h"
#include "report/words.h"

static char *text;
static size_t size;

static FILE *open_text(void)
{
	free(text);
	text = NULL;
	return open_memstream(&text, &size);
}

TEST(csv)
{
	struct estimate_point points[] = {
	    {0.25, 0.1234567, 0.2, 0.1, 0.15, 3, 40}, {0.5, -0.00000001, -1, NAN, NAN, 1, 9}};
	struct estimate_line lines[] = {{.line = "/src/a.c:7",
					    .progress = "done",
					    .verdict = VERDICT_OPTIMIZE,
					    .points = points,
					    .n_points = 2},
	    {.line = "dir, \"x\"/b.c:1",
		.progress = "a\nb",
		.is_latency = true,
		.verdict = VERDICT_NOT_ENOUGH_DATA,
		.points = points,
		.n_points = 1},
	    {.line = "none.c:1", .progress = "done", .verdict = VERDICT_NOT_ENOUGH_DATA},
	    {.line = "=cmd|a!b", /* text all the same */
		.progress = "@f(1,2)",
		.verdict = VERDICT_NOT_ENOUGH_DATA,
		.points = points,
		.n_points = 1}};
	struct estimate e = {.lines = lines, .n_lines = 4};
	FILE *out = open_text();

	CHECK_EQ(report_csv(out, &e), 0);
	fclose(out);
	CHECK_STR(text,
	    "line,line_speedup,program_speedup,ci_lo,ci_hi,progress,kind,raw_program_speedup,"
	    "experiments,visits,verdict,function\n"
	    "/src/a.c:7,0.25,0.123457,0.1,0.15,done,throughput,0.2,3,40,optimize,\n"
	    "/src/a.c:7,0.5,0,,,done,throughput,-1,1,9,optimize,\n"
	    "\"dir, "
	    "\"\"x\"\"/b.c:1\",0.25,0.123457,0.1,0.15,\"a\nb\",latency,0.2,3,40,not-enough-data,\n"
	    "'=cmd|a!b,0.25,0.123457,0.1,0.15,\"'@f(1,2)\",throughput,0.2,3,40,"
	    "not-enough-data,\n");
	free(text);
	text = NULL;
}

TEST(folded)
{
	struct line_count lines[] = {{"/src/a b.c:7", 12, 0}, {"/src/x;y.c:1", 3, 0},
	    {"function", 2, 0}, {":9", 1, 0}, {"nginx:ns::f", 4, 0}, {"libz.so.1+0x57e0", 6, 0},
	    {"libstdc++.so.6:std::sort", 7, 0}, {"libstdc++.so.6", 8, 0}, {"m:f+0x1", 9, 0}};
	struct line_counts c = {.lines = lines, .n = 9, .outside = 5};
	struct unit_stacks none = {0};
	FILE *out = open_text();

	CHECK_EQ(report_folded(out, &c, &none), 0);
	fclose(out);
	CHECK_STR(text, "/src/a b.c;/src/a b.c:7 12\n"
			"/src/x_y.c;/src/x_y.c:1 3\n"
			"function 2\n"
			":9 1\n"
			"nginx;nginx:ns::f 4\n"
			"libz.so.1;libz.so.1+0x57e0 6\n"
			"libstdc++.so.6;libstdc++.so.6:std::sort 7\n"
			"libstdc++.so.6 8\n"
			"m;m:f+0x1 9\n"
			"[outside the scope] 5\n");
	free(text);
	text = NULL;
}

static void prints_folded(const char *profile, const char *want)
{
	FILE *in = fmemopen((char *)(uintptr_t)profile, strlen(profile), "r"), *out = open_text();
	struct line_counts c;
	struct unit_stacks stacks;
	struct profile p;
	struct error e;

	profile_init(&p);
	CHECK_EQ(profile_read(&p, in, "test", &e), 0);
	fclose(in);
	CHECK_EQ(p.n_skipped, 0);
	CHECK_EQ(line_counts_init(&c, &p), 0);
	CHECK_EQ(unit_stacks_init(&stacks, &p, true), 0);
	CHECK_EQ(report_folded(out, &c, &stacks), 0);
	fclose(out);
	CHECK_STR(text, want);
	unit_stacks_deinit(&stacks);
	line_counts_deinit(&c);
	profile_deinit(&p);
	free(text);
	text = NULL;
}

/* A stack ends in the unit; calls from two lines of a function are one stack. What has no stack
 * stays below its file. Ids are those of their own run. */
TEST(folded_waits)
{
	prints_folded("startup\ttime=1\n"
		      "samples\tlocation=/s/a;b.c:1\tcount=5\tid=1\tfunction=p:main\n"
		      "samples\tlocation=/s/a;b.c:2\tcount=0\tid=2\tfunction=p:main\n"
		      "samples\tlocation=/s/c.c:3\tcount=0\tid=3\n"
		      "samples\tlocation=/s/c.c:4 [io]\tcount=20\tid=9\t"
		      "stacks=6:3/1,4:3/2,3:1\n"
		      "startup\ttime=2\n"
		      "samples\tlocation=/s/c.c:3\tcount=0\tid=1\n"
		      "samples\tlocation=/s/c.c:4 [io]\tcount=2\tid=8\tstacks=2:1\n",
	    "/s/a_b.c;/s/a_b.c:1 5\n"
	    "p:main;/s/c.c:3;/s/c.c:4 [io] 10\n"
	    "p:main;/s/c.c:4 [io] 3\n"
	    "/s/c.c:3;/s/c.c:4 [io] 2\n"
	    "/s/c.c;/s/c.c:4 [io] 7\n");
}

/* Damaged: callers that no record names, and more on stacks than there are. */
TEST(folded_waits_that_do_not_add_up)
{
	prints_folded("startup\ttime=1\n"
		      "samples\tlocation=p:f\tcount=0\tid=1\n"
		      "samples\tlocation=p:g [net]\tcount=5\tid=9\tstacks=3:77,9:1/77\n",
	    "p:f;p:g [net] 9\n");
}

/* The names of functions share no directories, and a function is not called a line. */
TEST(words_for_functions)
{
	struct estimate_line lines[2] = {{.line = "math:operator/"}};
	struct estimate e = {.lines = lines, .n_lines = 1};

	CHECK_STR(estimate_unit(&e), "function");
	CHECK_EQ(common_directories(&e), 0);
	lines[0].line = "/src/a.c:7";
	CHECK_STR(estimate_unit(&e), "line");
	CHECK_EQ(common_directories(&e), 5);
	lines[1].line = "math";
	e.n_lines = 2;
	CHECK_STR(estimate_unit(&e), "unit");
	lines[0].line = "[io]";
	e.n_lines = 1;
	CHECK_STR(estimate_unit(&e), "unit"); /* a wait is neither */
	lines[0].line = "/src/a.c:7 [io]";
	CHECK_STR(estimate_unit(&e), "unit");
	CHECK_EQ(common_directories(&e), 5);
	e.n_lines = 0;
	CHECK_STR(estimate_unit(&e), "line");
	CHECK_STR(estimate_unit(NULL), "line");
}
