/* SPDX-License-Identifier: BSD-3-Clause */
/* Which binaries and source files may be selected: the patterns of -b and -s. */
#ifndef COZBPF_SCOPE_H
#define COZBPF_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

/* Patterns are borrowed strings (argv). `%` matches any run of characters, and everything else
 * matches itself, over the whole path. */
struct scope {
	/* -s; none: every file except those of the toolchain and the system's headers */
	const char **sources;
	size_t n_sources;
	const char **binaries; /* -b; none: MAIN */
	size_t n_binaries;
};

/* Whether @path matches @pattern with `%` as wildcard. */
bool scope_match(const char *pattern, const char *path);

/* Whether lines of the source file @path (absolute, from the debug information) may be selected. */
bool scope_has_source(const struct scope *s, const char *path);

/* Whether the binary @path is in scope. @is_main: it is the target's main executable (pattern
 * MAIN). */
bool scope_has_binary(const struct scope *s, const char *path, bool is_main);

#endif
