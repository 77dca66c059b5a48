/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live view, pure: from an estimate, the state of the run and the keys pressed so far to a
 * screen of cells. No terminal, no clock, no file: screen.h puts the cells on a terminal,
 * user/run/console_draw.c tells the state.
 */
#ifndef COZBPF_TERMINAL_H
#define COZBPF_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/estimate/estimate.h"

/* How a cell looks, or'ed. A terminal without colours leaves out the last three: nothing is said by
 * colour alone. */
enum terminal_look {
	LOOK_PLAIN = 0,
	LOOK_BOLD = 1,
	LOOK_DIM = 2,
	LOOK_REVERSE = 4,
	LOOK_GAIN = 8,
	LOOK_LOSS = 16,
	LOOK_WARN = 32,
};

struct terminal_cell {
	uint32_t character; /* a code point of one column, or of two: the cell after it is then 0 */
	uint8_t look;
};

struct terminal_screen {
	int width, height;
	bool unicode;                /* else ASCII only */
	struct terminal_cell *cells; /* width x height, row by row */
};

/* Empty, all blanks; what is there already is used again. 0 or -ENOMEM. */
int terminal_screen_init(struct terminal_screen *s, int width, int height, bool unicode);
void terminal_screen_deinit(struct terminal_screen *s);

/*
 * Writes UTF-8 from (@x, @y) on, up to column @end at most; returns the column after it. Control
 * characters and what is no UTF-8 come out as '?', and so does all but ASCII on a screen without
 * Unicode: names and sources are not ours.
 */
int terminal_put(struct terminal_screen *s, int x, int y, int end, unsigned look, const char *text);
int terminal_columns(const char *text); /* that it takes */

/* A progress point as it goes on. */
struct terminal_point {
	const char *name; /* borrowed */
	bool is_latency;
	double per_s;      /* visits in real time of late, delays included; NaN: not known yet */
	double latency_ns; /* mean of late; NaN: not known yet */
};

/* What goes on at the moment. Strings are borrowed. */
struct terminal_status {
	const char *target;
	uint64_t elapsed_ns;
	uint32_t run, runs; /* the number of this one, from 1, and of all */
	uint64_t experiments, spoilt, samples, in_scope, lost;
	double noise; /* share of the CPU time wanted that other programs had; NaN: not known yet */
	const struct terminal_point *points;
	size_t n_points;
	bool is_paused;
	const char *experiment; /* the line of the one under way; NULL: none is */
	unsigned speedup_pct;
	uint64_t open_ns, planned_ns; /* of it; planned 0: not known */
	enum sort_key sorted;         /* of the estimate */
	const char *message;          /* the latest; NULL: none */
	unsigned messages;            /* in all */
	bool has_keys;
	const char *source; /* text around the line that terminal_looked_at() names, from line
			       source_first on; NULL: not to be read */
	unsigned source_first;
};

#define TERMINAL_TREND 16  /* estimates whose widths are kept */
#define TERMINAL_FILTER 64 /* bytes */

struct terminal_trend;

enum terminal_page { PAGE_LINES, PAGE_LINE, PAGE_HELP };

/* What is looked at, by the keys pressed. */
struct terminal_view {
	enum terminal_page page;
	enum sort_key sort; /* that is asked for; the next estimate has it */
	char filter[TERMINAL_FILTER];
	char filter_before[TERMINAL_FILTER]; /* while one is typed */
	bool is_typing;
	char *line; /* selected by a key, and followed wherever it is ranked; NULL: the first one is
		     */
	size_t point;     /* index among the estimate's progress points */
	size_t first;     /* row at the top of the list */
	size_t scrolled;  /* rows of the points of a line */
	size_t page_rows; /* of the list, when it was last drawn */
	struct terminal_trend *trends;
	size_t n_trends;
};

/* Keys other than characters. */
enum terminal_key {
	KEY_IS_UP = 0x110000,
	KEY_IS_DOWN,
	KEY_IS_PAGE_UP,
	KEY_IS_PAGE_DOWN,
	KEY_IS_HOME,
	KEY_IS_END,
	KEY_IS_BACKSPACE,
};

enum terminal_action { ACTION_NONE, ACTION_SORT, ACTION_PAUSE, ACTION_QUIT, ACTION_REPAINT };

void terminal_view_deinit(struct terminal_view *v);

/* Takes the widths of a new estimate into the trends. */
void terminal_note(struct terminal_view *v, const struct estimate *e);

/* A key is pressed, on what the estimate shows (NULL: there is none yet). What the caller is to do.
 */
enum terminal_action terminal_press(
    struct terminal_view *v, const struct estimate *e, uint32_t key);

/* The line whose source is wanted; NULL: none. */
const char *terminal_looked_at(const struct terminal_view *v, const struct estimate *e);

/* Draws all of it. @e NULL: there is no estimate yet. */
void terminal_draw(struct terminal_view *v, const struct estimate *e,
    const struct terminal_status *s, struct terminal_screen *ret);

#endif
