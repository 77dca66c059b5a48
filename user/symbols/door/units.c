// SPDX-License-Identifier: BSD-3-Clause
/* Line maps as bytes, and back into ours; see object.h. */
#include "symbols/door/object.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/places/linegroups.h"
#include "core/text/hash.h"

#define PATH_SIZE (2 * PATH_MAX)

/* Numbers of the files of a line map, which has each name once. Open addressing, at most half full.
 */
struct file_numbers {
	const char **names; /* slots */
	uint32_t *numbers;
	size_t size, n;
};

static int numbers_init(struct file_numbers *f, size_t n_lines)
{
	for (f->size = 64; f->size < 2 * n_lines;)
		f->size *= 2;
	f->names = calloc(f->size, sizeof(*f->names));
	f->numbers = calloc(f->size, sizeof(*f->numbers));
	return f->names && f->numbers ? 0 : -1;
}

/* True: the name is new. */
static bool number_of(struct file_numbers *f, const char *name, uint32_t *ret)
{
	size_t at = hash_number(f->names, (uintptr_t)name) & (f->size - 1);
	bool is_new;

	while (f->names[at] && f->names[at] != name)
		at = (at + 1) & (f->size - 1);
	is_new = !f->names[at];
	if (is_new) {
		f->names[at] = name;
		f->numbers[at] = (uint32_t)f->n++;
	}
	*ret = f->numbers[at];
	return is_new;
}

/* Each line: its number, and that of its file, behind which a new file's name follows. */
int put_units(struct out *out, const struct line_map *m, size_t n_lines, struct error *e)
{
	struct file_numbers files = {0};
	int err = numbers_init(&files, m->n_lines);

	put_u64(out, n_lines);
	put_u64(out, m->n_lines - 1);
	for (size_t i = 1; !err && i < m->n_lines; i++) {
		uint32_t number;
		bool is_new = number_of(&files, m->lines[i].file, &number);

		put_u32(out, m->lines[i].line);
		put_u32(out, number);
		if (is_new)
			put_string(out, m->lines[i].file);
	}
	put_u64(out, m->n_ranges);
	put_bytes(out, m->ranges, m->n_ranges * sizeof(*m->ranges));
	free(files.names);
	free(files.numbers);
	return err ? error_set(e, EXIT_OTHER, "out of memory") : 0;
}

/* Our ids of the reader's units; NULL: memory is short, or the answer is bad. A function has the
 * line 0, and its lines follow. */
static uint32_t *get_lines(struct in *in, enum unit_kind kind, struct line_map *map, size_t *n)
{
	const char **names;
	uint32_t *ids, function = 0;
	size_t n_names = 0;

	*n = get_count(in, 8);
	ids = calloc(*n + 1, sizeof(*ids));
	names = calloc(*n + 1, sizeof(*names));
	in->bad |= !ids || !names || line_map_expect(map, *n, kind == UNITS_FUNCTIONS ? *n : 0);
	for (size_t i = 0; i < *n && !in->bad; i++) {
		uint32_t line = get_u32(in), file = get_u32(in);

		if (file == n_names)
			names[n_names++] = get_string(in, PATH_SIZE);
		in->bad |= kind == (line ? UNITS_FUNCTIONS : UNITS_LINES) || file >= n_names;
		ids[i] = in->bad ? 0 : line_map_line(map, names[file], line);
		in->bad |= !ids[i];
		if (!line)
			function = ids[i];
		else
			line_map_join(map, function, ids[i]);
	}
	free(names);
	return ids;
}

/* A copy, with our ids. What is no range is bad. */
static struct line_range *get_ranges(struct in *in, const uint32_t *ids, size_t n_ids, size_t *n)
{
	struct line_range *ranges;
	const void *data;

	*n = get_count(in, sizeof(*ranges));
	data = get_bytes(in, *n * sizeof(*ranges));
	ranges = data ? malloc((*n + 1) * sizeof(*ranges)) : NULL;
	in->bad |= !ranges;
	if (ranges)
		memcpy(ranges, data, *n * sizeof(*ranges));
	for (size_t i = 0; ranges && i < *n && !in->bad; i++) {
		struct line_range *r = &ranges[i];

		in->bad |= r->lo >= r->hi || !r->line || r->line > n_ids;
		r->line = in->bad ? 0 : ids[r->line - 1];
	}
	return ranges;
}

struct line_range *get_units(
    struct in *in, enum unit_kind kind, struct line_map *map, size_t *n, size_t *n_units)
{
	struct line_range *ranges;
	uint32_t *ids;
	size_t n_lines;

	*n_units = (size_t)get_u64(in);
	ids = get_lines(in, kind, map, &n_lines);
	ranges = get_ranges(in, ids, n_lines, n);
	in->bad |= *n_units > n_lines;
	free(ids);
	return ranges;
}
