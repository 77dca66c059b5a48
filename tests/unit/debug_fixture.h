/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs to test debug information with, built now below DIR, and the loaded parts of them. Needs
 * gcc and g++; builds with clang are tested where clang is installed. */
#ifndef COZBPF_TESTS_DEBUG_FIXTURE_H
#define COZBPF_TESTS_DEBUG_FIXTURE_H

#include "check.h"

#include <stdarg.h>
#include <stdbool.h>

#include "symbols/symbols.h"

#define DIR COZBPF_FIXTURES /* of this test alone, since tests run side by side */

#if defined(__aarch64__)
#define ARM64_GCC "gcc"
#else
#define ARM64_GCC "aarch64-linux-gnu-gcc"
#endif

static char fixtures[4096]; /* directory of the sources, absolute */

static bool run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs a shell command in DIR. Returns whether it succeeded. */
static bool run(const char *format, ...)
{
	char command[8192];
	size_t len =
	    (size_t)snprintf(command, sizeof(command), "mkdir -p '%s' && cd '%s' && ", DIR, DIR);
	va_list args;

	if (!*fixtures) {
		char here[] = __FILE__, *slash = strrchr(here, '/');
		char relative[4096];

		*slash = 0;
		snprintf(relative, sizeof(relative), "%s/fixtures", here);
		if (!realpath(relative, fixtures)) {
			fprintf(stderr, "cannot find '%s': run the tests from the top directory\n",
			    relative);
			exit(1);
		}
	}
	va_start(args, format);
	vsnprintf(command + len, sizeof(command) - len, format, args);
	va_end(args);
	return system(command) == 0;
}

static inline bool have(const char *tool)
{
	return run("command -v %s >/dev/null", tool);
}

/* Skips what is left of the tests where programs of arm64 cannot be built. */
static inline void need_arm64(void)
{
	if (have(ARM64_GCC))
		return;
	printf("there is no " ARM64_GCC "\n");
	exit(77);
}

/* Builds a fixture; a failure fails the test. */
static inline const char *build(
    const char *compiler, const char *flags, const char *source, const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", DIR, name);
	run("rm -f %s", name);
	if (!run("%s %s -o %s '%s/%s'", compiler, flags, name, fixtures, source))
		CHECK(!"the fixture builds");
	return path;
}

struct loaded {
	struct object *o;
	struct line_map map;
	size_t n_lines;
	struct error e;
	int err;
};

static inline struct loaded load_scoped(const char *path, const struct scope *scope)
{
	struct loaded l = {0};

	line_map_init(&l.map);
	l.err = object_open(path, "", &l.o, &l.e);
	if (!l.err)
		l.err = object_add_lines(l.o, scope, &l.map, &l.n_lines, &l.e);
	return l;
}

static inline struct loaded load(const char *path)
{
	struct scope all = {0};

	return load_scoped(path, &all);
}

static inline void unload(struct loaded *l)
{
	object_close(l->o);
	line_map_deinit(&l->map);
}

static inline bool has_line(const struct loaded *l, const char *file, uint32_t line)
{
	return line_map_find(&l->map, file, line, NULL);
}

/* Bytes of code that belong to a line. */
static inline uint64_t line_bytes(const struct loaded *l, const char *file, uint32_t line)
{
	uint32_t id = line_map_find(&l->map, file, line, NULL);
	uint64_t bytes = 0;

	for (size_t i = 0; i < l->map.n_ranges; i++)
		bytes += id && l->map.ranges[i].line == id
			     ? l->map.ranges[i].hi - l->map.ranges[i].lo
			     : 0;
	return bytes;
}

/* The known lines of lines.c, however it was built. */
static inline void check_lines_c(const char *path, bool optimised)
{
	struct loaded l = load(path);

	CHECK_EQ(l.err, 0);
	if (l.err)
		fprintf(stderr, "  '%s': %s\n", path, l.e.cause);
	CHECK(object_has_debug_info(l.o));
	CHECK(has_line(&l, "lines.c", 9));
	CHECK(has_line(&l, "lines.c", 10));
	CHECK(has_line(&l, "lines.c", 17));
	CHECK(has_line(&l, "lines.c", 37));
	CHECK(has_line(&l, "fixtures/lines.c", 37));
	CHECK(!has_line(&l, "lines.c", 1));
	CHECK(!has_line(&l, "lines.c", 5));
	if (optimised)
		CHECK(!has_line(&l, "lines.c", 4));
	for (uint32_t i = 1; i < l.map.n_lines; i++)
		CHECK(l.map.lines[i].file[0] == '/' &&
		      strstr(l.map.lines[i].file, "/fixtures/lines.c"));
	CHECK_EQ(l.n_lines, l.map.n_lines - 1);
	unload(&l);
}

static inline size_t count_sites(struct object *o, const char *file, uint32_t line)
{
	struct probe_site *sites;
	struct error e;
	size_t n;

	if (object_find_line(o, file, line, &sites, &n, &e))
		return 0;
	free(sites);
	return n;
}

#endif
