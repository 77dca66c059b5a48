// SPDX-License-Identifier: BSD-3-Clause
/* Units of waits by name, and in the line map beside lines. */
#include "check.h"

#include <cozbpf/abi.h>
#include "core/places/linemap.h"
#include "core/places/waits.h"

static void parses(const char *text, uint32_t bits)
{
	struct error e = {0};
	uint32_t got;

	CHECK_EQ(waits_parse(text, &got, &e), 0);
	CHECK_EQ(got, bits);
}

static void refuses(const char *text, const char *cause)
{
	struct error e = {0};
	uint32_t got;

	CHECK_EQ(waits_parse(text, &got, &e), -1);
	CHECK_STR(e.cause, cause);
	CHECK_EQ(e.status, EXIT_USAGE);
}

TEST(classes)
{
	parses("io", 1U << COZBPF_WAIT_IO);
	parses("sched,net", 1U << COZBPF_WAIT_SCHED | 1U << COZBPF_WAIT_NET);
	parses("all", (1U << COZBPF_WAIT_CLASSES) - 1);
	refuses("", "'' is no class of waits");
	refuses("io,", "'' is no class of waits");
	refuses("io,disk", "'disk' is no class of waits");
	refuses("IO", "'IO' is no class of waits");
}

static void is_of(const char *unit, int class, const char *before)
{
	char text[64];
	size_t length = 99;

	CHECK_EQ(wait_of_unit(unit, &length), class);
	if (class < 0)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)length, unit);
	CHECK_STR(text, before);
}

TEST(units)
{
	is_of("a.c:12 [io]", COZBPF_WAIT_IO, "a.c:12");
	is_of("a.c:12[lock]", COZBPF_WAIT_LOCK, "a.c:12");
	is_of("[sched]", COZBPF_WAIT_SCHED, "");
	is_of("app:operator[] [net]", COZBPF_WAIT_NET, "app:operator[]");
	is_of("app:operator[]", -1, "");
	is_of("[jit]", -1, "");
	is_of("[k]:vfs_read", -1, "");
	is_of("a.c:12", -1, "");
	is_of("]", -1, "");
	is_of("", -1, "");
}

static void is_called(const struct line_map *m, uint32_t id, const char *name)
{
	char *got = source_line_name(&m->lines[id]);

	CHECK_STR(got, name);
	free(got);
}

TEST(beside_lines)
{
	struct line_map m;
	struct error e = {0};
	uint32_t line, function, first, io, late;

	line_map_init(&m);
	line = line_map_line(&m, "/src/a.c", 7);
	function = line_map_line(&m, "app:f", 0);
	first = line_map_add_waits(&m);
	io = first + COZBPF_WAIT_IO * COZBPF_WAIT_UNITS;
	CHECK_EQ(first, 3);
	CHECK_EQ(m.n_lines, first + COZBPF_WAIT_CLASSES * COZBPF_WAIT_UNITS);
	is_called(&m, io, "[io]");
	is_called(&m, io + COZBPF_WAIT_NO_LINE, "(no line) [io]");
	CHECK_EQ(m.lines[io].n_lines, COZBPF_WAIT_UNITS - 1);
	CHECK_EQ(m.lines[io + COZBPF_WAIT_UNITS - 1].function, io);

	line_map_name_wait(&m, io + 2, line);
	line_map_name_wait(&m, io + 3, function);
	is_called(&m, io + 2, "/src/a.c:7 [io]");
	is_called(&m, io + 3, "app:f [io]");
	line_map_name_wait(&m, line, function); /* which is no wait */
	line_map_name_wait(&m, io + 4, (uint32_t)m.n_lines);
	is_called(&m, line, "/src/a.c:7");
	is_called(&m, io + 4, "(no line) [io]");

	/* Names mean lines still, and lines that come later have ids behind. */
	CHECK_EQ(line_map_line(&m, "/src/a.c", 7), line);
	CHECK_EQ(line_map_find(&m, "a.c", 7, &e), line);
	CHECK_EQ(line_map_find_function(&m, "f", &e), function);
	CHECK_EQ(line_map_find_function(&m, "[io]", &e), 0);
	late = line_map_line(&m, "/src/late.c", 1);
	CHECK_EQ(late, first + COZBPF_WAIT_CLASSES * COZBPF_WAIT_UNITS);
	line_map_cut(&m, 0, late);
	CHECK_EQ(line_map_line(&m, "/src/a.c", 7), line);
	CHECK_EQ(line_map_line(&m, "/src/b.c", 1), late);
	is_called(&m, io + 2, "/src/a.c:7 [io]");
	line_map_deinit(&m);
}
