// SPDX-License-Identifier: BSD-3-Clause
/*
 * libFuzzer: any bytes as the file beside a program: its debug file by .gnu_debuglink, its .dwo
 * file, or the file that dwz made (.gnu_debugaltlink). The first byte says which. The programs are
 * those of tests/fuzz/seeds.sh, and lie in COZBPF_FUZZ_BESIDE.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../unit/direct.h"
#include "limit.h"
#include "mutate_elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

#define DIR COZBPF_FUZZ_BESIDE "/"

static const struct {
	const char *program, *beside;
} pairs[] = {{DIR "linked", DIR "linked.debug"}, {DIR "split", DIR "split.dwo"},
    {DIR "shared", DIR "shared.alt"}};

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	if (size < 2 || seed % 32 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	return 1 + elf_mutate(data + 1, size - 1, max_size - 1, seed);
}

static uint32_t crc32_of(const uint8_t *data, size_t size)
{
	uint32_t crc = ~0U;

	for (size_t i = 0; i < size; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void write_at(const char *path, int flags, const void *data, size_t size, off_t at)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0600);

	if (fd < 0 || pwrite(fd, data, size, at) != (ssize_t)size || close(fd)) {
		perror(path);
		abort();
	}
}

/* Writes the file's checksum into the program's link, or no file would ever belong. */
static void link_checksum(const uint8_t *data, size_t size)
{
	static const char name[] = "linked.debug";
	static off_t at;
	uint32_t crc = crc32_of(data, size);
	char program[65536], *found;
	FILE *in;

	if (!at) {
		in = fopen(pairs[0].program, "re");
		found =
		    in ? memmem(program, fread(program, 1, sizeof(program), in), name, sizeof(name))
		       : NULL;
		if (!found)
			abort();
		fclose(in);
		at = found - program + (off_t)(sizeof(name) + 3) / 4 * 4;
	}
	write_at(pairs[0].program, 0, &crc, sizeof(crc), at);
}

static void ask(const char *path)
{
	struct source_file *files;
	struct probe_site *sites;
	struct object *o = NULL;
	struct scope all = {0};
	struct line_map map;
	struct error e;
	size_t n;

	if (object_open(path, "", &o, &e))
		abort(); /* the program itself is whole */
	line_map_init(&map);
	object_add_lines(o, &all, &map, &n, &e);
	line_map_deinit(&map);
	if (!object_source_files(o, &all, &files, &n, &e))
		source_files_free(files, n);
	if (!object_find_line(o, "work.c", 3, &sites, &n, &e))
		free(sites);
	if (!object_find_symbol(o, "work", 0, &sites, &n, &e))
		free(sites);
	object_close(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t which;

	limit_begin();
	if (size < 2)
		return 0;
	which = data[0] % (sizeof(pairs) / sizeof(pairs[0]));
	write_at(pairs[which].beside, O_CREAT | O_TRUNC, data + 1, size - 1, 0);
	if (!which)
		link_checksum(data + 1, size - 1);
	ask(pairs[which].program);
	return 0;
}
