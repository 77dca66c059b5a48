// SPDX-License-Identifier: BSD-3-Clause
/* The overview in the live view: a page of its own, and above the list where there is room.
 * overview.c draws the picture. */
#include "report/terminal_private.h"

#include <stdio.h>
#include <string.h>

#include "report/overview.h"
#include "report/words.h"

#define HEIGHT_BOTH 40 /* rows of a screen that has the picture above the list */
#define WIDTH_BOTH 80
#define PICTURE_PART 2 /* of the rows for both: one in so many */
#define PICTURE_MOST 22
#define MIN_LABEL 9 /* columns of a unit's name, however narrow the screen */

/* The picture of the rows in so many rows of the screen. */
static void draw_picture(const struct estimate *e, const struct terminal_rows *r,
    struct terminal_screen *ret, int y, int height)
{
	struct overview_box box = {
	    .y = y, .width = ret->width, .height = height, .selected = r->selected};
	struct overview o;

	if (!overview_init(&o, e->samples, r->n)) {
		for (size_t i = 0; i < r->n; i++)
			overview_add(&o, &e->lines[r->index[i]], r->rank[i]);
		overview_draw(&o, ret, &box);
	}
	overview_deinit(&o);
}

int draw_picture_above(const struct estimate *e, const struct terminal_rows *r,
    struct terminal_screen *ret, int first, int end)
{
	int rows = (end - first) / PICTURE_PART;

	if (ret->height < HEIGHT_BOTH || ret->width < WIDTH_BOTH || !e->samples)
		return first;
	rows = rows < PICTURE_MOST ? rows : PICTURE_MOST;
	draw_picture(e, r, ret, first, rows);
	return first + rows + 1;
}

/* The chosen unit in a row: its name, and what the picture shows of it. */
static void draw_chosen(
    const struct estimate *e, const struct terminal_rows *r, struct terminal_screen *ret, int y)
{
	const struct estimate_line *l = &e->lines[r->index[r->selected]];
	bool is_ranked = l->verdict != VERDICT_NOT_ENOUGH_DATA;
	char figures[1024], label_room[UNIT_ROOM];
	const char *label = unit_label(l->line, r->prefix, label_room);
	int name = terminal_columns(label), room;

	if (overview_places(l))
		snprintf(figures, sizeof(figures), "gain %+.1f %% (%+.1f to %+.1f)  %s",
		    100 * l->slope, 100 * l->slope_lo, 100 * l->slope_hi,
		    is_ranked ? verdict_words(l->verdict) : "not yet");
	else
		shortage_words(e, l, figures, sizeof(figures));
	room = ret->width - 6 - terminal_columns(figures) - (int)strlen("  100.0 %  ");
	name = name < room ? name : room > MIN_LABEL ? room : MIN_LABEL;
	if (is_ranked && r->rank[r->selected])
		put(ret, 0, y, LOOK_BOLD, "%3zu", r->rank[r->selected]);
	else if (!is_ranked)
		put(ret, 2, y, LOOK_BOLD, "%s", overview_hollow(ret->unicode));
	put_label(ret, 5, y, name, LOOK_BOLD, label);
	put(ret, 5 + name, y, LOOK_PLAIN, "  %.1f %%  %s",
	    e->samples ? 100 * (double)l->samples / (double)e->samples : 0, figures);
}

void draw_overview(struct terminal_view *v, const struct estimate *e, struct terminal_screen *ret,
    int first, int end)
{
	struct terminal_rows r;

	if (terminal_rows_init(&r, v, e) || !r.n) {
		draw_none(v, e, ret, first);
		terminal_rows_deinit(&r);
		return;
	}
	if (end - first > OVERVIEW_HEIGHT + 1)
		draw_point(v, e, &r, ret, first++);
	if (end > first)
		draw_chosen(e, &r, ret, --end);
	if (!e->samples)
		put(ret, 1, first, LOOK_PLAIN, "no samples yet");
	else if (end - first < OVERVIEW_HEIGHT || ret->width < OVERVIEW_WIDTH)
		put(ret, 1, first, LOOK_PLAIN, "a picture needs more room");
	else
		draw_picture(e, &r, ret, first, end - first);
	terminal_rows_deinit(&r);
}
