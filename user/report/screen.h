/* SPDX-License-Identifier: BSD-3-Clause */
/* A terminal in full screen, by ncurses: shows cells, reads keys, and is given back as it was
 * found. One at a time. What is shown: terminal.h. */
#ifndef COZBPF_SCREEN_H
#define COZBPF_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text/errors.h"
#include "report/terminal.h"

struct screen;

/* Whether $TERM names a terminal whose cursor can be placed; nothing is written to it. 0, or -1
 * with @e (EXIT_USAGE). */
int screen_check(int fd, struct error *e);

/* Whether we are in the terminal's foreground: in the background it must not be touched. True where
 * it has no such thing. */
bool screen_is_ours(int fd);

/*
 * Takes the terminal @fd, open for reading and writing; the caller keeps it. Without @has_keys its
 * input stays as it is, for whom it is for. NULL: it cannot be had. Call setlocale() before.
 */
struct screen *screen_open(int fd, bool has_keys, bool has_colours);
void screen_close(struct screen *s); /* accepts NULL */

/* Gives the terminal back for a while, and takes it again, painted anew by the next screen_show().
 */
void screen_suspend(struct screen *s);
bool screen_resume(struct screen *s); /* false: somebody else has it; try again later */
void screen_repaint(struct screen *s);

void screen_size(struct screen *s, int *ret_width, int *ret_height);
void screen_show(struct screen *s,
    const struct terminal_screen
	*cells); /* does nothing while it is suspended, or the terminal takes nothing */
bool screen_key(
    struct screen *s, uint32_t *ret); /* a character or an enum terminal_key; false: no more */

#endif
