// SPDX-License-Identifier: BSD-3-Clause
/* Couples: their names, which units make one, and how they stand in a line map. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "core/places/couple.h"
#include "core/text/paths.h"

TEST(names)
{
	char *name = couple_name("a.c:1", "f + g");
	const char *second;
	size_t length;

	CHECK_STR(name, "a.c:1 + f + g");
	second = couple_split(name, NULL, &length);
	CHECK_STR(second, "f + g");
	CHECK_EQ(length, 5);
	second = couple_split(name, second, &length);
	CHECK_STR(second, "g");
	CHECK_EQ(length, 9);
	CHECK(!couple_split(name, second, &length));
	CHECK(!couple_split("operator+(a, b)", NULL, &length));
	free(name);
}

/* A couple is in no one place, whatever its units are; a directory may be called so. */
TEST(no_place_in_a_file)
{
	static const char *const couples[] = {"a.c:1 + b.c:2", "/x/a.c:1 + /x/b.c:2",
	    "prog:f + /x/b.c:2", "/x/a.c:1 + prog:f", "a.c:1 [io] + b.c:2", "[io] + b.c:2",
	    "prog:f + prog:g"};
	size_t number;

	for (size_t i = 0; i < sizeof(couples) / sizeof(*couples); i++)
		CHECK_EQ(path_of_line(couples[i], &number), 0);
	CHECK_EQ(path_of_line("/x + y/a.c:3", &number), 10);
	CHECK_EQ(path_of_line("/x1 + y/a.c:3", &number), 11);
	CHECK_EQ(path_of_line("a.c:3 [io]", &number), 3);
	CHECK_EQ(number, 3);
}

/* Line 2 and 3 are function 1's, and line 4 is in none. */
TEST(what_is_no_couple)
{
	struct source_line lines[] = {{0}, {.n_lines = 2}, {.function = 1}, {.function = 1}, {0}};
	const struct line_map m = {.lines = lines, .n_lines = 5};

	CHECK(couple_overlaps(&m, 2, 2));
	CHECK(couple_overlaps(&m, 1, 2) && couple_overlaps(&m, 3, 1));
	CHECK(!couple_overlaps(&m, 2, 3) && !couple_overlaps(&m, 3, 2));
	CHECK(!couple_overlaps(&m, 1, 4) && !couple_overlaps(&m, 4, 1));
}

TEST(in_a_line_map)
{
	struct line_map m;
	struct error e = {0};
	uint32_t a, f, both;
	char *name;

	CHECK(!line_map_init(&m));
	a = line_map_line(&m, "/x/a.c", 1);
	m.inclusive = true;
	f = line_map_line(&m, "prog:f", 0);
	both = line_map_add_couple(&m, a, f);
	CHECK_EQ(both, 3);
	CHECK_EQ(m.n_lines, 4);
	name = source_line_name(&m.lines[both]);
	CHECK_STR(name, "/x/a.c:1 + prog:f (inclusive)");
	free(name);
	/* It is found by no name, also once lines were taken back. */
	CHECK(!line_map_find_function(&m, "/x/a.c:1 + prog:f (inclusive)", &e));
	CHECK_EQ(line_map_line(&m, "/x/b.c", 2), 4);
	line_map_cut(&m, 0, 4);
	CHECK_EQ(line_map_line(&m, "/x/a.c:1 + prog:f (inclusive)", 0), 4);
	CHECK(!m.lines[4].is_couple);
	line_map_deinit(&m);
}
