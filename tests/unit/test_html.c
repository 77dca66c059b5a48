// SPDX-License-Identifier: BSD-3-Clause
/* The page of `cozbpf plot` as a text. Its data stays data, whatever names and sources are in the
 * profile; it is JSON and within limits. tests/e2e/plot.sh looks at the page in a browser. */
#include "check.h"

#include <math.h>

#include <cjson/cJSON.h>

#include "core/text/paths.h"
#include "report/html.h"
#include "report/jsonout.h"

#define EVIL "</script><script>alert(1)</script><!--\"'&\\"

static const char source_text[] =
    "one\ntwo " EVIL "\r\nthree\nfour \xff\xc3\n\xed\xa0\x80 five\nsix\nseven\neight\nnine\nten";

struct page {
	char *text;
	size_t size;
	cJSON *data;
};

static void add(
    struct profile *p, char *line, double speedup, struct point_record *points, size_t n)
{
	p->experiments = realloc(p->experiments, (p->n_experiments + 1) * sizeof(*p->experiments));
	p->experiments[p->n_experiments++] = (struct experiment_record){.selected = line,
	    .speedup = speedup,
	    .duration_ns = 1000000,
	    .selected_samples = 7,
	    .points = points,
	    .n_points = n};
}

/* The page of @p, and its data, parsed. */
static struct page page_init(const struct profile *p, const struct html_source *sources, size_t n)
{
	static const char *const names[] = {EVIL ".coz"};
	struct estimate_options options = {.seed = 1, .replicates = 50, .machines = true};
	struct html_options o = {.profiles = names,
	    .n_profiles = 1,
	    .sort = SORT_MAX,
	    .sources = sources,
	    .n_sources = n};
	static const char before[] = "<script type=\"application/json\" id=\"data\">";
	struct estimate e;
	struct page ret = {0};
	FILE *out = open_memstream(&ret.text, &ret.size);
	const char *end = NULL;
	char *start;

	CHECK_EQ(estimate_profile(p, &options, &e), 0);
	CHECK_EQ(report_html(out, p, &e, &o), 0);
	fclose(out);
	estimate_deinit(&e);
	start = strstr(ret.text, before);
	CHECK(start != NULL);
	if (start)
		ret.data = cJSON_ParseWithOpts(start + strlen(before), &end, 0);
	CHECK(ret.data != NULL);
	/* The first end of a script element after the data's start is the data's own end. */
	CHECK(end && !strncmp(end, "</script>", 9));
	return ret;
}

static void page_deinit(struct page *p)
{
	cJSON_Delete(p->data);
	free(p->text);
}

static const cJSON *at(const cJSON *array, int i)
{
	return cJSON_GetArrayItem(array, i);
}

static const cJSON *of(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

TEST(strings_are_data)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
	    {"plain", "\"plain\""},
	    {"</script>", "\"\\u003c/script\\u003e\""},
	    {"a\"b\\c&", "\"a\\u0022b\\u005cc\\u0026\""},
	    {"\x01\n\x7f", "\"\\u0001\\u000a\\u007f\""},
	    {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
	    {"\xe2\x80\xa8", "\"\\u2028\""},
	    {"\xff\xc3", "\"\\ufffd\\ufffd\""},                       /* no such byte; truncated */
	    {"\xc0\xbc", "\"\\ufffd\\ufffd\""},                       /* an overlong '<' */
	    {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},            /* a surrogate */
	    {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* beyond Unicode */
	    /* the following character is not swallowed */
	    {"\xe2\x82<", "\"\\ufffd\\ufffd\\u003c\""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char buf[256] = "";
		struct json j = {.out = fmemopen(buf, sizeof(buf), "w")};

		json_string(&j, cases[i].in);
		fclose(j.out);
		CHECK_STR(buf, cases[i].out);
	}
}

TEST(values)
{
	char buf[256] = "";
	struct json j = {.out = fmemopen(buf, sizeof(buf), "w")};

	json_open(&j, '{');
	json_key(&j, "a");
	json_open(&j, '[');
	json_number(&j, 0.123456789);
	json_number(&j, NAN);
	json_number(&j, -INFINITY);
	json_count(&j, UINT64_MAX);
	json_close(&j, ']');
	json_key(&j, "b");
	json_bool(&j, true);
	json_key(&j, "c");
	json_string(&j, NULL);
	json_close(&j, '}');
	fclose(j.out);
	CHECK_STR(buf, "{\"a\":[0.123457,null,null,18446744073709551615],\"b\":true,\"c\":null}");
}

TEST(places)
{
	size_t number = 0;

	CHECK_EQ(path_of_line("a/b.c:12", &number), 5);
	CHECK_EQ(number, 12);
	CHECK_EQ(path_of_line("C:/b.c:7", &number), 6);
	CHECK_EQ(path_of_line("function", &number), 0);
	CHECK_EQ(path_of_line("std::vector", &number), 0);
	CHECK_EQ(path_of_line("a.c:", &number), 0);
	CHECK_EQ(path_of_line("a.c:0", &number), 0);
	CHECK_EQ(path_of_line("a.c:99999999999999999999", &number), 0);
}

/* Names that would be markup, in every place that holds one. */
TEST(names_and_sources_stay_text)
{
	struct point_record point = {.name = (char *)"p" EVIL, .delta = 100};
	struct samples_record samples[] = {{.location = (char *)"/src/" EVIL ".c:2", .count = 40},
	    {.location = (char *)"/src/" EVIL ".c:2", .count = 5, .run = 1}};
	struct run_record runs[2] = {{.samples = 50}, {.samples = 50}};
	struct html_source source = {"/src/" EVIL ".c", source_text, sizeof(source_text) - 1, true};
	struct profile p = {.samples = samples, .n_samples = 2, .runs = runs, .n_runs = 2};
	const cJSON *lines;
	struct page page;

	for (int cell = 0; cell <= 4; cell++) {
		for (int i = 0; i < 6; i++)
			add(&p, (char *)"/src/" EVIL ".c:2", cell / 4.0, &point, 1);
	}
	page = page_init(&p, &source, 1);
	CHECK(strstr(page.text, "alert(1)</script>") == NULL);
	CHECK_STR(cJSON_GetStringValue(at(of(page.data, "lines"), 0)), "/src/" EVIL ".c:2");
	CHECK_STR(cJSON_GetStringValue(at(of(page.data, "points"), 0)), "p" EVIL);
	CHECK_STR(cJSON_GetStringValue(at(of(page.data, "profiles"), 0)), EVIL ".coz");
	CHECK_STR(cJSON_GetStringValue(of(page.data, "sort")), "max");
	CHECK(cJSON_IsTrue(of(at(of(page.data, "sources"), 0), "changed")));
	/* Lines 1 to 6: four below the line; the counts of both runs. */
	lines = of(at(of(page.data, "sources"), 0), "lines");
	CHECK_EQ(cJSON_GetArraySize(lines), 6);
	CHECK_STR(cJSON_GetStringValue(at(at(lines, 1), 2)), "two " EVIL);
	CHECK_EQ(at(at(lines, 1), 1)->valueint, 45);
	CHECK_EQ(cJSON_GetArraySize(of(at(of(page.data, "experiments"), 0), "rows")), 30);
	page_deinit(&page);
	free(p.experiments);
}

/* More lines, experiments and points than a page can hold: the page holds its share, and says how
 * many there are. */
TEST(bounds)
{
	enum { LINES = HTML_MAX_SERIES + 100, MANY = 200000 };
	struct point_record points[2] = {
	    {.name = (char *)"a", .delta = 100}, {.name = (char *)"b", .delta = 100}};
	struct profile p = {0};
	char(*names)[32] = calloc(LINES, sizeof(*names));
	struct page page;
	int rows = 0;
	const cJSON *line;

	p.experiments = calloc(LINES + MANY, sizeof(*p.experiments));
	for (size_t i = 0; i < LINES + MANY; i++) {
		size_t l = i < LINES ? i : 0;

		snprintf(names[l], sizeof(names[l]), "f%zu.c:%zu", l % 50, l + 1);
		p.experiments[i] = (struct experiment_record){.selected = names[l],
		    .speedup = (double)(i % 3) / 2,
		    .duration_ns = 1000000,
		    .points = points,
		    .n_points = 2};
	}
	p.n_experiments = LINES + MANY;
	page = page_init(&p, NULL, 0);
	CHECK_EQ(cJSON_GetArraySize(of(page.data, "series")), HTML_MAX_SERIES);
	CHECK_EQ(of(page.data, "series_total")->valueint, 2 * LINES);
	cJSON_ArrayForEach(line, of(page.data, "experiments")) rows +=
	    cJSON_GetArraySize(of(line, "rows"));
	CHECK(rows > 1000 && rows <= HTML_MAX_RECORDS / 3 + 1);
	CHECK(of(at(of(page.data, "experiments"), 0), "total")->valueint >= MANY);
	CHECK(page.size < 8000000);
	page_deinit(&page);
	free(p.experiments);
	free(names);
}

/* What the picture is drawn of. */
TEST(shares_and_gains)
{
	struct point_record point = {.name = (char *)"p", .delta = 100};
	struct samples_record samples = {.location = (char *)"a.c:2", .count = 40};
	struct run_record run = {.samples = 160};
	struct profile p = {.samples = &samples, .n_samples = 1, .runs = &run, .n_runs = 1};
	const cJSON *series;
	struct page page;

	for (int cell = 0; cell <= 4; cell++) {
		for (int i = 0; i < 6; i++)
			add(&p, (char *)"a.c:2", cell / 4.0, &point, 1);
	}
	page = page_init(&p, NULL, 0);
	series = at(of(page.data, "series"), 0);
	CHECK_EQ(of(page.data, "samples")->valueint, 160);
	CHECK_EQ(of(series, "samples")->valueint, 40);
	CHECK_EQ(cJSON_GetArraySize(of(series, "slope")), 3);
	CHECK(cJSON_IsNumber(at(of(series, "slope"), 0)));
	CHECK(strstr(page.text, "id=\"overview-picture\""));
	page_deinit(&page);
	free(p.experiments);
}

/* A line names its function's series. A function is held by none, even if the profile says so. */
TEST(lines_name_their_function)
{
	struct point_record point = {.name = (char *)"p", .delta = 100};
	struct samples_record samples[] = {
	    {.location = (char *)"a.c:2", .count = 40, .function = (char *)"m:f"},
	    {.location = (char *)"b.c:3", .count = 90},
	    {.location = (char *)"m:f", .count = 1, .function = (char *)"m:f"}};
	static const char *const units[] = {"a.c:2", "b.c:3", "m:f"};
	struct run_record run = {.samples = 160};
	struct profile p = {.samples = samples, .n_samples = 3, .runs = &run, .n_runs = 1};
	struct page page;
	int held = 0;

	for (int i = 0; i < 90; i++)
		add(&p, (char *)units[i % 3], i / 3 % 5 / 4.0, &point, 1);
	page = page_init(&p, NULL, 0);
	CHECK_STR(cJSON_GetStringValue(of(page.data, "unit")), "unit");
	for (int i = 0; i < 3; i++) {
		const cJSON *series = at(of(page.data, "series"), i),
			    *holder = of(series, "holder");
		const char *name =
		    cJSON_GetStringValue(at(of(page.data, "lines"), of(series, "line")->valueint));

		CHECK_EQ(holder != NULL, !strcmp(name, "a.c:2"));
		if (!holder)
			continue;
		held = of(at(of(page.data, "series"), holder->valueint), "line")->valueint;
		CHECK_STR(cJSON_GetStringValue(at(of(page.data, "lines"), held)), "m:f");
	}
	page_deinit(&page);
	free(p.experiments);
}

/* Nodes, of which the first one differs, and names that are no markup. The table has a limit. */
TEST(nodes)
{
	enum { NODES = HTML_MAX_NODES + 100 };
	const cJSON *nodes, *first;
	struct error e = {0};
	struct profile p;
	struct page page;
	FILE *f = tmpfile();

	fputs("startup\ttime=1\truns=2\texperiments=2\n", f);
	for (int i = 0; i < NODES; i++)
		fprintf(f,
		    "node-speed\tnode=%s%d\tpoint=p\tbaselines=60\ttime=%d\tcount=60000\t"
		    "error=9000000\tdf=58\n",
		    EVIL, i, i ? 1000000000 : 1300000000);
	fputs("runtime\ttime=9\n", f);
	rewind(f);
	profile_init(&p);
	CHECK_EQ(profile_read(&p, f, "fleet", &e), 0);
	fclose(f);
	page = page_init(&p, NULL, 0);
	nodes = of(page.data, "nodes");
	CHECK_EQ(cJSON_GetArraySize(of(nodes, "words")), 1);
	CHECK(strstr(page.text, "0 is 30 % slower than the median node ("));
	CHECK_EQ(cJSON_GetArraySize(of(nodes, "speeds")), HTML_MAX_NODES);
	CHECK_EQ(of(nodes, "speeds_total")->valueint, NODES);
	first = at(of(nodes, "speeds"), 0);
	CHECK_STR(cJSON_GetStringValue(at(first, 0)), EVIL "0");
	CHECK_NEAR(at(first, 3)->valuedouble, 0.3, 1e-6);
	CHECK(cJSON_IsTrue(at(first, 7)));
	page_deinit(&page);
	profile_deinit(&p);
}

TEST(nothing_measured)
{
	struct profile p = {0};
	struct page page = page_init(&p, NULL, 0);

	CHECK_EQ(cJSON_GetArraySize(of(page.data, "series")), 0);
	/* The page's policy allows nothing from outside, and no script but its own. */
	CHECK(strstr(page.text, "default-src 'none'; script-src 'sha256-") != NULL);
	CHECK(strstr(page.text, "unsafe-inline") == NULL);
	CHECK(strstr(page.text, "src=\"") == NULL);
	page_deinit(&page);
}
