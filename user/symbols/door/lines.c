// SPDX-License-Identifier: BSD-3-Clause
/* Asks readers for lines and source files. A reader fills a line map of its own, which is added to
 * ours. */
#include "symbols/door/object.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

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

/* Each line: the number of its file, behind which a new file's name follows, and the line. */
static int put_map(struct out *out, const struct line_map *m, size_t n_lines, struct error *e)
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

static int read_lines(struct image *image, void *arg, struct out *out, struct error *e)
{
	struct line_map map;
	size_t n_lines;
	int err;

	if (line_map_init(&map))
		return error_set(e, EXIT_OTHER, "out of memory");
	err = image_add_lines(image, arg, &map, &n_lines, e);
	if (!err)
		err = put_map(out, &map, n_lines, e);
	line_map_deinit(&map);
	return err;
}

/* Our ids of the reader's lines; NULL: memory is short, or the answer is bad. */
static uint32_t *get_lines(struct in *in, struct line_map *map, size_t *n)
{
	const char **names;
	uint32_t *ids;
	size_t n_names = 0;

	*n = get_count(in, 8);
	ids = calloc(*n + 1, sizeof(*ids));
	names = calloc(*n + 1, sizeof(*names));
	in->bad |= !ids || !names;
	for (size_t i = 0; i < *n && !in->bad; i++) {
		uint32_t line = get_u32(in), file = get_u32(in);

		if (file == n_names)
			names[n_names++] = get_string(in, PATH_SIZE);
		in->bad |= !line || file >= n_names;
		ids[i] = in->bad ? 0 : line_map_line(map, names[file], line);
		in->bad |= !ids[i];
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

static int out_of_memory(const struct object *o, struct error *e)
{
	return error_set(
	    e, EXIT_OTHER, "out of memory while reading the debug information of '%s'", o->path);
}

int object_add_lines(struct object *o, const struct scope *scope, struct line_map *map,
    size_t *n_lines, struct error *e)
{
	const struct question q = {read_lines, (void *)scope, .needs_debug = true};
	struct line_object object = object_identity(o);
	struct line_range *ranges;
	struct in in;
	uint32_t *ids;
	size_t n, n_ranges, found;
	int err;

	*n_lines = 0;
	if (object_ask(o, &q, &in, e))
		return -1;
	found = (size_t)get_u64(&in);
	ids = get_lines(&in, map, &n);
	ranges = get_ranges(&in, ids, n, &n_ranges);
	in.bad |= found > n;
	err = object_answered(o, &in, e);
	if (!err && line_map_add_object(map, &object, ranges, n_ranges))
		err = out_of_memory(o, e);
	if (!err)
		*n_lines = found;
	free(ranges);
	free(ids);
	return err;
}

static int list_files(struct image *image, void *arg, struct out *out, struct error *e)
{
	struct source_file *files;
	size_t n;

	if (image_source_files(image, arg, &files, &n, e))
		return -1;
	put_u64(out, n);
	for (size_t i = 0; i < n; i++) {
		put_string(out, files[i].path);
		put_u64(out, files[i].n_lines);
		put_u32(out, files[i].in_scope);
	}
	return 0;
}

int object_source_files(struct object *o, const struct scope *scope, struct source_file **ret,
    size_t *n, struct error *e)
{
	const struct question q = {list_files, (void *)scope, .needs_debug = true};
	struct source_file *files;
	size_t count, made = 0;
	struct in in;

	if (object_ask(o, &q, &in, e))
		return -1;
	count = get_count(&in, 17);
	files = calloc(count + 1, sizeof(*files));
	in.bad |= !files;
	for (; made < count && !in.bad; made++) {
		files[made].path = get_copy(&in, PATH_SIZE);
		files[made].n_lines = (size_t)get_u64(&in);
		files[made].in_scope = get_u32(&in) != 0;
	}
	if (object_answered(o, &in, e)) {
		source_files_free(files, made);
		return -1;
	}
	*ret = files;
	*n = count;
	return 0;
}
