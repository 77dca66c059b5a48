// SPDX-License-Identifier: BSD-3-Clause
/* Puts the lines of an object into the line map, and lists its source files. inlines.c handles
 * inlined out-of-scope code. */
#include "symbols/dwarf/inlines.h"

#include <errno.h>
#include <stdlib.h>

#include "symbols/elf/gotable.h"

struct line_loader {
	struct image *o;
	struct line_map *map;
	struct source_set sources;
	struct inliner inliner;
	struct line_ranges ranges;
	size_t n_lines;           /* distinct ones in scope */
	struct source_entry memo; /* the last line asked for: rows of one line come in groups */
};

/* Id of a line in the map; 0 when memory is short. */
static uint32_t line_id(struct line_loader *l, uint32_t source, uint32_t line)
{
	struct source_entry *entry;

	if (l->memo.line == line && l->memo.source == source)
		return l->memo.id;
	entry = source_line_entry(&l->sources, source, line);
	if (!entry)
		return 0;
	if (!entry->id) {
		entry->id = line_map_line(l->map, l->sources.v[source].path, line);
		l->n_lines++;
	}
	l->memo = *entry;
	return entry->id;
}

static int load_table(void *ctx, const struct unit *u, const struct line_table *t)
{
	struct line_loader *l = ctx;

	inliner_start(&l->inliner);
	return source_set_table(&l->sources, t);
}

static int load_sequence(
    void *ctx, const struct line_table *t, const struct line_row *rows, size_t n)
{
	struct line_loader *l = ctx;
	struct line_run run = {0};
	size_t i = 0;
	int err = 0;

	while (!err && line_run_next(l->o, &l->sources, t, rows, n, &i, &run)) {
		uint64_t lo = run.lo, hi = run.hi;

		if (!run.line)
			continue;
		if (run.source == NO_SOURCE || !l->sources.v[run.source].picked) {
			err = inliner_add(&l->inliner, lo, hi);
		} else if (image_clip(l->o, &lo, &hi)) {
			uint32_t id = line_id(l, run.source, run.line);

			err = id ? line_ranges_add(&l->ranges, lo, hi, id) : -ENOMEM;
		}
	}
	return err;
}

/* Line id of a call site, 0 when it is not in scope. */
static int call_site(
    void *ctx, const struct line_table *t, uint64_t file, uint64_t line, uint32_t *ret)
{
	struct line_loader *l = ctx;
	uint32_t source =
	    file <= UINT32_MAX ? source_of_file(&l->sources, t, (uint32_t)file) : NO_SOURCE;

	*ret = 0;
	if (source == NO_SOURCE || !l->sources.v[source].picked || !line || line > UINT32_MAX)
		return 0;
	*ret = line_id(l, source, (uint32_t)line);
	return *ret ? 0 : -ENOMEM;
}

static int load_done(void *ctx, const struct unit *u, const struct line_table *t)
{
	struct line_loader *l = ctx;

	return inliner_finish(&l->inliner, l->o, u, t, &l->ranges);
}

/* Without patterns a Go program's scope is its own module. */
struct scoped {
	struct image *o;
	const struct scope *scope;
	bool is_own_go;
};

static bool pick_in_scope(const void *ctx, const char *path)
{
	const struct scoped *s = ctx;

	return scope_has_source(s->scope, path) && (!s->is_own_go || image_go_owns(s->o, path));
}

int image_add_lines(struct image *o, const struct scope *scope, struct line_map *map,
    size_t *n_lines, struct error *e)
{
	struct line_loader l = {.o = o, .map = map};
	struct table_visitor visitor = {load_table, load_sequence, load_done, &l};
	struct line_object object = {.path = o->path};
	const struct scoped scoped = {o, scope, !scope->n_sources && image_is_go(o)};
	int err;

	*n_lines = 0;
	source_set_init(&l.sources, pick_in_scope, &scoped);
	inliner_init(&l.inliner, o, call_site, &l);
	err = tables_visit(o, &visitor, e);
	if (!err && line_map_add_object(map, &object, l.ranges.v, l.ranges.n))
		err = error_set(e, EXIT_OTHER,
		    "out of memory while reading the debug information of '%s'", o->path);
	if (!err)
		*n_lines = l.n_lines;
	free(l.ranges.v);
	inliner_deinit(&l.inliner);
	source_set_deinit(&l.sources);
	return err;
}

struct file_lister {
	struct image *o;
	struct source_set sources;
};

static int list_table(void *ctx, const struct unit *u, const struct line_table *t)
{
	struct file_lister *l = ctx;

	return source_set_table(&l->sources, t);
}

static int list_sequence(
    void *ctx, const struct line_table *t, const struct line_row *rows, size_t n)
{
	struct file_lister *l = ctx;
	struct line_run run = {0};
	size_t i = 0;

	while (line_run_next(l->o, &l->sources, t, rows, n, &i, &run))
		if (run.line && run.source != NO_SOURCE &&
		    !source_line_entry(&l->sources, run.source, run.line))
			return -ENOMEM;
	return 0;
}

static int file_cmp(const void *a, const void *b)
{
	const struct source_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

int image_source_files(struct image *o, const struct scope *scope, struct source_file **ret,
    size_t *n, struct error *e)
{
	struct file_lister l = {.o = o};
	struct table_visitor visitor = {list_table, list_sequence, NULL, &l};
	const struct scoped scoped = {o, scope, !scope->n_sources && image_is_go(o)};
	struct source_file *files;
	size_t count = 0;
	int err;

	source_set_init(&l.sources, pick_in_scope, &scoped);
	err = tables_visit(o, &visitor, e);
	files = err ? NULL : calloc(l.sources.n + 1, sizeof(*files));
	if (!err && !files)
		err = error_set(e, EXIT_OTHER, "out of memory");
	for (size_t i = 0; files && i < l.sources.n; i++) {
		struct source *s = &l.sources.v[i];

		if (!s->n_lines)
			continue;
		files[count++] = (struct source_file){s->path, s->n_lines, s->picked};
		s->path = NULL;
	}
	if (files) {
		qsort(files, count, sizeof(*files), file_cmp);
		*ret = files;
		*n = count;
	}
	source_set_deinit(&l.sources);
	return err;
}

void source_files_free(struct source_file *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(files[i].path);
	free(files);
}
