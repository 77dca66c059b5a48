// SPDX-License-Identifier: BSD-3-Clause
/* Programs of the Go toolchains that are unpacked here (scripts/go-toolchains.sh): with and without
 * debug information, stripped, loaded anywhere. Skipped where there is none. */
#include "direct.h"

#include "debug_fixture.h"

#include "symbols/elf/gotable.h"
#include "symbols/elf/image.h"

#if defined(__x86_64__)
static const char *const versions[] = {"1.19", "1.23", "1.27"};
#define VERSIONS (sizeof(versions) / sizeof(*versions))

static const char *toolchains(void)
{
	const char *dir = getenv("COZBPF_GO");

	return dir && *dir ? dir : "/var/tmp/cozbpf-go";
}

static bool have_go(const char *version)
{
	return run("test -x '%s/%s/go'", toolchains(), version);
}

/* The path of the program; "": it could not be built. */
static const char *go_build(const char *version, const char *flags, const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), DIR "/%s", name);
	run("rm -f %s", name);
	if (run("cp '%s/units.go' . && CGO_ENABLED=0 '%s/%s/go' build -o %s %s units.go", fixtures,
		toolchains(), version, name, flags))
		return path;
	CHECK(!"the program is built");
	return "";
}

/* Runs the rest for each version that is there. */
static void for_versions(void (*check)(const char *version))
{
	unsigned n = 0;

	for (size_t i = 0; i < VERSIONS; i++) {
		int before = check_failed_now;

		if (!have_go(versions[i]))
			continue;
		check(versions[i]);
		n++;
		if (check_failed_now != before)
			fprintf(stderr, "  Go %s\n", versions[i]);
	}
	if (n)
		return;
	printf("there is no Go toolchain below %s\n", toolchains());
	exit(77);
}

static struct go_runtime runtime_of(const char *path)
{
	struct go_runtime r = {0};
	struct object *o = NULL;
	struct error e = {0};

	CHECK_EQ(object_open(path, "", &o, &e), 0);
	CHECK_EQ(o ? image_go_runtime(o, &r, &e) : -1, 0);
	if (*e.cause)
		fprintf(stderr, "  '%s': %s\n", path, e.cause);
	object_close(o);
	return r;
}

static void check_runtime(const char *version)
{
	struct go_runtime r = runtime_of(go_build(version, "", "runtime")), stripped, anywhere;

	CHECK(!strncmp(r.version, "go", 2) && !strncmp(r.version + 2, version, strlen(version)));
	CHECK(r.offsets_are_own);
	CHECK_EQ(r.tls_g, -8);
	CHECK_EQ(r.sites[GO_EXECUTE].gp, GO_RAX);
	CHECK_EQ(r.sites[GO_NEW].gp, GO_RBX);
	for (int i = 0; i < GO_EVENTS; i++)
		CHECK(r.sites[i].offset && r.sites[i].is_cheap);
	/* By the table what debug information says; the code is the same. */
	stripped = runtime_of(go_build(version, "-ldflags='-s -w'", "stripped"));
	CHECK(!stripped.offsets_are_own);
	CHECK(!memcmp(&r.at, &stripped.at, sizeof(r.at)));
	CHECK_EQ(stripped.tls_g, -8);
	for (int i = 0; i < GO_EVENTS; i++) {
		CHECK(stripped.sites[i].offset && stripped.sites[i].is_cheap);
		CHECK_STR(stripped.sites[i].function, r.sites[i].function);
	}
	anywhere = runtime_of(go_build(version, "-buildmode=pie -ldflags='-s -w'", "anywhere"));
	CHECK(!memcmp(&r.at, &anywhere.at, sizeof(r.at)));
	CHECK_EQ(anywhere.tls_g, -8);
}

TEST(runtimes)
{
	for_versions(check_runtime);
}

/* @frame: the function has a frame of its own, and so a cheap place. */
static size_t n_sites(struct object *o, const char *name, bool frame)
{
	struct probe_site *sites = NULL;
	struct error e = {0};
	size_t n = 0;

	if (object_find_symbol(o, name, 0, &sites, &n, &e))
		fprintf(stderr, "  '%s': %s\n", name, e.cause);
	for (size_t i = 0; i < n; i++) {
		uint64_t at = sites[i].offset;

		CHECK_EQ(object_cheap_site(o, at, &at), 0);
		CHECK(!frame || object_site_is_cheap(o, at));
		CHECK_EQ(object_check_site(o, at, true, &e), 0);
	}
	free(sites);
	return n;
}

static void check_names(const char *path)
{
	struct object *o = NULL;
	struct error e = {0};

	CHECK_EQ(object_open(path, "", &o, &e), 0);
	CHECK_EQ(n_sites(o, "main.work", false), 1);
	CHECK_EQ(n_sites(o, "main.cold", false), 1);
	CHECK_EQ(n_sites(o, "main.(*server).ServeHTTP", true), 1);
	CHECK_EQ(n_sites(o, "main.main.func1", true), 1);
	/* Code for int, float64 and string; Push for int and string. */
	CHECK_EQ(n_sites(o, "main.Max[...]", false), 3);
	CHECK_EQ(n_sites(o, "main.Max", false), 3);
	CHECK_EQ(n_sites(o, "main.(*Stack[...]).Push", true), 2);
	CHECK_EQ(n_sites(o, "main.(*Stack).Push", true), 2);
	object_close(o);
}

static void check_all_names(const char *version)
{
	check_names(go_build(version, "", "names"));
	check_names(go_build(version, "-ldflags='-s -w'", "names"));
	check_names(go_build(version, "-buildmode=pie -ldflags='-s -w'", "names"));
}

TEST(names)
{
	for_versions(check_all_names);
}

/* The number of the line that ends with "// WHAT". */
static uint32_t line_of(const char *what)
{
	char text[256], wanted[64];
	uint32_t line = 1;
	FILE *f = fopen(DIR "/units.go", "r");

	snprintf(wanted, sizeof(wanted), "// %s\n", what);
	for (; f && fgets(text, sizeof(text), f); line++)
		if (strlen(text) > strlen(wanted) &&
		    !strcmp(text + strlen(text) - strlen(wanted), wanted))
			break;
	if (f)
		fclose(f);
	return line;
}

/* The table of lines says what debug information says. */
static void check_same_lines(const struct loaded *debug, const struct loaded *table)
{
	CHECK_EQ(debug->err, 0);
	CHECK_EQ(table->err, 0);
	CHECK_EQ(debug->n_lines, table->n_lines);
	for (uint32_t i = 1; i < debug->map.n_lines; i++) {
		const struct source_line *l = &debug->map.lines[i];
		uint64_t a = line_bytes(debug, l->file, l->line),
			 b = line_bytes(table, l->file, l->line);

		CHECK(strstr(l->file, "units.go"));
		if (a != b)
			fprintf(stderr, "  %s:%u: %llu and %llu bytes\n", l->file, l->line,
			    (unsigned long long)a, (unsigned long long)b);
		CHECK_EQ(a, b);
	}
}

static void check_lines(const char *version)
{
	struct loaded debug = load(go_build(version, "", "debug")),
		      table = load(go_build(version, "-ldflags='-s -w'", "table")),
		      trimmed = load(go_build(version, "-trimpath -ldflags='-s -w'", "trimmed")),
		      anywhere =
			  load(go_build(version, "-buildmode=pie -ldflags='-s -w'", "anywhere"));
	uint32_t calls = line_of("calls"), tiny = line_of("tiny"), locks = line_of("locks");

	check_same_lines(&debug, &table);
	CHECK_EQ(table.n_lines, trimmed.n_lines);
	CHECK_EQ(table.n_lines, anywhere.n_lines);
	CHECK(has_line(&table, "units.go", calls));
	CHECK(has_line(&table, "units.go", tiny));
	/* What sync.Mutex has inlined there is the line's. */
	CHECK(line_bytes(&table, "units.go", locks) > 8);
	CHECK(!has_line(&table, "mutex.go", 80));
	CHECK_EQ(count_sites(table.o, "units.go", calls), count_sites(debug.o, "units.go", calls));
	CHECK_EQ(count_sites(table.o, "units.go", tiny), count_sites(debug.o, "units.go", tiny));
	CHECK(count_sites(table.o, "units.go", tiny) >= 1);
	unload(&debug);
	unload(&table);
	unload(&trimmed);
	unload(&anywhere);
}

TEST(lines)
{
	for_versions(check_lines);
}

/* Names of functions that are no Go compiler's. */
TEST(renamed)
{
	const char *version = have_go("1.23") ? "1.23" : have_go("1.27") ? "1.27" : "1.19";
	struct go_runtime r;
	struct object *o = NULL;
	struct error e = {0};

	if (!have_go(version))
		return;
	go_build(version, "-ldflags='-s -w'", "renamed");
	CHECK(run("sed -i 's/runtime\\.park_m/xuntime.park_m/g' renamed"));
	CHECK_EQ(object_open(DIR "/renamed", "", &o, &e), 0);
	CHECK_EQ(image_go_runtime(o, &r, &e), -1);
	CHECK(strstr(e.cause, "runtime.park_m") && *e.hint && *r.version);
	object_close(o);
}
#else
TEST(other_machine)
{
}
#endif
