// SPDX-License-Identifier: BSD-3-Clause
/* Visits the line tables of an object, one after the other. */
#include "symbols/dwarf/tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/text/hash.h"
#include "core/text/paths.h"
#include "symbols/dwarf/golines.h"

/* The hint tells how to get debug information. */
static int no_debug_info(const struct image *o, struct error *e)
{
	char file[BUILD_ID_FILE];

	error_set(e, EXIT_NO_RESULT, "'%s' has no debug information", o->path);
	if (o->debug_note)
		return error_hint(e,
		    "%s; install the one that belongs to it, or build the program with '-g'",
		    o->debug_note);
	if (build_id_file(o, file))
		return error_hint(e,
		    "build it with '-g' and do not strip it, or install its debug symbols, which "
		    "belong into '%s%s/%s'",
		    o->root, BUILD_ID_DIR, file);
	return error_hint(e, "build it with '-g' and do not strip it");
}

static int damaged(const struct image *o, struct error *e)
{
	error_set(e, EXIT_NO_RESULT, "the debug information of '%s' is damaged",
	    o->debug_path ? o->debug_path : o->path);
	return error_hint(e, "build it again with '-g'; 'readelf --debug-dump=decodedline FILE' "
			     "shows what can be read");
}

/* The tables that have been visited: open addressing, at most half full. A slot has an offset plus
 * 1. */
struct offsets {
	uint64_t *v;
	size_t n, size;
};

static uint64_t *offset_slot(const struct offsets *s, uint64_t offset)
{
	size_t at = hash_number(s->v, offset) & (s->size - 1);

	while (s->v[at] && s->v[at] != offset + 1)
		at = (at + 1) & (s->size - 1);
	return &s->v[at];
}

static int offsets_grow(struct offsets *s)
{
	struct offsets larger = {.n = s->n, .size = s->size ? s->size * 2 : 256};

	larger.v = calloc(larger.size, sizeof(*larger.v));
	if (!larger.v)
		return -ENOMEM;
	for (size_t i = 0; i < s->size; i++)
		if (s->v[i])
			*offset_slot(&larger, s->v[i] - 1) = s->v[i];
	free(s->v);
	*s = larger;
	return 0;
}

/* Adds @offset. 1 when it was there already. */
static int offset_add(struct offsets *s, uint64_t offset)
{
	uint64_t *slot;

	if (s->n >= s->size / 2 && offsets_grow(s))
		return -ENOMEM;
	slot = offset_slot(s, offset);
	if (*slot)
		return 1;
	*slot = offset + 1;
	s->n++;
	return 0;
}

struct visit {
	struct image *o;
	const struct table_visitor *v;
};

/* Linkers leave the sequence of a discarded function near address 0. So a sequence that starts
 * outside of code is not real. */
static int visit_sequence(
    void *ctx, const struct line_table *t, const struct line_row *rows, size_t n)
{
	struct visit *visit = ctx;

	return image_is_code(visit->o, rows[0].addr) ? visit->v->sequence(visit->v->ctx, t, rows, n)
						     : 0;
}

static int visit_table(struct visit *visit, const struct unit *u, struct line_table *t)
{
	const struct table_visitor *v = visit->v;
	int err = v->table(v->ctx, u, t);

	if (!err)
		err = line_table_run(t, visit_sequence, visit);
	if ((!err || err == -EINVAL) && v->done)
		err = v->done(v->ctx, u, t) ?: err;
	return err;
}

static int failed(const struct image *o, int err, struct error *e)
{
	if (err == -ENOMEM)
		return error_set(e, EXIT_OTHER,
		    "out of memory while reading the debug information of '%s'", o->path);
	return error_set(e, EXIT_OTHER, "cannot read the debug information of '%s'", o->path);
}

/* Go's own table. */
static int visit_go(struct image *o, const struct table_visitor *v, struct error *e)
{
	int err = go_lines_visit(o, image_go_table(o), v);

	if (err == -EINVAL)
		return damaged(o, e);
	return err ? failed(o, err, e) : image_check(o, e);
}

int tables_visit(struct image *o, const struct table_visitor *v, struct error *e)
{
	struct visit visit = {o, v};
	struct unit_iter units;
	struct offsets seen = {0};
	struct line_table t = {0};
	struct unit u;
	/* Tables do not overlap. In damaged files they may, and would take more bytes than there
	 * are. Twice: a damaged one may seem longer than it is. */
	uint64_t bytes_left = 2 * (uint64_t)o->sections.line.size, length;
	size_t n_good = 0, n_bad = 0;
	int more = 0, err = 0;

	if (!o->dwarf)
		return image_go_table(o) ? visit_go(o, v, e) : no_debug_info(o, e);
	unit_iter_init(&units, o->dwarf, &o->sections);
	while (!err && (more = unit_next(&units, &u)) > 0) {
		int known = !u.has_lines                      ? 1
			    : u.lines < o->sections.line.size ? offset_add(&seen, u.lines)
							      : -EINVAL;

		if (known > 0)
			continue;
		length = known ? 0 : bytes_left;
		err = known
			  ?: line_table_read(
				 &t, &o->sections, u.lines, u.addr_size, u.comp_dir, &length);
		bytes_left -= length;
		if (!err)
			err = visit_table(&visit, &u, &t);
		if (!err)
			n_good++;
		else if (err == -EINVAL)
			n_bad++;
		if (err == -EINVAL)
			err = 0;
	}
	unit_iter_deinit(&units);
	line_table_deinit(&t);
	free(seen.v);
	if (more == -ENOMEM)
		err = -ENOMEM;
	if (err < 0)
		return failed(o, err, e);
	if (image_check(o, e))
		return -1;
	return !n_good && (n_bad || more < 0) ? damaged(o, e) : 0;
}

bool line_run_next(struct image *o, struct source_set *s, const struct line_table *t,
    const struct line_row *rows, size_t n, size_t *i, struct line_run *last)
{
	size_t at = *i;
	const struct line_row *r;

	while (at + 1 < n && rows[at].addr == rows[at + 1].addr)
		at++;
	if (at + 1 >= n)
		return false;
	r = &rows[at];
	if (r->line) {
		*last = (struct line_run){
		    r->addr, 0, source_of_file(s, t, r->file), r->line, r->is_stmt};
	} else {
		/* Code without a line belongs to the row before, unless another function began. */
		if (last->line && image_function_begins(o, last->lo, r->addr))
			last->line = 0;
		last->lo = r->addr;
		last->is_stmt = false;
	}
	last->hi = rows[at + 1].addr;
	*i = at + 1;
	return true;
}
