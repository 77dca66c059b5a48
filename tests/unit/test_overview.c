// SPDX-License-Identifier: BSD-3-Clause
/* The overview: where dots lie, what covers what, scales; and `report --overview` against the files
 * of golden/. tests/unit/test_terminal.c has it in the live view. */
#include "check.h"
#include "golden.h"

#include <math.h>

#include "report/overview.h"
#include "report/report.h"

#define ALL 100000 /* samples */

static struct estimate_line unit(
    const char *name, unsigned samples, double slope, double half, enum verdict verdict)
{
	return (struct estimate_line){.line = name,
	    .progress = "done",
	    .slope = slope,
	    .slope_lo = slope - half,
	    .slope_hi = slope + half,
	    .verdict = verdict,
	    .shortage = verdict == VERDICT_NOT_ENOUGH_DATA ? SHORT_INTERVAL : SHORT_NONE,
	    .samples = samples};
}

/* What a usual profiler overlooks, what it would guess, hot lines without a gain, two at one place,
 * contention, one without a verdict, one without a slope. */
static size_t make_units(struct estimate_line *ret)
{
	size_t n = 0;

	ret[n++] = unit("/src/queue.c:41", 3000, 0.45, 0.02, VERDICT_OPTIMIZE);
	ret[n++] = unit("/src/parse.c:120", 34000, 0.33, 0.02, VERDICT_OPTIMIZE);
	ret[n++] = unit("/src/checksum.c:9", 28000, 0.001, 0.01, VERDICT_NO_EFFECT);
	ret[n++] = unit("/src/checksum.c:10", 28000, 0.001, 0.01, VERDICT_NO_EFFECT);
	ret[n++] = unit("/src/lock.c:77", 5000, -0.21, 0.02, VERDICT_CONTENTION);
	ret[n++] =
	    unit("/src/\x1b[2J\xff\xe2\x80\xae.c:5", 11000, 0.1, 0.3, VERDICT_NOT_ENOUGH_DATA);
	ret[n++] = unit("/src/wild.c:6", 500, 7, 9, VERDICT_NOT_ENOUGH_DATA);
	ret[n] = unit("/src/rare.c:1", 700, NAN, NAN, VERDICT_NOT_ENOUGH_DATA);
	ret[n++].shortage = SHORT_SPEEDUPS;
	return n;
}

struct picture {
	struct terminal_screen s;
	struct overview o;
};

static void picture_init(struct picture *p, const struct estimate_line *lines, size_t n,
    uint64_t samples, int width, int height)
{
	struct overview_box box = {.width = width, .height = height, .selected = SIZE_MAX};

	p->s = (struct terminal_screen){0};
	CHECK_EQ(terminal_screen_init(&p->s, width, height, true), 0);
	CHECK_EQ(overview_init(&p->o, samples, n), 0);
	for (size_t i = 0; i < n; i++)
		overview_add(&p->o, &lines[i], i + 1);
	CHECK_EQ(overview_draw(&p->o, &p->s, &box), 0);
}

static void picture_deinit(struct picture *p)
{
	overview_deinit(&p->o);
	terminal_screen_deinit(&p->s);
}

TEST(places)
{
	struct estimate_line lines[8];
	size_t n = make_units(lines);
	const struct overview_dot *d;
	struct picture p;

	picture_init(&p, lines, n, ALL, 100, 24);
	d = p.o.dots;
	CHECK_EQ(p.o.n_placed, n - 1);
	CHECK_NEAR(d[0].share, 0.03, 1e-9);
	/* To the right with the share, up with the gain. */
	CHECK(d[0].column < d[4].column && d[4].column < d[5].column);
	CHECK(d[5].column < d[2].column && d[2].column < d[1].column);
	CHECK(d[0].row < d[1].row && d[1].row < d[5].row && d[5].row < d[2].row);
	CHECK(d[2].row < d[4].row);
	CHECK_EQ(d[3].column, d[2].column);
	CHECK_EQ(d[3].behind, 3);
	CHECK_EQ(d[0].behind, 0);
	CHECK_EQ(d[6].row, 0); /* beyond the scale: at its edge */
	CHECK(d[7].row > d[4].row);
	CHECK(!d[7].is_placed && !d[5].is_ranked && d[4].is_ranked);
	picture_deinit(&p);
}

/* Scales hold what is known, in whole halves of a step; what is not known does not stretch them. */
TEST(scales)
{
	static const struct {
		double share, lo, hi; /* of the only line */
		double want_share, want_lo, want_hi;
	} cases[] = {{0.42, 0.38, 0.41, 0.45, -0.05, 0.45}, {0.42, 0.6, 0.65, 0.45, -0.1, 0.7},
	    {0.001, 0, 0.01, 0.01, -0.01, 0.1}, {1, -5, -4, 1, -1, 0.25},
	    {0, 0.8, 3, 0.01, -0.1, 1}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct estimate_line lines[2];
		double middle = (cases[i].lo + cases[i].hi) / 2;
		struct picture p;

		lines[0] = unit("a.c:1", (unsigned)(cases[i].share * ALL), middle,
		    middle - cases[i].lo, VERDICT_OPTIMIZE);
		lines[1] = unit("b.c:1", 1, -40, 50, VERDICT_NOT_ENOUGH_DATA);
		picture_init(&p, lines, 2, ALL, 100, 24);
		CHECK_NEAR(p.o.share.hi, cases[i].want_share, 1e-9);
		CHECK_NEAR(p.o.gain.lo, cases[i].want_lo, 1e-9);
		CHECK_NEAR(p.o.gain.hi, cases[i].want_hi, 1e-9);
		picture_deinit(&p);
	}
}

/* Without a verdict the values make the scale; an interval from too few speedups has no place. */
TEST(no_verdict_yet)
{
	struct estimate_line lines[2] = {unit("a.c:1", 9000, 0.4, 2, VERDICT_NOT_ENOUGH_DATA),
	    unit("b.c:1", 9000, 0.9, 0.1, VERDICT_NOT_ENOUGH_DATA)};
	struct picture p;

	lines[1].shortage = SHORT_SPEEDUPS;
	picture_init(&p, lines, 2, ALL, 100, 24);
	CHECK(p.o.dots[0].is_placed && !p.o.dots[1].is_placed);
	CHECK_NEAR(p.o.gain.hi, 0.4, 1e-9);
	CHECK_NEAR(p.o.gain.lo, -0.05, 1e-9);
	CHECK(p.o.dots[1].row > p.o.dots[0].row);
	picture_deinit(&p);
}

/* A line that alone holds the program up lies on the dotted line. */
TEST(guess)
{
	for (int percent = 10; percent <= 100; percent += 15) {
		struct estimate_line l = unit("a.c:1", (unsigned)percent * ALL / 100,
		    percent / 100.0, 0.001, VERDICT_OPTIMIZE);
		struct terminal_cell *left;
		struct picture p;
		int row = -1;

		picture_init(&p, &l, 1, ALL, 100, 40);
		/* The mark in the column before the dot's, at most one row lower. */
		for (int y = 0; y < 40; y++) {
			left = &p.s.cells[y * 100 + 8 + p.o.dots[0].column - 1];
			row = left->character == 0xb7 ? y - 2 : row;
		}
		CHECK(row == p.o.dots[0].row || row == p.o.dots[0].row + 1);
		picture_deinit(&p);
	}
}

/* Two numbers side by side would read as one. */
TEST(numbers_stay_apart)
{
	struct estimate_line lines[120];
	struct picture p;

	for (unsigned i = 0; i < 120; i++)
		lines[i] =
		    unit("a.c:1", 1000 + i * 300 % 40000, 0.3 - i * 0.003, 0.001, VERDICT_OPTIMIZE);
	picture_init(&p, lines, 120, ALL, 60, 16);
	for (int y = 2; y < 15; y++) {
		const struct terminal_cell *row = &p.s.cells[y * 60];

		for (int x = 8; x < 60; x++) {
			unsigned number = 0;
			int first = x;

			while (x < 60 && row[x].character >= '0' && row[x].character <= '9')
				number = number * 10 + (row[x++].character - '0');
			if (x == first)
				continue;
			CHECK(number >= 1 && number <= OVERVIEW_NUMBERED);
			CHECK(number && p.o.dots[number - 1].row == y - 2);
			CHECK(number && p.o.dots[number - 1].column + 8 >= first);
			CHECK(number && p.o.dots[number - 1].column + 8 < x);
		}
	}
	for (size_t i = 0; i < 120; i++)
		CHECK(p.o.dots[i].behind <= i); /* the better one is in sight */
	picture_deinit(&p);
}

/* Values out of all bounds, at any size: ASan looks. */
TEST(any_values)
{
	static const double values[] = {0, -0.0, 1e300, -1e300, INFINITY, -INFINITY, NAN, 1e-300};
	struct estimate_line lines[8 * 8];
	size_t n = 0;

	for (size_t i = 0; i < 8; i++)
		for (size_t j = 0; j < 8; j++)
			lines[n++] = (struct estimate_line){.line = "a.c:1",
			    .progress = "done",
			    .slope = values[i],
			    .slope_lo = values[j],
			    .slope_hi = values[(i + j) % 8],
			    .verdict = (enum verdict)(n % 4),
			    .samples = n % 3 ? UINT64_MAX : 0};
	for (int width = 1; width < 130; width += 3) {
		for (int height = 1; height < 30; height++) {
			struct picture p;

			picture_init(&p, lines, n, width % 2, width, height);
			picture_deinit(&p);
		}
	}
}

static char *print(const struct estimate *e, struct text_options o)
{
	char *ret = NULL;
	size_t size;
	FILE *out = open_memstream(&ret, &size);

	CHECK_EQ(report_overview(out, e, &o), 0);
	fclose(out);
	return ret;
}

TEST(golden)
{
	static const struct {
		struct text_options o;
		uint64_t samples;
		const char *name;
	} cases[] = {{{0, true, 0}, ALL, "overview.txt"},
	    {{80, false, 2}, ALL, "overview-80-2.txt"}, {{20, false, 0}, ALL, "overview-20.txt"},
	    {{0, true, 0}, 0, "overview-no-samples.txt"}};
	struct estimate_line lines[9];
	struct estimate e = {.lines = lines, .experiments = 153, .need_speedups = 5};

	e.n_lines = make_units(lines);
	lines[e.n_lines] = unit("/src/queue.c:41", 3000, 0.02, 0.01, VERDICT_NO_EFFECT);
	lines[e.n_lines++].progress = "request";
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text;

		e.samples = cases[i].samples;
		text = print(&e, cases[i].o);
		check_golden(text, cases[i].name);
		free(text);
	}
}

/* As in `report`: its lines stand below a function, and have no number of their own. */
TEST(lines_below_have_no_number)
{
	struct estimate_line lines[] = {unit("server:f", 3000, 0.3, 0.05, VERDICT_OPTIMIZE),
	    unit("/src/a.c:1", 2000, 0.2, 0.05, VERDICT_OPTIMIZE),
	    unit("server:g", 1000, 0.1, 0.05, VERDICT_OPTIMIZE)};
	struct estimate e = {.lines = lines, .n_lines = 3, .samples = ALL};
	char *text;

	lines[1].holder = &lines[0];
	text = print(&e, (struct text_options){0});
	CHECK(strstr(text, "\n  1  server:f"));
	CHECK(strstr(text, "\n     a.c:1 "));
	CHECK(strstr(text, "\n  2  server:g"));
	free(text);
}

TEST(functions_are_no_lines)
{
	struct estimate_line lines[] = {unit("server:f", 3000, 0.3, 0.05, VERDICT_OPTIMIZE)};
	struct estimate e = {.lines = lines, .n_lines = 1, .samples = ALL};
	char *text = print(&e, (struct text_options){0});

	CHECK(strstr(text, "program speedup at a function speedup of 100 %"));
	CHECK(!strstr(text, "line"));
	free(text);
}

TEST(ascii_is_ascii)
{
	struct estimate_line lines[8];
	struct estimate e = {.lines = lines, .samples = ALL};
	char *text;

	e.n_lines = make_units(lines);
	text = print(&e, (struct text_options){.width = 100});
	for (char *c = text; *c; c++)
		CHECK((*c >= ' ' && *c < 0x7f) || *c == '\n');
	free(text);
}
