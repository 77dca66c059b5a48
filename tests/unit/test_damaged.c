// SPDX-License-Identifier: BSD-3-Clause
/* Files that are no programs, or are truncated or damaged: every question gets an answer or an
 * error. */
#include "direct.h"

#include "debug_fixture.h"

#include <sys/stat.h>

#include "core/experiment/rng.h"

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
	CHECK(run("printf '#!/bin/sh\\n' >script && : >empty && head -c 100000 /dev/urandom "
		  ">garbage && rm -f fifo && mkfifo fifo && "
		  "printf 'int x;' >object.c && gcc -g -c -o object.o object.c"));
	check_not_opened(DIR "/nothing_here", "No such file");
	check_not_opened(DIR, "not a regular file");
	check_not_opened(DIR "/fifo", "not a regular file");
	check_not_opened(DIR "/script", "not an ELF file");
	check_not_opened(DIR "/empty", "not an ELF file");
	check_not_opened(DIR "/garbage", "not an ELF file");
	check_not_opened(DIR "/object.o", "not linked");
}

/* Asks all that can be asked of a file that may be damaged; any answer is right. */
static void ask_everything(const char *path)
{
	struct source_file *files;
	struct probe_site *sites;
	struct sdt_probe *probes;
	struct marker *markers;
	uint64_t site;
	struct scope all = {0};
	struct loaded l = load(path);
	struct cozbpf_unwind_row *rows;
	bool stop = false;
	size_t n;

	if (l.o) {
		if (!object_source_files(l.o, &all, &files, &n, &l.e))
			source_files_free(files, n);
		if (!object_find_line(l.o, "inlined.cc", 40, &sites, &n, &l.e))
			free(sites);
		if (!object_find_symbol(l.o, "main", 0, &sites, &n, &l.e)) {
			CHECK_EQ(object_cheap_site(l.o, sites[0].offset, &site), 0);
			free(sites);
		}
		if (!object_find_usdt(l.o, "coz", "begin", &probes, &n, &l.e))
			sdt_probes_free(probes, n);
		if (!object_find_markers(l.o, &markers, &n, &l.e))
			markers_free(markers, n);
		if (!object_find_coz_sites(l.o, &markers, &n, &l.e))
			markers_free(markers, n);
		CHECK_EQ(object_unwind_rows(l.o, 100000, &stop, &rows, &n, NULL), 0);
		free(rows);
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
	char *data = read_file(build("g++", "-g -O2", "inlined.cc", "inlined_whole"), &size),
	     *copy = malloc(size);
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

/* .debug_line overwritten: debug information is there, but it is damaged, and the message says
 * that. */
TEST(damaged_line_table)
{
	struct loaded l;

	build("gcc", "-g -O2", "lines.c", "lines_damaged");
	CHECK(run("head -c 1000 /dev/zero | tr '\\0' '\\377' >ones && objcopy --update-section "
		  ".debug_line=ones lines_damaged"));
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
