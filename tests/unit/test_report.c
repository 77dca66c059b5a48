// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reports of an estimate made by hand, compared with the files in golden/. COZBPF_REGENERATE=1
 * writes them anew (look at the difference!). The text is for people and may change; the JSON is a
 * contract.
 */
#include "check.h"
#include "curves.h"
#include "golden.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "report/report.h"
#include "report/words.h"

static struct estimate_point straight[] = {{0.25, 0.0575, 0.0575, 0.0467, 0.0671, 6, 60},
    {0.5, 0.12, 0.12, 0.1, 0.14, 6, 60}, {0.75, 0.18, 0.18, 0.16, 0.2, 6, 60},
    {1, 0.24, 0.24, 0.22, 0.26, 6, 60}};
static struct estimate_point lone[] = {{0.5, 0.123456789, 0.123456789, NAN, NAN, 1, 100}};

static struct estimate_line lines[] = {
    {.line = "/home/user/src/pipeline/work.c:217",
	.progress = "done",
	.slope = 0.371,
	.slope_lo = 0.352,
	.slope_hi = 0.391,
	.max_speedup = 0.3,
	.phase_factor = 0.8,
	.verdict = VERDICT_OPTIMIZE,
	.points = saturating,
	.n_points = 4,
	.experiments = 30,
	.baselines = 6,
	.samples = 5000,
	.visits = 3200},
    {.line = "/home/user/src/pipeline/work.c:217",
	.progress = "end-to-end",
	.slope = 0.24,
	.slope_lo = 0.22,
	.slope_hi = 0.26,
	.max_speedup = 0.24,
	.phase_factor = 1,
	.verdict = VERDICT_OPTIMIZE,
	.points = straight,
	.n_points = 4,
	.experiments = 30,
	.baselines = 6,
	.samples = 5000,
	.visits = 30},
    {.line = "/home/user/src/a_directory_with_a_long_name/another_one/queue.c:9",
	.progress = "done",
	.slope = 0.002,
	.slope_lo = -0.011,
	.slope_hi = 0.014,
	.phase_factor = 1,
	.verdict = VERDICT_NO_EFFECT,
	.points = flat,
	.n_points = 4,
	.experiments = 30,
	.baselines = 6},
    {.line = "/home/user/src/lock.c:33",
	.progress = "done",
	.slope = -0.27,
	.slope_lo = -0.31,
	.slope_hi = -0.24,
	.phase_factor = 1,
	.verdict = VERDICT_CONTENTION,
	.points = falling,
	.n_points = 4,
	.experiments = 30,
	.baselines = 6},
    {.line = "/home/user/src/wide.c:1",
	.progress = "done",
	.slope = 0.1,
	.slope_lo = -0.2,
	.slope_hi = 0.4,
	.max_speedup = 0,
	.phase_factor = 1,
	.verdict = VERDICT_NOT_ENOUGH_DATA,
	.shortage = SHORT_INTERVAL,
	.points = flat,
	.n_points = 4,
	.experiments = 12,
	.baselines = 6},
    {.line = "/home/user/src/one.c:1",
	.progress = "done",
	.slope = 0.246914,
	.slope_lo = NAN,
	.slope_hi = NAN,
	.phase_factor = 1,
	.verdict = VERDICT_NOT_ENOUGH_DATA,
	.shortage = SHORT_SPEEDUPS,
	.points = lone,
	.n_points = 1,
	.experiments = 2,
	.baselines = 1},
    {.line = "/home/user/src/none.c:1",
	.progress = "done",
	.slope = NAN,
	.slope_lo = NAN,
	.slope_hi = NAN,
	.phase_factor = 1,
	.verdict = VERDICT_NOT_ENOUGH_DATA,
	.shortage = SHORT_BASELINE,
	.experiments = 3},
    {.line = "/home/user/src/rare.c:1",
	.progress = "done",
	.slope = NAN,
	.slope_lo = NAN,
	.slope_hi = NAN,
	.phase_factor = 1,
	.verdict = VERDICT_NOT_ENOUGH_DATA,
	.shortage = SHORT_VISITS,
	.experiments = 9,
	.baselines = 4,
	.visits = 7},
    {.line = "/home/user/src/slow.c:1",
	.progress = "rare",
	.slope = NAN,
	.slope_lo = NAN,
	.slope_hi = NAN,
	.phase_factor = 1,
	.verdict = VERDICT_NOT_ENOUGH_DATA,
	.shortage = SHORT_BASELINE,
	.experiments = 9,
	.baselines = 4,
	.visits = 2},
    {.line = "/home/user/src/three.c:1",
	.progress = "rare",
	.slope = 0.5,
	.slope_lo = NAN,
	.slope_hi = NAN,
	.phase_factor = 1,
	.verdict = VERDICT_NOT_ENOUGH_DATA,
	.shortage = SHORT_EXPERIMENTS,
	.experiments = 3,
	.baselines = 1,
	.visits = 30},
};
static const struct estimate sample = {.lines = lines,
    .n_lines = sizeof(lines) / sizeof(lines[0]),
    .need_speedups = 4,
    .n_dropped = 5,
    .experiments = 153,
    .samples = 61234,
    .totals = {.lost = 3, .dropped = 2},
    .runtime_s = 61.25};
static const struct estimate nothing = {.need_speedups = 5};

/* Latencies: beside the same pair's throughput, a line that gains, one that loses, one without
 * quantiles. */
static struct latency_figures counted_only[] = {
    {{2e6, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, NAN, 0},
    {{2.1e6, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, NAN, 0},
    {{2.24e6, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, NAN, 0},
    {{2.4e6, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, NAN, 0},
    {{2.62e6, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, NAN, 0},
};
static struct estimate_point shorter[] = {{0.25, 0.12, 0.12, 0.09, 0.15, 6, 600},
    {0.5, 0.27, 0.27, 0.24, 0.3, 6, 600}, {0.75, 0.39, 0.39, 0.35, 0.43, 6, 600},
    {1, 0.51, 0.51, 0.46, 0.56, 6, 600}};
static struct estimate_line latency_lines[] = {
    {.line = "/home/user/src/work.c:217",
	.progress = "request",
	.is_latency = true,
	.slope = 0.51,
	.slope_lo = 0.48,
	.slope_hi = 0.54,
	.max_speedup = 0.51,
	.phase_factor = 1,
	.verdict = VERDICT_OPTIMIZE,
	.points = shorter,
	.latencies = queueing,
	.n_points = 4,
	.experiments = 30},
    {.line = "/home/user/src/lock.c:33",
	.progress = "request",
	.is_latency = true,
	.slope = -0.27,
	.slope_lo = -0.31,
	.slope_hi = -0.24,
	.phase_factor = 1,
	.verdict = VERDICT_CONTENTION,
	.points = falling,
	.latencies = counted_only,
	.n_points = 4,
	.experiments = 30},
    {.line = "/home/user/src/work.c:217",
	.progress = "request",
	.slope = 0.002,
	.slope_lo = -0.011,
	.slope_hi = 0.014,
	.phase_factor = 1,
	.verdict = VERDICT_NO_EFFECT,
	.points = flat,
	.n_points = 4,
	.experiments = 30},
};
static struct estimate_latency request = {.name = "request",
    .experiments = 60,
    .arrivals = 30000,
    .departures = 29990,
    .pairs = 29900,
    .unmatched = 90,
    .in_flight = 2.46};
static struct estimate latency_sample = {.lines = latency_lines,
    .n_lines = sizeof(latency_lines) / sizeof(latency_lines[0]),
    .latencies = &request,
    .n_latencies = 1,
    .need_speedups = 4,
    .experiments = 60,
    .samples = 61234,
    .runtime_s = 61.25};

static char *print_text(const struct estimate *e, struct text_options o)
{
	char *ret = NULL;
	size_t size;
	FILE *out = open_memstream(&ret, &size);

	CHECK_EQ(report_text(out, e, &o), 0);
	fclose(out);
	return ret;
}

static char *print_json(const struct estimate *e)
{
	char *ret = NULL;
	size_t size;
	FILE *out = open_memstream(&ret, &size);

	CHECK_EQ(report_json(out, e), 0);
	fclose(out);
	return ret;
}

TEST(text_golden)
{
	static const struct {
		struct text_options o;
		const char *name;
	} cases[] = {{{0, true, 0}, "report.txt"}, {{80, false, 0}, "report-80.txt"},
	    {{120, true, 2}, "report-120-2.txt"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = print_text(&sample, cases[i].o);

		check_golden(text, cases[i].name);
		free(text);
	}
}

/* A function with two of its lines, and one that a verdict on its function leaves without need. */
static struct estimate_line below[] = {
    {.line = "pipeline:work",
	.is_function = true,
	.progress = "done",
	.slope = 0.55,
	.slope_lo = 0.5,
	.slope_hi = 0.6,
	.max_speedup = 0.5,
	.phase_factor = 1,
	.verdict = VERDICT_OPTIMIZE,
	.points = straight,
	.n_points = 4,
	.samples = 6000},
    {.line = "/home/user/src/work.c:217",
	.function = "pipeline:work",
	.progress = "done",
	.slope = 0.371,
	.slope_lo = 0.352,
	.slope_hi = 0.391,
	.max_speedup = 0.3,
	.phase_factor = 1,
	.verdict = VERDICT_OPTIMIZE,
	.points = saturating,
	.n_points = 4,
	.holder = &below[0],
	.samples = 4000},
    {.line = "/home/user/src/work.c:9",
	.function = "pipeline:work",
	.progress = "done",
	.slope = 0.15,
	.slope_lo = 0.11,
	.slope_hi = 0.19,
	.max_speedup = 0.15,
	.phase_factor = 1,
	.verdict = VERDICT_OPTIMIZE,
	.points = straight,
	.n_points = 4,
	.holder = &below[0],
	.samples = 1000},
    {.line = "pipeline:idle",
	.is_function = true,
	.progress = "done",
	.slope_lo = -0.02,
	.slope_hi = 0.02,
	.phase_factor = 1,
	.verdict = VERDICT_NO_EFFECT,
	.points = flat,
	.n_points = 4,
	.samples = 2000},
    {.line = "/home/user/src/idle.c:3",
	.function = "pipeline:idle",
	.progress = "done",
	.slope = NAN,
	.slope_lo = NAN,
	.slope_hi = NAN,
	.phase_factor = 1,
	.verdict = VERDICT_NOT_ENOUGH_DATA,
	.shortage = SHORT_BASELINE,
	.holder = &below[3],
	.samples = 700},
    {.line = "/home/user/src/work.c:30",
	.function = "pipeline:work",
	.progress = "done",
	.slope = NAN,
	.slope_lo = NAN,
	.slope_hi = NAN,
	.phase_factor = 1,
	.verdict = VERDICT_NOT_ENOUGH_DATA,
	.shortage = SHORT_BASELINE,
	.holder = &below[0],
	.samples = 300},
};
static const struct estimate below_sample = {.lines = below,
    .n_lines = sizeof(below) / sizeof(below[0]),
    .need_speedups = 4,
    .experiments = 153,
    .samples = 10000};

TEST(lines_below_functions)
{
	char *text = print_text(&below_sample, (struct text_options){.unicode = true});

	check_golden(text, "report-functions.txt");
	free(text);
	/* functions beyond the limit take their lines along */
	text = print_text(&below_sample, (struct text_options){.max_lines = 1});
	CHECK(strstr(text, "work.c:9") && strstr(text, "and 1 more\n"));
	free(text);
	text = print_json(&below_sample);
	CHECK(strstr(text, "\"decided\":\t0.8,"));
	CHECK(strstr(text, "\"function\":\t\"pipeline:work\""));
	free(text);
}

/* Table rows keep to the given width. Sentences may be longer, since terminals wrap them. */
TEST(rows_keep_to_the_width)
{
	for (int width = 80; width <= 160; width += 20) {
		char *text = print_text(&sample, (struct text_options){.width = width});
		bool in_table = false;

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
			if (!strncmp(line, "  #", 3))
				in_table = true;
			else if (strncmp(line, "  ", 2))
				in_table = false;
			if (in_table && strlen(line) > (size_t)width)
				fprintf(stderr, "%zu of %d: %s\n", strlen(line), width, line);
			CHECK(!in_table || strlen(line) <= (size_t)width);
		}
		free(text);
	}
}

TEST(json_golden)
{
	char *text = print_json(&sample);

	check_golden(text, "report.json");
	free(text);
	text = print_json(&nothing);
	check_golden(text, "report-empty.json");
	free(text);
}

/* Two points that cannot both be units of the program's work: one line says so, after the tables.
 */
TEST(contradiction)
{
	struct estimate_line two[] = {lines[0], lines[2]};
	struct estimate e = sample;
	char *text;

	two[0].df = two[1].df = 30;
	two[1].line = two[0].line;
	two[1].progress = "read\n";
	e.lines = two;
	e.n_lines = 2;
	text = print_text(&e, (struct text_options){0});
	CHECK(strstr(text, "\nwarning: the progress points contradict each other: by 'done' a "
			   "faster work.c:217 is worth it (slope +0.35 to +0.39), by 'read"));
	CHECK(strstr(text, "warning: the") > strstr(text, "progress point read"));
	free(text);
	text = print_json(&e);
	CHECK(strstr(text, "\"contradiction\":\t{"));
	CHECK(strstr(text, "\"optimize\":\t\"done\""));
	CHECK(strstr(text, "\"not\":\t\"read\\n\""));
	free(text);
	two[1].verdict = VERDICT_OPTIMIZE;
	text = print_text(&e, (struct text_options){0});
	CHECK(!strstr(text, "contradict"));
	free(text);
}

/* Strict readers take no other bytes than UTF-8. */
TEST(json_is_utf8)
{
	struct estimate_line line = {
	    .line = "a\xff\xc3\xa9.c:1", .progress = "\xe2\x82", .verdict = VERDICT_OPTIMIZE};
	struct estimate e = {.lines = &line, .n_lines = 1};
	char *text = print_json(&e);

	CHECK(strstr(text, "\"a\xef\xbf\xbd\xc3\xa9.c:1\""));
	CHECK(strstr(text, "\"\xef\xbf\xbd\xef\xbf\xbd\""));
	free(text);
}

TEST(latency_golden)
{
	char *text;

	request.now = queueing[0];
	text = print_text(&latency_sample, (struct text_options){80, false, 0});
	check_golden(text, "latency.txt");
	free(text);
	text = print_json(&latency_sample);
	check_golden(text, "latency.json");
	free(text);
}

/* What makes a latency doubtful, each reason alone and all of them at once. */
TEST(latency_warnings)
{
	static const char *const words[] = {"arrivals outrun departures by 4.0 %",
	    "20000 ends had no begin, 5 begins no end: p50, p90 and p99",
	    "7 begins could not be kept", "at least 3 were in flight before",
	    "the mean of the requests matched is 19 % lower"};
	struct estimate_latency l = request;
	char text[512];

	l.now = queueing[0];
	latency_warning(&l, 0, text, sizeof(text));
	CHECK_STR(text, "");
	l.growth = 0.04;
	l.unmatched = 20000;
	l.abandoned = 5;
	l.lost = 7;
	l.missing = 3;
	l.now.pairs_mean = 1e6;
	for (unsigned i = 0; i < 5; i++) {
		latency_warning(&l, i, text, sizeof(text));
		if (strncmp(text, words[i], strlen(words[i])))
			CHECK_STR(text, words[i]);
	}
	latency_warning(&l, 5, text, sizeof(text));
	CHECK_STR(text, "");
	l.growth = 0;
	l.pairs = 10;
	latency_warning(&l, 0, text, sizeof(text));
	CHECK(strstr(text, "a key is needed (key=argN)"));
}

TEST(times)
{
	static const struct {
		double ns;
		const char *words;
	} cases[] = {{NAN, "unknown"}, {0, "0.00 ns"}, {7, "7.00 ns"}, {999.4, "999 ns"},
	    {999.6, "1.00 us"}, {1234, "1.23 us"}, {45678, "45.7 us"}, {999999, "1.00 ms"},
	    {99960000, "100 ms"}, {1.5e9, "1.50 s"}, {3.6e12, "3600 s"}};
	char text[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		time_words(cases[i].ns, text, sizeof(text));
		CHECK_STR(text, cases[i].words);
	}
}

/* Exactly the keys of the contract, with values that can be read back. */
TEST(json_contract)
{
	static const char *const line_keys[] = {
	    "line", "progress", "kind", "slope", "slope_ci", "max_speedup", "verdict", "points"};
	static const char *const point_keys[] = {"line_speedup", "program_speedup",
	    "raw_program_speedup", "ci", "experiments", "visits"};
	static const char *const summary_keys[] = {"experiments", "samples", "lost", "runtime_s",
	    "lines_dropped", "outsiders", "runs", "builds", "decided", "waits", "goroutines",
	    "goroutine_switches", "misplaced"};
	char *text = print_json(&sample);
	cJSON *root = cJSON_Parse(text),
	      *summary = cJSON_GetObjectItemCaseSensitive(root, "summary");
	cJSON *all = cJSON_GetObjectItemCaseSensitive(root, "lines"),
	      *line = cJSON_GetArrayItem(all, 0), *point;

	CHECK(root && summary && line);
	CHECK_STR(cJSON_GetStringValue(cJSON_GetObjectItem(root, "schema")), "cozbpf-report/1");
	CHECK_EQ(cJSON_GetArraySize(root), 3);
	CHECK_EQ(cJSON_GetArraySize(summary), 13);
	for (size_t i = 0; i < 13; i++)
		CHECK(cJSON_GetObjectItemCaseSensitive(summary, summary_keys[i]));
	CHECK_EQ(cJSON_GetArraySize(all), sample.n_lines);
	CHECK_EQ(cJSON_GetArraySize(line), 8);
	for (size_t i = 0; i < 8; i++)
		CHECK(cJSON_GetObjectItemCaseSensitive(line, line_keys[i]));
	point = cJSON_GetArrayItem(cJSON_GetObjectItem(line, "points"), 0);
	CHECK_EQ(cJSON_GetArraySize(point), 6);
	for (size_t i = 0; i < 6; i++)
		CHECK(cJSON_GetObjectItemCaseSensitive(point, point_keys[i]));
	CHECK_NEAR(cJSON_GetObjectItem(point, "program_speedup")->valuedouble, 0.2, 0);
	CHECK_NEAR(cJSON_GetObjectItem(point, "raw_program_speedup")->valuedouble, 0.25, 0);
	CHECK_NEAR(
	    cJSON_GetArrayItem(cJSON_GetObjectItem(line, "slope_ci"), 1)->valuedouble, 0.391, 0);
	/* A line without an estimate. */
	line = cJSON_GetArrayItem(all, 6);
	CHECK(cJSON_IsNull(cJSON_GetObjectItem(line, "slope")));
	CHECK(cJSON_IsNull(cJSON_GetArrayItem(cJSON_GetObjectItem(line, "slope_ci"), 0)));
	CHECK_EQ(cJSON_GetArraySize(cJSON_GetObjectItem(line, "points")), 0);
	cJSON_Delete(root);
	free(text);
}

/* A program speedup x is a period shorter by x: throughput rises by 1 / (1 - x) - 1. A whole run is
 * shorter by x. */
/* How noisy it was: in JSON where known, in the text where it made intervals much wider. */
TEST(noise)
{
	struct estimate_line noisy = lines[0];
	struct estimate e = {.lines = &noisy, .n_lines = 1};
	static const double wider[] = {1.4, 1.8};

	noisy.scatter = 0.12;
	for (size_t i = 0; i < 2; i++) {
		char *text, *json;

		noisy.wider = wider[i];
		text = print_text(&e, (struct text_options){.width = 80});
		json = print_json(&e);
		CHECK(
		    !!strstr(text, "warning: periods at one line speedup differ by 12 %: intervals "
				   "are 1.8 times as wide as those of a steady program") == i);
		CHECK(strstr(json, "\"scatter\":\t0.12,") && strstr(json, i ? "1.8" : "1.4"));
		free(text);
		free(json);
	}
}

TEST(sentences)
{
	char words[512];
	struct estimate_line l = lines[0];

	effect_words(&l, "work.c:217", words, sizeof(words));
	CHECK_STR(
	    words, "making work.c:217 25 % faster would raise throughput by 25.0 % (22.0 to 28.2)");
	l = lines[1];
	effect_words(&l, "work.c:217", words, sizeof(words));
	CHECK_STR(
	    words, "making work.c:217 25 % faster would shorten the run by 5.8 % (4.7 to 6.7)");
	l.progress = "done";
	effect_words(&l, "work.c:217", words, sizeof(words));
	CHECK_STR(
	    words, "making work.c:217 25 % faster would raise throughput by 6.1 % (4.9 to 7.2)");
	/* The point at 25 % tells nothing, so the regression is used: 0.371 / 4 with its
	 * interval. */
	saturating[0].ci_lo = -0.1;
	effect_words(&lines[0], "work.c:217", words, sizeof(words));
	CHECK_STR(
	    words, "making work.c:217 25 % faster would raise throughput by 10.2 % (9.6 to 10.8)");
	saturating[0].ci_lo = 0.18;
	l = lines[3];
	effect_words(&l, "lock.c:33", words, sizeof(words));
	CHECK_STR(words, "speeding lock.c:33 up would slow the program down, contention: 25 % "
			 "faster would lower throughput by 4.8 % (1.0 to 8.3)");
	effect_words(&lines[2], "queue.c:9", words, sizeof(words));
	CHECK_STR(words, "");
}

TEST(report_of_nothing)
{
	char *text = print_text(&nothing, (struct text_options){0});

	CHECK_STR(text, "0 experiments, 0 samples, 0 lost\n");
	free(text);
}

TEST(functions_are_no_lines)
{
	struct estimate_line function = below[0];
	struct estimate e = {.lines = &function, .n_lines = 1, .builds = 2};
	char *text;

	function.line = "server:work";
	text = print_text(&e, (struct text_options){0});
	CHECK(strstr(text, "  #  function "));
	CHECK(strstr(text, "slope: program speedup per function speedup"));
	CHECK(strstr(text, "a function of one need not be the same in another"));
	CHECK(!strstr(text, "line"));
	free(text);
	function.verdict = VERDICT_NOT_ENOUGH_DATA;
	text = print_text(&e, (struct text_options){0});
	CHECK(strstr(text, "no function has enough data to be ranked"));
	CHECK(!strstr(text, "line"));
	free(text);
}

TEST(full_device_is_an_error)
{
	FILE *out = fopen("/dev/full", "w");
	struct text_options o = {0};

	if (!out)
		return;
	setvbuf(out, NULL, _IONBF, 0);
	CHECK_EQ(report_text(out, &sample, &o), -1);
	CHECK_EQ(report_json(out, &sample), -1);
	fclose(out);
}

/* CPU seconds for the text of @n lines, each of a progress point and a latency of its own. */
static double text_seconds(size_t n)
{
	struct estimate e = {.n_lines = n, .n_latencies = n, .need_speedups = 5};
	struct text_options o = {.width = 80};
	FILE *out = fopen("/dev/null", "w");
	char(*names)[32] = calloc(n, sizeof(*names));
	clock_t begin;
	double ret;

	e.lines = calloc(n, sizeof(*e.lines));
	e.latencies = calloc(n, sizeof(*e.latencies));
	for (size_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "point %zu", i);
		e.lines[i] = (struct estimate_line){.line = "a.c:1",
		    .progress = names[i],
		    .is_latency = true,
		    .verdict = VERDICT_NOT_ENOUGH_DATA,
		    .shortage = SHORT_VISITS};
		e.latencies[i].name = names[i];
	}
	begin = clock();
	CHECK_EQ(report_text(out, &e, &o), 0);
	ret = (double)(clock() - begin) / CLOCKS_PER_SEC;
	fclose(out);
	free(e.lines);
	free(e.latencies);
	free(names);
	return ret;
}

/* Eight times the points take some eight times the time. They took the square of that. */
TEST(many_points)
{
	double few = text_seconds(2500);

	CHECK(text_seconds(20000) < 24 * few + 0.1);
}
