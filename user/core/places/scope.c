// SPDX-License-Identifier: BSD-3-Clause
/* Patterns of -b and -s. Without a pattern the scope is the program's own code, without toolchain
 * and C library. */
#include "core/places/scope.h"

#include <string.h>

/* Where compilers, C libraries and distributions keep or build sources that end up in other
 * people's programs. */
static const char *const system_sources[] = {
    /* installed headers and toolchains */
    "/usr/include/%",
    "/usr/local/include/%",
    "/usr/lib/gcc%",
    "/usr/lib64/gcc/%",
    "/usr/lib/llvm%",
    "/usr/lib/clang/%",
    "/usr/lib64/clang/%",
    "%/include/c++/%",
    "%/lib/gcc/%",
    "%/lib/clang/%/include/%",
    /* standard libraries of Rust and Go */
    "/rustc/%",
    "%/lib/rustlib/src/%",
    "/usr/lib/go%/src/%",
    "/usr/share/go%/src/%",
    "/usr/local/go/src/%",
    /* the C library and the compiler's run time, as built by distributions */
    "/build/glibc%",
    "/build/gcc-%",
    "/builddir/build/BUILD/glibc%",
    "/builddir/build/BUILD/gcc%",
    "/usr/src/debug/glibc%",
    "/usr/src/debug/gcc%",
    "%/sysdeps/x86_64/%",
    "%/sysdeps/aarch64/%",
    "%/sysdeps/unix/sysv/linux/%",
    /* the same, built with a relative compilation directory, as Debian does */
    "sysdeps/%",
    "csu/%",
    "nptl/%",
    "../sysdeps/%",
    "../csu/%",
    "../nptl/%",
    "src/libgcc/%",
    /* not files: "<built-in>", "<artificial>", "<command-line>" */
    "<%",
    "%/<%>",
};

bool scope_match(const char *pattern, const char *path)
{
	const char *retry = NULL, *retry_path = NULL;

	/* Going back to the last wildcard suffices: what an earlier one took can stay as short as
	 * it is. */
	while (*path) {
		if (*pattern == '%') {
			retry = ++pattern;
			retry_path = path;
		} else if (*pattern == *path) {
			pattern++;
			path++;
		} else if (retry) {
			pattern = retry;
			path = ++retry_path;
		} else {
			return false;
		}
	}
	while (*pattern == '%')
		pattern++;
	return !*pattern;
}

bool scope_has_source(const struct scope *s, const char *path)
{
	for (size_t i = 0; i < s->n_sources; i++)
		if (scope_match(s->sources[i], path))
			return true;
	if (s->n_sources || !*path)
		return false;
	for (size_t i = 0; i < sizeof(system_sources) / sizeof(*system_sources); i++)
		if (scope_match(system_sources[i], path))
			return false;
	return true;
}

bool scope_has_binary(const struct scope *s, const char *path, bool is_main)
{
	if (!s->n_binaries)
		return is_main || scope_has_libraries(s);
	for (size_t i = 0; i < s->n_binaries; i++)
		if (scope_match(s->binaries[i], path) ||
		    (is_main && !strcmp(s->binaries[i], "MAIN")))
			return true;
	return false;
}

bool scope_has_libraries(const struct scope *s)
{
	return s->n_binaries || s->granularity == GRANULARITY_FUNCTION;
}

enum kernel_units kernel_units_of(const char *pattern)
{
	return !strcmp(pattern, "KERNEL")     ? KERNEL_FUNCTIONS
	       : !strcmp(pattern, "SYSCALLS") ? KERNEL_SYSCALLS
					      : KERNEL_NONE;
}

enum kernel_units kernel_units_of_unit(const char *unit)
{
	if (!strncmp(unit, KERNEL_PREFIX, strlen(KERNEL_PREFIX)))
		return KERNEL_FUNCTIONS;
	return strncmp(unit, SYSCALL_PREFIX, strlen(SYSCALL_PREFIX)) ? KERNEL_NONE
								     : KERNEL_SYSCALLS;
}

bool scope_has_lines(const struct scope *s, bool has_debug_info)
{
	return s->granularity == GRANULARITY_LINE ||
	       (s->granularity == GRANULARITY_AUTO && (has_debug_info || s->n_sources));
}

bool scope_has_both(const struct scope *s)
{
	return s->granularity == GRANULARITY_AUTO;
}

const char *scope_unit(const struct scope *s, bool has_lines)
{
	return s->granularity == GRANULARITY_BLOCK ? "block" : has_lines ? "line" : "function";
}

int granularity_parse(const char *text, enum granularity *ret, struct error *e)
{
	static const char *const names[] = {"auto", "line", "function", "block"};

	*ret = GRANULARITY_AUTO;
	if (!text)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		*ret = (enum granularity)i;
		if (!strcmp(text, names[i]))
			return 0;
	}
	error_set(e, EXIT_USAGE, "there is no granularity '%s'", text);
	return error_hint(e, "give --granularity line, function, block or auto");
}
