/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text of the target (names of files, threads, symbols, points) on its way to a terminal. A
 * container's file names must not move our cursor, colour our messages or forge a line. Profiles
 * and exports hold the true text; everything that people read goes through here.
 */
#ifndef COZBPF_PRINTABLE_H
#define COZBPF_PRINTABLE_H

#include <stddef.h>
#include <stdio.h>

/*
 * Returns a copy, which the caller frees; NULL: out of memory. \xNN replaces each byte of a control
 * character (C0, DEL, C1), of what turns the direction of writing, and of what is not UTF-8. That
 * includes line breaks.
 */
char *printable_text(const char *text);

/* A stream that does the same to its text, except tabs and line breaks, and writes it to @to, which
 * stays open. Returns @to itself when memory is short. */
FILE *printable_open(FILE *to);

/* Ends the stream; accepts the stream that it was opened on. */
void printable_close(FILE *stream, FILE *to);

#endif
