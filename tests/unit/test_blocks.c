// SPDX-License-Identifier: BSD-3-Clause
/* Basic blocks: of code that was written for it (fixtures/blocks.S), and of what compilers make,
 * executed step by step (blocks_steps.h). */
#include "debug_fixture.h"

#include "core/places/scope.h"

static struct loaded load_blocks(const char *path, const char *pattern)
{
	const struct scope s = {
	    .sources = &pattern, .n_sources = pattern ? 1 : 0, .granularity = GRANULARITY_BLOCK};
	struct loaded l = {0};

	line_map_init(&l.map);
	l.err = object_open(path, "", &l.o, &l.e);
	if (!l.err)
		l.err = object_add_units(l.o, &s, &l.map, &l.n_lines, &l.e);
	return l;
}

static const struct line_range *range_of(const struct loaded *l, uint32_t unit)
{
	for (size_t i = 0; i < l->map.n_ranges; i++)
		if (l->map.ranges[i].line == unit)
			return &l->map.ranges[i];
	return NULL;
}

static struct block_site site_of(struct loaded *l, const char *name)
{
	const struct line_range *r = range_of(l, line_map_find_function(&l->map, name, &l->e));
	struct block_site ret = {0};

	CHECK(r);
	if (r)
		CHECK_EQ(object_block_sites(l->o, &r->lo, 1, &ret, &l->e), 0);
	return ret;
}

/* A block as it should be: places are distances from its begin. */
struct expected {
	const char *name;
	unsigned size, entry, exit, instructions;
	const char *is; /* e, x: entry, exit are cheap; c: it calls; l: it loops */
};

static void check_block(struct loaded *l, const struct expected *e)
{
	struct block_site s = site_of(l, e->name);
	char is[8];

	snprintf(is, sizeof(is), "%s%s%s%s", s.entry_is_cheap ? "e" : "",
	    s.exit_is_cheap ? "x" : "", s.calls ? "c" : "", s.loops ? "l" : "");
	if (s.end - s.start != e->size || s.entry - s.start != e->entry ||
	    s.exit - s.start != e->exit || s.instructions != e->instructions ||
	    strcmp(is, e->is) != 0)
		fprintf(stderr, "block %s: size %llu, entry %llu, exit %llu, %u instructions, %s\n",
		    e->name, (unsigned long long)(s.end - s.start),
		    (unsigned long long)(s.entry - s.start), (unsigned long long)(s.exit - s.start),
		    s.instructions, is);
	CHECK_EQ(s.end - s.start, e->size);
	CHECK_EQ(s.entry - s.start, e->entry);
	CHECK_EQ(s.exit - s.start, e->exit);
	CHECK_EQ(s.instructions, e->instructions);
	CHECK_STR(is, e->is);
	CHECK(!strncmp(e->name, s.function, strlen(s.function)));
	CHECK_STR(s.lines, "");
	CHECK_EQ(strtoull(strrchr(e->name, '+') + 1, NULL, 16), s.function_offset);
}

static void check_blocks(const char *path, const struct expected *e, size_t n)
{
	struct loaded l = load_blocks(path, NULL);

	CHECK_EQ(l.err, 0);
	CHECK_EQ(l.n_lines, n);
	for (size_t i = 0; i < n; i++)
		check_block(&l, &e[i]);
	unload(&l);
}

#if defined(__x86_64__)
#include "blocks_steps.h"

static const char flags[] = "-nostdlib -static -Wl,--build-id=none";

/* Functions that are not understood have no block. */
TEST(boundaries)
{
	static const struct expected blocks[] = {
	    {"straight+0x0", 17, 0, 16, 10, "ec"},
	    {"other+0x0", 5, 0, 0, 1, ""},
	    {"other+0x5", 4, 0, 2, 2, "xl"},
	    {"other+0x9", 1, 0, 0, 1, ""},
	    {"gaps+0x0", 4, 0, 2, 2, "x"},
	    {"gaps+0x4", 7, 0, 5, 2, "x"},
	    {"gaps+0x15", 3, 0, 2, 2, ""},
	    {"gaps+0x1a", 3, 0, 2, 2, ""},
	    {"skips+0x0", 4, 0, 2, 2, "x"},
	    {"skips+0x4", 4, 0, 0, 1, ""},
	    {"skips+0x8", 4, 0, 3, 2, ""},
	    {"sites+0x0", 10, 3, 10, 3, "c"},
	    {"sites+0xa", 2, 0, 2, 1, ""},
	    {"sites+0xc", 4, 0, 2, 2, "x"},
	    {"sites+0x10", 2, 0, 0, 1, "ex"},
	    {"sites+0x12", 5, 0, 0, 2, ""},
	    {"quarter+0x0", 12, 2, 10, 7, "exl"},
	    {"quarter+0xc", 12, 0, 10, 7, "xc"},
	    {"switch+0x0", 16, 0, 14, 4, ""},
	    {"switch+0x10", 2, 0, 0, 1, ""},
	    {"switch+0x12", 2, 0, 0, 1, ""},
	    {"switch+0x14", 9, 0, 2, 2, ""},
	    {"switch+0x1d", 1, 0, 0, 1, ""},
	    {"switch+0x1f", 2, 0, 0, 1, ""},
	    {"switch+0x21", 1, 0, 0, 1, ""},
	    {"plain+0x0", 3, 0, 2, 3, "e"},
	    {"from_label+0x0", 23, 0, 21, 5, ""},
	    {"from_label+0x17", 2, 0, 0, 1, ""},
	    {"from_label+0x19", 3, 0, 2, 2, ""},
	    {"from_label+0x1d", 3, 0, 2, 2, ""},
	    {"_start+0x0", 7, 0, 0, 2, "exc"},
	};

	check_blocks(
	    build("gcc", flags, "blocks.S", "blocks"), blocks, sizeof(blocks) / sizeof(*blocks));
}

TEST(no_block_there)
{
	struct loaded l = load_blocks(build("gcc", flags, "blocks.S", "blocks"), NULL);
	const struct line_range *r =
	    range_of(&l, line_map_find_function(&l.map, "straight+0x0", NULL));
	const uint64_t starts[] = {r->lo, r->lo + 1, r->lo + 4, 0, UINT64_MAX};
	struct block_site sites[5];

	CHECK_EQ(object_block_sites(l.o, starts, 5, sites, &l.e), 0);
	CHECK_EQ(sites[0].start, r->lo);
	for (size_t i = 1; i < 5; i++)
		CHECK(!sites[i].start && !sites[i].end);
	unload(&l);
}

/* A name that is no block's gets those near it. */
TEST(names)
{
	struct loaded l = load_blocks(build("gcc", flags, "blocks.S", "blocks"), NULL);
	struct error e = {0};

	CHECK(line_map_find_function(&l.map, "blocks:other+0x5", &e));
	CHECK_EQ(line_map_find_function(&l.map, "other+0x6", &e), 0);
	CHECK_STR(e.cause, "no block or function begins at 'other+0x6'");
	CHECK_STR(e.hint, "the nearest ones are 'blocks:other+0x5' and 'blocks:other+0x9'");
	CHECK_EQ(line_map_find_function(&l.map, "blocks:other+0x99", &e), 0);
	CHECK_STR(e.hint, "the nearest one is 'blocks:other+0x9'");
	CHECK_EQ(line_map_find_function(&l.map, "gaps", &e), 0);
	CHECK_STR(e.hint, "the nearest ones are 'blocks:gaps+0x0' and 'blocks:gaps+0x4'");
	CHECK_EQ(line_map_find_function(&l.map, "gap+0x1", &e), 0);
	CHECK_STR(e.cause, "no function 'gap+0x1' in the program");
	unload(&l);
}

/* Each of them has blocks of its own. */
TEST(clones)
{
	struct loaded l;
	size_t n = 0;

	CHECK(run("printf 'namespace ns { __attribute__((noinline)) int f(int x) { return x; }\\n"
		  "__attribute__((noinline)) int f(long x) { return (int)x; } }\\n"
		  "int main() { return ns::f(1) + ns::f(2L); }\\n' >over.cc &&"
		  "g++ -O1 -o over over.cc"));
	l = load_blocks(DIR "/over", NULL);
	CHECK(line_map_find_function(&l.map, "over:ns::f+0x0", NULL));
	for (uint32_t i = 1; i < l.map.n_lines; i++)
		n += !strncmp(l.map.lines[i].file, "over:ns::f@0x", 13);
	CHECK_EQ(n, 1);
	unload(&l);
	l = load_blocks(build("gcc", "-O2 -fno-inline", "functions.c", "functions"), NULL);
	CHECK(line_map_find_function(&l.map, "shared+0x0", NULL));
	CHECK(line_map_find_function(&l.map, "functions:shared.cold+0x0", NULL));
	CHECK_EQ(l.n_lines, l.map.n_ranges);
	unload(&l);
}

/* By the table for exceptions alone, then by nothing. */
TEST(stripped)
{
	struct loaded with, l;

	build("gcc", "-O2", "blocks.c", "whole");
	CHECK(run("strip -o bare whole && strip -R .eh_frame -R .eh_frame_hdr -o nothing whole"));
	with = load_blocks(DIR "/whole", NULL);
	l = load_blocks(DIR "/bare", NULL);
	CHECK(l.n_lines + 20 > with.n_lines && with.n_lines > 50);
	CHECK_EQ(line_map_find_function(&l.map, "main+0x0", NULL), 0);
	CHECK(!strncmp(l.map.lines[1].file, "bare+0x", 7));
	unload(&l);
	unload(&with);
	l = load_blocks(DIR "/nothing", NULL);
	CHECK_EQ(l.err, -1);
	CHECK(strstr(l.e.cause, "no function of '" DIR "/nothing' is known that has blocks"));
	unload(&l);
	l = load_blocks(DIR "/bare", "%");
	CHECK_EQ(l.err, -1);
	CHECK(strstr(l.e.cause, "has no debug information"));
	unload(&l);
}

/* Files of the scope, and where the lines are. */
TEST(lines)
{
	const char *path = build("gcc", "-O1 -g", "blocks.c", "lines");
	struct loaded all = load_blocks(path, NULL), own, none;
	struct block_site site = site_of(&all, "fib+0x0");
	unsigned first = 0, last = 0;

	CHECK_EQ(sscanf(site.lines, "blocks.c:%u-%u", &first, &last), 2);
	CHECK(first >= 13 && last <= 16 && first < last);
	CHECK_STR(site_of(&all, "_start+0x0").lines, "");
	own = load_blocks(path, "%/blocks.c");
	CHECK(own.n_lines && own.n_lines < all.n_lines);
	CHECK(line_map_find_function(&own.map, "fib+0x0", NULL));
	CHECK(!line_map_find_function(&own.map, "_start+0x0", NULL));
	none = load_blocks(path, "%/other.c");
	CHECK_EQ(none.err, 0);
	CHECK_EQ(none.n_lines, 0);
	unload(&all);
	unload(&own);
	unload(&none);
}

static void check_steps(const char *compiler, const char *options, const char *source)
{
	char flags_now[256];
	struct steps s = {0};
	struct loaded l;
	const char *path;

	/* the loader's look-ups are not what is to be executed */
	snprintf(flags_now, sizeof(flags_now), "%s -Wl,-z,now", options);
	path = build(compiler, flags_now, source, "steps");
	l = load_blocks(path, NULL);

	CHECK_EQ(l.err, 0);
	if (!l.err && steps_execute(&s, path))
		steps_judge(&s, &l, options);
	steps_deinit(&s);
	unload(&l);
}

TEST(executed)
{
	check_steps("gcc", "-O0", "blocks.c");
	check_steps("gcc", "-O2", "blocks.c");
	check_steps("gcc", "-O3", "blocks.c");
	check_steps("gcc", "-Os -fcf-protection", "blocks.c");
	check_steps("gcc", "-O2 -no-pie -fno-pie", "blocks.c");
	if (have("clang"))
		check_steps("clang", "-O2", "blocks.c");
}

TEST(exceptions)
{
	check_steps("g++", "-O1", "blocks_throw.cc");
	check_steps("g++", "-O2", "blocks_throw.cc");
	if (have("clang++"))
		check_steps("clang++", "-O2 -no-pie", "blocks_throw.cc");
}
#endif

/* On any machine that has a compiler for it. */
TEST(arm64)
{
	static const struct expected blocks[] = {
	    {"straight+0x0", 16, 0, 12, 4, "xc"},
	    {"loop+0x0", 4, 0, 0, 1, ""},
	    {"loop+0x4", 8, 0, 4, 2, "xl"},
	    {"loop+0xc", 4, 0, 0, 1, "ex"},
	    {"branches+0x0", 4, 0, 0, 1, "ex"},
	    {"branches+0x4", 8, 0, 4, 2, "x"},
	    {"branches+0xc", 8, 0, 4, 2, "x"},
	    {"branches+0x14", 8, 0, 4, 2, "x"},
	    {"branches+0x1c", 8, 0, 8, 2, "c"},
	    {"branches+0x24", 12, 0, 4, 3, ""},
	    {"_start+0x0", 8, 0, 0, 2, "exc"},
	};

	need_arm64();
	check_blocks(
	    build(ARM64_GCC, "-nostdlib -static -Wl,--build-id=none", "blocks_arm64.S", "arm64"),
	    blocks, sizeof(blocks) / sizeof(*blocks));
}
