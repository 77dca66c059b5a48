// SPDX-License-Identifier: BSD-3-Clause
/* The line map: interning, painting of overlapping ranges against a plain model, look-up, finding
 * by name. */
#include "check.h"

#include <errno.h>
#include <stdbool.h>

#include "core/places/linegroups.h"
#include "core/places/linemap.h"
#include "core/experiment/rng.h"

TEST(lines_are_interned)
{
	struct line_map m;
	uint32_t a, b;
	char name[] = "/a.c";

	CHECK_EQ(line_map_init(&m), 0);
	CHECK_EQ(m.n_lines, 1);
	a = line_map_line(&m, name, 3);
	CHECK_EQ(a, 1);
	CHECK_EQ(line_map_line(&m, "/a.c", 4), 2);
	CHECK_EQ(line_map_line(&m, "/b.c", 3), 3);
	name[1] = 'x'; /* the map has its own copy */
	b = line_map_line(&m, "/a.c", 3);
	CHECK_EQ(a, b);
	CHECK_EQ(m.n_lines, 4);
	CHECK_STR(m.lines[1].file, "/a.c");
	CHECK(m.lines[1].file == m.lines[2].file);
	CHECK_EQ(m.lines[2].line, 4);
	line_map_deinit(&m);
}

TEST(many_lines)
{
	struct line_map m;
	char file[32];

	line_map_init(&m);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 30000; i++) {
			snprintf(file, sizeof(file), "/dir/file%u.c", i % 300);
			if (line_map_line(&m, file, i) != i + 1) {
				CHECK(!"line has another id");
				break;
			}
		}
	CHECK_EQ(m.n_lines, 30001);
	line_map_deinit(&m);
}

static const struct line_object object = {
    .path = "/bin/x", .build_id = {1, 2}, .build_id_len = 2, .dev = 7, .ino = 8};

TEST(ranges_are_sorted_and_merged)
{
	const struct line_range in[] = {{0x30, 0x40, 1}, {0x10, 0x20, 1}, {0x20, 0x28, 1},
	    {0x28, 0x28, 2}, {0x28, 0x30, 2}, {0x60, 0x50, 1}, {0x70, 0x80, 0}};
	struct line_map m;

	line_map_init(&m);
	CHECK_EQ(line_map_add_object(&m, &object, in, 7), 0);
	CHECK_EQ(m.n_ranges, 3);
	CHECK_EQ(m.ranges[0].lo, 0x10);
	CHECK_EQ(m.ranges[0].hi, 0x28);
	CHECK_EQ(m.ranges[0].line, 1);
	CHECK_EQ(m.ranges[1].line, 2);
	CHECK_EQ(m.ranges[2].lo, 0x30);
	CHECK_EQ(m.n_objects, 1);
	CHECK_STR(m.objects[0].path, "/bin/x");
	CHECK(m.objects[0].path != object.path);
	CHECK_EQ(m.objects[0].build_id[1], 2);
	CHECK_EQ(m.objects[0].ino, 8);
	CHECK_EQ(m.objects[0].count, 3);
	line_map_deinit(&m);
}

TEST(later_range_wins)
{
	const struct line_range in[] = {
	    {0, 100, 1}, {10, 20, 2}, {15, 30, 3}, {90, 200, 4}, {90, 95, 1}};
	static const struct {
		uint64_t at;
		uint32_t line;
	} want[] = {{0, 1}, {9, 1}, {10, 2}, {14, 2}, {15, 3}, {29, 3}, {30, 1}, {89, 1}, {90, 1},
	    {94, 1}, {95, 4}, {199, 4}, {200, 0}};
	struct line_map m;

	line_map_init(&m);
	CHECK_EQ(line_map_add_object(&m, &object, in, 5), 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		CHECK_EQ(line_map_lookup(&m, 0, want[i].at), want[i].line);
	line_map_deinit(&m);
}

/* Random ranges, painted one after the other into an array, must give the same map. */
TEST(painting_model)
{
	enum { SIZE = 200 };
	struct rng rng = {42};

	for (int round = 0; round < 300; round++) {
		struct line_range in[40];
		uint32_t model[SIZE] = {0};
		size_t n = rng_below(&rng, 41);
		struct line_map m;
		bool same = true;

		for (size_t i = 0; i < n; i++) {
			in[i].lo = rng_below(&rng, SIZE);
			in[i].hi = in[i].lo + rng_below(&rng, SIZE - in[i].lo + 1);
			in[i].line = 1 + (uint32_t)rng_below(&rng, 5);
			for (uint64_t a = in[i].lo; a < in[i].hi; a++)
				model[a] = in[i].line;
		}
		line_map_init(&m);
		CHECK_EQ(line_map_add_object(&m, &object, in, n), 0);
		for (uint64_t a = 0; a < SIZE; a++)
			same &= line_map_lookup(&m, 0, a) == model[a];
		for (size_t i = 1; i < m.n_ranges; i++) {
			CHECK(m.ranges[i - 1].hi <= m.ranges[i].lo);
			CHECK(m.ranges[i - 1].hi < m.ranges[i].lo ||
			      m.ranges[i - 1].line != m.ranges[i].line);
		}
		CHECK(same);
		line_map_deinit(&m);
	}
}

TEST(large_offsets)
{
	const struct line_range in[] = {
	    {0xfffffffffffff000, UINT64_MAX, 1}, {0x7fff00000000, 0x7fff00000010, 2}, {5, 6, 3}};
	struct line_map m;

	line_map_init(&m);
	CHECK_EQ(line_map_add_object(&m, &object, in, 3), 0);
	CHECK_EQ(line_map_lookup(&m, 0, 5), 3);
	CHECK_EQ(line_map_lookup(&m, 0, 0x7fff00000008), 2);
	CHECK_EQ(line_map_lookup(&m, 0, 0xfffffffffffff800), 1);
	CHECK_EQ(line_map_lookup(&m, 0, UINT64_MAX), 0);
	line_map_deinit(&m);
}

TEST(objects_are_apart)
{
	const struct line_range first[] = {{0, 10, 1}}, second[] = {{0, 5, 2}};
	struct line_map m;

	line_map_init(&m);
	CHECK_EQ(line_map_lookup(&m, 0, 0), 0);
	CHECK_EQ(line_map_add_object(&m, &object, first, 1), 0);
	CHECK_EQ(line_map_add_object(&m, &object, NULL, 0), 0);
	CHECK_EQ(line_map_add_object(&m, &object, second, 1), 0);
	CHECK_EQ(line_map_lookup(&m, 0, 4), 1);
	CHECK_EQ(line_map_lookup(&m, 1, 4), 0);
	CHECK_EQ(line_map_lookup(&m, 2, 4), 2);
	CHECK_EQ(line_map_lookup(&m, 2, 5), 0);
	CHECK_EQ(line_map_lookup(&m, 3, 4), 0);
	line_map_deinit(&m);
}

TEST(objects_are_told_apart)
{
	const struct line_object plain = {.path = "/bin/y", .dev = 7, .ino = 8};
	struct line_object o = object;
	struct line_map m;

	line_map_init(&m);
	CHECK_EQ(line_map_find_object(&m, &object), -1);
	CHECK_EQ(line_map_add_object(&m, &object, NULL, 0), 0);
	CHECK_EQ(line_map_add_object(&m, &plain, NULL, 0), 0);
	CHECK_EQ(line_map_find_object(&m, &object), 0);
	o.dev = 9; /* an image's file in another container */
	CHECK_EQ(line_map_find_object(&m, &o), 0);
	o = object;
	o.build_id[0] = 3;
	CHECK_EQ(line_map_find_object(&m, &o), -1);
	o.build_id_len = 0; /* only dev and ino are left to go by */
	CHECK_EQ(line_map_find_object(&m, &o), 0);
	o = plain;
	CHECK_EQ(line_map_find_object(&m, &o), 1);
	o.dev = 9; /* the first file of either tmpfs has the same inode number */
	CHECK_EQ(line_map_find_object(&m, &o), -1);
	o = plain;
	o.path = (char *)"/bin/z";
	CHECK_EQ(line_map_find_object(&m, &o), -1);
	line_map_deinit(&m);
}

/* As if what came later had never come: what comes then has its ids and its ranges. */
TEST(later_objects_are_taken_back)
{
	const struct line_range first[] = {{0, 10, 1}, {10, 20, 2}};
	struct line_object other = object;
	struct line_map m;
	char name[32];

	other.path = (char *)"/bin/other";
	line_map_init(&m);
	line_map_line(&m, "f", 0);
	line_map_line(&m, "/a.c", 7);
	line_map_join(&m, 1, 2);
	CHECK_EQ(line_map_add_object(&m, &object, first, 2), 0);
	for (int round = 0; round < 3; round++) {
		line_map_join(&m, 1, line_map_line(&m, "/a.c", 8));
		for (uint32_t i = 0; i < 1000; i++) {
			snprintf(name, sizeof(name), "g%u", i);
			if (line_map_line(&m, name, 0) != 4 + i)
				CHECK(!"a function has another id");
		}
		CHECK_EQ(m.lines[1].n_lines, 2);
		CHECK_EQ(line_map_line(&m, "/a.c", 7), 2);
		CHECK_EQ(line_map_add_object(&m, &other, first, 2), 0);
		m.lines[2].function = 5;
		line_map_cut(&m, 1, 3);
		CHECK_EQ(m.n_objects, 1);
		CHECK_EQ(m.n_ranges, 2);
		CHECK_EQ(m.n_lines, 3);
		CHECK_EQ(m.lines[1].n_lines, 1);
		CHECK_EQ(m.lines[2].function, 0);
		CHECK_EQ(line_map_find_object(&m, &other), -1);
		CHECK_EQ(line_map_lookup(&m, 0, 15), 2);
	}
	line_map_deinit(&m);
}

TEST(modules_are_renamed)
{
	struct line_map m;

	line_map_init(&m);
	CHECK_EQ(line_map_rename(&m, "check", "check"), 0);
	CHECK_EQ(line_map_rename(&m, "check", "server"), 0);
	CHECK_EQ(line_map_rename(&m, "check", "other"), 0); /* the first name holds */
	CHECK_EQ(line_map_line(&m, "check:f", 0), 1);
	CHECK_STR(m.lines[1].file, "server:f");
	CHECK_EQ(line_map_line(&m, "server:f", 0), 1);
	CHECK_STR(m.lines[line_map_line(&m, "check+0x10", 0)].file, "server+0x10");
	CHECK_STR(m.lines[line_map_line(&m, "check", 0)].file, "server");
	CHECK_STR(m.lines[line_map_line(&m, "checker:f", 0)].file, "checker:f");
	CHECK_STR(m.lines[line_map_line(&m, "chec", 0)].file, "chec");
	CHECK_STR(m.lines[line_map_line(&m, "check:f", 3)].file, "check:f"); /* a source file */
	line_map_deinit(&m);
}

static void fill_names(struct line_map *m)
{
	line_map_init(m);
	line_map_line(m, "/src/a.c", 10);
	line_map_line(m, "/src/a.c", 14);
	line_map_line(m, "/src/lib/util.c", 3);
	line_map_line(m, "/src/app/util.c", 3);
	line_map_line(m, "/src/app/util.c", 5);
}

TEST(find)
{
	struct line_map m;
	struct error e = {0};

	fill_names(&m);
	CHECK_EQ(line_map_find(&m, "/src/a.c", 10, &e), 1);
	CHECK_EQ(line_map_find(&m, "a.c", 14, &e), 2);
	CHECK_EQ(line_map_find(&m, "app/util.c", 3, &e), 4);
	/* only one of the two files has that line */
	CHECK_EQ(line_map_find(&m, "util.c", 5, &e), 5);
	CHECK_STR(e.cause, "");
	line_map_deinit(&m);
}

TEST(find_exact_path)
{
	struct line_map m;

	fill_names(&m);
	line_map_line(&m, "util.c", 3);
	CHECK_EQ(line_map_find(&m, "util.c", 3, NULL), 6);
	line_map_deinit(&m);
}

TEST(find_fails)
{
	struct line_map m;
	struct error e = {0};

	fill_names(&m);
	CHECK_EQ(line_map_find(&m, "util.c", 3, &e), 0);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK(strstr(e.hint, "/src/lib/util.c:3") && strstr(e.hint, "/src/app/util.c:3"));
	CHECK_EQ(line_map_find(&m, "a.c", 12, &e), 0);
	CHECK(strstr(e.hint, "10 and 14"));
	CHECK_EQ(line_map_find(&m, "a.c", 20, &e), 0);
	CHECK(strstr(e.hint, "is 14"));
	CHECK_EQ(line_map_find(&m, "utill.c", 3, &e), 0);
	CHECK(strstr(e.hint, "did you mean 'util.c'"));
	CHECK_EQ(line_map_find(&m, "c.c", 3, &e), 0);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK_EQ(line_map_find(&m, "no_such_thing", 3, &e), 0);
	CHECK(strstr(e.hint, "cozbpf lines"));
	line_map_deinit(&m);
}

TEST(functions_with_what_they_call)
{
	struct line_map m;
	uint32_t id;
	char *name;

	CHECK(!line_map_init(&m));
	m.inclusive = true;
	id = line_map_line(&m, "app:main", 0);
	name = source_line_name(&m.lines[id]);
	CHECK_STR(name, "app:main (inclusive)");
	CHECK(source_line_is_inclusive(name));
	free(name);
	id = line_map_line(&m, "/src/app.c", 7);
	name = source_line_name(&m.lines[id]);
	CHECK_STR(name, "/src/app.c:7");
	CHECK(!source_line_is_inclusive(name));
	free(name);
	CHECK(!source_line_is_inclusive(INCLUSIVE_SUFFIX));
	line_map_deinit(&m);
}
