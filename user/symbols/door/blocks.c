// SPDX-License-Identifier: BSD-3-Clause
/* Asks readers where blocks are probed, and of which source lines they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/paths.h"
#include "symbols/door/object.h"

struct wanted_blocks {
	const uint64_t *starts;
	size_t n;
	bool has_lines;
};

/* Code of one file within a block, and its lines. */
struct stretch {
	const char *file;
	uint64_t bytes;
	uint32_t first, last;
};

static void take_range(
    struct stretch *s, const struct line_map *map, const struct line_range *r, uint64_t bytes)
{
	const struct source_line *l = &map->lines[r->line];

	if (l->file != s->file)
		return;
	s->bytes += bytes;
	if (!s->first || l->line < s->first)
		s->first = l->line;
	if (l->line > s->last)
		s->last = l->line;
}

/* Of the block's code in @file. */
static struct stretch stretch_of(
    const struct line_map *map, size_t first, const struct block_site *site, const char *file)
{
	struct stretch ret = {.file = file};

	for (size_t i = first; i < map->n_ranges && map->ranges[i].lo < site->end; i++) {
		const struct line_range *r = &map->ranges[i];
		uint64_t lo = r->lo > site->start ? r->lo : site->start,
			 hi = r->hi < site->end ? r->hi : site->end;

		take_range(&ret, map, r, hi - lo);
	}
	return ret;
}

#define MAX_FILES 8 /* that are inlined into one block */

/* Lines are those of the file that has most of the block's code. */
static void set_lines(const struct line_map *map, struct block_site *site)
{
	size_t first = line_map_after(map, 0, site->start), n = 0;
	struct stretch most = {0}, s;
	const char *seen[MAX_FILES];

	for (size_t i = first; i < map->n_ranges && map->ranges[i].lo < site->end; i++) {
		const char *file = map->lines[map->ranges[i].line].file;
		size_t k = 0;

		while (k < n && seen[k] != file)
			k++;
		if (k < n || n == MAX_FILES)
			continue;
		seen[n++] = file;
		s = stretch_of(map, first, site, file);
		if (s.bytes > most.bytes)
			most = s;
	}
	if (!most.file)
		return;
	snprintf(site->lines, sizeof(site->lines), "%s:%u", path_base(most.file), most.first);
	n = strlen(site->lines);
	if (most.last > most.first)
		snprintf(site->lines + n, sizeof(site->lines) - n, "-%u", most.last);
}

/* Code inlined from the system's files is at the lines that call it, as far as there are any. A
 * file whose debug information is damaged has no lines. */
static int add_lines(
    struct image *image, const struct wanted_blocks *w, struct block_site *sites, struct error *e)
{
	const char *every[] = {"%"};
	const struct scope scopes[] = {{0}, {.sources = every, .n_sources = 1}};
	struct error none;
	size_t n;

	for (size_t k = 0; k < 2; k++) {
		struct line_map map;

		if (line_map_init(&map))
			return error_set(e, EXIT_OTHER, "out of memory");
		if (!image_add_lines(image, &scopes[k], &map, &n, &none))
			for (size_t i = 0; i < w->n; i++)
				if (!*sites[i].lines)
					set_lines(&map, &sites[i]);
		line_map_deinit(&map);
	}
	return 0;
}

static void put_site(struct out *out, const struct block_site *s)
{
	put_u64(out, s->start);
	put_u64(out, s->end);
	put_u64(out, s->entry);
	put_u64(out, s->exit);
	put_u32(out, s->entry_is_cheap);
	put_u32(out, s->exit_is_cheap);
	put_u32(out, s->calls);
	put_u32(out, s->loops);
	put_u32(out, s->instructions);
	put_u64(out, s->function_offset);
	put_string(out, s->function);
	put_string(out, s->lines);
}

static int find_sites(struct image *image, void *arg, struct out *out, struct error *e)
{
	const struct wanted_blocks *w = arg;
	struct block_site *sites = calloc(w->n + 1, sizeof(*sites));
	int err;

	if (!sites)
		return error_set(e, EXIT_OTHER, "out of memory");
	err = image_block_sites(image, w->starts, w->n, sites, e);
	if (!err && w->has_lines)
		err = add_lines(image, w, sites, e);
	for (size_t i = 0; !err && i < w->n; i++)
		put_site(out, &sites[i]);
	free(sites);
	return err;
}

static struct block_site get_site(struct in *in)
{
	struct block_site ret = {0};

	ret.start = get_u64(in);
	ret.end = get_u64(in);
	ret.entry = get_u64(in);
	ret.exit = get_u64(in);
	ret.entry_is_cheap = get_u32(in) != 0;
	ret.exit_is_cheap = get_u32(in) != 0;
	ret.calls = get_u32(in) != 0;
	ret.loops = get_u32(in) != 0;
	ret.instructions = get_u32(in);
	ret.function_offset = get_u64(in);
	snprintf(ret.function, sizeof(ret.function), "%s", get_string(in, sizeof(ret.function)));
	snprintf(ret.lines, sizeof(ret.lines), "%s", get_string(in, sizeof(ret.lines)));
	return ret;
}

/* A block that begins where it was asked for, or none. */
static bool is_good(const struct block_site *s, uint64_t start)
{
	if (!s->start && !s->end)
		return true;
	return s->start == start && s->start < s->end && s->entry >= s->start &&
	       s->entry < s->end && s->exit >= s->entry && s->exit <= s->end;
}

int object_block_sites(
    struct object *o, const uint64_t *starts, size_t n, struct block_site *ret, struct error *e)
{
	struct wanted_blocks w = {starts, n, o->has_debug_info};
	const struct question q = {find_sites, &w, .needs_debug = o->has_debug_info};
	struct in in;

	if (!n)
		return 0;
	if (object_ask(o, &q, &in, e))
		return -1;
	for (size_t i = 0; i < n; i++) {
		ret[i] = get_site(&in);
		in.bad |= !is_good(&ret[i], starts[i]);
	}
	return object_answered(o, &in, e);
}
