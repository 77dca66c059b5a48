// SPDX-License-Identifier: BSD-3-Clause
/* Debug information against programs built here and now: every DWARF version, separate files, inlined code, damaged files.
 * Needs gcc and g++; builds with clang are tested where clang is installed. */
#include "check.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/rng.h"
#include "symbols/symbols.h"

#define DIR COZBPF_BUILD_DIR "/fixtures"

static char fixtures[4096]; /* directory of the sources, absolute */

static bool run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs a shell command in DIR. True when it succeeded. */
static bool run(const char *format, ...)
{
	char command[8192];
	size_t len = (size_t)snprintf(command, sizeof(command), "mkdir -p '%s' && cd '%s' && ", DIR, DIR);
	va_list args;

	if (!*fixtures) {
		char here[] = __FILE__, *slash = strrchr(here, '/');
		char relative[4096];

		*slash = 0;
		snprintf(relative, sizeof(relative), "%s/fixtures", here);
		if (!realpath(relative, fixtures)) {
			fprintf(stderr, "cannot find '%s': run the tests from the top directory\n", relative);
			exit(1);
		}
	}
	va_start(args, format);
	vsnprintf(command + len, sizeof(command) - len, format, args);
	va_end(args);
	return system(command) == 0;
}

static bool have(const char *tool)
{
	return run("command -v %s >/dev/null", tool);
}

/* Builds a fixture; a failure is a failure of the test. */
static const char *build(const char *compiler, const char *flags, const char *source, const char *name)
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

static struct loaded load_scoped(const char *path, const struct scope *scope)
{
	struct loaded l = {0};

	line_map_init(&l.map);
	l.err = object_open(path, "", &l.o, &l.e);
	if (!l.err)
		l.err = object_add_lines(l.o, scope, &l.map, &l.n_lines, &l.e);
	return l;
}

static struct loaded load(const char *path)
{
	struct scope all = {0};

	return load_scoped(path, &all);
}

static void unload(struct loaded *l)
{
	object_close(l->o);
	line_map_deinit(&l->map);
}

static bool has_line(const struct loaded *l, const char *file, uint32_t line)
{
	return line_map_find(&l->map, file, line, NULL);
}

/* Bytes of code that belong to a line. */
static uint64_t line_bytes(const struct loaded *l, const char *file, uint32_t line)
{
	uint32_t id = line_map_find(&l->map, file, line, NULL);
	uint64_t bytes = 0;

	for (size_t i = 0; i < l->map.n_ranges; i++)
		bytes += id && l->map.ranges[i].line == id ? l->map.ranges[i].hi - l->map.ranges[i].lo : 0;
	return bytes;
}

/* The known lines of lines.c, in whatever way it was built. */
static void check_lines_c(const char *path, bool optimised)
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
		CHECK(l.map.lines[i].file[0] == '/' && strstr(l.map.lines[i].file, "/fixtures/lines.c"));
	CHECK_EQ(l.n_lines, l.map.n_lines - 1);
	unload(&l);
}

TEST(dwarf_versions)
{
	static const char *const compilers[] = {"gcc", "clang"};
	static const char *const levels[] = {"-O0", "-O2"};
	char flags[128], name[64];
	int built = 0;

	for (int c = 0; c < 2; c++) {
		if (!have(compilers[c]))
			continue;
		for (int version = 2; version <= 5; version++)
			for (int level = 0; level < 2; level++) {
				snprintf(flags, sizeof(flags), "%s -gdwarf-%d", levels[level], version);
				snprintf(name, sizeof(name), "lines_%s_%d_%d", compilers[c], version, level);
				check_lines_c(build(compilers[c], flags, "lines.c", name), level);
				built++;
			}
	}
	CHECK(built >= 8);
}

TEST(ways_to_link)
{
	static const char *const flags[] = {"-g -O2 -no-pie", "-g -O2 -static", "-g -O2 -static-pie",
	    "-g -O2 -ffunction-sections -Wl,--gc-sections", "-g1 -O2", "-g -O2 -gz", "-g -O2 -gdwarf64", "-g -O2 -flto",
	    "-g -O2 -gsplit-dwarf"};

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		const char *path = build("gcc", flags[i], "lines.c", "lines_link");
		struct object *o = NULL;
		struct error e;

		check_lines_c(path, true);
		CHECK_EQ(object_open(path, "", &o, &e), 0);
		if (o)
			CHECK_EQ(object_is_static(o), strstr(flags[i], "-static") != NULL);
		object_close(o);
	}
}

/* Sites are file offsets, not addresses: as binutils tells them, wherever the linker put the code. */
TEST(offsets_are_file_offsets)
{
	static const char *const flags[] = {"-g -O1 -no-pie", "-g -O1 -pie", "-g -O1 -static -Wl,-z,noseparate-code"};
	struct probe_site *sites = NULL;
	struct object *o;
	struct error e;
	size_t n;

	for (size_t i = 0; i < 3; i++) {
		const char *path = build("gcc", flags[i], "lines.c", "lines_offsets");
		char want[64] = "", got[64] = "";
		FILE *f;

		if (object_open(path, "", &o, &e)) {
			CHECK(!"the program opens");
			continue;
		}
		CHECK_EQ(object_find_symbol(o, "work", 0, &sites, &n, &e), 0);
		CHECK_EQ(n, 1);
		CHECK(run("t=$(readelf -SW lines_offsets | sed -n 's/.* \\.text  *PROGBITS  *\\([0-9a-f]*\\) \\([0-9a-f]*\\) .*/0x\\1 "
			  "0x\\2/p') && set -- $t && "
			  "a=0x$(nm lines_offsets | sed -n 's/ T work$//p') && echo $((a - $1 + $2)) >want"));
		f = fopen(DIR "/want", "r");
		CHECK(f && fgets(want, sizeof(want), f));
		if (f)
			fclose(f);
		snprintf(got, sizeof(got), "%llu\n", (unsigned long long)sites[0].offset);
		CHECK_STR(got, want);
		CHECK_STR(sites[0].function, "work");
		free(sites);
		object_close(o);
	}
}

TEST(build_id)
{
	struct object *o = NULL;
	struct error e;
	uint8_t id[20];

	CHECK_EQ(object_open(build("gcc", "-g -Wl,--build-id=0x0102030405060708", "lines.c", "lines_id"), "", &o, &e), 0);
	CHECK_EQ(object_build_id(o, id), 8);
	CHECK_EQ(id[0], 1);
	CHECK_EQ(id[7], 8);
	CHECK_EQ(id[8], 0);
	object_close(o);
	CHECK_EQ(object_open(build("gcc", "-g -Wl,--build-id=none", "lines.c", "lines_id"), "", &o, &e), 0);
	CHECK_EQ(object_build_id(o, id), 0);
	object_close(o);
}

/* Inlined code of <vector> belongs to the line that calls it. */
static void check_inlined(const char *compiler, const char *flags)
{
	struct loaded l = load(build(compiler, flags, "inlined.cc", "inlined"));
	const char *all[] = {"%"};
	struct scope everything = {.sources = all, .n_sources = 1};
	struct loaded own = load_scoped(DIR "/inlined", &everything);
	uint64_t given = line_bytes(&l, "inlined.cc", 40);

	CHECK_EQ(l.err, 0);
	CHECK(has_line(&l, "inlined.cc", 8));
	CHECK(has_line(&l, "inlined.cc", 17));
	CHECK(has_line(&l, "inlined.cc", 48));
	/* With every file in scope, the same code belongs to the lines of <vector>, and little is left for the call. */
	CHECK(given > 0);
	CHECK(given > 2 * line_bytes(&own, "inlined.cc", 40));
	CHECK(own.n_lines > l.n_lines);
	for (uint32_t i = 1; i < l.map.n_lines; i++)
		CHECK(strstr(l.map.lines[i].file, "inlined.cc"));
	unload(&own);
	unload(&l);
	run("rm -f inlined-inlined.dwo inlined.dwo");
}

/* All of fill() is inlined from <vector>, through several functions there, and all of it has to go to fill's own lines. */
static void check_covered(const char *compiler, const char *flags)
{
	struct loaded l = load(build(compiler, flags, "inlined.cc", "inlined_cover"));
	unsigned long long size = 0, covered = 0;
	struct probe_site *site = NULL;
	FILE *f;
	size_t n;

	CHECK(run("nm -CS inlined_cover | sed -n 's/^[0-9a-f]* \\([0-9a-f]*\\) [tT] fill(.*/\\1/p' | head -n 1 >size"));
	f = fopen(DIR "/size", "r");
	CHECK(f && fscanf(f, "%llx", &size) == 1 && size > 32);
	if (f)
		fclose(f);
	CHECK_EQ(object_find_symbol(l.o, "fill", 0, &site, &n, &l.e), 0);
	for (uint64_t i = 0; site && i < size; i++)
		covered += line_map_lookup(&l.map, 0, site[0].offset + i) != 0;
	CHECK_EQ(covered, size);
	free(site);
	unload(&l);
}

TEST(inlined_code_is_covered)
{
	check_covered("g++", "-g -O2");
	check_covered("g++", "-gdwarf-4 -O2 -fno-reorder-blocks-and-partition");
	if (have("clang++"))
		check_covered("clang++", "-gdwarf-5 -O2");
}

TEST(inlined_system_code)
{
	static const char *const flags[] = {"-g -O2", "-gdwarf-3 -O2", "-gdwarf-4 -O2", "-g1 -O2", "-gdwarf-5 -O2 -gsplit-dwarf",
	    "-gdwarf-4 -O2 -gsplit-dwarf", "-g -O2 -fdebug-types-section", "-g -O3 -ffunction-sections -Wl,--gc-sections"};

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		check_inlined("g++", flags[i]);
		if (have("clang++"))
			check_inlined("clang++", flags[i]);
	}
}

/* The split unit's file is gone: lines stay, only inlined code is not attributed. */
TEST(split_file_is_gone)
{
	struct loaded l;

	build("g++", "-g -O2 -gsplit-dwarf", "inlined.cc", "inlined_split");
	run("rm -f *.dwo");
	l = load(DIR "/inlined_split");
	CHECK_EQ(l.err, 0);
	CHECK(has_line(&l, "inlined.cc", 17));
	unload(&l);
}

TEST(scope)
{
	const char *none[] = {"%/nothing.c"}, *one[] = {"%/inlined.cc"};
	struct scope nothing = {.sources = none, .n_sources = 1}, ours = {.sources = one, .n_sources = 1};
	struct source_file *files;
	size_t n, in_scope = 0;
	struct loaded l = load_scoped(build("g++", "-g -O2", "inlined.cc", "inlined_scope"), &nothing);

	CHECK_EQ(l.err, 0);
	CHECK_EQ(l.n_lines, 0);
	CHECK_EQ(l.map.n_ranges, 0);
	CHECK_EQ(object_source_files(l.o, &ours, &files, &n, &l.e), 0);
	CHECK(n > 5); /* the headers */
	for (size_t i = 0; i < n; i++) {
		in_scope += files[i].in_scope;
		CHECK(files[i].n_lines > 0);
		CHECK_EQ(files[i].in_scope, strstr(files[i].path, "/inlined.cc") != NULL);
		CHECK(i == 0 || strcmp(files[i - 1].path, files[i].path) < 0);
	}
	CHECK_EQ(in_scope, 1);
	source_files_free(files, n);
	unload(&l);
}

TEST(no_debug_information)
{
	struct source_file *files;
	struct probe_site *sites;
	struct scope all = {0};
	size_t n;
	struct loaded l = load(build("gcc", "-O2", "lines.c", "lines_none"));

	CHECK_EQ(l.err, -1);
	CHECK_EQ(l.e.status, EXIT_NO_RESULT);
	CHECK(strstr(l.e.cause, "no debug information"));
	CHECK(strstr(l.e.hint, "'-g'"));
	CHECK(!object_has_debug_info(l.o));
	CHECK_EQ(object_source_files(l.o, &all, &files, &n, &l.e), -1);
	CHECK_EQ(object_find_line(l.o, "lines.c", 9, &sites, &n, &l.e), -1);
	CHECK_EQ(object_find_symbol(l.o, "work", 0, &sites, &n, &l.e), 0); /* symbols are still there */
	free(sites);
	unload(&l);
}

TEST(stripped_of_everything)
{
	struct probe_site *sites;
	size_t n;
	struct loaded l;

	build("gcc", "-g -O2", "lines.c", "lines_strip");
	CHECK(run("strip lines_strip"));
	l = load(DIR "/lines_strip");
	CHECK_EQ(l.err, -1);
	CHECK_EQ(l.e.status, EXIT_NO_RESULT);
	CHECK_EQ(object_find_symbol(l.o, "work", 0, &sites, &n, &l.e), -1);
	CHECK_EQ(l.e.status, EXIT_USAGE);
	CHECK(strstr(l.e.cause, "no symbol 'work'"));
	unload(&l);
}

TEST(debug_link)
{
	struct loaded l;

	build("gcc", "-g -O2 -Wl,--build-id=none", "lines.c", "lines_link");
	CHECK(run("rm -rf .debug; objcopy --only-keep-debug lines_link lines_link.debug && strip lines_link && "
		  "objcopy --add-gnu-debuglink=lines_link.debug lines_link"));
	check_lines_c(DIR "/lines_link", true);
	CHECK(run("mkdir -p .debug && mv lines_link.debug .debug/"));
	check_lines_c(DIR "/lines_link", true);
	/* One that is of another build does not count, and the message says so. */
	CHECK(run("echo changed >>.debug/lines_link.debug"));
	l = load(DIR "/lines_link");
	CHECK_EQ(l.err, -1);
	CHECK(strstr(l.e.hint, "not of this build"));
	unload(&l);
	run("rm -rf .debug");
}

TEST(debug_file_by_build_id)
{
	struct object *o = NULL;
	struct line_map map;
	struct scope all = {0};
	struct error e;
	size_t n = 0;
	uint8_t id[20];

	build("gcc", "-g -O2 -Wl,--build-id=0xabcdef0123456789", "lines.c", "lines_by_id");
	CHECK(run("rm -rf root && mkdir -p root/usr/lib/debug/.build-id/ab && "
		  "objcopy --only-keep-debug lines_by_id root/usr/lib/debug/.build-id/ab/cdef0123456789.debug && strip lines_by_id"));
	CHECK_EQ(object_open(DIR "/lines_by_id", DIR "/root", &o, &e), 0);
	CHECK(object_has_debug_info(o));
	line_map_init(&map);
	CHECK_EQ(object_add_lines(o, &all, &map, &n, &e), 0);
	CHECK(line_map_find(&map, "lines.c", 10, NULL));
	/* Facts are those of the program, not of its debug file. */
	CHECK_EQ(object_build_id(o, id), 8);
	CHECK_STR(map.n_objects ? map.objects[0].path : "", DIR "/lines_by_id");
	line_map_deinit(&map);
	object_close(o);
	CHECK_EQ(object_open(DIR "/lines_by_id", "", &o, &e), 0);
	CHECK(!object_has_debug_info(o));
	object_close(o);
}

static size_t count_sites(struct object *o, const char *file, uint32_t line)
{
	struct probe_site *sites;
	struct error e;
	size_t n;

	if (object_find_line(o, file, line, &sites, &n, &e))
		return 0;
	free(sites);
	return n;
}

static void check_rows(const char *flags)
{
	struct loaded l = load(build("gcc", flags, "rows.s", "rows"));
	struct probe_site *sites, *entry;
	size_t n, n_entry;

	CHECK_EQ(l.err, 0);
	CHECK_EQ(l.n_lines, 7);
	CHECK(has_line(&l, "/where/it/was/rows.c", 5));
	CHECK_EQ(line_bytes(&l, "rows.c", 5), 1);
	CHECK_EQ(line_bytes(&l, "rows.c", 10), 3);
	CHECK_EQ(line_bytes(&l, "rows.c", 11), 1);
	CHECK_EQ(line_bytes(&l, "rows.c", 20), 4);
	CHECK_EQ(line_bytes(&l, "rows.c", 21), 1);
	CHECK(!has_line(&l, "rows.c", 6)); /* no code: no sample can fall there */
	CHECK(!has_line(&l, "rows.c", 50));
	/* A probe has a place even where the line is empty, or never begins as a statement. */
	CHECK_EQ(count_sites(l.o, "rows.c", 6), 1);
	CHECK_EQ(count_sites(l.o, "rows.c", 11), 1);
	CHECK_EQ(count_sites(l.o, "rows.c", 50), 0);
	/* What line 30 inlines begins where the line itself does, and is no second place for it; line 40 is inlined twice. */
	CHECK_EQ(object_find_line(l.o, "rows.c", 30, &sites, &n, &l.e), 0);
	CHECK_EQ(object_find_symbol(l.o, "three", 0, &entry, &n_entry, &l.e), 0);
	CHECK_EQ(n, 1);
	CHECK_EQ(sites[0].offset, entry[0].offset);
	free(sites);
	free(entry);
	CHECK_EQ(count_sites(l.o, "rows.c", 40), 2);
	/* Without debug entries, symbols tell what belongs together; the cold part has a symbol of its own. */
	CHECK_EQ(object_find_line(l.o, "rows.c", 20, &sites, &n, &l.e), 0);
	CHECK_EQ(object_find_symbol(l.o, "two", 1, &entry, &n_entry, &l.e), 0);
	CHECK_EQ(n, 2);
	CHECK_EQ(n_entry, 1);
	CHECK(sites[0].offset == entry[0].offset || sites[1].offset == entry[0].offset);
	free(sites);
	free(entry);
	unload(&l);
}

/* Line 0, empty rows, rows that are no statements, sequences that the linker has discarded. */
TEST(odd_rows)
{
	check_rows("-nostartfiles -Wl,-e,main,--gc-sections,-u,two.cold,-z,noseparate-code");
	check_rows("-nostartfiles -Wl,-e,main,--gc-sections,-u,two.cold -no-pie -static");
}

static void check_find_line(const char *compiler, const char *flags)
{
	struct object *o = NULL;
	struct probe_site *sites = NULL, *entry = NULL;
	struct error e = {0};
	size_t n, n_entry;

	CHECK_EQ(object_open(build(compiler, flags, "lines.c", "lines_find"), "", &o, &e), 0);
	CHECK_EQ(count_sites(o, "lines.c", 9), 1); /* the three runs of a `for` are one site */
	CHECK_EQ(count_sites(o, "lines.c", 10), 1);
	CHECK_EQ(count_sites(o, "lines.c", 37), 1);
	CHECK_EQ(object_find_line(o, "fixtures/lines.c", 17, &sites, &n, &e), 0);
	CHECK_EQ(n, 2); /* inlined twice */
	CHECK(n == 2 && strcmp(sites[0].function, sites[1].function));
	CHECK(!strcmp(sites[0].function, "first") || !strcmp(sites[0].function, "second"));
	free(sites);
	/* The opening line of a function begins at its first instruction. */
	CHECK_EQ(object_find_line(o, "lines.c", 7, &sites, &n, &e), 0);
	CHECK_EQ(object_find_symbol(o, "work", 0, &entry, &n_entry, &e), 0);
	CHECK_EQ(n, 1);
	CHECK_EQ(n_entry, 1);
	CHECK_EQ(sites[0].offset, entry[0].offset);
	free(sites);
	free(entry);
	object_close(o);
}

TEST(find_line)
{
	static const char *const flags[] = {"-g -O0", "-g -O1", "-g -O2", "-gdwarf-4 -O2", "-g -O3"};

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		check_find_line("gcc", flags[i]);
		if (have("clang"))
			check_find_line("clang", flags[i]);
	}
}

TEST(find_line_in_templates)
{
	struct object *o = NULL;
	struct error e;

	CHECK_EQ(object_open(build("g++", "-g -O2", "inlined.cc", "inlined_find"), "", &o, &e), 0);
	CHECK_EQ(count_sites(o, "inlined.cc", 8), 2); /* twice<int> and twice<double> */
	CHECK_EQ(count_sites(o, "inlined.cc", 40), 1);
	object_close(o);
}

TEST(find_line_fails)
{
	struct object *o = NULL;
	struct probe_site *sites;
	struct error e;
	size_t n;

	CHECK_EQ(object_open(build("gcc", "-g -O0", "lines.c", "lines_fail"), "", &o, &e), 0);
	CHECK_EQ(object_find_line(o, "lines.c", 11, &sites, &n, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK(strstr(e.hint, "10 and 12"));
	CHECK_EQ(object_find_line(o, "lines.c", 9999, &sites, &n, &e), -1);
	CHECK(strstr(e.hint, "is 38"));
	CHECK_EQ(object_find_line(o, "line.c", 9, &sites, &n, &e), -1);
	CHECK(strstr(e.cause, "no source file 'line.c'"));
	CHECK(strstr(e.hint, "did you mean 'lines.c'"));
	object_close(o);
}

/* Two files of one name: a suffix that fits both is ambiguous only for a line that both have. */
TEST(find_line_ambiguous)
{
	struct object *o = NULL;
	struct probe_site *sites;
	struct error e;
	size_t n;

	CHECK(run("mkdir -p one two && printf 'int f(void)\\n{\\n\\treturn 1;\\n}\\n' >one/same.c && "
		  "printf 'int f(void);\\nint main(void)\\n{\\n\\treturn f();\\n}\\nint g(void) { return 2; }\\n' >two/same.c && "
		  "gcc -g -O0 -o ambiguous one/same.c two/same.c"));
	CHECK_EQ(object_open(DIR "/ambiguous", "", &o, &e), 0);
	CHECK_EQ(object_find_line(o, "same.c", 4, &sites, &n, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK(strstr(e.hint, "one/same.c:4") && strstr(e.hint, "two/same.c:4"));
	CHECK_EQ(count_sites(o, "one/same.c", 4), 1);
	CHECK_EQ(count_sites(o, "same.c", 6), 1);
	object_close(o);
}

static void check_symbol(struct object *o, const char *symbol, size_t want, const char *function)
{
	struct probe_site *sites;
	struct error e = {0};
	size_t n = 0;

	CHECK_EQ(object_find_symbol(o, symbol, 0, &sites, &n, &e), 0);
	if (*e.cause) {
		fprintf(stderr, "  %s (%s)\n", e.cause, e.hint);
		return;
	}
	CHECK_EQ(n, want);
	CHECK_STR(sites[0].function, function);
	free(sites);
}

TEST(find_symbol)
{
	struct object *o = NULL;
	struct probe_site *sites, *later;
	struct error e;
	size_t n;

	CHECK_EQ(object_open(build("g++", "-g -O2", "inlined.cc", "inlined_symbol"), "", &o, &e), 0);
	check_symbol(o, "main", 1, "main");
	check_symbol(o, "_ZN4shop4till3addEi", 1, "shop::till::add(int)");
	check_symbol(o, "shop::till::add(double)", 1, "shop::till::add(double)");
	check_symbol(o, "shop::till::only", 1, "shop::till::only(int) const");
	check_symbol(o, "shop::till::only(int) const", 1, "shop::till::only(int) const");
	check_symbol(o, "shop::(anonymous namespace)::hidden", 1, "shop::(anonymous namespace)::hidden(int)");
	check_symbol(o, "twice<int>", 1, "int twice<int>(int)");
	check_symbol(o, "fill", 1, "fill(std::vector<int, std::allocator<int> >&, int)");
	CHECK_EQ(object_find_symbol(o, "shop::till::add", 0, &sites, &n, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK(strstr(e.hint, "'shop::till::add(int)'") && strstr(e.hint, "'shop::till::add(double)'"));
	CHECK_EQ(object_find_symbol(o, "twice", 0, &sites, &n, &e), -1);
	CHECK(strstr(e.cause, "more than one function"));
	CHECK_EQ(object_find_symbol(o, "shop::till::onyl", 0, &sites, &n, &e), -1);
	CHECK(strstr(e.hint, "'shop::till::only'"));
	CHECK_EQ(object_find_symbol(o, "main", 0, &sites, &n, &e), 0);
	CHECK_EQ(object_find_symbol(o, "main", 4, &later, &n, &e), 0);
	CHECK_EQ(later[0].offset, sites[0].offset + 4);
	free(later);
	free(sites);
	CHECK_EQ(object_find_symbol(o, "main", 1 << 20, &sites, &n, &e), -1);
	CHECK(strstr(e.cause, "beyond the end"));
	CHECK_EQ(object_find_symbol(o, "stdout", 0, &sites, &n, &e), -1); /* data */
	object_close(o);
}

TEST(find_symbol_clones)
{
	struct object *o = NULL;
	struct error e;

	CHECK(run("printf '%%s' 'int f(int) __asm__(\"f\"); int f(int x) { return x; }"
		  "int g(int) __asm__(\"f.constprop.0\"); int g(int x) { return x + 1; }"
		  "int h(int) __asm__(\"f.cold\"); int h(int x) { return x + 2; }"
		  "int k(int) __asm__(\"f.other\"); int k(int x) { return x + 3; }"
		  "int main(void) { return f(1) + g(1) + h(1) + k(1); }' >clones.c && gcc -g -O0 -o clones clones.c"));
	CHECK_EQ(object_open(DIR "/clones", "", &o, &e), 0);
	check_symbol(o, "f", 2, "f");
	check_symbol(o, "f.constprop.0", 1, "f");
	check_symbol(o, "f.other", 1, "f.other");
	object_close(o);
}

TEST(shared_library)
{
	struct object *o = NULL;
	struct probe_site *sites;
	struct error e;
	size_t n;

	build("gcc", "-g -O2 -shared -fPIC", "lines.c", "liblines.so");
	CHECK(run("strip -o liblines_stripped.so liblines.so"));
	CHECK_EQ(object_open(DIR "/liblines_stripped.so", "", &o, &e), 0);
	CHECK_EQ(object_find_symbol(o, "work", 0, &sites, &n, &e), 0); /* from .dynsym */
	CHECK_EQ(n, 1);
	free(sites);
	object_close(o);
	check_lines_c(DIR "/liblines.so", true);
}

static void check_not_opened(const char *path, const char *part)
{
	struct object *o = NULL;
	struct error e = {0};

	CHECK_EQ(object_open(path, "", &o, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK(strstr(e.cause, path) && strstr(e.cause, part));
	if (!strstr(e.cause, part))
		fprintf(stderr, "  %s\n", e.cause);
}

TEST(not_a_program)
{
	CHECK(run("printf '#!/bin/sh\\n' >script && : >empty && head -c 100000 /dev/urandom >garbage && rm -f fifo && mkfifo fifo && "
		  "printf 'int x;' >object.c && gcc -g -c -o object.o object.c"));
	check_not_opened(DIR "/nothing_here", "No such file");
	check_not_opened(DIR, "not a regular file");
	check_not_opened(DIR "/fifo", "not a regular file");
	check_not_opened(DIR "/script", "not an ELF file");
	check_not_opened(DIR "/empty", "not an ELF file");
	check_not_opened(DIR "/garbage", "not an ELF file");
	check_not_opened(DIR "/object.o", "not linked");
}

/* All that can be asked of a file that may be damaged; whatever it answers, it answers. */
static void ask_everything(const char *path)
{
	struct source_file *files;
	struct probe_site *sites;
	struct scope all = {0};
	struct loaded l = load(path);
	size_t n;

	if (l.o) {
		if (!object_source_files(l.o, &all, &files, &n, &l.e))
			source_files_free(files, n);
		if (!object_find_line(l.o, "inlined.cc", 40, &sites, &n, &l.e))
			free(sites);
		if (!object_find_symbol(l.o, "main", 0, &sites, &n, &l.e))
			free(sites);
	}
	CHECK(!l.err || *l.e.cause);
	unload(&l);
}

static void write_file(const char *path, const char *data, size_t size)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(data, 1, size, f) != size || fclose(f))
		CHECK(!"the file is written");
}

static char *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	struct stat st = {0};
	char *data;

	if (!f || fstat(fileno(f), &st) || !(data = malloc((size_t)st.st_size + 1)) ||
	    fread(data, 1, (size_t)st.st_size, f) != (size_t)st.st_size) {
		fprintf(stderr, "cannot read '%s'\n", path);
		exit(1);
	}
	fclose(f);
	*size = (size_t)st.st_size;
	return data;
}

TEST(truncated_files)
{
	size_t size;
	char *data = read_file(build("g++", "-g -O2", "inlined.cc", "inlined_whole"), &size);
	struct loaded l;

	for (size_t len = 0; len < size; len += len < 4096 ? 61 : size / 23 + 1) {
		write_file(DIR "/truncated", data, len);
		ask_everything(DIR "/truncated");
	}
	/* Without its section headers a program has no debug information any more. */
	write_file(DIR "/truncated", data, size / 2);
	l = load(DIR "/truncated");
	CHECK_EQ(l.err, -1);
	unload(&l);
	free(data);
}

TEST(damaged_files)
{
	size_t size;
	char *data = read_file(build("g++", "-g -O2", "inlined.cc", "inlined_whole"), &size), *copy = malloc(size);
	struct rng rng = {7};

	for (int round = 0; round < 150; round++) {
		memcpy(copy, data, size);
		for (int i = 0; i < 200; i++)
			copy[rng_below(&rng, size)] = (char)rng_next(&rng);
		memcpy(copy, data, 64 + 56 * 14); /* else hardly any would be opened */
		write_file(DIR "/damaged", copy, size);
		ask_everything(DIR "/damaged");
	}
	free(copy);
	free(data);
}

/* .debug_line overwritten: debug information is there, but it is damaged, and the message says that. */
TEST(damaged_line_table)
{
	struct loaded l;

	build("gcc", "-g -O2", "lines.c", "lines_damaged");
	CHECK(run("head -c 1000 /dev/zero | tr '\\0' '\\377' >ones && objcopy --update-section .debug_line=ones lines_damaged"));
	l = load(DIR "/lines_damaged");
	CHECK_EQ(l.err, -1);
	CHECK_EQ(l.e.status, EXIT_NO_RESULT);
	CHECK(strstr(l.e.cause, "damaged"));
	CHECK(*l.e.hint);
	unload(&l);
}

TEST(close_accepts_null)
{
	object_close(NULL);
}
