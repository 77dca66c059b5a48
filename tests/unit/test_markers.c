// SPDX-License-Identifier: BSD-3-Clause
/* Compiles include/coz.h in every way that it promises, and finds its markers and other static
 * probes again. */
#include "debug_fixture.h"

#include <elf.h>

#define NO_WARNINGS "-pedantic -Wall -Wextra -Werror"

#if defined(__x86_64__)
static const uint8_t marker_nop[] = {0x90, 0x0f, 0x1f, 0x44, 0, 0};
#define LONG_NOP 1
#else
static const uint8_t marker_nop[] = {0x1f, 0x00, 0x00, 0x10};
#define LONG_NOP 0
#endif

static bool in_file(const char *path, uint64_t offset, const uint8_t *bytes, size_t size)
{
	uint8_t got[8] = {0};
	FILE *f = fopen(path, "r");
	bool ok = f && !fseek(f, (long)offset, SEEK_SET) && fread(got, 1, size, f) == size &&
		  !memcmp(got, bytes, size);

	if (f)
		fclose(f);
	return ok;
}

/* Sites of a marker, each of which must be on its instructions; 0: the marker is not there. */
static size_t marker_sites(const char *path, const struct marker *markers, size_t n,
    enum marker_kind kind, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (markers[i].kind != kind || strcmp(markers[i].name, name))
			continue;
		for (size_t k = 0; k < markers[i].n_sites; k++) {
			CHECK(in_file(
			    path, markers[i].sites[k].offset, marker_nop, sizeof(marker_nop)));
			CHECK(!k || markers[i].sites[k].offset > markers[i].sites[k - 1].offset);
			CHECK_EQ(markers[i].sites[k].long_nop,
			    LONG_NOP ? markers[i].sites[k].offset + LONG_NOP : 0);
		}
		return markers[i].n_sites;
	}
	return 0;
}

static void load_markers(const char *path, struct object **o, struct marker **markers, size_t *n)
{
	struct error e = {0};

	*o = NULL;
	*markers = NULL;
	*n = 0;
	if (object_open(path, "", o, &e) || object_find_markers(*o, markers, n, &e)) {
		fprintf(stderr, "  '%s': %s\n", path, e.cause);
		CHECK(!"the markers are read");
	}
}

static void check_c(const char *compiler, const char *flags)
{
	char all[5000], here[4200];
	const char *path;
	struct object *o;
	struct marker *m;
	size_t n;

	snprintf(all, sizeof(all), NO_WARNINGS " -I%s/../../../include %s", fixtures, flags);
	path = build(compiler, all, "markers.c", "markers_c");
	load_markers(path, &o, &m, &n);
	CHECK_EQ(n, 9);
	if (n != 9)
		fprintf(stderr, "  %s %s\n", compiler, flags);
	CHECK(marker_sites(path, m, n, MARKER_BEGIN, "transaction") >= 1);
	CHECK(marker_sites(path, m, n, MARKER_END, "transaction") >= 1);
	CHECK_EQ(marker_sites(path, m, n, MARKER_PROGRESS, "transaction"), 0);
	CHECK(marker_sites(path, m, n, MARKER_PROGRESS, "step") >= 1);
	CHECK(marker_sites(path, m, n, MARKER_PROGRESS, "short") >= 1);
	CHECK(marker_sites(path, m, n, MARKER_PROGRESS, "macro") >= 1);
	CHECK(marker_sites(path, m, n, MARKER_PROGRESS, "of parts") >= 1);
	CHECK(marker_sites(path, m, n, MARKER_PROGRESS, "100% {a|b} $x; # %0 ä") >= 1);
	snprintf(here, sizeof(here), "%s/markers.c:25", fixtures);
	CHECK(marker_sites(path, m, n, MARKER_PROGRESS, here) >= 1);
	snprintf(here, sizeof(here), "%s/markers.c:48", fixtures);
	CHECK(marker_sites(path, m, n, MARKER_PROGRESS, here) >= 1);
	CHECK(run("./markers_c 4"));
	markers_free(m, n);
	object_close(o);
}

TEST(markers_in_c)
{
	static const char *const flags[] = {"-std=c99 -O0", "-std=c17 -O2 -fPIE -pie -s",
	    "-std=gnu11 -Os -fno-pie -no-pie",
	    "-std=c99 -O2 -fPIC -fcf-protection=full -ffunction-sections -Wl,--gc-sections",
	    /* Not where it has to be brief. */
	    "-std=c11 -O1", "-std=c99 -O3 -funroll-loops", "-std=c99 -O2 -static",
	    "-std=c99 -O2 -flto"};
	size_t n = brief() ? 4 : sizeof(flags) / sizeof(*flags);

	CHECK(run("true"));
	for (size_t i = 0; i < n; i++) {
		check_c("gcc", flags[i]);
		if (have("clang"))
			check_c("clang", flags[i]);
	}
}

static void check_cc(const char *compiler, const char *flags, bool optimised)
{
	struct object *o;
	struct marker *m;
	size_t n;

	CHECK(run("%s -c " NO_WARNINGS
		  " %s -Wno-unused-command-line-argument -I'%s/../../../include' -DOTHER -o "
		  "markers_other.o '%s/markers.cc' && "
		  "%s " NO_WARNINGS
		  " %s -I'%s/../../../include' -o markers_cc '%s/markers.cc' markers_other.o",
	    compiler, flags, fixtures, fixtures, compiler, flags, fixtures, fixtures));
	load_markers(DIR "/markers_cc", &o, &m, &n);
	CHECK_EQ(n, 6);
	for (size_t i = 0; i < n; i++)
		CHECK(marker_sites(DIR "/markers_cc", m, n, m[i].kind, m[i].name));
	CHECK(optimised || marker_sites(DIR "/markers_cc", m, n, MARKER_PROGRESS, "template") == 2);
	CHECK(optimised || marker_sites(DIR "/markers_cc", m, n, MARKER_PROGRESS, "inline") == 1);
	CHECK(optimised || marker_sites(DIR "/markers_cc", m, n, MARKER_PROGRESS, "lambda") == 1);
	for (size_t i = 0; !optimised && i < n; i++)
		CHECK(strcmp(m[i].sites[0].function, "?"));
	CHECK(run("./markers_cc"));
	markers_free(m, n);
	object_close(o);
}

TEST(markers_in_cxx)
{
	static const char *const flags[] = {"-std=c++11 -O0", "-std=c++20 -O2 -flto",
	    "-std=c++17 -O2 -ffunction-sections -Wl,--gc-sections",
	    /* Not where it has to be brief. */
	    "-std=c++11 -O2", "-std=c++14 -O2", "-std=c++17 -O3", "-std=c++17 -O0 -static"};
	size_t n = brief() ? 3 : sizeof(flags) / sizeof(*flags);

	for (size_t i = 0; i < n; i++) {
		check_cc("g++", flags[i], !strstr(flags[i], "-O0"));
		if (have("clang++"))
			check_cc("clang++", flags[i], !strstr(flags[i], "-O0"));
	}
}

/* The linker drops sections without references; notes stay, and describe code. */
TEST(markers_with_gc_sections)
{
	struct object *o;
	struct marker *m;
	size_t n;

	CHECK(run(
	    "printf '#include <coz.h>\\nvoid unused(void) { COZ_PROGRESS_NAMED(\"unused\"); }\\n'"
	    "'int main(void) { COZ_PROGRESS_NAMED(\"used\"); return 0; }\\n' >discard.c && "
	    "gcc -O1 -ffunction-sections -Wl,--gc-sections -I'%s/../../../include' -o discard "
	    "discard.c",
	    fixtures));
	load_markers(DIR "/discard", &o, &m, &n);
	CHECK_EQ(marker_sites(DIR "/discard", m, n, MARKER_PROGRESS, "used"), 1);
	CHECK(n && !strcmp(m[n - 1].name, "used") && !strcmp(m[n - 1].sites[0].function, "main"));
	markers_free(m, n);
	object_close(o);
}

/* For the other architecture, as far as an object file shows. */
TEST(markers_for_arm64)
{
	if (!have("clang"))
		return;
	CHECK(run("printf '#include <coz.h>\\nint f(void) { COZ_PROGRESS_NAMED(\"arm\"); return 0; "
		  "}\\n' >arm.c && "
		  "clang --target=aarch64-linux-gnu -std=c99 " NO_WARNINGS
		  " -O2 -I'%s/../../../include' -c -o arm.o arm.c && "
		  "readelf -n arm.o | grep -q 'Arguments: arm'",
	    fixtures));
}

/* Where there is no ELF, or no known nop, the macros are statements that do nothing. */
TEST(markers_elsewhere)
{
	CHECK(run("gcc -std=c99 " NO_WARNINGS
		  " -U__ELF__ -I'%s/../../../include' -c -o elsewhere.o '%s/markers.c' && "
		  "! readelf -SW elsewhere.o | grep -q stapsdt",
	    fixtures, fixtures));
}

/* A program with static probes as <sys/sdt.h> makes them, written out: a semaphore, arguments, two
 * providers, two sites of one probe. */
#define PROBE(provider, name, semaphore, args)                                                  \
	"990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n.4byte 992f-991f, "     \
	"994f-993f, 3\n"                                                                        \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b, _.stapsdt.base, " semaphore \
	"\n.asciz \"" provider "\", \"" name "\", \"" args "\"\n994: .balign 4\n.popsection\n"
#define PROBES                                                                                    \
	".text\n.globl main\n.type main,@function\nmain:\n" PROBE(                                \
	    "shop", "sold", "users", "8@%rdi -4@$5") PROBE("shop", "bought", "0", "")             \
	    PROBE("till", "open", "0", "4@8(%rsp)") PROBE("shop", "sold", "users",                \
		"8@%rsi") "xor %eax,%eax\nret\n.size main,.-main\n.data\n.quad 1\nusers: .short " \
			  "0\n.short 0\n"                                                         \
			  ".section .stapsdt.base,\"a\"\n_.stapsdt.base: .space 1\n.section "     \
			  ".note.GNU-stack,\"\",@progbits\n"

static bool build_probes(const char *name)
{
	FILE *f;

	if (!run("true") || !(f = fopen(DIR "/probes.s", "w")))
		return false;
	fputs(PROBES, f);
	fclose(f);
	return run("gcc -o %s probes.s", name);
}

TEST(static_probes)
{
	static const uint8_t nop[] = {0x90};
	struct object *o = NULL;
	struct sdt_probe *p, *found;
	struct error e = {0};
	size_t n, n_found;

	CHECK(build_probes("probes"));
	CHECK_EQ(object_open(DIR "/probes", "", &o, &e), 0);
	CHECK_EQ(object_sdt_probes(o, &p, &n, &e), 0);
	CHECK_EQ(n, 4);
	CHECK_STR(p[0].provider, "shop");
	CHECK_STR(p[0].name, "sold");
	CHECK_STR(p[0].args, "8@%rdi -4@$5");
	CHECK_STR(p[1].args, "");
	CHECK_EQ(p[1].semaphore_offset, 0);
	CHECK(p[0].semaphore_offset && p[0].semaphore_offset == p[3].semaphore_offset);
	for (size_t i = 0; i < n; i++)
		CHECK(in_file(DIR "/probes", p[i].addr_offset, nop, 1));
	CHECK_EQ(object_find_usdt(o, "shop", "sold", &found, &n_found, &e), 0);
	CHECK_EQ(n_found, 2);
	CHECK_EQ(found[0].addr_offset, p[0].addr_offset);
	CHECK_EQ(found[1].addr_offset, p[3].addr_offset);
	sdt_probes_free(found, n_found);
	sdt_probes_free(p, n);
	object_close(o);
}

TEST(static_probes_not_found)
{
	struct object *o = NULL;
	struct sdt_probe *p;
	struct error e = {0};
	size_t n;

	CHECK(build_probes("probes_known"));
	CHECK_EQ(object_open(DIR "/probes_known", "", &o, &e), 0);
	CHECK_EQ(object_find_usdt(o, "shop", "slod", &p, &n, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK(strstr(e.cause, "no static probe 'shop:slod'"));
	CHECK(strstr(e.hint, "did you mean 'shop:sold'"));
	CHECK_EQ(object_find_usdt(o, "quite", "different_from_those", &p, &n, &e), -1);
	CHECK(strstr(e.hint, "'shop:sold', 'shop:bought' or 'till:open'"));
	object_close(o);
	CHECK(run("printf 'int main(void) { return 0; }' | gcc -x c -o without -"));
	CHECK_EQ(object_open(DIR "/without", "", &o, &e), 0);
	CHECK_EQ(object_sdt_probes(o, &p, &n, &e), 0);
	CHECK_EQ(n, 0);
	sdt_probes_free(p, n);
	CHECK_EQ(object_find_usdt(o, "shop", "sold", &p, &n, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK(strstr(e.hint, "none at all"));
	object_close(o);
}

/* prelink moves a program and its base symbol, and leaves the notes alone. */
TEST(static_probes_moved)
{
	struct object *o = NULL;
	struct sdt_probe *p = NULL, *moved = NULL;
	struct error e = {0};
	size_t n = 0, n_moved = 0;

	CHECK(build_probes("probes_base"));
	/* The same notes with every address, the base's too, 0x100 lower. */
	CHECK(run(
	    "objcopy --dump-section .note.stapsdt=notes.bin probes_base && python3 -c '\n"
	    "import struct\nd = bytearray(open(\"notes.bin\", \"rb\").read())\nat = 0\n"
	    "while at < len(d):\n"
	    "    o, s, t = struct.unpack_from(\"<III\", d, at)\n    at += 12 + (o + 3) // 4 * 4\n"
	    "    for k in 0, 8, 16:\n        v, = struct.unpack_from(\"<Q\", d, at + k)\n"
	    "        struct.pack_into(\"<Q\", d, at + k, v - 0x100 if v else 0)\n    at += (s + 3) "
	    "// 4 * 4\n"
	    "open(\"notes.bin\", \"wb\").write(d)' && objcopy --update-section "
	    ".note.stapsdt=notes.bin probes_base probes_moved"));
	CHECK_EQ(object_open(DIR "/probes_base", "", &o, &e), 0);
	CHECK_EQ(object_sdt_probes(o, &p, &n, &e), 0);
	object_close(o);
	CHECK_EQ(object_open(DIR "/probes_moved", "", &o, &e), 0);
	CHECK_EQ(object_sdt_probes(o, &moved, &n_moved, &e), 0);
	object_close(o);
	CHECK_EQ(n_moved, 4);
	CHECK_EQ(n, n_moved);
	for (size_t i = 0; i < n && i < n_moved; i++) {
		CHECK_EQ(moved[i].addr_offset, p[i].addr_offset);
		CHECK_EQ(moved[i].semaphore_offset, p[i].semaphore_offset);
	}
	sdt_probes_free(p, n);
	sdt_probes_free(moved, n_moved);
}

static void check_notes(const char *make, int want, size_t want_n)
{
	struct object *o = NULL;
	struct sdt_probe *p = NULL;
	struct error e = {0};
	size_t n = 0;

	CHECK(run("cp notes.whole notes.bin && %s && "
		  "objcopy --update-section .note.stapsdt=notes.bin probes_whole probes_damaged",
	    make));
	CHECK_EQ(object_open(DIR "/probes_damaged", "", &o, &e), 0);
	CHECK_EQ(object_sdt_probes(o, &p, &n, &e), want);
	if (want) {
		CHECK_EQ(e.status, EXIT_NO_RESULT);
		CHECK(strstr(e.cause, "damaged") && *e.hint);
	} else {
		CHECK_EQ(n, want_n);
	}
	sdt_probes_free(p, n);
	object_close(o);
}

TEST(static_probes_damaged)
{
	CHECK(build_probes("probes_whole"));
	CHECK(run("objcopy --dump-section .note.stapsdt=notes.whole probes_whole"));
	check_notes("true", 0, 4);
	check_notes("truncate -s -2 notes.bin", 0, 4); /* padding only */
	check_notes("truncate -s 200 notes.bin", 0, 3);
	check_notes("truncate -s 10 notes.bin", 0, 0);
	check_notes("truncate -s 60 notes.bin", -1, 0);
	check_notes("head -c 400 /dev/zero | tr '\\0' '\\377' >notes.bin", -1, 0);
	check_notes("head -c 1000 /dev/zero >notes.bin", 0, 0);
	check_notes(
	    "printf '\\377\\377\\377\\377' | dd of=notes.bin bs=1 seek=4 conv=notrunc status=none",
	    -1, 0);
	/* Address 0: the linker has discarded the function. */
	check_notes(
	    "head -c 8 /dev/zero | dd of=notes.bin bs=1 seek=20 conv=notrunc status=none", 0, 3);
	/* An address that is not code, a name that is empty: the note goes, the others stay. */
	check_notes("printf '\\1' | dd of=notes.bin bs=1 seek=26 conv=notrunc status=none", 0, 3);
	check_notes("printf '\\0' | dd of=notes.bin bs=1 seek=49 conv=notrunc status=none", 0, 3);
}

/* Beside <sys/sdt.h>, where that is installed. */
TEST(markers_beside_sdt_h)
{
	struct object *o;
	struct marker *m;
	struct sdt_probe *p;
	struct error e = {0};
	size_t n, n_probes;

	if (!run("printf '#include <sys/sdt.h>\\n' | g++ -E -x c++ - >/dev/null 2>&1"))
		return;
	check_cc("g++", "-std=c++17 -O2 -DWITH_SDT -Wno-gnu-zero-variadic-macro-arguments", true);
	check_cc("g++", "-std=c++17 -O0 -DWITH_SDT -Wno-gnu-zero-variadic-macro-arguments", false);
	if (have("clang++"))
		check_cc("clang++",
		    "-std=c++17 -O2 -DWITH_SDT -Wno-gnu-zero-variadic-macro-arguments", true);
	load_markers(DIR "/markers_cc", &o, &m, &n);
	CHECK_EQ(object_find_usdt(o, "shop", "sold", &p, &n_probes, &e), 0);
	CHECK(n_probes >= 1 && *p[0].args);
	sdt_probes_free(p, n_probes);
	markers_free(m, n);
	object_close(o);
}
