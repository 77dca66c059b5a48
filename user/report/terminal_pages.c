// SPDX-License-Identifier: BSD-3-Clause
/* The pages of the live view: the ranked lines; one line with its curve and source; the keys. */
#include "report/terminal_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/words.h"

#define MIN_LABEL 9   /* columns of a line's name, however narrow the screen */
#define CURVE 8       /* columns of a curve, */
#define CURVE_WIDE 20 /* and with room, one for each of Coz's speedups */
#define BAR 15        /* of an interval, at least */
#define BAR_WIDE 41
#define HEIGHT_WORDS 6 /* rows that have to stay free for sentences */
#define WIDE 100       /* columns of a screen with room for more */
#define FIGURES 51     /* columns of a point's figures, without latencies */
#define MIN_SCALE 0.05 /* of the highest block, so that noise does not look like mountains */
#define SOURCE_ROWS 9  /* of a line's source, */
#define SOURCE_PART 2  /* at most one part in so many */

/* Columns of the list; 0: no room for it. */
struct layout {
	const struct estimate *e;
	size_t prefix;
	int label, slope, interval, curve, verdict, gain;
	struct axis bar;
	double scale; /* program speedup of the highest block */
	bool unicode;
};

static bool is_ranked(const struct estimate_line *l)
{
	return l->verdict != VERDICT_NOT_ENOUGH_DATA;
}

/* The scale of intervals and curves, from the ranked lines. */
static void set_scale(struct layout *l, const struct terminal_rows *r)
{
	l->scale = MIN_SCALE;
	l->bar.lo = 0;
	l->bar.hi = MIN_SCALE;
	for (size_t i = 0; i < r->n; i++) {
		const struct estimate_line *line = &l->e->lines[r->index[i]];

		if (!is_ranked(line))
			continue;
		l->bar.lo = fmin(l->bar.lo, line->slope_lo);
		l->bar.hi = fmax(l->bar.hi, line->slope_hi);
		for (size_t j = 0; j < line->n_points; j++)
			l->scale = fmax(l->scale, line->points[j].program_speedup);
	}
}

/* Columns in the order of their worth, as long as the names keep theirs. */
static void set_columns(struct layout *l, const struct terminal_rows *r, int width)
{
	struct {
		int *ret, columns, keep; /* keep: for the names */
	} wanted[] = {{&l->slope, 8, MIN_LABEL}, {&l->interval, 18, MIN_LABEL},
	    {&l->curve, 2 + CURVE, MIN_LABEL}, {&l->verdict, 12, MIN_LABEL},
	    {&l->gain, 10, MIN_LABEL}, {&l->bar.columns, 2 + BAR, 2 * MIN_LABEL}};
	int longest = MIN_LABEL, left = width - 5;

	for (size_t i = 0;
	     i < sizeof(wanted) / sizeof(wanted[0]) && left - wanted[i].columns >= wanted[i].keep;
	     i++)
		left -= *wanted[i].ret = wanted[i].columns;
	for (size_t i = 0; i < r->n; i++) {
		const char *unit = l->e->lines[r->index[i]].line;
		char room[UNIT_ROOM];
		int columns = terminal_columns(unit_label(unit, r->prefix, room));

		longest = columns > longest ? columns : longest;
	}
	l->label = left < longest ? left : longest;
	left -= l->label;
	if (l->bar.columns && left >= CURVE_WIDE - CURVE) {
		l->curve += CURVE_WIDE - CURVE;
		left -= CURVE_WIDE - CURVE;
	}
	if (l->bar.columns)
		l->bar.columns += left < BAR_WIDE - BAR ? left : BAR_WIDE - BAR;
}

static void draw_columns(const struct layout *l, struct terminal_screen *ret, int y)
{
	int x = put(ret, 0, y, LOOK_DIM, "  #  ");

	put(ret, x, y, LOOK_DIM, "%s", estimate_unit(l->e));
	x += l->label;
	if (l->slope)
		put(ret, x, y, LOOK_DIM, "   slope");
	if (l->interval)
		put(ret, x + l->slope, y, LOOK_DIM, "  95 %% interval");
	x += l->slope + l->interval;
	if (l->bar.columns)
		put(ret, x + 2, y, LOOK_DIM, "%+.2f", l->bar.lo);
	if (l->bar.columns)
		put(ret, x + l->bar.columns - 5, y, LOOK_DIM, "%+.2f", l->bar.hi);
	x += l->bar.columns;
	if (l->gain)
		put(ret, x, y, LOOK_DIM, "  max gain");
	x += l->gain;
	if (l->curve)
		put(ret, x, y, LOOK_DIM, "  curve");
	x += l->curve;
	if (l->verdict)
		put(ret, x, y, LOOK_DIM, "  verdict");
}

/* One block per point, or per column when there are more points than columns. */
static void draw_curve(const struct layout *l, const struct estimate_line *line,
    struct terminal_screen *ret, int x, int y)
{
	size_t n = line->n_points, columns = n < (size_t)l->curve - 2 ? n : (size_t)l->curve - 2;

	for (size_t i = 0; i < columns; i++) {
		const struct estimate_point *p = &line->points[(i + 1) * n / columns - 1];

		x = terminal_put(ret, x, y, ret->width,
		    p->program_speedup < 0 ? LOOK_LOSS : LOOK_GAIN,
		    curve_mark(p->program_speedup / l->scale, l->unicode));
	}
}

static void draw_figures(const struct layout *l, const struct estimate_line *line,
    struct terminal_screen *ret, int x, int y)
{
	unsigned look = !is_ranked(line)                      ? LOOK_DIM
			: line->verdict == VERDICT_OPTIMIZE   ? LOOK_GAIN | LOOK_BOLD
			: line->verdict == VERDICT_CONTENTION ? LOOK_LOSS | LOOK_BOLD
							      : LOOK_PLAIN;
	struct axis bar = l->bar;

	bar.columns -= 2;
	if (l->slope)
		put(ret, x, y, look, "  %+6.2f", line->slope);
	if (l->interval)
		put(ret, x + l->slope, y, look & LOOK_DIM, "  %+6.2f .. %+6.2f", line->slope_lo,
		    line->slope_hi);
	x += l->slope + l->interval;
	if (l->bar.columns)
		put_interval(ret, x + 2, y, &bar, line->slope_lo, line->slope, line->slope_hi);
	x += l->bar.columns;
	if (l->gain && is_ranked(line))
		put(ret, x, y, LOOK_PLAIN, "  %6.1f %%", line->max_speedup * 100);
	x += l->gain;
	if (l->curve && is_ranked(line))
		draw_curve(l, line, ret, x + 2, y);
	x += l->curve;
	if (l->verdict)
		put(ret, x, y, look, "  %s",
		    is_ranked(line) ? verdict_words(line->verdict) : "not yet");
}

static void draw_row(const struct layout *l, const struct estimate_line *line, size_t rank,
    struct terminal_screen *ret, int y)
{
	unsigned look = is_ranked(line) ? LOOK_PLAIN : LOOK_DIM;
	int indent = is_ranked(line) && estimate_is_below(line) ? 2 : 0;
	char words[1024], room[UNIT_ROOM];

	if (is_ranked(line) && rank)
		put(ret, 0, y, look, "%3zu", rank);
	put_label(
	    ret, 5 + indent, y, l->label - indent, look, unit_label(line->line, l->prefix, room));
	if (is_ranked(line) || line->shortage == SHORT_INTERVAL) {
		draw_figures(l, line, ret, 5 + l->label, y);
		return;
	}
	shortage_words(l->e, line, words, sizeof(words));
	terminal_put(ret, 5 + l->label + 2, y, ret->width, look, words);
}

void draw_none(
    const struct terminal_view *v, const struct estimate *e, struct terminal_screen *ret, int y)
{
	if (e && e->n_lines)
		put(ret, 1, y, LOOK_PLAIN, "no %s has '%s' in its name", estimate_unit(e),
		    v->filter);
	else
		put(ret, 1, y, LOOK_PLAIN, "no estimate yet: it takes some experiments");
}

/* Keeps the selected row in sight. */
static void scroll_to(struct terminal_view *v, const struct terminal_rows *r, size_t rows)
{
	if (v->first + rows > r->n)
		v->first = r->n > rows ? r->n - rows : 0;
	if (r->selected < v->first)
		v->first = r->selected;
	if (r->selected >= v->first + rows)
		v->first = r->selected - rows + 1;
}

/* The present latency. */
static const struct estimate_latency *latency_named(const struct estimate *e, const char *name)
{
	for (size_t i = 0; i < e->n_latencies; i++)
		if (!strcmp(e->latencies[i].name, name))
			return &e->latencies[i];
	return NULL;
}

void draw_point(const struct terminal_view *v, const struct estimate *e,
    const struct terminal_rows *r, struct terminal_screen *ret, int y)
{
	const struct estimate_latency *latency =
	    r->point->is_latency ? latency_named(e, r->point->progress) : NULL;
	int x = put(ret, 1, y, LOOK_BOLD, "%s %s",
	    r->point->is_latency ? "latency" : "progress point", r->point->progress);
	char words[1024];

	if (r->n_points > 1)
		x = put(ret, x, y, LOOK_PLAIN, "  (%zu of %zu, Tab: the next)",
		    v->point % r->n_points + 1, r->n_points);
	if (v->filter[0] && !v->is_typing)
		x = put(ret, x, y, LOOK_PLAIN, "  with '%s': %zu", v->filter, r->n);
	if (latency) {
		latency_words(&latency->now, words, sizeof(words));
		put(ret, x, y, LOOK_PLAIN, "  now %s", words);
	}
}

void draw_lines(struct terminal_view *v, const struct estimate *e, struct terminal_screen *ret,
    int first, int end)
{
	struct layout l = {.e = e, .unicode = ret->unicode};
	struct terminal_rows r;
	size_t rows;

	if (terminal_rows_init(&r, v, e) || !r.n) {
		draw_none(v, e, ret, first);
		terminal_rows_deinit(&r);
		return;
	}
	l.prefix = r.prefix;
	if (r.n_points > 1 || end - first >= 8)
		draw_point(v, e, &r, ret, first++);
	first = draw_picture_above(e, &r, ret, first, end);
	set_scale(&l, &r);
	set_columns(&l, &r, ret->width);
	if (end - first >= 3)
		draw_columns(&l, ret, first++);
	rows = end > first ? (size_t)(end - first) : 0;
	v->page_rows = rows;
	if (rows)
		scroll_to(v, &r, rows);
	for (size_t i = v->first; i < r.n && i < v->first + rows; i++) {
		int y = first + (int)(i - v->first);

		draw_row(&l, &e->lines[r.index[i]], r.rank[i], ret, y);
		if (i == r.selected)
			put_reverse(ret, y);
	}
	terminal_rows_deinit(&r);
}

/* How its interval has narrowed, over the remembered estimates. */
static void draw_trend(const struct terminal_view *v, const struct estimate_line *line,
    struct terminal_screen *ret, int y)
{
	float half[TERMINAL_TREND];
	unsigned n = terminal_trend_of(v, line, half);
	int x = 1, room = (ret->width - 24) / 7;
	unsigned from =
	    n > (unsigned)(room > 1 ? room : 1) ? n - (unsigned)(room > 1 ? room : 1) : 0;

	if (!n)
		return;
	x = put_item(ret, x, y, LOOK_PLAIN, "interval so far:");
	for (unsigned i = from; i < n; i++)
		x = put_item(ret, x, y, i + 1 == n ? LOOK_BOLD : LOOK_PLAIN,
		    ret->unicode ? "±%.2f" : "+-%.2f", half[i]);
}

static void draw_facts(const struct estimate_line *l, struct terminal_screen *ret, int y)
{
	int x = put_item(
	    ret, 1, y, LOOK_PLAIN, "%s %s", l->is_latency ? "latency" : "progress", l->progress);

	if (isfinite(l->slope_lo))
		x = put_item(ret, x, y, LOOK_PLAIN, "slope %+.2f (%+.2f to %+.2f)", l->slope,
		    l->slope_lo, l->slope_hi);
	x = put_item(ret, x, y, LOOK_PLAIN, "%" PRIu64 " experiments, %" PRIu64 " baselines",
	    l->experiments, l->baselines);
	put_item(ret, x, y, LOOK_PLAIN, "%" PRIu64 " samples", l->samples);
}

static int draw_words(
    const struct estimate *e, const struct estimate_line *l, struct terminal_screen *ret, int y)
{
	char words[1024], text[1100], room[UNIT_ROOM];

	if (is_ranked(l))
		effect_words(l, unit_label(l->line, ALL_DIRECTORIES, room), words, sizeof(words));
	else
		shortage_words(e, l, words, sizeof(words));
	snprintf(text, sizeof(text), "%s%s",
	    l->verdict == VERDICT_NO_EFFECT ? "no effect that could be told from none"
	    : is_ranked(l)                  ? ""
					    : "not enough data yet: ",
	    words);
	return put_words(ret, 1, y, y + 3, is_ranked(l) ? LOOK_PLAIN : LOOK_WARN, text);
}

/* Returns the row after it. With few rows it is short: the curve matters more. */
static int draw_summary(const struct terminal_view *v, const struct estimate *e,
    const struct estimate_line *l, struct terminal_screen *ret, int y, int end)
{
	if (y < end)
		put_label(ret, 1, y++, ret->width - 2, LOOK_BOLD, l->line);
	if (end - y >= HEIGHT_WORDS)
		y = draw_words(e, l, ret, y);
	if (y < end)
		draw_facts(l, ret, y++);
	if (end - y >= HEIGHT_WORDS)
		draw_trend(v, l, ret, y++);
	return y;
}

static int put_latency(const struct latency_figures *f, struct terminal_screen *ret, int x, int y)
{
	char mean[32], tail[32];

	time_words(f->mean.value, mean, sizeof(mean));
	time_words(f->p99.value, tail, sizeof(tail));
	x = put(ret, x, y, LOOK_PLAIN, "  %8s", mean);
	return ret->width >= WIDE ? put(ret, x, y, LOOK_PLAIN, "  %8s", tail) : x;
}

/* A point's row up to the part drawn to scale; returns the column after it. */
static int put_figures(const struct estimate_line *l, size_t i, struct terminal_screen *ret, int y)
{
	const struct estimate_point *p = &l->points[i];
	int x = put(ret, 0, y, LOOK_PLAIN, "%4.0f %%  ", p->line_speedup * 100);

	x = put(ret, x, y, p->program_speedup < 0 ? LOOK_LOSS : LOOK_GAIN, "%+6.1f %%",
	    p->program_speedup * 100);
	if (isfinite(p->ci_lo))
		put(ret, x, y, LOOK_PLAIN, "  %+6.1f .. %+6.1f", p->ci_lo * 100, p->ci_hi * 100);
	x = put(ret, x + 18, y, LOOK_PLAIN, "  %5" PRIu64 " %8" PRIu64, p->experiments, p->visits);
	return l->latencies ? put_latency(&l->latencies[1 + i], ret, x, y) : x;
}

static struct axis points_axis(const struct estimate_line *l)
{
	struct axis ret = {0, MIN_SCALE, 0};

	for (size_t i = 0; i < l->n_points; i++) {
		const struct estimate_point *p = &l->points[i];

		/* fmin() and fmax() ignore NaN */
		ret.lo = fmin(ret.lo, fmin(p->program_speedup, p->ci_lo));
		ret.hi = fmax(ret.hi, fmax(p->program_speedup, p->ci_hi));
	}
	return ret;
}

static void draw_points(struct terminal_view *v, const struct estimate_line *l,
    struct terminal_screen *ret, int y, int end)
{
	struct axis a = points_axis(l);
	size_t rows;

	if (y < end)
		put(ret,
		    put(ret, 0, y, LOOK_DIM,
			"faster      gain   95 %% interval      exp.   visits"),
		    y, LOOK_DIM, "%s",
		    !l->latencies        ? ""
		    : ret->width >= WIDE ? "      mean       p99"
					 : "      mean");
	y++;
	if (l->latencies && y < end) {
		put(ret, 0, y, LOOK_PLAIN, "   0 %%");
		put_latency(&l->latencies[0], ret, FIGURES, y++);
	}
	if (!l->n_points && y < end)
		put(ret, 1, y, LOOK_PLAIN, "no speedup has been measured yet");
	rows = end > y ? (size_t)(end - y) : 0;
	v->scrolled = l->n_points > rows
			  ? v->scrolled < l->n_points - rows ? v->scrolled : l->n_points - rows
			  : 0;
	for (size_t i = v->scrolled; i < l->n_points && i < v->scrolled + rows; i++, y++) {
		int x = put_figures(l, i, ret, y) + 2;

		a.columns = ret->width - x - 1;
		put_interval(ret, x, y, &a, l->points[i].ci_lo, l->points[i].program_speedup,
		    l->points[i].ci_hi);
	}
}

/* One row of text, with blanks for tabs. */
static void draw_text(
    struct terminal_screen *ret, int x, int y, unsigned look, const char *text, size_t length)
{
	int start = x;

	for (size_t i = 0; i < length && x < ret->width;) {
		char run[256];
		size_t n = 0;

		if (text[i] == '\t') {
			x += 8 - (x - start) % 8;
			i++;
			continue;
		}
		while (i + n < length && text[i + n] != '\t' && n < sizeof(run) - 1)
			n++;
		memcpy(run, text + i, n);
		run[n] = 0;
		x = terminal_put(ret, x, y, ret->width, look, run);
		i += n;
	}
}

static void draw_source(const struct estimate_line *l, const struct terminal_status *s,
    struct terminal_screen *ret, int y, int end)
{
	const char *colon = strrchr(l->line, ':'), *text = s->source;
	unsigned number = s->source_first, at = colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
	unsigned rows = (unsigned)(end - y), from = at > rows / 2 ? at - rows / 2 : 1;

	while (*text && y < end) {
		size_t length = strcspn(text, "\n");
		unsigned look = number == at ? LOOK_BOLD : LOOK_DIM;

		if (number >= from) {
			put(ret, 0, y, look, "%c%5u", number == at ? '>' : ' ', number);
			draw_text(ret, 8, y++, look, text, length);
		}
		text += length + (text[length] == '\n');
		number++;
	}
}

void draw_line(struct terminal_view *v, const struct estimate *e, const struct terminal_status *s,
    struct terminal_screen *ret, int first, int end)
{
	struct terminal_rows r;
	const struct estimate_line *l;
	int source;

	if (terminal_rows_init(&r, v, e) || !r.n) {
		draw_none(v, e, ret, first);
		terminal_rows_deinit(&r);
		return;
	}
	l = &e->lines[r.index[r.selected]];
	first = draw_summary(v, e, l, ret, first, end);
	source = (end - first) / SOURCE_PART;
	source = source > SOURCE_ROWS ? SOURCE_ROWS : source;
	if (s->source && source >= 3) {
		draw_source(l, s, ret, end - source, end);
		end -= source + 1;
	}
	draw_points(v, l, ret, first, end);
	terminal_rows_deinit(&r);
}

void draw_help(const struct terminal_status *s, const struct estimate *e,
    struct terminal_screen *ret, int first, int end)
{
	/* @: what is ranked */
	static const char *const keys[][2] = {
	    {"j k, arrows", "choose a @; PgUp PgDn, g G: by pages, to the ends"},
	    {"Enter", "its curve with intervals, and its source"},
	    {"o", "the overview: share of the samples against gain, and back"},
	    {"s", "rank by slope, max, payback or impact (see report --sort)"},
	    {"/", "only @s with some text in their names; Esc: all again"},
	    {"Tab", "the next progress point or latency"},
	    {"p", "no experiments for a while: the program runs without delays"},
	    {"q", "end profiling, write the report; the program goes on"},
	    {"Ctrl-C", "as ever: ends profiling, and a command that was launched"},
	    {"Ctrl-L", "paint the screen anew"},
	    {"slope", "0.40: the @ 10 % faster makes the program 4 % faster"},
	    {"interval", "of 95 %; it narrows, and its lower end ranks the @"},
	    {"noise", "share of the CPU time wanted that other programs had"},
	    {"/s", "visits a second in real time, delays included"},
	};
	int column = ret->width >= 60 ? 15 : 1;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && first < end; i++) {
		const char *text = keys[i][1], *at = strchrnul(text, '@');
		char words[128];

		snprintf(words, sizeof(words), "%.*s%s%s", (int)(at - text), text,
		    *at ? estimate_unit(e) : "", *at ? at + 1 : "");
		put(ret, 1, first, LOOK_BOLD, "%s", keys[i][0]);
		first = put_words(ret, column, first + (column == 1), end, LOOK_PLAIN, words);
	}
	if (!s->has_keys && first < end)
		put(ret, 1, first, LOOK_WARN, "no keys here: standard input is the command's");
}
