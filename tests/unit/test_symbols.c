// SPDX-License-Identifier: BSD-3-Clause
/* Lines from debug information: every DWARF version, separate files, inlined code. Probe sites are
 * in test_find.c, damage in test_damaged.c. */
#include "debug_fixture.h"

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
			for (int level = brief() && version < 5; level < 2; level++) {
				snprintf(
				    flags, sizeof(flags), "%s -gdwarf-%d", levels[level], version);
				snprintf(name, sizeof(name), "lines_%s_%d_%d", compilers[c],
				    version, level);
				check_lines_c(build(compilers[c], flags, "lines.c", name), level);
				built++;
			}
	}
	CHECK(built >= (brief() ? 5 : 8));
}

TEST(ways_to_link)
{
	static const char *const flags[] = {"-g -O2 -no-pie", "-g -O2 -static",
	    "-g -O2 -static-pie", "-g -O2 -ffunction-sections -Wl,--gc-sections", "-g1 -O2",
	    "-g -O2 -gz", "-g -O2 -gdwarf64", "-g -O2 -flto", "-g -O2 -gsplit-dwarf"};

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

/* Sites are file offsets, not addresses; binutils tells them, wherever the linker put the code. */
TEST(offsets_are_file_offsets)
{
	static const char *const flags[] = {
	    "-g -O1 -no-pie", "-g -O1 -pie", "-g -O1 -static -Wl,-z,noseparate-code"};
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
		CHECK(run("t=$(readelf -SW lines_offsets | sed -n 's/.* \\.text  *PROGBITS  "
			  "*\\([0-9a-f]*\\) \\([0-9a-f]*\\) .*/0x\\1 "
			  "0x\\2/p') && set -- $t && "
			  "a=0x$(nm lines_offsets | sed -n 's/ T work$//p') && echo $((a - $1 + "
			  "$2)) >want"));
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

	CHECK_EQ(
	    object_open(build("gcc", "-g -Wl,--build-id=0x0102030405060708", "lines.c", "lines_id"),
		"", &o, &e),
	    0);
	CHECK_EQ(object_build_id(o, id), 8);
	CHECK_EQ(id[0], 1);
	CHECK_EQ(id[7], 8);
	CHECK_EQ(id[8], 0);
	object_close(o);
	CHECK_EQ(
	    object_open(build("gcc", "-g -Wl,--build-id=none", "lines.c", "lines_id"), "", &o, &e),
	    0);
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
	/* With every file in scope, the same code belongs to the lines of <vector>, and little is
	 * left for the call. */
	CHECK(given > 0);
	CHECK(given > 2 * line_bytes(&own, "inlined.cc", 40));
	CHECK(own.n_lines > l.n_lines);
	for (uint32_t i = 1; i < l.map.n_lines; i++)
		CHECK(strstr(l.map.lines[i].file, "inlined.cc"));
	unload(&own);
	unload(&l);
	run("rm -f inlined-inlined.dwo inlined.dwo");
}

/* All code of fill() is inlined from <vector>, through several functions there; all of it belongs
 * to fill's own lines. */
static void check_covered(const char *compiler, const char *flags)
{
	struct loaded l = load(build(compiler, flags, "inlined.cc", "inlined_cover"));
	unsigned long long size = 0, covered = 0;
	struct probe_site *site = NULL;
	FILE *f;
	size_t n;

	CHECK(run("nm -CS inlined_cover | sed -n 's/^[0-9a-f]* \\([0-9a-f]*\\) [tT] fill(.*/\\1/p' "
		  "| head -n 1 >size"));
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
	static const char *const flags[] = {"-g -O2", "-gdwarf-4 -O2",
	    "-gdwarf-5 -O2 -gsplit-dwarf",
	    /* Not where it has to be brief. */
	    "-gdwarf-3 -O2", "-g1 -O2", "-gdwarf-4 -O2 -gsplit-dwarf",
	    "-g -O2 -fdebug-types-section", "-g -O3 -ffunction-sections -Wl,--gc-sections"};
	size_t n = brief() ? 3 : sizeof(flags) / sizeof(*flags);

	for (size_t i = 0; i < n; i++) {
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
	struct scope nothing = {.sources = none, .n_sources = 1},
		     ours = {.sources = one, .n_sources = 1};
	struct source_file *files;
	size_t n, in_scope = 0;
	struct loaded l =
	    load_scoped(build("g++", "-g -O2", "inlined.cc", "inlined_scope"), &nothing);

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
	/* Symbols are still there. */
	CHECK_EQ(object_find_symbol(l.o, "work", 0, &sites, &n, &l.e), 0);
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
	CHECK(run("rm -rf .debug; objcopy --only-keep-debug lines_link lines_link.debug && strip "
		  "lines_link && "
		  "objcopy --add-gnu-debuglink=lines_link.debug lines_link"));
	check_lines_c(DIR "/lines_link", true);
	CHECK(run("mkdir -p .debug && mv lines_link.debug .debug/"));
	check_lines_c(DIR "/lines_link", true);
	/* A debug file of another build does not count, and the message says so. */
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
		  "objcopy --only-keep-debug lines_by_id "
		  "root/usr/lib/debug/.build-id/ab/cdef0123456789.debug && strip lines_by_id"));
	CHECK_EQ(object_open(DIR "/lines_by_id", DIR "/root", &o, &e), 0);
	CHECK(object_has_debug_info(o));
	line_map_init(&map);
	CHECK_EQ(object_add_lines(o, &all, &map, &n, &e), 0);
	CHECK(line_map_find(&map, "lines.c", 10, NULL));
	/* Facts come from the program, not from its debug file. */
	CHECK_EQ(object_build_id(o, id), 8);
	CHECK_STR(map.n_objects ? map.objects[0].path : "", DIR "/lines_by_id");
	line_map_deinit(&map);
	object_close(o);
	CHECK_EQ(object_open(DIR "/lines_by_id", "", &o, &e), 0);
	CHECK(!object_has_debug_info(o));
	object_close(o);
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
	/* The function that line 30 inlines begins where the line does, and is no second place of
	 * the line. Line 40 is inlined twice. */
	CHECK_EQ(object_find_line(l.o, "rows.c", 30, &sites, &n, &l.e), 0);
	CHECK_EQ(object_find_symbol(l.o, "three", 0, &entry, &n_entry, &l.e), 0);
	CHECK_EQ(n, 1);
	CHECK_EQ(sites[0].offset, entry[0].offset);
	free(sites);
	free(entry);
	CHECK_EQ(count_sites(l.o, "rows.c", 40), 2);
	/* Without debug entries, symbols tell functions apart; the cold part has a symbol of its
	 * own. */
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
