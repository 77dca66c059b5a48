/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text of the target's (names of files, threads, symbols, points) on its way to a terminal: what a
 * container calls its files is not to move our cursor, colour our messages or forge a line of them.
 * Profiles and exports hold the true text; everything that is read by people goes through here.
 */
#ifndef COZBPF_PRINTABLE_H
#define COZBPF_PRINTABLE_H

#include <stddef.h>
#include <stdio.h>

/*
 * A copy, the caller's to free, with \xNN in place of each byte of a control character (C0, DEL,
 * C1), of what turns the direction of writing, and of what is no UTF-8. Line breaks too. NULL: out
 * of memory.
 */
char *printable_text(const char *text);

/* A stream that does the same to what is written into it, tabs and line breaks excepted, and writes
 * it to @to, which stays open. @to itself when there is no memory. */
FILE *printable_open(FILE *to);

/* Ends it; accepts the stream that it was opened on. */
void printable_close(FILE *stream, FILE *to);

#endif
