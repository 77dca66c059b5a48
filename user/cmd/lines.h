/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of `cozbpf lines`. Private to user/cmd/lines*.c. */
#ifndef COZBPF_LINES_H
#define COZBPF_LINES_H

#include <stdio.h>
#include <string.h>

#include "core/text/errors.h"
#include "symbols/symbols.h"

/* Prints one line for each place: its kind, a tab, and the text for -P. Returns -1 with @e when
 * there is none. */
int lines_print_points(FILE *out, struct object *o, struct error *e);

/* Prints one line for each place where the object spins: FILE:LINE or -, a tab, the file offset, a
 * tab, and PAUSE or loop. @map is empty and gets the object's lines. Returns -1 with @e. */
int lines_print_spins(
    FILE *out, struct object *o, const struct scope *scope, struct line_map *map, struct error *e);

#endif
