// SPDX-License-Identifier: BSD-3-Clause
/* Screens of the live view as text, compared with the files in golden/ (COZBPF_REGENERATE=1 writes
 * them anew: look at the difference!), and what its keys do. */
#include "check.h"
#include "curves.h"
#include "golden.h"

#include <errno.h>
#include <math.h>

#include "report/terminal.h"

static struct estimate_point shorter[] = {
    {0.25, 0.12, 0.12, 0.09, 0.15, 6, 600}, {0.5, 0.27, 0.27, 0.24, 0.3, 6, 600}};

#define LINE(name, point, s, lo, hi, most, what, curve)                                          \
	{                                                                                        \
		.line = name, .progress = point, .slope = s, .slope_lo = lo, .slope_hi = hi,     \
		.max_speedup = most, .verdict = VERDICT_##what, .points = curve,                 \
		.n_points = sizeof(curve) / sizeof(curve[0]), .experiments = 30, .baselines = 6, \
		.samples = 5000, .visits = 3200                                                  \
	}

static struct estimate_line lines[] = {
    LINE("/src/pipeline/work.c:217", "done", 0.371, 0.352, 0.391, 0.3, OPTIMIZE, saturating),
    {.line = "/src/pipeline/work.c:217",
	.progress = "request",
	.is_latency = true,
	.slope = 0.51,
	.slope_lo = 0.48,
	.slope_hi = 0.54,
	.max_speedup = 0.51,
	.verdict = VERDICT_OPTIMIZE,
	.points = shorter,
	.latencies = queueing,
	.n_points = 2,
	.experiments = 30},
    LINE("/src/pipeline/parse.c:9", "done", 0.003, -0.012, 0.015, 0.003, NO_EFFECT, flat),
    LINE("/src/lock/a_file_with_a_rather_long_name_that_no_screen_has_room_for.c:1234", "done",
	-0.27, -0.31, -0.24, 0, CONTENTION, falling),
    {.line = "/src/pipeline/\xc3\xbc\xe4\xb8\xad"
	     "\x1b[31m.c:5",
	.progress = "done",
	.slope = 0.2,
	.slope_lo = -0.2,
	.slope_hi = 0.6,
	.verdict = VERDICT_NOT_ENOUGH_DATA,
	.shortage = SHORT_INTERVAL,
	.points = shorter,
	.n_points = 2,
	.experiments = 4},
    {.line = "/src/pipeline/rare.c:77",
	.progress = "done",
	.slope = NAN,
	.slope_lo = NAN,
	.slope_hi = NAN,
	.verdict = VERDICT_NOT_ENOUGH_DATA,
	.shortage = SHORT_SPEEDUPS,
	.points = shorter,
	.n_points = 1,
	.experiments = 2},
};
static struct estimate_latency request = {.name = "request"};
static const struct estimate sample = {.latencies = &request,
    .n_latencies = 1,
    .lines = lines,
    .n_lines = sizeof(lines) / sizeof(lines[0]),
    .need_speedups = 5,
    .experiments = 153,
    .samples = 61234};

static const struct terminal_point points[] = {{"done", false, 1204.3, NAN},
    {"request", true, 33.25, 1.234e6}, {"rare", false, 0.52, NAN}, {"new", false, NAN, NAN}};

static struct terminal_status status(void)
{
	return (struct terminal_status){.target = "server --port 8080 (process 4711)",
	    .elapsed_ns = 62500000000ULL,
	    .run = 1,
	    .runs = 1,
	    .experiments = 153,
	    .spoilt = 2,
	    .samples = 61234,
	    .in_scope = 58000,
	    .lost = 3,
	    .noise = 0.034,
	    .points = points,
	    .n_points = 4,
	    .experiment = "/src/pipeline/work.c:217",
	    .speedup_pct = 45,
	    .open_ns = 300000000,
	    .planned_ns = 500000000,
	    .has_keys = true};
}

static char *text_of(const struct terminal_screen *s)
{
	char *ret = NULL;
	size_t size;
	FILE *out = open_memstream(&ret, &size);

	terminal_print(out, s);
	fclose(out);
	return ret;
}

static char *draw(struct terminal_view *v, const struct estimate *e,
    const struct terminal_status *s, int width, int height, bool unicode)
{
	struct terminal_screen screen = {0};
	char *ret;

	CHECK_EQ(terminal_screen_init(&screen, width, height, unicode), 0);
	terminal_draw(v, e, s, &screen);
	ret = text_of(&screen);
	terminal_screen_deinit(&screen);
	return ret;
}

static void press(struct terminal_view *v, const char *keys)
{
	while (*keys)
		terminal_press(v, &sample, (unsigned char)*keys++);
}

static const char source[] = "int work(int n)\n{\n\tfor (int i = 0; i < n; i++)\n\t\tn += f(i); /* "
			     "\xe4\xb8\xad */\n\treturn n;\n}\n";

/* Four estimates, each one more certain. */
static void note_widths(struct terminal_view *v)
{
	struct estimate_line line = lines[0];
	struct estimate e = {.lines = &line, .n_lines = 1};

	for (int i = 4; i > 0; i--) {
		line.slope_lo = 0.37 - 0.02 * i * i;
		line.slope_hi = 0.37 + 0.02 * i * i;
		terminal_note(v, &e);
	}
}

TEST(functions_are_no_lines)
{
	static const char *const cases[][2] = {{"", "  #  function "}, {"\r", "server:work"},
	    {"?", "choose a function; "}, {"?", "only functions with"}, {"?", "ranks the function"},
	    {"o", "server:work"}, {"/nothing", "no function has 'nothing'"}};
	struct estimate_line functions[] = {
	    LINE("server:work", "done", 0.371, 0.352, 0.391, 0.3, OPTIMIZE, saturating)};
	const struct estimate e = {.lines = functions, .n_lines = 1, .experiments = 20};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct terminal_view v = {0};
		struct terminal_status s = status();
		char *text;

		s.experiment = "server:work";
		note_widths(&v);
		press(&v, cases[i][0]);
		text = draw(&v, &e, &s, 100, 30, false);
		CHECK(!strstr(text, " line"));
		CHECK(strstr(text, cases[i][1]));
		free(text);
		terminal_view_deinit(&v);
	}
}

/* Lines share directories, which functions do not have. Lines below a function have no number. */
TEST(functions_beside_lines)
{
	static const char *const keys[] = {"", "o"};
	struct estimate_line units[] = {
	    LINE("server:work", "done", 0.371, 0.352, 0.391, 0.3, OPTIMIZE, saturating),
	    LINE(
		"/home/me/server/src/work.c:7", "done", 0.3, 0.29, 0.31, 0.3, OPTIMIZE, saturating),
	    LINE("server:parse", "done", 0.2, 0.19, 0.21, 0.3, OPTIMIZE, saturating)};
	const struct estimate e = {.lines = units, .n_lines = 3, .experiments = 20, .samples = 9};

	units[1].holder = &units[0];
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct terminal_view v = {0};
		struct terminal_status s = status();
		char *text;

		press(&v, keys[i]);
		text = draw(&v, &e, &s, 100, 30, false);
		CHECK(strstr(text, "  1  server:work"));
		CHECK(i || strstr(text, "\n       work.c:7"));
		CHECK(i || strstr(text, "  2  server:parse"));
		free(text);
		terminal_view_deinit(&v);
	}
}

TEST(golden_screens)
{
	static const struct {
		int width, height;
		bool unicode;
		const char *keys, *name;
	} cases[] = {
	    {80, 24, true, "", "live-80x24.txt"},
	    {80, 24, false, "", "live-80x24-ascii.txt"},
	    {120, 40, true, "", "live-120x40.txt"},
	    {40, 10, false, "", "live-40x10.txt"},
	    {80, 24, true, "\r", "live-line-80x24.txt"},
	    {120, 40, false, "\t\r", "live-latency-120x40.txt"},
	    {120, 24, true, "\t", "live-latencies-120x24.txt"},
	    {40, 10, false, "\r", "live-line-40x10.txt"},
	    {80, 24, false, "?", "live-help-80x24.txt"},
	    {40, 10, false, "?", "live-help-40x10.txt"},
	    {80, 24, true, "/lock", "live-filter-80x24.txt"},
	    {80, 24, true, "o", "live-overview-80x24.txt"},
	    {120, 40, false, "ojj", "live-overview-120x40-ascii.txt"},
	    {40, 10, false, "o", "live-overview-40x10.txt"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct terminal_view v = {0};
		struct terminal_status s = status();
		char *text;

		request.now = queueing[0];
		note_widths(&v);
		press(&v, cases[i].keys);
		if (terminal_looked_at(&v, &sample)) {
			s.source = source;
			s.source_first = 214;
		}
		text = draw(&v, &sample, &s, cases[i].width, cases[i].height, cases[i].unicode);
		check_golden(text, cases[i].name);
		free(text);
		terminal_view_deinit(&v);
	}
}

TEST(golden_states)
{
	struct terminal_view v = {0};
	struct terminal_status s = status();
	char *text;

	s.experiment = NULL;
	s.has_keys = false;
	s.runs = 40;
	s.run = 3;
	s.noise = NAN;
	text = draw(&v, NULL, &s, 80, 12, true);
	check_golden(text, "live-none-80x12.txt");
	free(text);
	s.has_keys = s.is_paused = true;
	s.message = "warning: progress point 'done' is visited too often";
	s.messages = 2;
	press(&v, "/nothing\rs");
	text = draw(&v, &sample, &s, 80, 12, true);
	check_golden(text, "live-paused-80x12.txt");
	free(text);
	s.is_paused = false;
	s.rests_ns = 311200000000;
	text = draw(&v, &sample, &s, 80, 12, true);
	CHECK(strstr(text, "\n resting: no experiments for 312 s\n"));
	free(text);
	terminal_view_deinit(&v);
}

/* At any size nothing is written outside (ASan looks), and every page works. */
TEST(any_size)
{
	static const char *const pages[] = {"", "\r", "?", "o", "/work"};

	for (size_t page = 0; page < sizeof(pages) / sizeof(pages[0]); page++) {
		for (int width = 1; width < 200; width += width < 12 ? 1 : 17) {
			for (int height = 1; height < 60; height += height < 12 ? 1 : 9) {
				struct terminal_view v = {0};
				struct terminal_status s = status();
				char *text;

				press(&v, pages[page]);
				s.source = source;
				s.source_first = 214;
				s.message = "a message";
				text = draw(
				    &v, page & 1 ? &sample : NULL, &s, width, height, width & 1);
				free(text);
				text = draw(&v, &sample, &s, width, height, width & 1);
				CHECK(strlen(text) >= (size_t)height);
				free(text);
				terminal_view_deinit(&v);
			}
		}
	}
}

TEST(ascii_is_ascii)
{
	struct terminal_view v = {0};
	struct terminal_status s = status();

	s.target = "b\xc3\xa4r \x1b[2J\xff";
	for (int page = 0; page < 4; page++) {
		char *text = draw(&v, &sample, &s, 120, 40, false);

		for (char *c = text; *c; c++)
			CHECK((*c >= ' ' && *c < 0x7f) || *c == '\n');
		free(text);
		press(&v, page == 2 ? "o" : page ? "q?" : "\r");
	}
	terminal_view_deinit(&v);
}

TEST(text_in_columns)
{
	struct terminal_screen s = {0};

	CHECK_EQ(terminal_screen_init(&s, 10, 1, true), 0);
	CHECK_EQ(terminal_put(&s, 0, 0, 10, 0,
		     "a\xc3\xa4\xe4\xb8\xad"
		     "e\xcc\x81"),
	    5);
	CHECK_EQ(s.cells[1].character, 0xe4);
	CHECK_EQ(s.cells[2].character, 0x4e2d);
	CHECK_EQ(s.cells[3].character, 0);
	CHECK_EQ(s.cells[4].character, 'e');
	CHECK_EQ(terminal_put(&s, 9, 0, 10, 0, "\xe4\xb8\xad"), 9); /* no room for it */
	CHECK_EQ(terminal_put(&s, 5, 0, 10, 0, "\xe4\xb8\t\xf8\xc0\x80"), 10);
	for (int x = 5; x < 10; x++)
		CHECK_EQ(s.cells[x].character, '?');
	CHECK_EQ(terminal_put(&s, 0, 1, 10, 0, "below"), 0);
	CHECK_EQ(terminal_columns("\xe4\xb8\xad"
				  "a"),
	    3);
	terminal_screen_deinit(&s);
}

TEST(keys)
{
	struct terminal_view v = {0};

	CHECK_EQ(terminal_press(&v, NULL, '\r'), ACTION_NONE); /* before there is an estimate */
	CHECK_EQ(terminal_press(&v, NULL, 'j'), ACTION_NONE);
	CHECK_EQ(v.page, PAGE_LINES);
	CHECK_EQ(terminal_press(&v, &sample, 'p'), ACTION_PAUSE);
	CHECK_EQ(terminal_press(&v, &sample, 0x0c), ACTION_REPAINT);
	for (int key = SORT_MAX; key <= SORT_IMPACT + 1; key++) {
		CHECK_EQ(terminal_press(&v, &sample, 's'), ACTION_SORT);
		CHECK_EQ(v.sort, key % (SORT_IMPACT + 1));
	}
	CHECK(!terminal_looked_at(&v, &sample));
	terminal_press(&v, &sample, KEY_IS_DOWN);
	CHECK_STR(v.line, lines[2].line);
	press(&v, "G");
	CHECK_STR(v.line, lines[5].line);
	press(&v, "j");
	CHECK_STR(v.line, lines[5].line);
	press(&v, "k\r");
	CHECK_STR(terminal_looked_at(&v, &sample), lines[4].line);
	CHECK_EQ(terminal_press(&v, &sample, 'q'), ACTION_NONE); /* back first */
	press(&v, "g");
	CHECK(!v.line);
	press(&v, "\t\r"); /* the other progress point has one line */
	CHECK_STR(terminal_looked_at(&v, &sample), lines[1].line);
	press(&v, "\x1b\t");
	CHECK_EQ(v.point, 0);
	CHECK_EQ(terminal_press(&v, &sample, 'q'), ACTION_QUIT);
	terminal_view_deinit(&v);
}

/* The overview is a second list: what is opened from it leads back to it, q from it to the list. */
TEST(overview_keys)
{
	struct terminal_view v = {0};

	press(&v, "oj");
	CHECK_EQ(v.page, PAGE_OVERVIEW);
	CHECK_STR(v.line, lines[2].line);
	press(&v, "\r");
	CHECK_STR(terminal_looked_at(&v, &sample), lines[2].line);
	press(&v, "?");
	CHECK_EQ(v.page, PAGE_HELP);
	CHECK_EQ(terminal_press(&v, &sample, 'q'), ACTION_NONE);
	CHECK_EQ(v.page, PAGE_OVERVIEW);
	CHECK_EQ(terminal_press(&v, &sample, 'q'), ACTION_NONE);
	CHECK_EQ(v.page, PAGE_LINES);
	press(&v, "\r\r");
	CHECK_EQ(v.page, PAGE_LINES);
	press(&v, "o\t");
	CHECK_EQ(v.point, 1);
	press(&v, "/w\r");
	CHECK_EQ(v.page, PAGE_LINES);
	press(&v, "oo?\x1b");
	CHECK_EQ(v.page, PAGE_LINES);
	CHECK_EQ(terminal_press(&v, &sample, 'q'), ACTION_QUIT);
	terminal_view_deinit(&v);
}

/* The picture stands above the list where both have room, and there are samples. */
TEST(picture_above_the_list)
{
	static const struct {
		int width, height;
		uint64_t samples;
		bool has_picture;
	} cases[] = {{80, 40, 61234, true}, {80, 39, 61234, false}, {79, 40, 61234, false},
	    {200, 60, 61234, true}, {200, 60, 0, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct terminal_view v = {0};
		struct terminal_status s = status();
		struct estimate e = sample;
		char *text;

		e.samples = cases[i].samples;
		text = draw(&v, &e, &s, cases[i].width, cases[i].height, true);
		CHECK_EQ(strstr(text, "share of the samples") != NULL, cases[i].has_picture);
		CHECK(strstr(text, "+0.37   +0.35 .."));
		CHECK(v.page_rows > 10);
		free(text);
		terminal_view_deinit(&v);
	}
}

/* A selected line stays selected wherever it is ranked; the first row shows whichever line
 * leads. */
TEST(selection_follows)
{
	struct estimate_line two[] = {lines[0], lines[2]};
	struct estimate e = {.lines = two, .n_lines = 2};
	struct terminal_view v = {0};

	terminal_press(&v, &e, 'j');
	terminal_press(&v, &e, '\r');
	CHECK_STR(terminal_looked_at(&v, &e), lines[2].line);
	two[0] = lines[2];
	two[1] = lines[0];
	CHECK_STR(terminal_looked_at(&v, &e), lines[2].line);
	two[0] = lines[3]; /* the line is no longer there */
	CHECK_STR(terminal_looked_at(&v, &e), lines[3].line);
	terminal_view_deinit(&v);
}

/* Whichever line leads, Tab goes through the points in one order. */
TEST(points_keep_their_order)
{
	struct estimate_line two[] = {lines[1], lines[0]};
	struct estimate e = {.lines = two, .n_lines = 2};
	struct terminal_view v = {0};

	for (int turn = 0; turn < 2; turn++) {
		struct terminal_status s = status();
		char *text = draw(&v, &e, &s, 80, 24, true);

		CHECK(strstr(text, "progress point done  (1 of 2"));
		free(text);
		two[0] = lines[0];
		two[1] = lines[1];
	}
	terminal_view_deinit(&v);
}

TEST(filter)
{
	struct terminal_view v = {0};

	press(&v, "/WORKq");
	CHECK(v.is_typing);
	CHECK_EQ(terminal_press(&v, &sample, KEY_IS_BACKSPACE), ACTION_NONE);
	CHECK_STR(v.filter, "WORK");
	press(&v, "\r\r");
	CHECK_STR(terminal_looked_at(&v, &sample), lines[0].line); /* letters of either case */
	press(&v, "q/x\x1b");
	CHECK_STR(v.filter, "WORK");
	terminal_press(&v, &sample, '/');
	for (int i = 0; i < 200; i++)
		terminal_press(&v, &sample, 0x4e2d);
	CHECK(strlen(v.filter) < sizeof(v.filter));
	terminal_press(&v, &sample, 0x7f);
	CHECK_EQ(strlen(v.filter) % 3, 1); /* "WORK" and whole characters */
	press(&v, "\r\x1b");
	CHECK_STR(v.filter, "");
	terminal_view_deinit(&v);
}

TEST(many_lines_scroll)
{
	enum { N = 500 };
	static struct estimate_line many[N];
	static char names[N][32];
	struct estimate e = {.lines = many, .n_lines = N};
	struct terminal_view v = {0};
	struct terminal_status s = status();
	char *text;

	for (int i = 0; i < N; i++) {
		snprintf(names[i], sizeof(names[i]), "/a/b.c:%d", i + 1);
		many[i] = lines[0];
		many[i].line = names[i];
	}
	for (int i = 0; i < 20; i++)
		terminal_note(&v, &e);
	text = draw(&v, &e, &s, 80, 24, true);
	CHECK(strstr(text, "b.c:1 "));
	free(text);
	terminal_press(&v, &e, 'G');
	text = draw(&v, &e, &s, 80, 24, true);
	CHECK(strstr(text, "500  b.c:500"));
	CHECK(!strstr(text, "b.c:1 "));
	free(text);
	terminal_press(&v, &e, KEY_IS_PAGE_UP);
	terminal_press(&v, &e, KEY_IS_PAGE_UP);
	text = draw(&v, &e, &s, 80, 24, true);
	CHECK(!strstr(text, "b.c:500"));
	free(text);
	terminal_view_deinit(&v);
}
