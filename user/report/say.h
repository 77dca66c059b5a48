/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tool says to its user: messages on standard error, lists on standard output. */
#ifndef COZBPF_SAY_H
#define COZBPF_SAY_H

#include <stdio.h>

#include "core/text/errors.h"

/* Prints "cozbpf: message" to standard error. Names from the target are made harmless
 * (core/text/printable.h). */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "cozbpf: error: cause" and "cozbpf: hint: ..." to standard error. Returns the error's exit
 * status. */
int say_error(const struct error *e);

/* Standard output for lists and exports: through core/text/printable.h on a terminal, unchanged
 * into a file or a pipe. The caller ends it with printable_close(it, stdout). */
FILE *say_stdout(void);

#endif
