/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live view, pure: makes a screen of cells from an estimate, the state of the run and the keys
 * pressed so far. No terminal, no clock, no file: screen.h puts the cells on a terminal, and
 * user/run/console_draw.c tells the state.
 */
#ifndef COZBPF_TERMINAL_H
#define COZBPF_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/estimate/estimate.h"

/* How a cell looks, or'ed. A terminal without colours ignores the last three, so colour alone says
 * nothing. */
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
	uint32_t character; /* a code point of one column, or of two; then the next cell is 0 */
	uint8_t look;
};

struct terminal_screen {
	int width, height;
	bool unicode;                /* else ASCII only */
	struct terminal_cell *cells; /* width x height, row by row */
};

/* Makes the screen empty, all blanks; existing memory is used again. Returns 0 or -ENOMEM. */
int terminal_screen_init(struct terminal_screen *s, int width, int height, bool unicode);
void terminal_screen_deinit(struct terminal_screen *s);

/*
 * Writes UTF-8 from (@x, @y) on, up to column @end at most, and returns the column after it. Names
 * and sources are not ours: control characters and broken UTF-8 become '?', as does all but ASCII
 * on a screen without Unicode.
 */
int terminal_put(struct terminal_screen *s, int x, int y, int end, unsigned look, const char *text);
int terminal_columns(const char *text); /* that it takes */
/* The screen as lines of text, without the blanks at their ends and without looks. */
void terminal_print(FILE *out, const struct terminal_screen *s);

/* A progress point while it runs. */
struct terminal_point {
	const char *name; /* borrowed */
	bool is_latency;
	double per_s;      /* recent visits in real time, delays included; NaN: not known yet */
	double latency_ns; /* recent mean; NaN: not known yet */
};

/* The present state. Strings are borrowed. */
struct terminal_status {
	const char *target;
	uint64_t elapsed_ns;
	uint32_t run, runs; /* number of this run, from 1, and of all runs */
	uint64_t experiments, spoilt, samples, in_scope, lost;
	double noise; /* share of the wanted CPU time that other programs had; NaN: not known yet */
	const struct terminal_point *points;
	size_t n_points;
	bool is_paused;
	uint64_t rests_ns;      /* no experiments for so long; 0: there are some */
	const char *experiment; /* the line of the present one; NULL: none */
	unsigned speedup_pct;
	uint64_t open_ns, planned_ns; /* of that experiment; planned 0: unknown */
	enum sort_key sorted;         /* of the estimate */
	const char *message;          /* the latest; NULL: none */
	unsigned messages;            /* in all */
	bool has_keys;
	/* text around the line of terminal_looked_at(), from line source_first on; NULL:
	 * unreadable */
	const char *source;
	unsigned source_first;
};

#define TERMINAL_TREND 16  /* estimates whose widths are kept */
#define TERMINAL_FILTER 64 /* bytes */

struct terminal_trend;

enum terminal_page { PAGE_LINES, PAGE_OVERVIEW, PAGE_LINE, PAGE_HELP };

/* What is looked at, chosen by keys. */
struct terminal_view {
	enum terminal_page page;
	bool is_from_overview; /* the present page leads back to it, not to the list */
	enum sort_key sort;    /* as asked for; the next estimate has it */
	char filter[TERMINAL_FILTER];
	char filter_before[TERMINAL_FILTER]; /* while a new one is typed */
	bool is_typing;
	char *line; /* selected by a key, and followed wherever it is ranked; NULL: the first one */
	size_t point;     /* index among the estimate's progress points */
	size_t first;     /* row at the top of the list */
	size_t scrolled;  /* rows of the points of a line */
	size_t page_rows; /* of the list, when last drawn */
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

/* Adds the widths of a new estimate to the trends. */
void terminal_note(struct terminal_view *v, const struct estimate *e);

/* Handles a key, pressed on what the estimate shows (NULL: there is none yet). Returns what the
 * caller has to do. */
enum terminal_action terminal_press(
    struct terminal_view *v, const struct estimate *e, uint32_t key);

/* The line whose source is wanted, or NULL. */
const char *terminal_looked_at(const struct terminal_view *v, const struct estimate *e);

/* Draws all of it. @e NULL: there is no estimate yet. */
void terminal_draw(struct terminal_view *v, const struct estimate *e,
    const struct terminal_status *s, struct terminal_screen *ret);

#endif
