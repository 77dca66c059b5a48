// SPDX-License-Identifier: BSD-3-Clause
/* Rows of lines from .gopclntab; see golines.h. */
#include "symbols/dwarf/golines.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_FILES 1000000
/* Steps for each byte of the table. Functions share lists that are equal, and those are short. */
#define STEPS_PER_BYTE 4

static int add_file(struct go_lines *g, uint32_t offset, const char *name)
{
	struct line_table *t = &g->table;

	if (t->n_files == t->files_cap) {
		size_t cap = t->files_cap ? t->files_cap * 2 : 256;
		struct line_file *files = reallocarray(t->files, cap, sizeof(*files));
		uint32_t *offsets = reallocarray(g->offsets, cap, sizeof(*offsets));

		if (files)
			t->files = files;
		if (offsets)
			g->offsets = offsets;
		if (!files || !offsets)
			return -ENOMEM;
		t->files_cap = cap;
	}
	g->offsets[t->n_files] = offset;
	t->files[t->n_files++] = (struct line_file){name, 0};
	return 0;
}

/* The names follow each other. Behind the last one other parts of the table follow, which no
 * function names. */
static int read_files(struct go_lines *g)
{
	const struct bytes files = g->t->files;
	const char *name;
	int err = 0;

	for (size_t i = 0, at = 0; !err && i < g->t->n_files && i < MAX_FILES; i++) {
		name = at <= UINT32_MAX ? string_at(files, at) : NULL;
		if (!name)
			break;
		err = add_file(g, (uint32_t)at, name);
		at += strlen(name) + 1;
	}
	return err;
}

/* Index of a file in the table; UINT32_MAX: there is none. */
static uint32_t file_of(const struct go_lines *g, const struct go_function *f, int32_t number)
{
	size_t lo = 0, hi = g->table.n_files;
	uint32_t offset;

	if (!go_file_at(g->t, f, number, &offset))
		return UINT32_MAX;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (g->offsets[mid] < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < g->table.n_files && g->offsets[lo] == offset ? (uint32_t)lo : UINT32_MAX;
}

static int add_row(struct go_lines *g, uint64_t addr, uint32_t file, uint32_t line)
{
	struct line_table *t = &g->table;
	const struct line_row *last = t->n_rows ? &t->rows[t->n_rows - 1] : NULL;

	if (last && last->file == file && last->line == line)
		return 0;
	if (t->n_rows == t->rows_cap) {
		size_t cap = t->rows_cap ? t->rows_cap * 2 : 256;
		struct line_row *grown = reallocarray(t->rows, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		t->rows = grown;
		t->rows_cap = cap;
	}
	t->rows[t->n_rows++] = (struct line_row){addr, file, line, true};
	return 0;
}

/* Goes on to the stretch that holds @addr. False: the list ends before. */
static bool advance(struct go_lines *g, struct go_values *v, uint64_t addr)
{
	while (v->hi <= addr) {
		if (!g->work_left || !go_values_next(v))
			return false;
		g->work_left--;
	}
	return true;
}

/* What is between the end of a function's lists and the next function only fills the gap. */
int go_rows(struct go_lines *g, const struct go_function *f)
{
	struct go_values files, lines;
	uint32_t file = UINT32_MAX;
	int32_t number = -1;
	uint64_t at = f->lo;
	int err = 0;

	g->table.n_rows = 0;
	go_values_start(g->t, f, f->files, &files);
	go_values_start(g->t, f, f->lines, &lines);
	while (!err && at < f->hi && advance(g, &files, at) && advance(g, &lines, at)) {
		bool is_known;

		if (files.value != number)
			file = file_of(g, f, files.value);
		number = files.value;
		is_known = file != UINT32_MAX && lines.value > 0;
		err = add_row(g, at, is_known ? file : 0, is_known ? (uint32_t)lines.value : 0);
		at = files.hi < lines.hi ? files.hi : lines.hi;
	}
	if (!err && !g->work_left)
		return -EINVAL;
	return err ?: add_row(g, at < f->hi ? at : f->hi, UINT32_MAX, 0);
}

static int visit_functions(struct image *o, struct go_lines *g, const struct table_visitor *v)
{
	struct go_function f;
	int err = 0;

	for (size_t i = 0; !err && i < g->t->n_functions; i++) {
		if (!go_function_at(g->t, i, &f) || !image_is_code(o, f.lo))
			continue;
		err = go_rows(g, &f);
		if (!err && g->table.n_rows > 1)
			err = v->sequence(v->ctx, &g->table, g->table.rows, g->table.n_rows);
	}
	return err;
}

int go_lines_visit(struct image *o, const struct go_table *t, const struct table_visitor *v)
{
	struct go_lines g = {.t = t, .work_left = t->functions.size * STEPS_PER_BYTE};
	struct unit unit = {.go = &g};
	int err = read_files(&g);

	g.work_left += t->values.size * STEPS_PER_BYTE;
	if (!err)
		err = v->table(v->ctx, &unit, &g.table);
	if (!err)
		err = visit_functions(o, &g, v);
	if ((!err || err == -EINVAL) && v->done)
		err = v->done(v->ctx, &unit, &g.table) ?: err;
	line_table_deinit(&g.table);
	free(g.offsets);
	return err;
}
