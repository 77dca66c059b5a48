// SPDX-License-Identifier: BSD-3-Clause
/* The overview in cells; see overview.h. overview_text.c prints it, terminal_overview.c shows it.
 */
#include "report/overview.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/terminal_private.h"

#define GUTTER 8         /* columns of the figures beside the axis, with the axis */
#define TICKS 5          /* about, on an axis */
#define MIN_GAIN 0.1     /* of the scale, so that noise does not look like mountains */
#define MIN_SHARE 0.01   /* of the scale */
#define MAX_GAIN 1.0     /* of the scale, and the largest loss; dots beyond lie at the edge */
#define SCALE_ROUND 1e-9 /* of a step, so that rounding makes no tick of its own */

/* The marks of a picture, by character set. */
enum mark {
	MARK_AXIS,
	MARK_TICK,
	MARK_ZERO,
	MARK_CROSS,
	MARK_GUESS,
	MARK_BAR,
	MARK_BAR_FAINT,
	MARK_TOP,
	MARK_BOTTOM,
	MARK_DOT,
	MARK_HOLLOW,
	MARK_ABOVE,
	MARK_BELOW,
	N_MARKS,
};

static const char *const marks[2][N_MARKS] = {
    {"|", "+", "-", "+", ".", "|", ":", "-", "-", "*", "o", "^", "v"},
    {"│", "┤", "─", "┼", "·", "│", "┊", "┬", "┴", "●", "○", "△", "▽"}};

/* Where things are in the box. */
struct frame {
	const struct overview *o;
	struct terminal_screen *s;
	int x, y;      /* of the first cell of the plot */
	int end;       /* column after the box */
	int rows;      /* of the plot */
	bool has_foot; /* a row for units without a slope */
	struct axis share, gain;
	uint32_t *taken; /* by cell of the plot: 1 + the index of the dot there */
};

int overview_init(struct overview *o, uint64_t samples, size_t room)
{
	*o = (struct overview){.samples = samples};
	o->dots = calloc(room + 1, sizeof(*o->dots));
	return o->dots ? 0 : -ENOMEM;
}

void overview_deinit(struct overview *o)
{
	free(o->dots);
}

bool overview_places(const struct estimate_line *l)
{
	bool is_known = l->verdict != VERDICT_NOT_ENOUGH_DATA || l->shortage == SHORT_INTERVAL;

	return is_known && isfinite(l->slope) && isfinite(l->slope_lo) && isfinite(l->slope_hi);
}

void overview_add(struct overview *o, const struct estimate_line *l, size_t rank)
{
	struct overview_dot *d = &o->dots[o->n++];

	*d = (struct overview_dot){.line = l,
	    .rank = rank,
	    .share = o->samples ? fmin((double)l->samples / (double)o->samples, 1) : 0,
	    .is_placed = overview_places(l),
	    .column = -1,
	    .row = -1};
	d->is_ranked = d->is_placed && l->verdict != VERDICT_NOT_ENOUGH_DATA;
	o->n_placed += d->is_placed;
}

const char *overview_hollow(bool unicode)
{
	return marks[unicode][MARK_HOLLOW];
}

/* 1, 2 or 5 times a power of ten. */
static double step_of(double range)
{
	double raw = range / TICKS, ten = pow(10, floor(log10(raw))), times = raw / ten;

	return ten * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

/* To whole halves of a step. */
static struct overview_scale scale_of(double lo, double hi)
{
	double step = step_of(hi - lo), half = step / 2;

	return (struct overview_scale){
	    floor(lo / half + SCALE_ROUND) * half, ceil(hi / half - SCALE_ROUND) * half, step};
}

/* From the intervals of units with a verdict: values that are not known may lie anywhere. Without a
 * verdict the values have to do. */
static void set_scales(struct overview *o)
{
	double share = MIN_SHARE, lo = 0, hi = MIN_GAIN;
	bool any_ranked = false;

	for (size_t i = 0; i < o->n; i++)
		any_ranked |= o->dots[i].is_ranked;

	for (size_t i = 0; i < o->n; i++) {
		const struct overview_dot *d = &o->dots[i];
		const struct estimate_line *l = d->line;

		share = fmax(share, d->share);
		if (d->is_placed && d->is_ranked == any_ranked) {
			lo = fmin(lo, fmax(any_ranked ? l->slope_lo : l->slope, -MAX_GAIN));
			hi = fmax(hi, fmin(any_ranked ? l->slope_hi : l->slope, MAX_GAIN));
		}
	}
	o->share = scale_of(0, share);
	o->gain = scale_of(lo, hi);
	/* Units without a gain need some room about 0. */
	o->gain.lo = fmin(o->gain.lo, -o->gain.step / 2);
}

static const char *mark_of(const struct frame *f, enum mark m)
{
	return marks[f->s->unicode][m];
}

static void put_mark(const struct frame *f, int column, int row, unsigned look, const char *text)
{
	if (column >= 0 && column < f->share.columns && row >= 0 && row < f->rows)
		terminal_put(f->s, f->x + column, f->y + row, f->x + f->share.columns, look, text);
}

/* Values beyond the scale lie at its edge. */
static int column_of(const struct frame *f, double share)
{
	return axis_column(&f->share, fmin(fmax(share, f->share.lo), f->share.hi));
}

static int row_of(const struct frame *f, double gain)
{
	return f->rows - 1 - axis_column(&f->gain, fmin(fmax(gain, f->gain.lo), f->gain.hi));
}

static void percent(char *buf, size_t size, const char *sign, double v, double step)
{
	snprintf(buf, size, strcmp(sign, "+") ? "%.*f %%" : "%+.*f %%", step < 0.00999 ? 1 : 0,
	    fabs(v) < step / 2 ? 0 : 100 * v);
}

static void draw_gains(const struct frame *f)
{
	const struct overview_scale *scale = &f->o->gain;
	int zero = row_of(f, 0);
	char text[32];

	for (int row = 0; row < f->rows; row++)
		terminal_put(f->s, f->x - 1, f->y + row, f->x, LOOK_DIM, mark_of(f, MARK_AXIS));
	for (int column = 0; column < f->share.columns; column++)
		put_mark(f, column, zero, LOOK_DIM, mark_of(f, MARK_ZERO));
	for (int i = (int)ceil(scale->lo / scale->step - SCALE_ROUND);
	     i <= (int)floor(scale->hi / scale->step + SCALE_ROUND); i++) {
		int row = row_of(f, i * scale->step);

		percent(text, sizeof(text), i != 0 ? "+" : "", i * scale->step, scale->step);
		put(f->s, f->x - 2 - terminal_columns(text), f->y + row, LOOK_DIM, "%s", text);
		terminal_put(f->s, f->x - 1, f->y + row, f->x, LOOK_DIM, mark_of(f, MARK_TICK));
	}
}

static void draw_shares(const struct frame *f)
{
	const struct overview_scale *scale = &f->o->share;
	int zero = row_of(f, 0), free = 0;
	char text[32];

	for (int i = 0; i <= (int)floor(scale->hi / scale->step + SCALE_ROUND); i++) {
		int column = column_of(f, i * scale->step), at, width;

		percent(text, sizeof(text), "", i * scale->step, scale->step);
		width = terminal_columns(text);
		at = f->x + column - width / 2;
		at = at + width > f->end ? f->end - width : at;
		if (i > 0)
			put_mark(f, column, zero, LOOK_DIM, mark_of(f, MARK_CROSS));
		if (at < free)
			continue;
		put(f->s, at, f->y + f->rows, LOOK_DIM, "%s", text);
		free = at + width + 1;
	}
}

/* gain = share. */
static void draw_guess(const struct frame *f)
{
	for (int column = 0; column < f->share.columns; column++) {
		double share = f->share.hi * column / (f->share.columns - 1);

		if (share <= f->gain.hi)
			put_mark(f, column, row_of(f, share), LOOK_DIM, mark_of(f, MARK_GUESS));
	}
}

/* The first of several words for the same that has room, or the last. */
static const char *fitting(const char *const *words, int columns)
{
	while (words[1] && terminal_columns(words[0]) > columns)
		words++;
	return words[0];
}

/* Top left, above the plot; bottom right. */
static void draw_corners(const struct frame *f)
{
	static const char *const overlooked[] = {
	    "little time, much gain: a usual profiler overlooks it",
	    "little time, much gain: overlooked", "overlooked", NULL};
	static const char *const hot[] = {"much time, no gain: hot, and does not matter",
	    "hot, does not matter", "hot, no gain", NULL};
	const char *text = fitting(hot, f->share.columns - 4);
	int row = row_of(f, 0) + 2; /* below the intervals of units without an effect */

	while (row >= f->rows)
		row--;
	put_mark(f, f->share.columns - terminal_columns(text), row, LOOK_DIM, text);
	put(f->s, f->x, f->y - 1, LOOK_DIM, "%s", fitting(overlooked, f->share.columns));
}

static unsigned look_of(const struct overview_dot *d)
{
	return !d->is_ranked                            ? LOOK_DIM
	       : d->line->verdict == VERDICT_OPTIMIZE   ? LOOK_GAIN
	       : d->line->verdict == VERDICT_CONTENTION ? LOOK_LOSS
							: LOOK_PLAIN;
}

static void draw_bar(const struct frame *f, const struct overview_dot *d)
{
	const struct estimate_line *l = d->line;
	int column = column_of(f, d->share), top = row_of(f, l->slope_hi),
	    bottom = row_of(f, l->slope_lo);

	for (int row = top; row <= bottom; row++)
		put_mark(f, column, row, look_of(d),
		    mark_of(f, d->is_ranked ? MARK_BAR : MARK_BAR_FAINT));
	if (!d->is_ranked || top == bottom)
		return;
	if (l->slope_hi <= f->gain.hi)
		put_mark(f, column, top, look_of(d), mark_of(f, MARK_TOP));
	if (l->slope_lo >= f->gain.lo)
		put_mark(f, column, bottom, look_of(d), mark_of(f, MARK_BOTTOM));
}

/* Whether cells are free from @column on, with one on either side: two numbers side by side would
 * be a third one. */
static bool is_free(const struct frame *f, int column, int row, int width)
{
	const uint32_t *cells = f->taken + (size_t)row * (size_t)f->share.columns;

	if (column < 0 || column + width > f->share.columns)
		return false;
	for (int i = column - 1; i <= column + width; i++)
		if (i >= 0 && i < f->share.columns && cells[i])
			return false;
	return true;
}

/* A number stands over its cell, to the left or to the right. Where there is no room for it there
 * is a mark; and nothing, where another dot is. */
static void draw_dot(const struct frame *f, struct overview_dot *d, bool is_selected)
{
	const struct estimate_line *l = d->line;
	uint32_t *cells, id = (uint32_t)(d - f->o->dots) + 1;
	unsigned look =
	    look_of(d) | (d->is_ranked ? LOOK_BOLD : 0) | (is_selected ? LOOK_REVERSE : 0);
	char text[24] = "";
	int width = 1, at;

	d->column = at = column_of(f, d->share);
	d->row = row_of(f, l->slope);
	cells = f->taken + (size_t)d->row * (size_t)f->share.columns;
	if (d->is_ranked && d->rank && d->rank <= OVERVIEW_NUMBERED)
		width = snprintf(text, sizeof(text), "%zu", d->rank);
	if (!is_free(f, at, d->row, width) && is_free(f, at - width + 1, d->row, width))
		at -= width - 1;
	if (!text[0] || !is_free(f, at, d->row, width)) {
		width = 1;
		at = d->column;
		snprintf(text, sizeof(text), "%s",
		    mark_of(f, l->slope > f->gain.hi   ? MARK_ABOVE
			       : l->slope < f->gain.lo ? MARK_BELOW
			       : d->is_ranked          ? MARK_DOT
						       : MARK_HOLLOW));
	}
	if (cells[d->column]) {
		d->behind = f->o->dots[cells[d->column] - 1].rank;
		if (is_selected)
			f->s->cells[(size_t)(f->y + d->row) * (size_t)f->s->width +
				    (size_t)(f->x + d->column)]
			    .look |= LOOK_REVERSE;
		return;
	}
	put_mark(f, at, d->row, look, text);
	for (int i = at; i < at + width; i++)
		cells[i] = id;
}

/* Units without a slope, by their share. */
static void draw_foot_row(const struct frame *f, const struct overview_box *box)
{
	int y = f->y + f->rows + 1;

	put(f->s, f->x - GUTTER, y, LOOK_DIM, "not yet");
	for (size_t i = f->o->n; i-- > 0;) {
		struct overview_dot *d = &f->o->dots[i];

		if (d->is_placed)
			continue;
		d->column = column_of(f, d->share);
		d->row = f->rows + 1;
		terminal_put(f->s, f->x + d->column, y, f->end,
		    LOOK_DIM | (i == box->selected ? LOOK_REVERSE : 0), mark_of(f, MARK_HOLLOW));
	}
}

static void draw_dots(const struct frame *f, const struct overview_box *box)
{
	struct overview_dot *dots = f->o->dots;

	for (int ranked = 0; ranked < 2; ranked++)
		for (size_t i = f->o->n; i-- > 0;)
			if (dots[i].is_placed && dots[i].is_ranked == ranked)
				draw_bar(f, &dots[i]);
	for (size_t i = 0; i < f->o->n; i++)
		if (dots[i].is_placed)
			draw_dot(f, &dots[i], i == box->selected);
	if (f->has_foot)
		draw_foot_row(f, box);
}

static void draw_caption(const struct frame *f, const struct overview_box *box)
{
	const char *axes = "gain ^  share of the samples >";
	int x;
	static const char *const guess[] = {
	    "gain = share, as a usual profiler would guess", "gain = share", "", NULL};
	const char *text;

	if (f->s->unicode)
		axes = "gain ↑  share of the samples →";
	x = put(f->s, box->x + 1, box->y, LOOK_DIM, "%s", axes);
	text = fitting(guess, f->end - x - 6);

	if (*text)
		put(f->s, x + 2, box->y, LOOK_DIM, "%s%s%s  %s", mark_of(f, MARK_GUESS),
		    mark_of(f, MARK_GUESS), mark_of(f, MARK_GUESS), text);
}

int overview_draw(struct overview *o, struct terminal_screen *ret, const struct overview_box *box)
{
	struct frame f = {.o = o,
	    .s = ret,
	    .x = box->x + GUTTER,
	    .y = box->y + 2,
	    .end = box->x + box->width,
	    .has_foot = o->n > o->n_placed};

	if (box->width < OVERVIEW_WIDTH || box->height < OVERVIEW_HEIGHT || !o->samples)
		return 0;
	set_scales(o);
	f.rows = box->height - 3 - f.has_foot;
	f.share = (struct axis){o->share.lo, o->share.hi, box->width - GUTTER - 1};
	f.gain = (struct axis){o->gain.lo, o->gain.hi, f.rows};
	f.taken = calloc((size_t)f.rows * (size_t)f.share.columns, sizeof(*f.taken));
	if (!f.taken)
		return -ENOMEM;
	draw_caption(&f, box);
	draw_gains(&f);
	draw_shares(&f);
	draw_guess(&f);
	draw_corners(&f);
	draw_dots(&f, box);
	free(f.taken);
	return 0;
}
