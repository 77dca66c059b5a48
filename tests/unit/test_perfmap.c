// SPDX-License-Identifier: BSD-3-Clause
/* Perf maps as runtimes write them, and as nobody should. */
#include "check.h"

#include "core/places/perfmap.h"

static struct line_map parse(const char *text)
{
	struct line_map map;

	line_map_init(&map);
	CHECK_EQ(perf_map_parse(text, strlen(text), &map), 0);
	CHECK_EQ(map.n_objects, 1);
	return map;
}

static const char *at(const struct line_map *map, uint64_t address)
{
	return map->lines[line_map_lookup(map, 0, address)].file;
}

TEST(functions)
{
	struct line_map map = parse("7f0000001000 20 spin\n7f0000001020 0x10 int add(int, int)\n"
				    "0x7f0000002000 8 a  \nFFFFFFFFFFFFFF00 f top\r\n");

	CHECK_STR(at(&map, 0x7f0000001000), "[jit]:spin");
	CHECK_STR(at(&map, 0x7f000000101f), "[jit]:spin");
	CHECK_STR(at(&map, 0x7f0000001020), "[jit]:int add(int, int)");
	CHECK(!line_map_lookup(&map, 0, 0x7f0000001030));
	CHECK_STR(at(&map, 0x7f0000002007), "[jit]:a");
	CHECK_STR(at(&map, 0xffffffffffffff0e), "[jit]:top");
	CHECK_EQ(map.n_ranges, 4);
	line_map_deinit(&map);
}

/* Code comes where other code was. */
TEST(later_lines_win)
{
	struct line_map map = parse("1000 100 old\n1040 20 new\n1050 40 newest\n");

	CHECK_STR(at(&map, 0x1000), "[jit]:old");
	CHECK_STR(at(&map, 0x1040), "[jit]:new");
	CHECK_STR(at(&map, 0x1050), "[jit]:newest");
	CHECK_STR(at(&map, 0x108f), "[jit]:newest");
	CHECK_STR(at(&map, 0x1090), "[jit]:old");
	CHECK_EQ(map.n_ranges, 4);
	line_map_deinit(&map);
}

/* Versions of one function are one unit. */
TEST(tiers)
{
	struct line_map map = parse("1000 10 JS:~sum /a.js:3:13\n2000 10 JS:*sum /a.js:3:13\n"
				    "3000 10 int32 [app] P::F(int32)[Tier0]\n"
				    "4000 10 int32 [app] P::F(int32)[OptimizedTier1]\n"
				    "5000 10 RegExp:*a\n6000 10 operator[]\n7000 10 a.js:7\n"
				    "8000 10 JS:\n9000 10 Function:+\n");

	CHECK_STR(at(&map, 0x1000), "[jit]:JS:sum (/a.js:3:13)");
	CHECK_EQ(line_map_lookup(&map, 0, 0x1000), line_map_lookup(&map, 0, 0x2000));
	CHECK_STR(at(&map, 0x3000), "[jit]:int32 [app] P::F(int32)");
	CHECK_EQ(line_map_lookup(&map, 0, 0x3000), line_map_lookup(&map, 0, 0x4000));
	CHECK_STR(at(&map, 0x5000), "[jit]:RegExp:*a");
	CHECK_STR(at(&map, 0x6000), "[jit]:operator[]");
	CHECK_STR(at(&map, 0x7000), "[jit]:(a.js:7)");
	CHECK_STR(at(&map, 0x8000), "[jit]:JS:");
	CHECK_STR(at(&map, 0x9000), "[jit]:Function:");
	line_map_deinit(&map);
}

TEST(nonsense)
{
	static const char *const bad[] = {"", "\n\n", "1000 10 cut off", "1000\n", "1000 10\n",
	    "1000 10 \n", "1000 0 empty\n", "x 10 a\n", " 1000 10 a\n", "1000 y a\n", "0x 10 a\n",
	    "12345678901234567 10 a\n", "1000 ffffffff much\n", "ffffffffffffffff 10 over\n",
	    "1000\t10\ta\n"};
	struct line_map map;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		map = parse(bad[i]);
		CHECK_EQ(map.n_ranges, 0);
		line_map_deinit(&map);
	}
	map = parse("junk\n1000 10 a\tb\x01\nmore\n2000 10 c\n3000 10 d");
	CHECK_STR(at(&map, 0x1000), "[jit]:a?b?");
	CHECK_STR(at(&map, 0x2000), "[jit]:c");
	CHECK_EQ(map.n_ranges, 2);
	line_map_deinit(&map);
}

/* Names are cut, and of many lines the last ones stay. */
TEST(limits)
{
	char *text = malloc(40 * (PERF_MAP_LINES + 10)), *end = text;
	struct line_map map;

	memset(text, 'n', 2000);
	memcpy(text, "1000 10 ", 8);
	strcpy(text + 1990, ":13\n");
	map = parse(text);
	CHECK(strlen(at(&map, 0x1000)) > 400 && strlen(at(&map, 0x1000)) < 512);
	line_map_deinit(&map);
	for (int i = 0; i < PERF_MAP_LINES + 5; i++)
		end += sprintf(end, "%x 10 f%d\n", 0x1000 + i * 16, i);
	map = parse(text);
	CHECK_EQ(map.n_ranges, PERF_MAP_LINES);
	CHECK(!line_map_lookup(&map, 0, 0x1000 + 4 * 16));
	CHECK_STR(at(&map, 0x1000 + 5 * 16), "[jit]:f5");
	line_map_deinit(&map);
	free(text);
}
