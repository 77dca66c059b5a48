// SPDX-License-Identifier: BSD-3-Clause
/* Functions as units: their names and bounds from symbols, from .eh_frame alone, from nothing.
 */
#include "debug_fixture.h"

static struct loaded load_functions(const char *path)
{
	struct loaded l = {0};

	line_map_init(&l.map);
	l.err = object_open(path, "", &l.o, &l.e);
	if (!l.err)
		l.err = object_add_functions(l.o, &l.map, &l.n_lines, &l.e);
	CHECK_EQ(l.err, 0);
	return l;
}

static uint32_t unit(const struct loaded *l, const char *name)
{
	return line_map_find_function(&l->map, name, NULL);
}

static size_t n_ranges(const struct loaded *l, uint32_t id)
{
	size_t n = 0;

	for (size_t i = 0; i < l->map.n_ranges; i++)
		n += l->map.ranges[i].line == id;
	return n;
}

/* The unit of the code where a symbol of another build of the same source begins. */
static uint32_t unit_at(const struct loaded *l, const char *unstripped, const char *symbol)
{
	struct probe_site *sites = NULL;
	struct object *o = NULL;
	struct error e = {0};
	uint32_t id = 0;
	size_t n = 0;

	CHECK_EQ(object_open(unstripped, "", &o, &e), 0);
	CHECK_EQ(object_find_symbol(o, symbol, 0, &sites, &n, &e), 0);
	if (n)
		id = line_map_lookup(&l->map, 0, sites[0].offset);
	free(sites);
	object_close(o);
	return id;
}

TEST(by_symbols)
{
	const char *path = build("gcc", "-O2 -fno-inline", "functions.c", "functions");
	struct loaded l = load_functions(path);
	struct error e = {0};

	CHECK(unit(&l, "functions:main"));
	CHECK_EQ(unit(&l, "main"), unit(&l, "functions:main"));
	CHECK(unit(&l, "local"));
	/* Of two names for one function, the one without underscores. */
	CHECK(unit(&l, "shared"));
	CHECK(!unit(&l, "_other_name"));
	/* The cold part is the function's: two ranges, one unit. */
	CHECK(n_ranges(&l, unit(&l, "shared")) >= 2);
	CHECK(!unit(&l, "shared.cold"));
	/* A label is no function; what follows the function is nobody's. */
	CHECK(!unit(&l, "inner"));
	CHECK_EQ(n_ranges(&l, unit(&l, "bare")), 1);
	CHECK(unit(&l, "functions"));
	CHECK_EQ(line_map_find_function(&l.map, "shred", &e), 0);
	CHECK(strstr(e.hint, "'shared'"));
	CHECK_EQ(l.n_lines, l.map.n_lines - 1);
	for (size_t i = 1; i < l.map.n_lines; i++)
		CHECK_EQ(l.map.lines[i].line, 0);
	/* A second module with a function of that name: the name alone does not do. */
	CHECK(line_map_line(&l.map, "other:main", 0));
	CHECK_EQ(line_map_find_function(&l.map, "main", &e), 0);
	CHECK(strstr(e.cause, "'main' is in several modules"));
	CHECK(strstr(e.hint, "'functions:main', 'other:main'"));
	CHECK(unit(&l, "functions:main"));
	unload(&l);
}

/* Names go, bounds stay. */
TEST(by_exception_table)
{
	struct loaded with, l;
	char full[4096];
	uint32_t id;

	snprintf(
	    full, sizeof(full), "%s", build("gcc", "-O2 -fno-inline", "functions.c", "unstripped"));
	CHECK(run("strip -o bare unstripped"));
	with = load_functions(full);
	l = load_functions(DIR "/bare");
	id = unit_at(&l, full, "shared");
	CHECK(id && id != unit_at(&l, full, "main") && id != unit_at(&l, full, "local"));
	CHECK(!strncmp(l.map.lines[id].file, "bare+0x", 7));
	/* No entry is for assembler code: the remainder of the module, or the entry before. */
	CHECK(unit_at(&l, full, "bare"));
	CHECK(l.n_lines > 5 && with.n_lines > 5);
	unload(&with);
	unload(&l);
}

/* A stripped file with what distributions leave in it, packed by @xz: as find-debuginfo of rpm
 * does.
 */
static bool add_minidebug(const char *name, const char *xz)
{
	static bool is_built;

	if (!is_built) {
		build("gcc", "-O2 -fno-inline", "functions.c", "whole");
		is_built = run("nm -f posix --defined-only whole | "
			       "awk '$2 ~ /[Tt]/ {print $1}' >keep && "
			       "objcopy --only-keep-debug whole part && "
			       "objcopy -S --keep-symbols=keep part mini && "
			       "strip -o stripped whole");
	}
	return is_built && run("(%s) <mini >mini.xz && objcopy --add-section "
			       ".gnu_debugdata=mini.xz stripped %s",
			       xz, name);
}

static size_t n_sites(const char *path, const char *symbol, struct error *e)
{
	struct probe_site *sites = NULL;
	struct object *o = NULL;
	size_t n = 0;

	CHECK_EQ(object_open(path, "", &o, e), 0);
	if (object_find_symbol(o, symbol, 0, &sites, &n, e))
		n = 0;
	free(sites);
	object_close(o);
	return n;
}

/* Symbols of a stripped file's own, packed. */
TEST(by_minidebug)
{
	struct error e = {0};
	struct loaded l;

	CHECK(add_minidebug("packed", "xz"));
	l = load_functions(DIR "/packed");
	CHECK(unit(&l, "packed:main"));
	CHECK(unit(&l, "local"));
	CHECK_EQ(unit_at(&l, DIR "/whole", "shared"), unit(&l, "shared"));
	CHECK(n_ranges(&l, unit(&l, "shared")) >= 2);
	unload(&l);
	/* -P finds them as well. */
	CHECK_EQ(n_sites(DIR "/packed", "local", &e), 1);
	/* Where there is a table of symbols, that is what counts. */
	CHECK(run("objcopy --add-section .gnu_debugdata=mini.xz --strip-symbol=local whole both"));
	l = load_functions(DIR "/both");
	CHECK(unit(&l, "both:main"));
	CHECK(!unit(&l, "local"));
	unload(&l);
}

static void check_unnamed(const char *name)
{
	char path[4096];
	struct error e = {0};
	struct loaded l;

	snprintf(path, sizeof(path), DIR "/%s", name);
	l = load_functions(path);
	CHECK(l.n_lines > 5);
	CHECK(!unit(&l, "local"));
	CHECK(unit_at(&l, DIR "/whole", "local"));
	unload(&l);
	CHECK_EQ(n_sites(path, "local", &e), 0);
	CHECK(strstr(e.cause, "no symbol 'local'"));
}

/* Bombs and damage: the table for exceptions serves. */
TEST(by_bad_minidebug)
{
	CHECK(add_minidebug("wide", "xz --lzma2=dict=256MiB,mf=hc3,mode=fast,nice=3"));
	check_unnamed("wide");
	CHECK(add_minidebug("cut", "xz | head -c 500"));
	check_unnamed("cut");
	CHECK(add_minidebug("flipped",
	    "xz >x; printf xxxx | dd of=x bs=1 seek=300 conv=notrunc status=none; cat x"));
	check_unnamed("flipped");
	CHECK(add_minidebug("text", "echo text"));
	check_unnamed("text");
	CHECK(add_minidebug("other", "echo text | xz"));
	check_unnamed("other");
	CHECK(add_minidebug("none", ":"));
	check_unnamed("none");
	/* The symbols are whole, and 70 MB of nothing follow them. */
	CHECK(add_minidebug("bomb", "(cat; head -c 70000000 /dev/zero) | xz -0"));
	check_unnamed("bomb");
	CHECK(add_minidebug("long", "(cat; head -c 50000000 /dev/zero) | xz -0"));
	CHECK_EQ(n_sites(DIR "/long", "local", &(struct error){0}), 1);
}

/* Neither symbols nor table: modules. */
TEST(by_nothing)
{
	struct loaded l;

	build("gcc", "-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables", "functions.c",
	    "tables");
	CHECK(run("strip -R .eh_frame -R .eh_frame_hdr -o nothing tables"));
	l = load_functions(DIR "/nothing");
	CHECK_EQ(l.n_lines, 1);
	CHECK(!strcmp(l.map.lines[1].file, "nothing"));
	CHECK(l.map.n_ranges >= 1);
	unload(&l);
}

/* C++: parameters go, and with them what tells overloads apart. */
TEST(demangled)
{
	struct loaded l;

	CHECK(run("printf 'namespace ns { __attribute__((noinline)) int f(int x) { return x; }\\n"
		  "__attribute__((noinline)) int f(long x) { return (int)x; } }\\n"
		  "int main() { return ns::f(1) + ns::f(2L); }\\n' >over.cc &&"
		  "g++ -O1 -o over over.cc"));
	l = load_functions(DIR "/over");
	CHECK(unit(&l, "over:ns::f"));
	CHECK(unit(&l, "ns::f"));
	unload(&l);
}

/* Lines where there are some, functions elsewhere; what is asked for goes first. */
TEST(granularity)
{
	struct scope s = {.granularity = GRANULARITY_AUTO};
	const char *pattern = "%.c";
	enum granularity g;
	struct error e = {0};

	CHECK(scope_has_lines(&s, true));
	CHECK(!scope_has_lines(&s, false));
	CHECK(!scope_has_libraries(&s));
	CHECK(!scope_has_binary(&s, "/lib/x.so", false));
	s.granularity = GRANULARITY_FUNCTION;
	CHECK(!scope_has_lines(&s, true));
	CHECK(scope_has_binary(&s, "/lib/x.so", false));
	s.granularity = GRANULARITY_LINE;
	CHECK(scope_has_lines(&s, false));
	s = (struct scope){.sources = &pattern, .n_sources = 1};
	CHECK(scope_has_lines(&s, false));
	CHECK_EQ(granularity_parse("function", &g, &e), 0);
	CHECK_EQ(g, GRANULARITY_FUNCTION);
	CHECK_EQ(granularity_parse(NULL, &g, &e), 0);
	CHECK_EQ(g, GRANULARITY_AUTO);
	CHECK_EQ(granularity_parse("page", &g, &e), -1);
	CHECK(strstr(e.hint, "function"));
}
