// SPDX-License-Identifier: BSD-3-Clause
/* Lines grouped by functions: by most of the code, in ids that follow the function's own. */
#include "check.h"

#include "core/places/linegroups.h"

struct maps {
	struct line_map lines, functions, both;
};

static void maps_init(struct maps *m)
{
	CHECK_EQ(line_map_init(&m->lines), 0);
	CHECK_EQ(line_map_init(&m->functions), 0);
	CHECK_EQ(line_map_init(&m->both), 0);
}

static void maps_deinit(struct maps *m)
{
	line_map_deinit(&m->lines);
	line_map_deinit(&m->functions);
	line_map_deinit(&m->both);
}

/* One unit for each 10 bytes of code; of lines, 'a' is line 1 of @file. '.': none is there. */
static void fill(struct line_map *m, const char *file, const char *code)
{
	struct line_object o = {.path = (char *)"/bin/program"};
	struct line_range ranges[64];
	size_t n = strlen(code);

	for (size_t i = 0; i < n; i++) {
		char name[2] = {code[i], 0};
		uint32_t line = (uint32_t)(code[i] - 'a' + 1), id = 0;

		if (code[i] != '.')
			id = file ? line_map_line(m, file, line) : line_map_line(m, name, 0);
		ranges[i] = (struct line_range){10 * i, 10 * i + 10, id};
	}
	CHECK_EQ(line_map_add_object(m, &o, ranges, n), 0);
}

/* The name of the function that holds the line @line; "": none does. */
static const char *holder(const struct line_map *m, uint32_t line)
{
	uint32_t id = line_map_find(m, "a.c", line, NULL);

	CHECK(id);
	return id && m->lines[id].function ? m->lines[m->lines[id].function].file : "";
}

TEST(most_of_the_code_decides)
{
	struct maps m;

	maps_init(&m);
	/* Line c is inlined in G, too, and most of it is in H. Line d is in no function. */
	fill(&m.lines, "/src/a.c", "aabbcdbccc");
	fill(&m.functions, NULL, "FFFGG.GHHH");
	CHECK_EQ(line_map_group(&m.lines, &m.functions, &m.both), 0);
	CHECK_STR(holder(&m.both, 1), "F");
	CHECK_STR(holder(&m.both, 2), "G");
	CHECK_STR(holder(&m.both, 3), "H");
	CHECK_STR(holder(&m.both, 4), "");
	maps_deinit(&m);
}

TEST(lines_follow_their_function)
{
	struct maps m;
	uint32_t f;

	maps_init(&m);
	fill(&m.lines, "/src/a.c", "abcabd");
	fill(&m.functions, NULL, "FGFFG.");
	CHECK_EQ(line_map_group(&m.lines, &m.functions, &m.both), 0);
	f = line_map_find_function(&m.both, "F", NULL);
	CHECK_EQ(m.both.lines[f].n_lines, 2);
	CHECK_EQ(m.both.lines[f + 1].line, 1);
	CHECK_EQ(m.both.lines[f + 2].line, 3);
	for (size_t i = 0; i < m.lines.n_ranges; i++)
		CHECK_EQ(m.both.lines[line_map_lookup(&m.both, 0, 10 * i)].line,
		    m.lines.lines[line_map_lookup(&m.lines, 0, 10 * i)].line);
	/* What no function holds comes first, so no function seems to hold it. */
	CHECK_EQ(line_map_find(&m.both, "a.c", 4, NULL), 1);
	maps_deinit(&m);
}

TEST(functions_without_lines_are_left_out)
{
	struct maps m;

	maps_init(&m);
	fill(&m.lines, "/src/a.c", "aa..");
	fill(&m.functions, NULL, "FFGG");
	CHECK_EQ(line_map_group(&m.lines, &m.functions, &m.both), 0);
	CHECK_EQ(m.both.n_lines, 3);
	CHECK_EQ(line_map_find_function(&m.both, "G", NULL), 0);
	maps_deinit(&m);
}

TEST(nothing_at_all)
{
	struct maps m;

	maps_init(&m);
	CHECK_EQ(line_map_group(&m.lines, &m.functions, &m.both), 0);
	CHECK_EQ(m.both.n_lines, 1);
	maps_deinit(&m);
}

/* Lines of another object may be there already, and then they stay whose they are. */
TEST(only_what_follows_joins)
{
	struct line_map m;
	uint32_t f, g, a, b, c;

	CHECK_EQ(line_map_init(&m), 0);
	f = line_map_line(&m, "F", 0);
	a = line_map_line(&m, "/src/a.c", 1);
	line_map_join(&m, f, a);
	b = line_map_line(&m, "/src/a.c", 2);
	line_map_join(&m, 0, b);
	g = line_map_line(&m, "G", 0);
	line_map_join(&m, g, a);
	c = line_map_line(&m, "/src/a.c", 3);
	line_map_join(&m, f, c);
	CHECK_EQ(m.lines[a].function, f);
	CHECK_EQ(m.lines[b].function, 0);
	CHECK_EQ(m.lines[c].function, 0);
	CHECK_EQ(m.lines[f].n_lines, 1);
	CHECK_EQ(m.lines[g].n_lines, 0);
	line_map_join(&m, g, c);
	CHECK_EQ(m.lines[c].function, g);
	line_map_deinit(&m);
}
