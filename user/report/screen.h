/* SPDX-License-Identifier: BSD-3-Clause */
/* A terminal in full screen, by ncurses: shows cells, reads keys, and is given back as it was. Only
 * one at a time. terminal.h decides what is shown. */
#ifndef COZBPF_SCREEN_H
#define COZBPF_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text/errors.h"
#include "report/terminal.h"

struct screen;

/* Whether $TERM names a terminal whose cursor can be placed. Writes nothing to it. Returns 0, or -1
 * with @e (EXIT_USAGE). */
int screen_check(int fd, struct error *e);

/* Whether we are in the terminal's foreground: in the background the terminal must not be touched.
 * True for a terminal without foreground. */
bool screen_is_ours(int fd);

/* Takes the terminal @fd, open for reading and writing; the caller keeps it. Without @has_keys the
 * input stays untouched for its reader. NULL: it cannot be had. Call setlocale() before. */
struct screen *screen_open(int fd, bool has_keys, bool has_colours);
void screen_close(struct screen *s); /* accepts NULL */

/* screen_suspend() gives the terminal back for a while. screen_resume() takes it again, and the
 * next screen_show() paints all of it. */
void screen_suspend(struct screen *s);
bool screen_resume(struct screen *s); /* false: somebody else has it; try again later */
void screen_repaint(struct screen *s);

void screen_size(struct screen *s, int *ret_width, int *ret_height);
/* does nothing while the screen is suspended, or the terminal takes nothing */
void screen_show(struct screen *s, const struct terminal_screen *cells);
/* a character or an enum terminal_key; false: no more */
bool screen_key(struct screen *s, uint32_t *ret);

#endif
