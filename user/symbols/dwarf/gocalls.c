// SPDX-License-Identifier: BSD-3-Clause
/*
 * Inlined calls of a Go program as a walk over entries of DWARF. The runtime's own tables say for
 * each stretch of code which call it was inlined by, and where that call is: within the code of the
 * call around it, or of the function itself.
 */
#include "symbols/dwarf/golines.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_CALLS 65536 /* of one function; others have no inlined calls */
#define MAX_DEPTH 256   /* of calls within calls */
#define NONE UINT32_MAX

/* A piece of a call's code; those of a call are a list. */
struct piece {
	struct code_range range;
	uint32_t next;
};

struct call {
	uint32_t parent;         /* the call around it, or NONE */
	uint32_t child, sibling; /* calls in it, by number */
	uint32_t first, last;    /* of its pieces */
	uint32_t file, line;     /* of the call itself */
};

/* The calls of one function. */
struct calls {
	struct go_lines *g;
	struct code_walker *w;
	code_die_fn *fn;
	void *ctx;
	struct call *v;
	size_t n, cap;
	struct piece *pieces;
	size_t n_pieces, pieces_cap;
	uint64_t id; /* of the next entry */
};

static int grow(void *array, size_t *cap, size_t need, size_t size)
{
	void **p = array, *grown;

	if (need <= *cap)
		return 0;
	grown = reallocarray(*p, 2 * need + 64, size);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	*cap = 2 * need + 64;
	return 0;
}

/* Adds a stretch of code to a call. */
static int add_piece(struct calls *c, struct call *call, struct code_range range)
{
	struct piece *last = call->last == NONE ? NULL : &c->pieces[call->last];
	uint32_t at = (uint32_t)c->n_pieces;

	if (last && last->range.hi == range.lo) {
		last->range.hi = range.hi;
		return 0;
	}
	if (grow(&c->pieces, &c->pieces_cap, c->n_pieces + 1, sizeof(*c->pieces)))
		return -ENOMEM;
	c->pieces[c->n_pieces++] = (struct piece){range, NONE};
	if (call->last == NONE)
		call->first = at;
	else
		c->pieces[call->last].next = at;
	call->last = at;
	return 0;
}

/* All calls up to number @last, with nothing known of them. */
static int make_calls(struct calls *c, uint32_t last)
{
	if (last >= MAX_CALLS)
		return -EINVAL;
	if (grow(&c->v, &c->cap, last + 1, sizeof(*c->v)))
		return -ENOMEM;
	while (c->n <= last)
		c->v[c->n++] = (struct call){NONE, NONE, NONE, NONE, NONE, 0, 0};
	return 0;
}

/* The call whose code the instruction at @addr is; NONE: the function's own. */
static uint32_t call_at(struct calls *c, const struct go_function *f, uint64_t addr)
{
	struct go_values v;

	go_values_start(c->g->t, f, f->calls, &v);
	while (c->g->work_left && go_values_next(&v)) {
		c->g->work_left--;
		if (addr < v.hi)
			return v.value < 0 ? NONE : (uint32_t)v.value;
	}
	return NONE;
}

static const struct line_row *row_at(const struct line_table *t, uint64_t addr)
{
	size_t lo = 0, hi = t->n_rows;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->rows[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &t->rows[lo - 1] : NULL;
}

/* Finds where call @i is made, and all calls around it. A damaged table may say that calls are
 * around each other; a call's number is below those in it nowhere, so only depth ends the search.
 */
static int place_call(struct calls *c, const struct go_function *f, uint32_t i)
{
	int err = 0;

	for (unsigned depth = 0; !err && !c->v[i].line; depth++) {
		const struct line_row *row;
		uint32_t distance, parent;

		if (depth == MAX_DEPTH || !go_call_at(c->g->t, f, i, &distance))
			return -EINVAL;
		row = row_at(&c->g->table, f->lo + distance);
		if (!row || !row->line)
			return -EINVAL;
		parent = call_at(c, f, f->lo + distance);
		if (parent == i)
			return -EINVAL;
		if (parent != NONE)
			err = make_calls(c, parent);
		if (err)
			break;
		c->v[i].file = row->file;
		c->v[i].line = row->line;
		c->v[i].parent = parent;
		if (parent == NONE)
			break;
		c->v[i].sibling = c->v[parent].child;
		c->v[parent].child = i;
		i = parent;
	}
	return err;
}

/* A stretch of code is the call's, and that of all calls around it. */
static int add_stretch(
    struct calls *c, const struct go_function *f, uint32_t i, struct code_range range)
{
	int err = make_calls(c, i);

	if (!err)
		err = place_call(c, f, i);
	for (unsigned depth = 0; !err && i != NONE; i = c->v[i].parent) {
		if (depth++ == MAX_DEPTH || !c->g->work_left)
			return -EINVAL;
		c->g->work_left--;
		err = add_piece(c, &c->v[i], range);
	}
	return err;
}

static int read_calls(struct calls *c, const struct go_function *f)
{
	struct go_values v;
	int err = go_rows(c->g, f);

	c->n = c->n_pieces = 0;
	go_values_start(c->g->t, f, f->calls, &v);
	while (!err && v.hi < f->hi && go_values_next(&v)) {
		struct code_range range = {v.lo, v.hi < f->hi ? v.hi : f->hi};

		if (!c->g->work_left)
			return -EINVAL;
		c->g->work_left--;
		if (v.value >= 0 && range.lo < range.hi)
			err = add_stretch(c, f, (uint32_t)v.value, range);
	}
	return err;
}

/* Tells of call @i and, where that is wanted, of those in it. */
static int tell_call(struct calls *c, uint32_t i, unsigned level)
{
	const struct call *call = &c->v[i];
	struct code_die d = {.offset = c->id++,
	    .level = level,
	    .inlined = true,
	    .call_file = call->file,
	    .call_line = call->line};
	int err = 0;

	if (level > MAX_DEPTH)
		return -EINVAL;
	c->w->n_ranges = 0;
	for (uint32_t p = call->first; !err && p != NONE; p = c->pieces[p].next)
		err = code_range_add(c->w, c->pieces[p].range.lo, c->pieces[p].range.hi);
	d.ranges = c->w->ranges;
	d.n_ranges = c->w->n_ranges;
	if (err || !d.n_ranges)
		return err;
	err = c->fn(c->ctx, &d);
	for (uint32_t in = call->child; !err && in != NONE; in = c->v[in].sibling)
		err = tell_call(c, in, level + 1);
	return err < 0 ? err : 0;
}

static int tell_function(struct calls *c, const struct go_function *f)
{
	struct code_die d = {.offset = c->id++};
	int err;

	c->w->n_ranges = 0;
	err = code_range_add(c->w, f->lo, f->hi);
	d.ranges = c->w->ranges;
	d.n_ranges = c->w->n_ranges;
	if (!err)
		err = c->fn(c->ctx, &d);
	if (err || f->tree == UINT32_MAX)
		return err < 0 ? err : 0;
	err = read_calls(c, f);
	/* What is damaged in one function says nothing of the others. */
	if (err == -EINVAL && c->g->work_left)
		return 0;
	for (size_t i = 0; !err && i < c->n; i++)
		if (c->v[i].parent == NONE)
			err = tell_call(c, (uint32_t)i, 1);
	return err;
}

int go_code_walk(struct code_walker *w, struct go_lines *g, code_die_fn *fn, void *ctx)
{
	struct calls c = {.g = g, .w = w, .fn = fn, .ctx = ctx};
	struct go_function f;
	int err = 0;

	/* A stretch of code takes two bytes at least. */
	w->ranges_left += g->t->values.size + g->t->functions.size;
	for (size_t i = 0; !err && i < g->t->n_functions; i++)
		if (go_function_at(g->t, i, &f))
			err = tell_function(&c, &f);
	free(c.v);
	free(c.pieces);
	return err;
}
