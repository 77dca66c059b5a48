/* SPDX-License-Identifier: BSD-3-Clause */
/* The subcommands. Each gets argv with its own name as argv[0], prints its result to standard output and all else to standard error, and
 * returns the tool's exit status. */
#ifndef COZBPF_CMD_H
#define COZBPF_CMD_H

#include <stdio.h>

#include "core/errors.h"

int cmd_run(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_lines(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

/* Prints "cozbpf: error: cause" and "cozbpf: hint: ..." to standard error and returns the error's status. */
int cmd_fail(const struct error *e);

/* Prints "cozbpf: message" to standard error, names of the target's made harmless (core/printable.h). */
void cmd_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Standard output for lists and exports: on a terminal through core/printable.h, into a file or a pipe as it is. printable_close(it, stdout). */
FILE *cmd_stdout(void);

#endif
