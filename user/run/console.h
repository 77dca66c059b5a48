/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user sees of a run: messages, the progress line or the live view, the report at the end.
 * The console changes nothing in the run: figures come in, actions go out, and the loop does both.
 * Times are CLOCK_MONOTONIC ns.
 */
#ifndef COZBPF_RUN_CONSOLE_H
#define COZBPF_RUN_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/estimate/estimate.h"
#include "core/text/errors.h"
#include "run/action.h"

struct view;

struct console_options {
	bool quiet;       /* no messages, no progress line */
	bool tui, no_tui; /* the live view is asked for, or refused */
	bool has_command; /* we launch a command, which may use the terminal itself */
};

/* All zero: messages are printed, and there is no view. */
struct console {
	struct console_options o;
	struct view *view; /* private; NULL: there will be no live view */
	bool progress_shown;
	uint64_t progress_at_ns; /* of the next progress line */
};

/* Decides whether there will be a live view. -1 with @e where --tui asks for what cannot be. */
int console_init(struct console *c, const struct console_options *o, struct error *e);
void console_deinit(struct console *c);

/* Prints a message, or keeps it until the terminal is free of the live view. */
void console_say(const struct console *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Who is profiled. Borrowed for the call. */
struct console_target {
	char *const *command; /* words up to a NULL; NULL: processes are attached to */
	const char *cgroup;   /* NULL: none is named */
	const int *pids;      /* of the processes attached to */
	size_t n_pids;
};

/* Opens the live view, where there may be one and it is not open yet. */
void console_open(struct console *c, const struct console_target *t);
/* Gives the terminal back as it was. Messages that were kept are printed. */
void console_close(struct console *c);
bool console_is_open(const struct console *c);  /* the live view */
bool console_has_view(const struct console *c); /* which may open: SIGTSTP is to be caught */

/* A progress point. A pair is two in a row: its begins, then its ends. */
struct console_point {
	const char *name;
	uint64_t visits;
	bool is_begin;   /* of a pair */
	bool is_sampled; /* time executed is counted, which is no visit */
};

/* How the run stands. All pointers are borrowed for the call. */
struct console_status {
	uint64_t started_ns;
	uint32_t run, runs; /* the number of this run, from 1, and of all */
	uint64_t experiments, spoilt, samples, in_scope;
	double noise; /* share of the CPU time wanted that other programs had; NaN: not known */
	const struct console_point *points;
	size_t n_points;
	const char *leader; /* for the progress line; may be empty */
	bool is_paused;     /* by a key: there are no experiments */
	uint64_t rests_ns;  /* there are none for so long (--duty); 0: it does not rest */
	/* Of the experiment that is open; file NULL: none is. */
	const char *file;
	unsigned line, speedup_pct;
	uint64_t opened_ns, planned_ns; /* planned_ns 0: not known */
};

/* Prints the progress line now and then, where there is no view. */
void console_progress(struct console *c, const struct console_status *s, uint64_t now);
/* In its place, what we wait for. */
void console_waits(struct console *c, const char *text);
void console_clear_progress(struct console *c);

/* Takes keys up to the first that asks something of the loop. RUN_ACTION_NONE: there are no more
 * keys. */
enum run_action console_keys(struct console *c, bool is_paused);

/* Draws the view, unless something is due at @due that must not wait for a picture. */
void console_draw(struct console *c, const struct console_status *s, uint64_t now, uint64_t due);
uint64_t console_next(const struct console *c); /* when to draw again; UINT64_MAX: at a tick */

/* A new answer for the view, which takes @e over: it owns its names. @lost: what was lost so far.
 */
void console_take(struct console *c, struct estimate *e, uint64_t lost);
enum sort_key console_sort(const struct console *c); /* that the next answer is to have */

int console_fd(const struct console *c); /* readable when keys wait; -1: none will come */
void console_lost(struct console *c);    /* console_fd() has hung up */
void console_changed(struct console *c); /* the terminal's size, or we go on after a stop */

/* Stops us by @sig, without the terminal; returns when we go on. */
void console_stop(struct console *c, int sig);

/* The report: to standard error, and where the live view was if that is another place. */
void console_report(const struct console *c, const struct estimate *e);

#endif
