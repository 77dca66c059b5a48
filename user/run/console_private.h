/* SPDX-License-Identifier: BSD-3-Clause */
/* The live view as the files of the console share it. What it looks like is in
 * user/report/terminal*.c. */
#ifndef COZBPF_RUN_CONSOLE_PRIVATE_H
#define COZBPF_RUN_CONSOLE_PRIVATE_H

#include <stdio.h>

#include <cozbpf/abi.h>
#include "report/screen.h"
#include "run/console.h"
#include "run/excerpt.h"

#define VIEW_RATES 5 /* readings of the points' visits: rates are those of the last two seconds */

struct reading {
	uint64_t at_ns, visits[COZBPF_POINTS];
};

/* The live view: there may be one, and it is shown while `screen` is there. */
struct view {
	int fd; /* of the terminal */
	bool has_keys, has_colours;
	bool is_lost;          /* the terminal is gone, or somebody else writes to it */
	bool shares_stderr;    /* standard error is the same terminal */
	struct screen *screen; /* NULL: not shown */
	struct terminal_screen cells;
	struct terminal_view look;
	char target[256];
	int pid; /* whose files the sources are; 0: they are ours */
	struct excerpt source;
	/* The answer so far. */
	struct estimate estimate;
	bool has_estimate;
	enum sort_key sorted;
	uint64_t lost;
	/* When the last picture was drawn, the next one is at the latest, and a picture was put off
	 * to before the loop's next tick. */
	uint64_t drawn_ns, next_ns, wake_ns;
	bool is_dirty;
	/* Rates of the progress points. */
	struct reading readings[VIEW_RATES];
	unsigned n_readings;
	double per_s[COZBPF_POINTS]; /* NaN: not known */
	/* Kept while the view is shown. */
	char **messages;
	unsigned n_messages, n_printed;
};

/* console_plan.c: makes c->view where a live view may be. -1 with @e. */
int console_plan(struct console *c, struct error *e);
/* What stands for the target in the head of the view. */
void view_name_target(struct view *v, const struct console_target *t);
/* A process of the target that writes to the view's terminal; 0: none is known to. */
int view_writer(const struct view *v, const struct console_target *t);

/* console_view.c */
void view_destroy(struct view *v);                /* closed before; accepts NULL */
bool view_keep(struct view *v, const char *text); /* false: it is to be printed, too */
/* Where the view was, when that is not standard error; NULL: nowhere. The caller closes the file.
 */
FILE *view_terminal(const struct view *v, int *ret_width);

/* console_draw.c: a picture, now. */
void view_draw(struct view *v, const struct console_status *s, uint64_t now);

#endif
