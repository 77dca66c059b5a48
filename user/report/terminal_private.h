/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the live view (terminal.h) share: text in columns, intervals drawn to a scale,
 * the pages. */
#ifndef COZBPF_TERMINAL_PRIVATE_H
#define COZBPF_TERMINAL_PRIVATE_H

#include "report/terminal.h"

/* The screen clips text that goes beyond it. Returns the column after the text. */
int put(struct terminal_screen *s, int x, int y, unsigned look, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* A name in so many columns, cut from the left: the file's own name and the line number are at the
 * right. */
void put_label(
    struct terminal_screen *s, int x, int y, int columns, unsigned look, const char *text);
/* Text in words, in rows from @y up to @end (exclusive) and columns from @x on. Returns the row
 * after it. */
int put_words(struct terminal_screen *s, int x, int y, int end, unsigned look, const char *text);
/* One of several items, two blanks apart, in order of weight. An item that does not fit is left
 * out, and all after it. */
int put_item(struct terminal_screen *s, int x, int y, unsigned look, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void put_reverse(struct terminal_screen *s, int y); /* the whole row */

struct axis {
	double lo, hi; /* hi > lo */
	int columns;
};

int axis_column(const struct axis *a, double v); /* from 0; -1: outside */
/* A value with its interval and the place of 0. NaN: unknown. */
void put_interval(struct terminal_screen *s, int x, int y, const struct axis *a, double lo,
    double value, double hi);

/* The shown rows: lines of the present progress point that the filter leaves, in rank order. */
struct terminal_rows {
	size_t *index; /* of the estimate's lines */
	size_t *rank;  /* from 1, counted without the filter; 0: below its function */
	size_t n, selected;
	size_t prefix; /* bytes of directories that all lines share */
	/* any line of the progress point; NULL: no line at all */
	const struct estimate_line *point;
	size_t n_points;
};

int terminal_rows_init(
    struct terminal_rows *r, const struct terminal_view *v, const struct estimate *e);
void terminal_rows_deinit(struct terminal_rows *r);

/* Half widths of its interval, latest last. Returns their number. */
unsigned terminal_trend_of(
    const struct terminal_view *v, const struct estimate_line *l, float *ret);

/* What stands there instead of rows. */
void draw_none(
    const struct terminal_view *v, const struct estimate *e, struct terminal_screen *ret, int y);
/* The heading of the rows: their progress point, and its present latency. */
void draw_point(const struct terminal_view *v, const struct estimate *e,
    const struct terminal_rows *r, struct terminal_screen *ret, int y);
/* The overview of the rows above their list, on screens with room for both. Returns the row after
 * it. */
int draw_picture_above(const struct estimate *e, const struct terminal_rows *r,
    struct terminal_screen *ret, int first, int end);

/* The pages, in rows @first up to @end (exclusive). */
void draw_lines(struct terminal_view *v, const struct estimate *e, struct terminal_screen *ret,
    int first, int end);
void draw_overview(struct terminal_view *v, const struct estimate *e, struct terminal_screen *ret,
    int first, int end);
void draw_line(struct terminal_view *v, const struct estimate *e, const struct terminal_status *s,
    struct terminal_screen *ret, int first, int end);
void draw_help(const struct terminal_status *s, const struct estimate *e,
    struct terminal_screen *ret, int first, int end);

#endif
