// SPDX-License-Identifier: BSD-3-Clause
/* libFuzzer: any bytes as an ELF file with debug information: opens it, reads lines, source files,
 * sites of lines, symbols and static probes, cheap sites, blocks, rows for unwinding. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/direct.h"
#include "limit.h"
#include "mutate_elf.h"

#define MAX_ROWS 100000
#define MAX_BLOCKS 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return elf_mutate(data, size, max_size, seed);
}

static void check_map(const struct line_map *map)
{
	for (size_t i = 0; i < map->n_ranges; i++) {
		const struct line_range *r = &map->ranges[i];

		if (r->lo >= r->hi || !r->line || r->line >= map->n_lines ||
		    (i && r->lo < r[-1].hi))
			abort();
	}
}

static void ask(struct object *o)
{
	struct scope all = {0};
	struct source_file *files;
	struct probe_site *sites;
	struct line_map map;
	struct error e;
	size_t n, n_sites;

	line_map_init(&map);
	if (!object_add_lines(o, &all, &map, &n, &e))
		check_map(&map);
	line_map_deinit(&map);
	line_map_init(&map);
	if (!object_add_functions(o, &map, &n, &e))
		check_map(&map);
	line_map_deinit(&map);
	if (!object_source_files(o, &all, &files, &n, &e)) {
		for (size_t i = 0; i < n && i < 4; i++)
			if (!object_find_line(o, files[i].path, 7, &sites, &n_sites, &e))
				free(sites);
		source_files_free(files, n);
	}
}

static void ask_markers(struct object *o)
{
	struct sdt_probe *probes;
	struct marker *markers;
	struct error e = {0};
	size_t n;

	if (!object_find_coz_sites(o, &markers, &n, &e))
		markers_free(markers, n);
	if (!object_find_usdt(o, "shop", "sold", &probes, &n, &e))
		sdt_probes_free(probes, n);
	if (!object_find_markers(o, &markers, &n, &e)) {
		for (size_t i = 0; i < n; i++)
			if (!*markers[i].name || !markers[i].n_sites ||
			    strpbrk(markers[i].name, "\t\n"))
				abort();
		markers_free(markers, n);
	}
}

static void ask_cheap(struct object *o, const struct probe_site *sites, size_t n)
{
	uint64_t site, next;

	for (size_t i = 0; i < n; i++)
		for (uint64_t at = 0; at < 40; at += 1 + at / 4) {
			if (!object_cheap_site(o, sites[i].offset + at, &site) &&
			    site != sites[i].offset + at &&
			    (site < sites[i].offset || !object_site_is_cheap(o, site)))
				abort();
			image_site_may_clobber(o, sites[i].offset + at, &next);
			if (next && next != sites[i].offset + at + 5)
				abort();
		}
}

static void ask_rows(struct object *o)
{
	struct cozbpf_unwind_row *rows;
	bool stop = false;
	size_t n;

	if (object_unwind_rows(o, MAX_ROWS, &stop, &rows, &n, NULL) || n > MAX_ROWS)
		abort();
	for (size_t i = 1; i < n; i++)
		if (rows[i].lo <= rows[i - 1].lo)
			abort();
	free(rows);
}

static void ask_spins(struct object *o)
{
	struct spin_question q = {.kinds = COZBPF_SPINS_PAUSE | COZBPF_SPINS_IDLE, .max = MAX_ROWS};
	struct spin_site *sites, *around;
	size_t n, n_around;

	if (object_spin_sites(o, &q, &sites, &n, NULL) || n > MAX_ROWS)
		abort();
	for (size_t i = 1; i < n; i++)
		if (sites[i].offset <= sites[i - 1].offset)
			abort();
	for (size_t i = 0; i < n && i < 8; i++) {
		q = (struct spin_question){COZBPF_SPINS_IDLE, &sites[i].offset, 1, MAX_ROWS};
		if (object_spin_sites(o, &q, &around, &n_around, NULL) || n_around > MAX_ROWS)
			abort();
		free(around);
	}
	free(sites);
}

/* Each range is a block, whose probes are within it. */
static void check_blocks(struct object *o, const struct line_map *map)
{
	size_t n = map->n_ranges < MAX_BLOCKS ? map->n_ranges : MAX_BLOCKS;
	struct block_site sites[MAX_BLOCKS];
	uint64_t starts[MAX_BLOCKS];
	struct error e;

	for (size_t i = 0; i < n; i++)
		starts[i] = map->ranges[i].lo;
	if (object_block_sites(o, starts, n, sites, &e))
		abort();
	for (size_t i = 0; i < n; i++) {
		const struct block_site *s = &sites[i];

		if (s->start != starts[i] || s->end != map->ranges[i].hi || !s->instructions ||
		    s->entry < s->start || s->entry > s->exit || s->entry >= s->end ||
		    s->exit > s->end || !*s->function)
			abort();
	}
}

static void ask_blocks(struct object *o)
{
	struct line_map map;
	struct error e;
	size_t n;

	line_map_init(&map);
	if (!object_add_blocks(o, NULL, &map, &n, &e)) {
		check_map(&map);
		check_blocks(o, &map);
	}
	line_map_deinit(&map);
}

static void ask_go(struct object *o)
{
	struct go_runtime runtime;
	struct error e = {0};
	int answer = image_go_runtime(o, &runtime, &e);

	if (answer < 0 ? !*e.cause : !answer != (runtime.tls_g < 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct object *o = NULL;
	struct probe_site *sites;
	struct error e = {0};
	char path[64];
	size_t n;

	limit_begin();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (!object_open(path, "", &o, &e)) {
		ask(o);
		ask_markers(o);
		ask_rows(o);
		ask_spins(o);
		ask_blocks(o);
		ask_go(o);
		if (!object_find_symbol(o, "work", 0, &sites, &n, &e)) {
			ask_cheap(o, sites, n);
			free(sites);
		}
		if (!object_find_symbol(o, "_ZN4shop4till3addEi", 4, &sites, &n, &e))
			free(sites);
		object_close(o);
	} else if (!*e.cause) {
		abort();
	}
	close(fd);
	return 0;
}
