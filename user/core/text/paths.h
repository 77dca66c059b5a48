/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of files: joins, normalises and compares them as text. The file system is never asked. */
#ifndef COZBPF_PATHS_H
#define COZBPF_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* Removes "//", "/./" and "x/.." in place ("/a/./b/../c" -> "/a/c"). ".." above the root vanishes;
 * above a relative start it stays. */
void path_normalise(char *path);

/* Writes @file into @buf, normalised; a relative @file below @dir (may be NULL or ""). Returns the
 * length, or 0 when it does not fit. */
size_t path_join(char *buf, size_t size, const char *dir, const char *file);

/* Whether @wanted names @path: equal, or a suffix that starts at a '/'. "./" and "../" at the start
 * of @wanted are ignored. */
bool path_has_suffix(const char *path, const char *wanted);

/* Whether @path is the library @name: like path_has_suffix(), or its file with more of the version
 * ("libx.so.6" is in "/lib/libx.so.6.0.30"). */
bool path_is_library(const char *path, const char *name);

/* "a/b.c:12": the length of "a/b.c", and 12. Returns 0 where @line is no place in a file: other
 * tools' profiles name functions, too, and two lines that are one unit are in no one place. */
size_t path_of_line(const char *line, size_t *ret_number);

/* "libz.so.1:inflate", "libz.so.1+0x57e0": the length of "libz.so.1". Of a name without a module
 * it is the whole length. */
size_t path_of_function(const char *function);

/* What follows the last '/'. */
const char *path_base(const char *path);

#endif
