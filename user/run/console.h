/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user sees of a run. A room of user/run/ says something to the user here. */
#ifndef COZBPF_RUN_CONSOLE_H
#define COZBPF_RUN_CONSOLE_H

struct console;

/* Prints a message, or keeps it until the terminal is free of the live view. */
void console_say(const struct console *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
