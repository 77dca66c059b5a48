// SPDX-License-Identifier: BSD-3-Clause
/* Go's own tables in stripped programs: the three layouts, by section and without one, in programs
 * that may be loaded anywhere, and damaged. fixtures/gotable.S tells what is in them. */
#include "direct.h"

#include "debug_fixture.h"

#include "core/experiment/rng.h"
#include "symbols/elf/gotable.h"
#include "symbols/elf/image.h"

#if defined(__aarch64__)
#define STEP 4 /* bytes of an instruction */
#else
#define STEP 1
#endif

struct variant {
	int layout;
	const char *version, *table, *module, *text, *more;
};

static const struct variant layouts[] = {
    {116, "go1.17.13", ".gopclntab", ".noptrdata", "0", "-static"},
    {118, "go1.19.8", ".gopclntab", ".noptrdata", ".Ltext", "-static"},
    {120, "go1.23.4", ".gopclntab", ".noptrdata", ".Ltext", "-static"},
    {120, "go1.27.1", ".gopclntab", ".go.module", "0", "-static"},
    {120, "go1.26.1", ".data.rel.ro.gopclntab", ".data.rel.ro.module", "0", "-pie"},
};
#define LAYOUTS (sizeof(layouts) / sizeof(*layouts))
static const struct variant plain = {
    120, "go1.23.4", ".gopclntab", ".go.module", ".Ltext", "-static"};

/* The path of the program, which is stripped. */
static const char *assemble(const struct variant *v, const char *name)
{
	static char path[4096];
	unsigned minor = go_minor(v->version);

	snprintf(path, sizeof(path), DIR "/%s", name);
	CHECK(run("gcc -nostdlib %s -DLAYOUT=%d '-DVERSION=\"%s\"' -DTABLE=%s -DMODULE=%s "
		  "-DGOFUNC=%d -DTEXT=%s -o %s '%s/gotable.S' && strip %s",
	    v->more, v->layout, v->version, v->table, v->module,
	    v->layout < 120 ? 38
	    : minor < 27    ? 40
			    : 43,
	    v->text, name, fixtures, name));
	return path;
}

/* Instructions that belong to a line. */
static uint64_t steps(const struct loaded *l, const char *file, uint32_t line)
{
	return line_bytes(l, file, line) / STEP;
}

static void check_all_lines(const char *path, bool has_calls)
{
	struct loaded l = load(path);

	CHECK_EQ(l.err, 0);
	CHECK(object_has_debug_info(l.o));
	CHECK_EQ(steps(&l, "main.go", 10), 4);
	CHECK_EQ(steps(&l, "main.go", 12), 4);
	CHECK_EQ(steps(&l, "main.go", 20), 6);
	CHECK_EQ(steps(&l, "main.go", 21), 6);
	CHECK_EQ(steps(&l, "main.go", 40), 4);
	/* Nothing is in scope but the program's own code; the rest was inlined by line 11. */
	CHECK_EQ(steps(&l, "main.go", 11), has_calls ? 8 : 1);
	CHECK(!has_line(&l, "lib.go", 30));
	CHECK(!has_line(&l, "proc.go", 50));
	CHECK_EQ(l.n_lines, 6);
	unload(&l);
}

static void check_patterns(const char *path)
{
	const char *pattern = "%";
	const struct scope all = {.sources = &pattern, .n_sources = 1};
	struct loaded l = load_scoped(path, &all);

	CHECK_EQ(l.err, 0);
	CHECK_EQ(steps(&l, "main.go", 11), 1);
	CHECK_EQ(steps(&l, "lib.go", 5), 2);
	CHECK_EQ(steps(&l, "lib.go", 6), 1);
	CHECK_EQ(steps(&l, "lib.go", 30), 8);
	CHECK_EQ(steps(&l, "proc.go", 99), 4);
	CHECK_EQ(steps(&l, "runtime/proc.go", 50), 8);
	unload(&l);
}

/* The inlined code of lib.go belongs to its own line where lib.go is in scope. */
static void check_inner_calls(const char *path)
{
	const char *pattern = "%lib.go";
	const struct scope scope = {.sources = &pattern, .n_sources = 1};
	struct loaded l = load_scoped(path, &scope);

	CHECK_EQ(l.err, 0);
	CHECK_EQ(steps(&l, "lib.go", 5), 2);
	CHECK_EQ(steps(&l, "lib.go", 6), 5);
	CHECK_EQ(l.n_lines, 3);
	unload(&l);
}

TEST(lines)
{
	for (size_t i = 0; i < LAYOUTS; i++) {
		const char *path = assemble(&layouts[i], "lines");

		/* The oldest form has pointers to its trees. */
		check_all_lines(path, layouts[i].layout > 116);
		check_patterns(path);
		if (layouts[i].layout > 116)
			check_inner_calls(path);
		if (check_failed_now)
			fprintf(stderr, "  layout %zu\n", i);
	}
}

static uint64_t site_of(struct object *o, const char *symbol)
{
	struct probe_site *sites = NULL;
	struct error e = {0};
	uint64_t addr = 0;
	size_t n = 0;

	if (object_find_symbol(o, symbol, 0, &sites, &n, &e))
		fprintf(stderr, "  '%s': %s\n", symbol, e.cause);
	CHECK_EQ(n, 1);
	if (n)
		CHECK(object_address(o, sites[0].offset, &addr));
	free(sites);
	return addr;
}

/* By the names that people type. */
static void check_functions(struct object *o)
{
	uint64_t start = site_of(o, "main.main");
	char **names = NULL;
	struct error e;
	size_t n = 0;

	CHECK_EQ(site_of(o, "main.(*T[...]).Work") - start, 16 * STEP);
	CHECK_EQ(site_of(o, "main.(*T).Work") - start, 16 * STEP);
	CHECK_EQ(site_of(o, "example.com/lib.Max[...]") - start, 28 * STEP);
	CHECK_EQ(site_of(o, "example.com/lib.Max") - start, 28 * STEP);
	CHECK_EQ(site_of(o, "lib.Max") - start, 28 * STEP);
	/* A function of Go, not the cold part of another one. */
	CHECK_EQ(site_of(o, "main.cold") - start, 36 * STEP);
	CHECK_EQ(site_of(o, "runtime.main") - start, 40 * STEP);
	CHECK_EQ(object_functions(o, &names, &n, &e), 0);
	CHECK_EQ(n, 5);
	functions_free(names, n);
}

TEST(functions)
{
	for (size_t i = 0; i < LAYOUTS; i++) {
		struct object *o = NULL;
		struct line_map map;
		struct error e = {0};
		size_t n = 0;

		CHECK_EQ(object_open(assemble(&layouts[i], "functions"), "", &o, &e), 0);
		check_functions(o);
		line_map_init(&map);
		CHECK_EQ(object_add_functions(o, &map, &n, &e), 0);
		CHECK(line_map_find_function(&map, "functions:main.main", &e));
		CHECK(line_map_find_function(&map, "main.(*T[...]).Work", &e));
		CHECK(line_map_find_function(&map, "main.cold", &e));
		line_map_deinit(&map);
		object_close(o);
	}
}

static void check_line_site(struct object *o, const char *file, uint32_t line, uint64_t want)
{
	struct probe_site *sites = NULL;
	uint64_t addr = 0, start = site_of(o, "main.main");
	struct error e = {0};
	size_t n = 0;

	CHECK_EQ(object_find_line(o, file, line, &sites, &n, &e), 0);
	CHECK_EQ(n, 1);
	if (n && object_address(o, sites[0].offset, &addr))
		CHECK_EQ((addr - start) / STEP, want);
	free(sites);
}

TEST(points_on_lines)
{
	struct object *o = NULL;
	struct probe_site *sites;
	struct error e = {0};
	size_t n;

	CHECK_EQ(object_open(assemble(&plain, "points"), "", &o, &e), 0);
	check_line_site(o, "main.go", 10, 0);
	check_line_site(o, "app/main.go", 21, 22);
	/* What a line inlines is no second place of the line. */
	check_line_site(o, "main.go", 11, 4);
	check_line_site(o, "lib.go", 6, 7);
	CHECK_EQ(object_find_line(o, "main.go", 13, &sites, &n, &e), -1);
	CHECK(strstr(e.hint, "12") && strstr(e.hint, "20"));
	object_close(o);
}

TEST(trimmed_paths)
{
	static const struct variant trimmed = {
	    120, "go1.23.4", ".gopclntab", ".go.module", ".Ltext", "-static -DTRIMPATH"};
	struct object *o = NULL;
	struct error e = {0};

	check_all_lines(assemble(&trimmed, "trimmed"), true);
	CHECK_EQ(object_open(DIR "/trimmed", "", &o, &e), 0);
	CHECK_STR(image_go_module(o), "example.com/app");
	CHECK(image_go_owns(o, "example.com/app/cmd/x.go"));
	CHECK(image_go_owns(o, "x.go"));
	CHECK(!image_go_owns(o, "_cgo_gotypes.go"));
	CHECK(!image_go_owns(o, "example.com/apple/x.go"));
	CHECK(!image_go_owns(o, "example.com/app/vendor/example.com/y/y.go"));
	CHECK(!image_go_owns(o, "net/http/server.go"));
	object_close(o);
}

TEST(versions)
{
	CHECK_EQ(go_minor("go1.23"), 23);
	CHECK_EQ(go_minor("go1.23.4"), 23);
	CHECK_EQ(go_minor("go1.27rc1"), 27);
	CHECK_EQ(go_minor("go1.21.3 X:boringcrypto"), 21);
	CHECK_EQ(go_minor("go1"), 0);
	CHECK_EQ(go_minor("go2.1"), 0);
	CHECK_EQ(go_minor("go1."), 0);
	CHECK_EQ(go_minor("go1.-3"), 0);
	CHECK_EQ(go_minor("go1.99999999999"), 0);
	CHECK_EQ(go_minor("devel go1.28-abcdef"), 0);
	CHECK_EQ(go_minor("unknown"), 0);
	CHECK_EQ(go_minor(""), 0);
	for (size_t i = 0; i < LAYOUTS; i++) {
		struct object *o = NULL;
		struct error e = {0};

		CHECK_EQ(object_open(assemble(&layouts[i], "versions"), "", &o, &e), 0);
		CHECK(image_is_go(o));
		CHECK_STR(image_go_version(o), layouts[i].version);
		CHECK_STR(image_go_module(o), "example.com/app");
		object_close(o);
	}
}

static char *read_whole(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	char *data = malloc(1 << 20);

	if (!f || !data) {
		fprintf(stderr, "cannot read '%s'\n", path);
		exit(1);
	}
	*size = fread(data, 1, 1 << 20, f);
	fclose(f);
	return data;
}

static void write_whole(const char *path, const char *data, size_t size)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(data, 1, size, f) != size || fclose(f))
		CHECK(!"the file is written");
}

/* Without a list of sections nothing has a name. */
TEST(no_sections)
{
	size_t size;
	char *data = read_whole(assemble(&plain, "sections"), &size);
	struct object *o = NULL;
	struct error e = {0};

	memset(data + 40, 0, 8); /* e_shoff */
	memset(data + 60, 0, 4); /* e_shnum, e_shstrndx */
	write_whole(DIR "/no_sections", data, size);
	CHECK_EQ(object_open(DIR "/no_sections", "", &o, &e), 0);
	CHECK(image_is_go(o));
	CHECK_STR(image_go_version(o), "go1.23.4");
	CHECK_EQ(site_of(o, "lib.Max") - site_of(o, "main.main"), 28 * STEP);
	object_close(o);
	check_all_lines(DIR "/no_sections", true);
	free(data);
}

TEST(no_go)
{
	struct go_runtime runtime;
	struct object *o = NULL;
	struct error e = {0};

	CHECK_EQ(object_open(build("gcc", "-O2", "lines.c", "c"), "", &o, &e), 0);
	CHECK(!image_is_go(o));
	CHECK(!object_has_debug_info(o));
	CHECK_STR(image_go_version(o), "");
	CHECK_EQ(image_go_runtime(o, &runtime, &e), 1);
	CHECK(!*runtime.version && !runtime.at.g_m);
	object_close(o);
}

static void check_cause(const struct variant *v, const char *part)
{
	struct go_runtime runtime;
	struct object *o = NULL;
	struct error e = {0};

	CHECK_EQ(object_open(assemble(v, "cause"), "", &o, &e), 0);
	CHECK_EQ(image_go_runtime(o, &runtime, &e), -1);
	CHECK_STR(runtime.version, v->version);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK(strstr(e.cause, part) && *e.hint);
	if (!strstr(e.cause, part))
		fprintf(stderr, "  %s\n", e.cause);
	object_close(o);
}

/* A program that has nothing of the runtime, of versions that are not known, without a table. */
TEST(unknown_runtimes)
{
	struct variant v = plain;

	check_cause(&v, "runtime.execute");
	v.version = "go1.18.10";
	check_cause(&v, "go1.18.10");
	v.version = "go1.28.1";
	check_cause(&v, "go1.28.1");
	v.version = "devel go1.28-12ab";
	check_cause(&v, "devel go1.28-12ab");
	v = plain;
	v.more = "-static -DMAGIC=0xffffff00";
	check_cause(&v, ".gopclntab");
	/* A build that is guided by a profile. */
	v.more = "-static '-DTHING=\"runtime.ready\"'";
	check_cause(&v, "'runtime.ready' inlined");
}

/* All that the tables tell; any answer is right. */
static void ask_everything(const char *path)
{
	const char *pattern = "%";
	const struct scope all = {.sources = &pattern, .n_sources = 1};
	struct loaded own = load(path), l = load_scoped(path, &all);
	struct go_runtime runtime;
	struct source_file *files;
	struct probe_site *sites;
	struct line_map map;
	char **names;
	size_t n;

	if (l.o) {
		line_map_init(&map);
		object_add_functions(l.o, &map, &n, &l.e);
		line_map_deinit(&map);
		if (!object_source_files(l.o, &all, &files, &n, &l.e))
			source_files_free(files, n);
		for (uint32_t line = 5; line < 13; line++)
			if (!object_find_line(
				l.o, line < 10 ? "lib.go" : "main.go", line, &sites, &n, &l.e))
				free(sites);
		if (!object_functions(l.o, &names, &n, &l.e))
			functions_free(names, n);
		image_go_runtime(l.o, &runtime, &l.e);
	}
	CHECK(!l.err || *l.e.cause);
	unload(&own);
	unload(&l);
}

/* From the header of the table up to the end of the file. */
static void damage(const struct variant *v, uint64_t seed)
{
	size_t size, from;
	char *data = read_whole(assemble(v, "whole"), &size), *copy = malloc(size);
	struct rng rng = {seed};

	for (from = 4; from < size - 8 && memcmp(data + from, "\xff\xff\xff\0\0", 5); from++)
		;
	from--;
	CHECK(from < size - 512);
	for (int round = 0; round < 120; round++) {
		unsigned n = 1 + (unsigned)rng_below(&rng, 12);

		memcpy(copy, data, size);
		for (unsigned i = 0; i < n; i++)
			copy[from + rng_below(&rng, 1200 < size - from ? 1200 : size - from)] =
			    (char)(round % 3 ? rng_next(&rng) : 0xff);
		write_whole(DIR "/damaged", copy, size);
		ask_everything(DIR "/damaged");
	}
	for (size_t length = from; length < size; length += 41) {
		write_whole(DIR "/damaged", data, length);
		ask_everything(DIR "/damaged");
	}
	free(copy);
	free(data);
}

TEST(damaged)
{
	for (size_t i = 0; i < LAYOUTS; i++)
		damage(&layouts[i], 11 + i);
}
