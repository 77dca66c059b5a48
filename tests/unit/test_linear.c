// SPDX-License-Identifier: BSD-3-Clause
/* Crafted files: four times as many bytes may take four times as long to read, and not sixteen
 * times. */
#include "direct.h"

#include "debug_fixture.h"

#include <elf.h>
#include <stdint.h>
#include <time.h>

#include "core/text/names.h"
#include "symbols/dwarf/sources.h"

/* Processor time of one call, the least of three: others use the machine too. */
static double seconds(void (*work)(const void *), const void *arg)
{
	double least = 1e9;

	for (int i = 0; i < 3; i++) {
		struct timespec from, to;
		double took;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		work(arg);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		took =
		    (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
		least = took < least ? took : least;
	}
	return least;
}

/* Half way, by factors, between 4 and 16; caches and growing tables take some of it. Below 50 ms
 * the clock tells little, and the square of the time is far above. */
static void check_linear(void (*work)(const void *), const void *small, const void *large)
{
	double one = seconds(work, small), four = seconds(work, large);

	CHECK(four < 8 * one + 0.05);
	if (four >= 8 * one + 0.05)
		fprintf(stderr, "  %.3f s, then %.3f s\n", one, four);
}

static void ask(const void *path)
{
	struct loaded l = load(path);
	struct probe_site *sites;
	size_t n;

	if (!l.err && !object_find_line(l.o, "x.c", 7, &sites, &n, &l.e))
		free(sites);
	unload(&l);
}

/* Assembles @text twice, with N as given and four times as large. */
static void check_program(const char *name, size_t n, const char *text)
{
	char paths[2][4096];

	for (int i = 0; i < 2; i++) {
		char source[4200];
		FILE *f;

		snprintf(paths[i], sizeof(paths[i]), "%s/%s%d", DIR, name, i);
		CHECK(run("true"));
		snprintf(source, sizeof(source), "%s.s", paths[i]);
		f = fopen(source, "w");
		if (!f) {
			CHECK(!"the source is written");
			return;
		}
		fprintf(f, ".set N,%zu\n.text\n.globl _start\n_start:\n%s", i ? 4 * n : n, text);
		fclose(f);
		CHECK(run(
		    "gcc -nostdlib -static -Wl,--build-id=none -o '%s' '%s'", paths[i], source));
	}
	check_linear(ask, paths[0], paths[1]);
}

/* An abbreviation with a line table, and N units of 16 bytes each that use it. */
#define UNIT_ABBREV                               \
	".section .debug_abbrev,\"\",@progbits\n" \
	".byte 1,0x11,0,0x10,0x17,0,0,0\n"
#define UNITS(lines)                                 \
	".section .debug_info,\"\",@progbits\n"      \
	".set i,0\n.rept N\n"                        \
	".4byte 12\n.2byte 4\n.4byte 0\n.byte 8,1\n" \
	".4byte " lines "\n.set i,i+1\n.endr\n"

/* Each unit names another table, the later ones before the earlier ones. */
TEST(tables_in_descending_order)
{
	check_program("descending", 50000,
	    ".fill 16,1,0x90\n" UNIT_ABBREV UNITS(
		"(N-i-1)*4") ".section .debug_line,\"\",@progbits\n.fill N,4,0\n");
}

/* The abbreviations do not end, and each unit reads them anew. */
TEST(abbreviations_without_end)
{
	check_program("endless", 10000,
	    ".fill 16,1,0x90\n" UNITS(
		"0") ".section .debug_abbrev,\"\",@progbits\n.rept 4*N\n.byte 1,0x11,0,0,0\n.endr\n"
		     ".section .debug_line,\"\",@progbits\n.fill 16,1,0\n");
}

/* An entry of one byte has N attributes that take no bytes. */
TEST(attributes_without_bytes)
{
	check_program("flags", 4000,
	    ".fill 16,1,0x90\n" UNITS(
		"0") ".section .debug_abbrev,\"\",@progbits\n.byte 1,0x11,0,0x10,0x17\n.rept 4*N\n"
		     ".byte 0x3c,0x19\n.endr\n.byte 0,0,0\n"
		     ".section .debug_line,\"\",@progbits\n.fill 16,1,0\n");
}

/* The same with attributes that lie beyond the end of their unit. */
TEST(attributes_beyond_the_end)
{
	check_program("beyond", 4000,
	    ".fill 16,1,0x90\n" UNITS("0") ".section .debug_abbrev,\"\",@progbits\n.byte "
					   "1,0x11,0\n.rept 4*N\n.byte 3,0x0f\n"
					   ".endr\n.byte 0,0,0\n"
					   ".section .debug_line,\"\",@progbits\n.fill 16,1,0\n");
}

/* Damaged line tables that all reach to the end of the section, with directories of a byte each. */
TEST(tables_within_tables)
{
	check_program("nested", 3000,
	    ".fill 16,1,0x90\n" UNIT_ABBREV UNITS(
		"i*24") ".section .debug_line,\"\",@progbits\n.set i,0\n.rept N\n.set "
			"rest,(N-i-1)*24\n"
			".4byte rest+20\n.2byte 5\n.byte 8,0\n.4byte rest+12\n.byte "
			"1,1,1,1,1,1,1,3,0x0b\n"
			".byte (rest&127)|128,((rest>>7)&127)|128,rest>>14\n.set i,i+1\n.endr\n");
}

/* One line table of DWARF 5, with N files, then N rows of four bytes, each of another file. */
#define ONE_UNIT                                \
	".section .debug_info,\"\",@progbits\n" \
	".4byte 12\n.2byte 4\n.4byte 0\n.byte 8,1\n.4byte 0\n"
#define TABLE(files)                                                                 \
	".section .debug_line,\"\",@progbits\n.4byte 9f-8f\n8:.2byte 5\n.byte 8,0\n" \
	".4byte 6f-5f\n5:.byte 1,1,1,0,1,10,0,1,1,1,1,0,0,0,1\n.byte 1,1,8,1\n"      \
	".asciz \"/d\"\n" files "6:.byte 0,9,2\n.8byte _start\n"
#define ROWS                                                                 \
	".set i,0\n.rept N\n.byte 4,(i&127)|128,((i>>7)&127)|128,i>>14,11\n" \
	".set i,i+1\n.endr\n.byte 0,1,1\n9:\n"
#define COUNT ".byte (N&127)|128,((N>>7)&127)|128,N>>14\n"

/* The names of all files are the ends of one text. */
TEST(names_within_names)
{
	check_program("names", 12000,
	    ".fill 2*N,1,0x90\n" UNIT_ABBREV ONE_UNIT TABLE(
		".byte 1,1,0x1f\n" COUNT ".set i,0\n.rept N\n.4byte i\n.set i,i+1\n.endr\n") ROWS
	    ".section .debug_line_str,\"\",@progbits\n.fill 32*N,1,0x61\n.byte 0\n");
}

/* All files are in one directory, which has a name as long as the file. */
TEST(directory_without_end)
{
	check_program("directory", 12000,
	    ".fill 2*N,1,0x90\n" UNIT_ABBREV ONE_UNIT
	    ".section .debug_line,\"\",@progbits\n.4byte 9f-8f\n8:.2byte 5\n.byte 8,0\n"
	    ".4byte 6f-5f\n5:.byte 1,1,1,0,1,10,0,1,1,1,1,0,0,0,1\n.byte 1,1,8,1\n"
	    ".fill 32*N,1,0x61\n.byte 0\n.byte 1,1,8\n" COUNT
	    ".rept N\n.asciz \"f\"\n.endr\n6:.byte 0,9,2\n.8byte _start\n" ROWS);
}

/* N functions begin at one address, and N rows without a line ask which function they are in. */
TEST(functions_at_one_address)
{
	check_program("alike", 4000,
	    ".macro f\nf\\@:\n.type f\\@,@function\n.endm\n.rept N\nf\n.endr\n.fill "
	    "2*N,1,0x90\n" UNIT_ABBREV ONE_UNIT TABLE(
		".byte 1,1,8,1\n.asciz \"x.c\"\n") ".byte 4,0,1,3,127\n.rept N\n.byte "
						   "11\n.endr\n.byte 0,1,1\n9:\n");
}

/* Libelf's look-ups of names take the square of the time where this table does not end as it
 * must. */
TEST(section_names_without_end)
{
	const char *path = build("gcc", "-g", "lines.c", "unnamed");
	FILE *f = fopen(path, "r+");
	struct object *o = NULL;
	struct error e = {0};
	Elf64_Ehdr header;
	Elf64_Shdr names;

	CHECK(f && fread(&header, sizeof(header), 1, f) == 1);
	fseek(f, (long)(header.e_shoff + header.e_shstrndx * sizeof(names)), SEEK_SET);
	CHECK_EQ(fread(&names, sizeof(names), 1, f), 1);
	fseek(f, (long)(names.sh_offset + names.sh_size - 1), SEEK_SET);
	fputc('x', f);
	fclose(f);
	CHECK_EQ(object_open(path, "", &o, &e), -1);
	CHECK(strstr(e.cause, "section names are damaged"));
}

/* Names whose hashes without a seed (FNV-1a) lie within 256 slots of a large table. */
static char (*find_names(size_t n))[16]
{
	char(*ret)[16] = calloc(n, sizeof(*ret));

	for (uint64_t i = 0, found = 0; found < n; i++) {
		uint64_t h = 0xcbf29ce484222325ULL;

		snprintf(ret[found], sizeof(*ret), "%llx", (unsigned long long)i);
		for (const char *s = ret[found]; *s; s++)
			h = (h ^ (unsigned char)*s) * 0x100000001b3ULL;
		found += !((h ^ (h >> 32)) & 0xff00);
	}
	return ret;
}

struct named {
	char (*names)[16];
	size_t n;
};

static void intern_names(const void *arg)
{
	const struct named *all = arg;
	struct names names = {0};
	uint32_t id;

	for (size_t i = 0; i < all->n; i++)
		names_copy(&names, all->names[i], &id);
	CHECK_EQ(names.n, all->n);
	names_deinit(&names);
}

TEST(names_that_meet)
{
	char(*names)[16] = find_names(28000);

	check_linear(intern_names, &(struct named){names, 7000}, &(struct named){names, 28000});
	free(names);
}

static bool pick_all(const void *ctx, const char *path)
{
	return true;
}

/* Lines whose products with the golden ratio lie close together. */
static void add_lines(const void *n)
{
	struct source_set s;
	struct source v = {"x.c", true, 0};

	source_set_init(&s, pick_all, NULL);
	s.v = &v;
	for (uint32_t line = 1, found = 0; found < *(const size_t *)n; line++) {
		if ((line * 0x9e3779b97f4a7c15ULL) >> 32 & 0xff00)
			continue;
		found++;
		CHECK(source_line_entry(&s, 0, line));
	}
	s.v = NULL;
	source_set_deinit(&s);
}

TEST(lines_that_meet)
{
	const size_t small = 7000, large = 28000;

	check_linear(add_lines, &small, &large);
}
