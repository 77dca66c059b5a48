// SPDX-License-Identifier: BSD-3-Clause
/* Which functions are on how many stacks: three functions of file 1, of 16 bytes each. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include "core/places/stacks.h"

/* Where a function's code is, and code of none. */
enum { F = 0x100, G = 0x110, H = 0x120, NONE = 0x200 };

static void make_map(struct line_map *ret)
{
	const struct line_object object = {.path = "/bin/x"};
	struct line_range ranges[3];

	line_map_init(ret);
	for (uint32_t i = 0; i < 3; i++) {
		char name[] = {'x', ':', (char)('f' + i), 0};

		ranges[i] =
		    (struct line_range){F + 16 * i, F + 16 * i + 16, line_map_line(ret, name, 0)};
	}
	CHECK_EQ(line_map_add_object(ret, &object, ranges, 3), 0);
}

/* A stack of file 1, innermost first; 0 ends it. */
static void add(struct stack_list *l, const uint32_t *offsets)
{
	struct cozbpf_stack stack = {0};

	for (; *offsets; offsets++)
		stack.frames[stack.n++] = (struct cozbpf_frame){1, *offsets + 3};
	stacks_add(l, &stack);
}

/* "f2 g1": the functions that are on any stack, in their order. */
static const char *counted(const struct stack_list *l, uint32_t file, bool innermost)
{
	static char ret[64];
	struct on_stacks *units;
	struct line_map map;

	make_map(&map);
	*ret = 0;
	CHECK_EQ(stacks_count(l, file, &map, innermost, &units), 0);
	for (size_t i = 0; i < map.n_lines && units[i].stacks; i++)
		snprintf(ret + strlen(ret), sizeof(ret) - strlen(ret), "%s%s%zu", i ? " " : "",
		    map.lines[units[i].unit].file + 2, units[i].stacks);
	free(units);
	line_map_deinit(&map);
	return ret;
}

TEST(functions_count_once_for_each_stack)
{
	struct stack_list l = {0};

	CHECK_STR(counted(&l, 1, false), "");
	add(&l, (const uint32_t[]){F, G, H, 0});
	add(&l, (const uint32_t[]){F, G, G, F, H, 0}); /* recursion */
	add(&l, (const uint32_t[]){G, NONE, H, 0});
	add(&l, (const uint32_t[]){NONE, 0});
	add(&l, (const uint32_t[]){0}); /* of a thread without a stack */
	add(&l, (const uint32_t[]){H, 0});
	CHECK_STR(counted(&l, 1, false), "h3 g2 f1");
	CHECK_STR(counted(&l, 1, true), "f2 g1 h1");
	CHECK_STR(counted(&l, 2, false), "");
	CHECK(stacks_have(&l, 1) && !stacks_have(&l, 2));
	stacks_deinit(&l);
	CHECK(!stacks_have(&l, 1));
}

TEST(files_are_told_apart)
{
	const struct cozbpf_stack stack = {.n = 2, .frames = {{2, F}, {1, G}}};
	struct stack_list l = {0};

	stacks_add(&l, &stack);
	CHECK_STR(counted(&l, 1, false), "g1");
	CHECK_STR(counted(&l, 1, true), "");
	CHECK_STR(counted(&l, 2, true), "f1");
	stacks_deinit(&l);
}

TEST(there_is_an_end_to_them)
{
	const struct cozbpf_stack deep = {.n = COZBPF_FRAMES};
	struct stack_list l = {0};

	for (int i = 0; i < STACKS_MAX + 5; i++)
		stacks_add(&l, &deep);
	CHECK_EQ(l.n, STACKS_MAX);
	CHECK_EQ(l.n_frames, STACKS_MAX * COZBPF_FRAMES);
	CHECK_STR(counted(&l, 1, false), "");
	stacks_deinit(&l);
}
