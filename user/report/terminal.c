// SPDX-License-Identifier: BSD-3-Clause
/* The live view as a whole: what a key does, how intervals narrow, and the rows around the pages.
 * terminal_pages.c holds the pages. */
#include "report/terminal_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/utf8.h"
#include "report/words.h"

#define HEIGHT_HEAD 8   /* with fewer rows the head takes one row: the list matters more */
#define HEIGHT_BLANK 20 /* with as many there are blank rows */
#define BAR_COLUMNS 20  /* of an experiment's time */

#define KEY_REPAINT 0x0c /* Ctrl-L */
#define KEY_ESCAPE 0x1b
#define KEY_ERASE 0x7f

struct terminal_trend {
	uint64_t key; /* hash of line and progress point */
	float half[TERMINAL_TREND];
	unsigned n;
};

void terminal_view_deinit(struct terminal_view *v)
{
	free(v->line);
	free(v->trends);
	memset(v, 0, sizeof(*v));
}

static uint64_t trend_key(const struct estimate_line *l)
{
	uint64_t ret = l->is_latency ? 0x84222325cbf29ce4ULL : 0xcbf29ce484222325ULL;

	for (const char *c = l->line; *c; c++)
		ret = (ret ^ (unsigned char)*c) * 0x100000001b3ULL;
	for (const char *c = l->progress; *c; c++)
		ret = (ret ^ (unsigned char)*c) * 0x100000001b3ULL;
	return ret;
}

static struct terminal_trend *find_trend(const struct terminal_view *v, uint64_t key)
{
	for (size_t i = 0; i < v->n_trends; i++)
		if (v->trends[i].key == key)
			return &v->trends[i];
	return NULL;
}

void terminal_note(struct terminal_view *v, const struct estimate *e)
{
	struct terminal_trend *bigger =
	    realloc(v->trends, (v->n_trends + e->n_lines + 1) * sizeof(*bigger));

	if (!bigger)
		return;
	v->trends = bigger;
	for (size_t i = 0; i < e->n_lines; i++) {
		const struct estimate_line *l = &e->lines[i];
		uint64_t key = trend_key(l);
		struct terminal_trend *t = find_trend(v, key);
		float half = (float)((l->slope_hi - l->slope_lo) / 2);

		if (isnan(half))
			continue;
		if (!t) {
			t = &v->trends[v->n_trends++];
			*t = (struct terminal_trend){.key = key};
		}
		if (t->n == TERMINAL_TREND)
			memmove(t->half, t->half + 1, --t->n * sizeof(half));
		t->half[t->n++] = half;
	}
}

unsigned terminal_trend_of(const struct terminal_view *v, const struct estimate_line *l, float *ret)
{
	const struct terminal_trend *t = find_trend(v, trend_key(l));

	if (!t)
		return 0;
	memcpy(ret, t->half, t->n * sizeof(*ret));
	return t->n;
}

static int compare_points(const struct estimate_line *a, const struct estimate_line *b)
{
	int by_name = strcmp(a->progress, b->progress);

	return by_name ? by_name : a->is_latency - b->is_latency;
}

/* The @at-th progress point of the estimate, as a line of it; counts the points. Ordered by name,
 * so that the order does not change with the ranking. */
static const struct estimate_line *find_point(const struct estimate *e, size_t at, size_t *ret_n)
{
	const struct estimate_line *ret = NULL, *last = NULL, *next;

	for (*ret_n = 0;; last = next) {
		next = NULL;
		for (size_t i = 0; i < e->n_lines; i++)
			if ((!last || compare_points(&e->lines[i], last) > 0) &&
			    (!next || compare_points(&e->lines[i], next) < 0))
				next = &e->lines[i];
		if (!next)
			return ret;
		if ((*ret_n)++ == at)
			ret = next;
	}
}

int terminal_rows_init(
    struct terminal_rows *r, const struct terminal_view *v, const struct estimate *e)
{
	size_t rank = 0;

	*r = (struct terminal_rows){0};
	if (!e || !e->n_lines)
		return 0;
	r->index = calloc(e->n_lines, sizeof(*r->index));
	r->rank = calloc(e->n_lines, sizeof(*r->rank));
	if (!r->index || !r->rank)
		return -1;
	r->prefix = common_directories(e);
	r->point = find_point(e, v->point, &r->n_points);
	if (!r->point)
		r->point = &e->lines[0];
	for (size_t i = 0; i < e->n_lines; i++) {
		if (!estimate_same_point(&e->lines[i], r->point))
			continue;
		rank += !estimate_is_below(&e->lines[i]);
		if (!strcasestr(e->lines[i].line, v->filter))
			continue;
		if (v->line && !strcmp(v->line, e->lines[i].line))
			r->selected = r->n;
		r->rank[r->n] = estimate_is_below(&e->lines[i]) ? 0 : rank;
		r->index[r->n++] = i;
	}
	return 0;
}

void terminal_rows_deinit(struct terminal_rows *r)
{
	free(r->index);
	free(r->rank);
}

static const struct estimate_line *selected_line(
    const struct terminal_view *v, const struct estimate *e, struct terminal_rows *r)
{
	return terminal_rows_init(r, v, e) || !r->n ? NULL : &e->lines[r->index[r->selected]];
}

const char *terminal_looked_at(const struct terminal_view *v, const struct estimate *e)
{
	struct terminal_rows r;
	const struct estimate_line *l;

	if (v->page != PAGE_LINE)
		return NULL;
	l = selected_line(v, e, &r);
	terminal_rows_deinit(&r);
	return l ? l->line : NULL;
}

/* Appends a typed character as UTF-8, as far as there is room. */
static void append_typed(char *text, size_t size, uint32_t c)
{
	char *at = text + strlen(text), bytes[5];

	utf8_encode(c, bytes);
	if (strlen(text) + strlen(bytes) < size)
		strcpy(at, bytes);
}

static void press_typing(struct terminal_view *v, uint32_t key)
{
	size_t n = strlen(v->filter);

	if (key == '\n' || key == '\r') {
		v->is_typing = false;
	} else if (key == KEY_ESCAPE) {
		v->is_typing = false;
		strcpy(v->filter, v->filter_before);
	} else if (key == KEY_IS_BACKSPACE || key == KEY_ERASE || key == '\b') {
		while (n && ((unsigned char)v->filter[n - 1] & 0xc0) == 0x80)
			n--;
		v->filter[n ? n - 1 : 0] = 0;
	} else if (key >= ' ' && key < KEY_IS_UP) {
		append_typed(v->filter, sizeof(v->filter), key);
	}
}

/* Rows by which a key moves; 0: another key. Home and end go as far as there can be lines. */
static long movement(const struct terminal_view *v, uint32_t key)
{
	long page = v->page_rows > 1 ? (long)v->page_rows - 1 : 1;

	switch (key) {
	case 'k':
	case KEY_IS_UP:
		return -1;
	case 'j':
	case KEY_IS_DOWN:
		return 1;
	case KEY_IS_PAGE_UP:
		return -page;
	case ' ':
	case KEY_IS_PAGE_DOWN:
		return page;
	case 'g':
	case KEY_IS_HOME:
		return -INT32_MAX;
	case 'G':
	case KEY_IS_END:
		return INT32_MAX;
	default:
		return 0;
	}
}

static void move(struct terminal_view *v, const struct estimate *e, long by)
{
	struct terminal_rows r;
	long at;

	if (v->page == PAGE_LINE) {
		at = (long)v->scrolled + by;
		v->scrolled = at < 0 ? 0 : (size_t)at; /* drawing knows the limit */
		return;
	}
	if (!terminal_rows_init(&r, v, e) && r.n) {
		at = (long)r.selected + by;
		at = at < 0 ? 0 : at >= (long)r.n ? (long)r.n - 1 : at;
		free(v->line);
		/* whichever line comes first */
		v->line = at ? strdup(e->lines[r.index[at]].line) : NULL;
	}
	terminal_rows_deinit(&r);
}

static void open_line(struct terminal_view *v, const struct estimate *e)
{
	struct terminal_rows r;
	const struct estimate_line *l = selected_line(v, e, &r);

	if (l) {
		char *name = strdup(l->line); /* a line that is looked at stays the same */

		free(v->line);
		v->line = name;
		v->page = PAGE_LINE;
		v->scrolled = 0;
	}
	terminal_rows_deinit(&r);
}

static void next_point(struct terminal_view *v, const struct estimate *e, bool back)
{
	size_t n = 0;

	if (!e || v->page == PAGE_HELP)
		return;
	find_point(e, 0, &n);
	if (n)
		v->point = (v->point % n + (back ? n - 1 : 1)) % n;
}

/* From the list to the overview and back; from elsewhere to the overview. */
static void switch_overview(struct terminal_view *v)
{
	v->page = v->page == PAGE_OVERVIEW ? PAGE_LINES : PAGE_OVERVIEW;
	v->is_from_overview = v->page == PAGE_OVERVIEW;
}

static void go_back(struct terminal_view *v)
{
	v->is_from_overview &= v->page != PAGE_OVERVIEW;
	v->page = v->is_from_overview ? PAGE_OVERVIEW : PAGE_LINES;
}

static enum terminal_action press_command(
    struct terminal_view *v, const struct estimate *e, uint32_t key)
{
	switch (key) {
	case 'q':
		if (v->page == PAGE_LINES)
			return ACTION_QUIT;
		go_back(v);
		break;
	case KEY_ESCAPE:
	case KEY_IS_BACKSPACE:
	case KEY_ERASE:
		if (v->page == PAGE_LINES)
			v->filter[0] = 0;
		go_back(v);
		break;
	case '\n':
	case '\r':
		if (v->page == PAGE_LINES || v->page == PAGE_OVERVIEW)
			open_line(v, e);
		else
			go_back(v);
		break;
	case '?':
	case 'h':
		if (v->page == PAGE_HELP)
			go_back(v);
		else
			v->page = PAGE_HELP;
		break;
	case 'o':
		switch_overview(v);
		break;
	case '\t':
		next_point(v, e, false);
		break;
	case '/':
		v->page = PAGE_LINES;
		v->is_from_overview = false;
		v->is_typing = true;
		strcpy(v->filter_before, v->filter);
		break;
	case 's':
		v->sort = v->sort == SORT_IMPACT ? SORT_SLOPE : v->sort + 1;
		return ACTION_SORT;
	case 'p':
		return ACTION_PAUSE;
	case KEY_REPAINT:
		return ACTION_REPAINT;
	default:
		break;
	}
	return ACTION_NONE;
}

enum terminal_action terminal_press(struct terminal_view *v, const struct estimate *e, uint32_t key)
{
	if (v->is_typing) {
		press_typing(v, key);
		return ACTION_NONE;
	}
	if (movement(v, key)) {
		move(v, e, movement(v, key));
		return ACTION_NONE;
	}
	return press_command(v, e, key);
}

static void draw_title(const struct terminal_status *s, struct terminal_screen *ret)
{
	uint64_t seconds = s->elapsed_ns / 1000000000ULL;
	char right[80], run[48] = "";
	int columns;

	if (s->runs > 1)
		snprintf(run, sizeof(run), "run %u of %u  ", s->run, s->runs);
	snprintf(right, sizeof(right), "%s%s%" PRIu64 ":%02" PRIu64 " ",
	    s->is_paused ? "PAUSED  " : "", run, seconds / 60, seconds % 60);
	columns = terminal_columns(right);
	terminal_put(ret, put(ret, 1, 0, LOOK_BOLD, "cozbpf  "), 0, ret->width - columns - 1,
	    LOOK_PLAIN, s->target);
	terminal_put(ret, ret->width - columns < 0 ? 0 : ret->width - columns, 0, ret->width,
	    LOOK_BOLD, right);
	put_reverse(ret, 0);
}

static void draw_counts(const struct terminal_status *s, struct terminal_screen *ret, int y)
{
	int x = put_item(ret, 1, y, LOOK_PLAIN, "%" PRIu64 " experiment%s", s->experiments,
	    s->experiments == 1 ? "" : "s");

	if (s->spoilt)
		x = put_item(ret, x, y, LOOK_WARN, "%" PRIu64 " spoilt", s->spoilt);
	x = put_item(ret, x, y, LOOK_PLAIN, "%" PRIu64 " samples", s->samples);
	x = put_item(ret, x, y, s->lost ? LOOK_WARN : LOOK_PLAIN, "%" PRIu64 " lost", s->lost);
	if (s->noise >= 0)
		x = put_item(ret, x, y, s->noise >= OUTSIDERS_MANY ? LOOK_WARN : LOOK_PLAIN,
		    "noise %.0f %%", 100 * s->noise);
	if (s->samples)
		put_item(ret, x, y, LOOK_PLAIN, "%.0f %% in scope",
		    100 * (double)s->in_scope / (double)s->samples);
}

static void draw_rates(const struct terminal_status *s, struct terminal_screen *ret, int y)
{
	int x = 1;

	for (size_t i = 0; i < s->n_points; i++) {
		const struct terminal_point *p = &s->points[i];
		char mean[32], rate[32] = "- /s";

		if (p->per_s >= 0)
			snprintf(
			    rate, sizeof(rate), p->per_s < 9.95 ? "%.2g /s" : "%.0f /s", p->per_s);
		time_words(p->latency_ns, mean, sizeof(mean));
		if (p->is_latency && p->latency_ns > 0)
			x = put_item(ret, x, y, LOOK_PLAIN, "%s %s, mean %s", p->name, rate, mean);
		else
			x = put_item(ret, x, y, LOOK_PLAIN, "%s %s", p->name, rate);
	}
}

static void draw_experiment(const struct terminal_status *s, struct terminal_screen *ret, int y)
{
	double done = s->planned_ns ? fmin((double)s->open_ns / (double)s->planned_ns, 1) : 0;
	int x = 1, full = (int)(done * BAR_COLUMNS);
	char bar[BAR_COLUMNS + 1], room[UNIT_ROOM];
	const char *unit;

	if (s->is_paused) {
		put(ret, x, y, LOOK_WARN, "experiments are paused%s",
		    s->has_keys ? " (p: go on)" : "");
		return;
	}
	if (s->rests_ns) {
		put(ret, x, y, LOOK_PLAIN, "resting: no experiments for %.0f s",
		    ceil((double)s->rests_ns / 1e9));
		return;
	}
	if (!s->experiment) {
		put(ret, x, y, LOOK_PLAIN, "between experiments");
		return;
	}
	unit = unit_label(s->experiment, ALL_DIRECTORIES, room);
	if (s->speedup_pct)
		x = put_item(ret, x, y, LOOK_PLAIN, "now %s, %u %% faster", unit, s->speedup_pct);
	else
		x = put_item(ret, x, y, LOOK_PLAIN, "now %s, baseline", unit);
	if (!s->planned_ns)
		return;
	x = put_item(ret, x, y, LOOK_PLAIN, "%.1f of %.1f s", (double)s->open_ns / 1e9,
	    (double)s->planned_ns / 1e9);
	memset(bar, '.', BAR_COLUMNS);
	memset(bar, '#', (size_t)full);
	bar[BAR_COLUMNS] = 0;
	put_item(ret, x, y, LOOK_PLAIN, "%s", bar);
}

static void draw_foot(const struct terminal_view *v, const struct terminal_status *s,
    struct terminal_screen *ret, int y)
{
	int x = 1;

	if (v->is_typing) {
		put(ret, put(ret, 0, y, LOOK_BOLD, " filter: %s", v->filter), y, LOOK_REVERSE, " ");
		return;
	}
	if (!s->has_keys) {
		x = put_item(ret, x, y, LOOK_PLAIN, "the keys are the command's");
		put_item(ret, x, y, LOOK_PLAIN, "by %s", sort_name(s->sorted));
	} else if (v->page == PAGE_LINES) {
		x = put_item(ret, x, y, LOOK_PLAIN, "q:end");
		x = put_item(ret, x, y, LOOK_PLAIN, "?:help");
		x = put_item(ret, x, y, LOOK_PLAIN, "Enter:look");
		x = put_item(ret, x, y, LOOK_PLAIN, "o:overview");
		x = put_item(ret, x, y, LOOK_PLAIN, "s:by %s%s", sort_name(v->sort),
		    v->sort == s->sorted ? "" : ", soon");
		x = put_item(ret, x, y, LOOK_PLAIN, s->is_paused ? "p:go on" : "p:pause");
		put_item(ret, x, y, LOOK_PLAIN, v->filter[0] ? "/:%s" : "/:filter", v->filter);
	} else {
		x = put_item(ret, x, y, LOOK_PLAIN, "q:back");
		if (v->page == PAGE_LINE)
			x = put_item(ret, x, y, LOOK_PLAIN, "j k:scroll");
		if (v->page == PAGE_OVERVIEW) {
			x = put_item(ret, x, y, LOOK_PLAIN, "Enter:look");
			x = put_item(ret, x, y, LOOK_PLAIN, "j k:choose");
		}
		put_item(ret, x, y, LOOK_PLAIN, s->is_paused ? "p:go on" : "p:pause");
	}
	put_reverse(ret, y);
}

void terminal_draw(struct terminal_view *v, const struct estimate *e,
    const struct terminal_status *s, struct terminal_screen *ret)
{
	int first = 1, end = ret->height;

	draw_title(s, ret);
	if (ret->height >= HEIGHT_HEAD) {
		draw_counts(s, ret, first++);
		draw_rates(s, ret, first++);
		draw_experiment(s, ret, first++);
		first += ret->height >= HEIGHT_BLANK;
	}
	if (end > first + 2)
		draw_foot(v, s, ret, --end);
	if (s->message && ret->height >= HEIGHT_HEAD) {
		int x = 1;

		end--;
		if (s->messages > 1)
			x = put(ret, x, end, LOOK_WARN, "%u messages, the last: ", s->messages);
		terminal_put(ret, x, end, ret->width, LOOK_WARN, s->message);
	}
	v->page_rows = end > first ? (size_t)(end - first) : 0;
	if (v->page == PAGE_HELP)
		draw_help(s, e, ret, first, end);
	else if (v->page == PAGE_LINE)
		draw_line(v, e, s, ret, first, end);
	else if (v->page == PAGE_OVERVIEW)
		draw_overview(v, e, ret, first, end);
	else
		draw_lines(v, e, ret, first, end);
}
