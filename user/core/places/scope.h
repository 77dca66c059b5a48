/* SPDX-License-Identifier: BSD-3-Clause */
/* Which binaries and source files may be selected: the patterns of -b and -s. */
#ifndef COZBPF_SCOPE_H
#define COZBPF_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/text/errors.h"

/* What is selected, and made faster virtually. */
enum granularity {
	/* functions, then the lines of those that matter; in code without debug information
	 * functions */
	GRANULARITY_AUTO,
	GRANULARITY_LINE,
	GRANULARITY_FUNCTION,
	GRANULARITY_BLOCK, /* basic blocks: MODULE:FUNCTION+0xOFFSET (object_block_sites()) */
};

/* "line", "function", "block", "auto", or NULL for the last one. -1 with @e (EXIT_USAGE). */
int granularity_parse(const char *text, enum granularity *ret, struct error *e);

/* Patterns are borrowed strings (argv). `%` matches any run of characters, and everything else
 * matches itself, over the whole path. */
struct scope {
	/* -s; none: every file except those of the toolchain and the system's headers */
	const char **sources;
	size_t n_sources;
	const char **binaries; /* -b; none: MAIN, and where functions are selected all libraries */
	size_t n_binaries;
	enum granularity granularity;
};

/* Whether @path matches @pattern with `%` as wildcard. */
bool scope_match(const char *pattern, const char *path);

/* Whether lines of the source file @path (absolute, from the debug information) may be selected. */
bool scope_has_source(const struct scope *s, const char *path);

/* Whether the binary @path is in scope. @is_main: it is the target's main executable (pattern
 * MAIN). */
bool scope_has_binary(const struct scope *s, const char *path, bool is_main);

/* Whether code can be in scope that is not the main executable's. */
bool scope_has_libraries(const struct scope *s);

/* What the time in the kernel counts for. */
enum kernel_units {
	KERNEL_NONE, /* the line that made the call */
	KERNEL_FUNCTIONS,
	KERNEL_SYSCALLS,
};

/* What a pattern of -b asks for: KERNEL, SYSCALLS. */
enum kernel_units kernel_units_of(const char *pattern);

/* How --fixed-line names what is in the kernel: "sys:write", "kernel:vfs_read". */
#define SYSCALL_PREFIX "sys:"
#define KERNEL_PREFIX "kernel:"
enum kernel_units kernel_units_of_unit(const char *unit);

/* Whether lines, not functions, of a binary may be selected. -s asks for lines. */
bool scope_has_lines(const struct scope *s, bool has_debug_info);

/* What a unit is called in messages: "line", "function" or "block". */
const char *scope_unit(const struct scope *s, bool has_lines);

/* Whether functions are selected as well, where lines are. */
bool scope_has_both(const struct scope *s);

#endif
