// SPDX-License-Identifier: BSD-3-Clause
/* The source files of an object. Each row of every line table looks its line up, hence a hash table
 * for lines. */
#include "symbols/dwarf/sources.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "core/text/hash.h"

/* Bytes of paths that are made for each file of a table, on the average: a damaged file can make
 * every entry of four bytes a path of thousands. */
#define PATH_BYTES 256
#define SPARE_PATH_BYTES (64 << 20)

void source_set_init(
    struct source_set *s, bool (*pick)(const void *ctx, const char *path), const void *ctx)
{
	memset(s, 0, sizeof(*s));
	s->pick = pick;
	s->ctx = ctx;
	s->path_bytes_left = SPARE_PATH_BYTES;
}

void source_set_deinit(struct source_set *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].path);
	free(s->v);
	free(s->slots);
	free(s->lines);
	free(s->of_file);
	memset(s, 0, sizeof(*s));
}

int source_set_table(struct source_set *s, const struct line_table *t)
{
	if (t->n_files > s->of_file_cap) {
		uint32_t *grown = reallocarray(s->of_file, t->n_files, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		s->of_file = grown;
		s->of_file_cap = t->n_files;
	}
	s->n_of_file = t->n_files;
	s->path_bytes_left += t->n_files * PATH_BYTES;
	if (t->n_files)
		memset(s->of_file, 0, t->n_files * sizeof(*s->of_file));
	return 0;
}

static bool grow_slots(struct source_set *s)
{
	size_t size = s->n_slots ? s->n_slots * 2 : 256;
	uint32_t *slots;

	if ((s->n + 1) * 2 <= s->n_slots)
		return true;
	slots = calloc(size, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < s->n; i++) {
		size_t at = hash_text(slots, s->v[i].path) & (size - 1);

		while (slots[at])
			at = (at + 1) & (size - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(s->slots);
	s->slots = slots;
	s->n_slots = size;
	return true;
}

/* Index of @path, which is added when new. */
static uint32_t intern(struct source_set *s, const char *path)
{
	size_t at;

	if (!grow_slots(s))
		return NO_SOURCE;
	for (at = hash_text(s->slots, path) & (s->n_slots - 1); s->slots[at];
	     at = (at + 1) & (s->n_slots - 1))
		if (!strcmp(s->v[s->slots[at] - 1].path, path))
			return s->slots[at] - 1;
	if (s->n == s->cap) {
		struct source *grown = reallocarray(s->v, s->cap ? s->cap * 2 : 64, sizeof(*grown));

		if (!grown)
			return NO_SOURCE;
		s->v = grown;
		s->cap = s->cap ? s->cap * 2 : 64;
	}
	s->v[s->n] = (struct source){strdup(path), s->pick(s->ctx, path), 0};
	if (!s->v[s->n].path)
		return NO_SOURCE;
	s->slots[at] = (uint32_t)++s->n;
	return (uint32_t)s->n - 1;
}

uint32_t source_of_file(struct source_set *s, const struct line_table *t, uint32_t file)
{
	char path[2 * PATH_MAX];
	uint32_t source = NO_SOURCE;

	if (file >= s->n_of_file)
		/* Files defined in the middle of a program end here too; no compiler makes them. */
		return NO_SOURCE;
	if (s->of_file[file])
		return s->of_file[file] == NO_SOURCE ? NO_SOURCE : s->of_file[file] - 1;
	if (s->path_bytes_left && line_table_path(t, file, path, sizeof(path))) {
		size_t len = strlen(path);

		s->path_bytes_left -= len < s->path_bytes_left ? len : s->path_bytes_left;
		source = intern(s, path);
	}
	s->of_file[file] = source == NO_SOURCE ? NO_SOURCE : source + 1;
	return source;
}

static size_t line_slot(const struct source_set *s, uint32_t source, uint32_t line)
{
	uint64_t h = hash_number(s->lines, (uint64_t)source << 32 | line);
	size_t at = h & (s->lines_size - 1);

	while (s->lines[at].line && (s->lines[at].line != line || s->lines[at].source != source))
		at = (at + 1) & (s->lines_size - 1);
	return at;
}

static bool grow_lines(struct source_set *s)
{
	struct source_entry *old = s->lines;
	size_t old_size = s->lines_size;

	if ((s->n_lines + 1) * 2 <= s->lines_size)
		return true;
	s->lines_size = old_size ? old_size * 2 : 4096;
	s->lines = calloc(s->lines_size, sizeof(*s->lines));
	if (!s->lines) {
		s->lines = old;
		s->lines_size = old_size;
		return false;
	}
	for (size_t i = 0; i < old_size; i++)
		if (old[i].line)
			s->lines[line_slot(s, old[i].source, old[i].line)] = old[i];
	free(old);
	return true;
}

struct source_entry *source_line_entry(struct source_set *s, uint32_t source, uint32_t line)
{
	struct source_entry *e;

	if (!grow_lines(s))
		return NULL;
	e = &s->lines[line_slot(s, source, line)];
	if (!e->line) {
		*e = (struct source_entry){source, line, 0};
		s->n_lines++;
		s->v[source].n_lines++;
	}
	return e;
}
