// SPDX-License-Identifier: BSD-3-Clause
/* What --metrics writes: the format of Prometheus, names of the target's that do no harm in it, and
 * how much it is at most. */
#include "check.h"

#include <math.h>

#include "report/metrics.h"

static const struct metrics_facts facts = {.target = "ser\"ver",
    .profile = "/var/lib/a\\b.coz",
    .started_s = 1795716380,
    .series = 12,
    .refusals = 3,
    .experiments = 240,
    .series_s = 60.5};

static char text[1 << 20];

static const char *print(const struct estimate *e)
{
	FILE *out = fmemopen(text, sizeof(text), "w");

	CHECK_EQ(report_metrics(out, &facts, e), 0);
	fclose(out);
	return text;
}

static unsigned count(const char *what)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

/* A line with a verdict, as the estimate has it: its interval is narrow enough. */
static struct estimate_line decided(const char *name, const char *point, double slope)
{
	return (struct estimate_line){.line = name,
	    .progress = point,
	    .slope = slope,
	    .slope_lo = slope - 0.05,
	    .slope_hi = slope + 0.05,
	    .samples = 25,
	    .verdict = slope > 0 ? VERDICT_OPTIMIZE : VERDICT_CONTENTION};
}

TEST(before_there_is_an_answer)
{
	CHECK_STR(print(NULL),
	    "# HELP cozbpf_start_time_seconds When cozbpf began to watch, since the epoch.\n"
	    "# TYPE cozbpf_start_time_seconds gauge\n"
	    "cozbpf_start_time_seconds{target=\"ser\\\"ver\",profile=\"/var/lib/a\\\\b.coz\"} "
	    "1795716380\n"
	    "# HELP cozbpf_series_total Series of experiments.\n"
	    "# TYPE cozbpf_series_total counter\n"
	    "cozbpf_series_total{target=\"ser\\\"ver\",profile=\"/var/lib/a\\\\b.coz\"} 12\n"
	    "# HELP cozbpf_series_seconds_total Time in series: what experiments have taken of "
	    "all time.\n"
	    "# TYPE cozbpf_series_seconds_total counter\n"
	    "cozbpf_series_seconds_total{target=\"ser\\\"ver\",profile=\"/var/lib/a\\\\b.coz\"} "
	    "60.5\n"
	    "# HELP cozbpf_refusals_total How often load or a command said that nothing is to be "
	    "measured.\n"
	    "# TYPE cozbpf_refusals_total counter\n"
	    "cozbpf_refusals_total{target=\"ser\\\"ver\",profile=\"/var/lib/a\\\\b.coz\"} 3\n"
	    "# HELP cozbpf_experiments_total Experiments that count.\n"
	    "# TYPE cozbpf_experiments_total counter\n"
	    "cozbpf_experiments_total{target=\"ser\\\"ver\",profile=\"/var/lib/a\\\\b.coz\"} "
	    "240\n");
}

/* All samples of a metric stand together behind one TYPE line, and what is not known is left out.
 */
TEST(units)
{
	struct estimate_line lines[] = {decided("/src/a.c:1", "done", 0.4),
	    decided("/src/b.c:2", "done", -0.2),
	    {.line = "/src/c.c:3", .progress = "done", .verdict = VERDICT_NOT_ENOUGH_DATA}};
	const struct estimate e = {.lines = lines, .n_lines = 3, .samples = 100};
	const char *first;

	lines[1].slope_hi = NAN;
	print(&e);
	CHECK_EQ(count("unit="), 11);
	CHECK_EQ(count("c.c:3"), 0);
	CHECK_EQ(count("# TYPE cozbpf_slope gauge\n"), 1);
	first = strstr(text, "# TYPE cozbpf_slope gauge\n");
	CHECK(first && !strncmp(strchr(first, '\n') + 1, "cozbpf_slope{", 13));
	CHECK(strstr(text, ",point=\"done\",kind=\"throughput\",unit=\"/src/a.c:1\"} 0.4\n"));
	CHECK(strstr(text, "unit=\"/src/b.c:2\"} -1\n"));
	CHECK(strstr(text, "unit=\"/src/a.c:1\"} 0.25\n"));
}

/* A file name may hold anything: no name begins a line, or ends a label. */
TEST(hostile_names)
{
	struct estimate_line lines[] = {
	    decided("/a\n# TYPE cozbpf_slope counter\nb\"} 7\\\xff\xc3\xa9.c:1", "po\nint", 0.4)};
	const struct estimate e = {.lines = lines, .n_lines = 1, .samples = 100};
	unsigned lines_of_units = 0;

	print(&e);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strstr(line, "unit="))
			continue;
		lines_of_units++;
		CHECK(strstr(line, "unit=\"/a\\n# TYPE cozbpf_slope counter\\nb\\\"} 7\\\\"
				   "\xef\xbf\xbd\xc3\xa9.c:1\"} "));
		CHECK(strstr(line, "point=\"po\\nint\""));
	}
	CHECK_EQ(lines_of_units, 6);
}

/* Names that differ in what no label can hold. */
TEST(no_series_is_there_twice)
{
	struct estimate_line lines[] = {decided("/\xff.c:1", "a", 0.4),
	    decided("/\xfe.c:1", "a", 0.4), decided("/\xef\xbf\xbd.c:1", "a", 0.4),
	    decided("/\xff.c:1", "b\xff", 0.4), decided("/\xff.c:1", "b\xfe", 0.4),
	    decided("/\xff.c:12", "a", 0.4)};
	const struct estimate e = {.lines = lines, .n_lines = 6, .samples = 100};

	print(&e);
	CHECK_EQ(count("unit="), 6 * 3);
	CHECK_EQ(count("point=\"a\",kind=\"throughput\",unit=\"/\xef\xbf\xbd.c:1\"} 0.4\n"), 1);
}

static void fill(struct estimate_line *lines, char (*names)[32], size_t n, size_t n_points)
{
	static const char *const points[] = {"a", "b", "c", "d", "e", "f", "g"};

	for (size_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "/src/%zu.c:1", i);
		lines[i] = decided(names[i], points[i % n_points], 0.5);
	}
}

TEST(bounded)
{
	static struct estimate_line lines[2000];
	static char names[2000][32], longest[METRICS_NAME + 2];
	const struct estimate e = {.lines = lines, .n_lines = 2000, .samples = 1};

	fill(lines, names, 2000, 3);
	memset(longest, 'x', sizeof(longest) - 1);
	lines[0].line = longest;
	print(&e);
	CHECK_EQ(count("point=\"c\""), 6 * METRICS_OF_POINT);
	CHECK_EQ(count("unit="), 6 * 3 * METRICS_OF_POINT);
	CHECK_EQ(count("xxx"), 0);
	fill(lines, names, 2000, 7);
	print(&e);
	CHECK_EQ(count("unit="), 6 * METRICS_UNITS);
}
