// SPDX-License-Identifier: BSD-3-Clause
/*
 * Probe sites of a line. Optimised code scatters a line: a `for` has a run of rows for its start,
 * its condition and its step, and the scheduler makes more. One execution should be one visit. So
 * each function and each inlined copy gets one site, where a debugger would put its breakpoint: the
 * lowest address at which the line begins as a statement, outside of the cold part if possible. For
 * a `for` that is the start of the loop. For the line that opens a function it is usually the first
 * instruction, where a probe costs least.
 */
#include "symbols/dwarf/codewalk.h"
#include "symbols/dwarf/tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/text/paths.h"
#include "core/text/suggest.h"
#include "symbols/elf/names.h"

/* A row that begins the line. */
struct begin {
	uint64_t addr;
	/* The function or inlined copy, by unit and entry. Without debug entries: NO_UNIT and the
	 * symbol's address. */
	uint64_t unit, owner;
	uint32_t source;
	uint8_t rank;  /* lower is better */
	bool is_owned; /* no inner entry can own this */
};

#define NO_UNIT UINT64_MAX

enum {
	RANK_EMPTY = 1, /* the line has no instruction here */
	RANK_COLD = 2,
	RANK_NO_STMT = 4,
};

#define MAX_BEGINS 100000 /* more probes than this help nobody */
/* Begins looked at during the walks; in damaged files everything can lie in everything. */
#define MAX_WORK 100000000

struct line_search {
	struct image *o;
	const char *file;
	uint32_t line;
	struct source_set sources;
	struct code_walker walker;
	const struct line_table *table;
	uint64_t unit;   /* the one that is being searched */
	struct begin *v; /* those of the current unit stand last */
	size_t n, cap, unit_first;
	uint64_t work_left;
	uint32_t below, above; /* nearest lines with code in the files that match; 0: none */
};

static bool pick_wanted(const void *ctx, const char *path)
{
	const struct line_search *s = ctx;

	return path_has_suffix(path, s->file);
}

static int search_table(void *ctx, const struct unit *u, const struct line_table *t)
{
	struct line_search *s = ctx;

	s->unit_first = s->n;
	return source_set_table(&s->sources, t);
}

static int add_begin(struct line_search *s, const struct line_row *row, uint32_t source, bool empty)
{
	const struct symbol *symbol = image_symbol_at(s->o, row->addr);
	bool cold = symbol && symbol_is_cold(s->o, symbol);

	if (s->n == s->cap) {
		struct begin *grown = reallocarray(s->v, s->cap ? s->cap * 2 : 16, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		s->v = grown;
		s->cap = s->cap ? s->cap * 2 : 16;
	}
	s->v[s->n++] = (struct begin){
	    .addr = row->addr,
	    .unit = NO_UNIT,
	    .owner = symbol ? symbol->addr : 0,
	    .source = source,
	    .rank = (uint8_t)((empty ? RANK_EMPTY : 0) | (cold ? RANK_COLD : 0) |
			      (row->is_stmt ? 0 : RANK_NO_STMT)),
	};
	return s->n > MAX_BEGINS ? -E2BIG : 0;
}

static int search_sequence(
    void *ctx, const struct line_table *t, const struct line_row *rows, size_t n)
{
	struct line_search *s = ctx;
	bool inside = false; /* the row before has this line too */
	int err = 0;

	for (size_t i = 0; !err && i + 1 < n; i++) {
		uint32_t line = rows[i].line, source = source_of_file(&s->sources, t, rows[i].file);
		bool picked = source != NO_SOURCE && s->sources.v[source].picked;

		if (picked && line && line < s->line && line > s->below)
			s->below = line;
		if (picked && line > s->line && (!s->above || line < s->above))
			s->above = line;
		if (!picked || line != s->line) {
			inside = false;
			continue;
		}
		if (!inside || rows[i].is_stmt)
			err = add_begin(s, &rows[i], source, rows[i].addr == rows[i + 1].addr);
		inside = true;
	}
	return err;
}

static int addr_cmp(const void *a, const void *b)
{
	const struct begin *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The first begin of the unit at or after @addr. */
static size_t first_begin(const struct line_search *s, uint64_t addr)
{
	size_t lo = s->unit_first, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->v[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Finds the innermost entry of each begin. */
static int own_begins(void *ctx, const struct code_die *d)
{
	struct line_search *s = ctx;
	uint32_t call_source = NO_SOURCE;
	bool any = false;

	if (d->inlined && d->call_line == s->line && d->call_file <= UINT32_MAX)
		call_source = source_of_file(&s->sources, s->table, (uint32_t)d->call_file);
	for (size_t k = 0; k < d->n_ranges; k++) {
		for (size_t i = first_begin(s, d->ranges[k].lo);
		     i < s->n && s->v[i].addr < d->ranges[k].hi; i++) {
			struct begin *b = &s->v[i];

			if (!s->work_left)
				return -EINVAL;
			s->work_left--;
			if (b->is_owned)
				continue;
			any = true;
			/* A function that this line inlines is no further place of the line: the
			 * code belongs to the caller. */
			if (d->inlined && call_source == b->source) {
				b->is_owned = true;
			} else {
				b->unit = s->unit;
				b->owner = d->offset;
			}
		}
	}
	return any ? 0 : 1;
}

static int search_done(void *ctx, const struct unit *u, const struct line_table *t)
{
	struct line_search *s = ctx;
	int err;

	if (s->unit_first == s->n)
		return 0;
	qsort(s->v + s->unit_first, s->n - s->unit_first, sizeof(*s->v), addr_cmp);
	s->table = t;
	s->unit = u->offset;
	err = code_walk_split(&s->walker, s->o, u, own_begins, s);
	return err == -EINVAL ? 0 : err; /* without the tree, symbols tell functions apart */
}

static int begin_cmp(const void *a, const void *b)
{
	const struct begin *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Keeps the best begin of each owner, by address. Owners in which the line never begins as a
 * statement go, if others have better. */
static void choose(struct line_search *s)
{
	size_t n = 0, kept = 0;
	bool any_stmt = false;

	if (!s->n)
		return;
	qsort(s->v, s->n, sizeof(*s->v), begin_cmp);
	for (size_t i = 0; i < s->n; i++) {
		any_stmt |= s->v[i].rank < RANK_NO_STMT;
		if (!n || s->v[i].owner != s->v[n - 1].owner || s->v[i].unit != s->v[n - 1].unit)
			s->v[n++] = s->v[i];
	}
	qsort(s->v, n, sizeof(*s->v), addr_cmp);
	for (size_t i = 0; i < n; i++) {
		if (any_stmt && s->v[i].rank >= RANK_NO_STMT)
			continue;
		if (!kept || s->v[kept - 1].addr != s->v[i].addr)
			s->v[kept++] = s->v[i];
	}
	s->n = kept;
}

/* Sets @e when the line is in more than one file. A file whose full path was given wins over files
 * with the same ending. */
static int check_ambiguous(struct line_search *s, struct error *e)
{
	char names[700] = "";
	size_t exact = 0, kept = 0, n_names = 0;

	for (size_t i = 0; i < s->n; i++)
		exact += !strcmp(s->sources.v[s->v[i].source].path, s->file);
	for (size_t i = 0; i < s->n; i++) {
		struct source *source = &s->sources.v[s->v[i].source];
		size_t len = strlen(names);

		if (exact && strcmp(source->path, s->file))
			continue;
		s->v[kept++] = s->v[i];
		if (source->n_lines++) /* here n_lines marks the sources already named */
			continue;
		n_names++;
		if (len + strlen(source->path) + 16 < sizeof(names))
			snprintf(names + len, sizeof(names) - len, "%s'%s:%u'", len ? ", " : "",
			    source->path, s->line);
	}
	s->n = kept;
	if (n_names <= 1)
		return 0;
	error_set(e, EXIT_USAGE, "'%s:%u' is in %zu files of '%s'", s->file, s->line, n_names,
	    s->o->path);
	return error_hint(e, "name one of %s", names);
}

static int nothing_found(const struct line_search *s, struct error *e)
{
	struct suggest near;
	char names[512];

	if (s->below || s->above) {
		error_set(e, EXIT_USAGE, "no code at line %u of '%s' in '%s'", s->line, s->file,
		    s->o->path);
		if (s->below && s->above)
			return error_hint(
			    e, "the nearest lines with code are %u and %u", s->below, s->above);
		return error_hint(
		    e, "the nearest line with code is %u", s->below ? s->below : s->above);
	}
	suggest_init(&near, path_base(s->file));
	for (size_t i = 0; i < s->sources.n; i++)
		suggest_add(&near, path_base(s->sources.v[i].path));
	error_set(e, EXIT_USAGE, "no source file '%s' in '%s'", s->file, s->o->path);
	if (*suggest_list(&near, names, sizeof(names)))
		return error_hint(e, "did you mean %s?", names);
	return error_hint(e, "'cozbpf lines %s' lists its source files", s->o->path);
}

static int make_sites(
    const struct line_search *s, struct probe_site **ret, size_t *n, struct error *e)
{
	struct probe_site *sites = calloc(s->n, sizeof(*sites));

	if (!sites)
		return error_set(e, EXIT_OTHER, "out of memory");
	*n = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct symbol *symbol = image_symbol_at(s->o, s->v[i].addr);

		if (!image_offset(s->o, s->v[i].addr, &sites[*n].offset))
			continue;
		site_name(sites[(*n)++].function, symbol ? symbol->name : "?");
	}
	*ret = sites;
	return *n ? 0 : (free(sites), nothing_found(s, e));
}

int image_find_line(struct image *o, const char *file, uint32_t line, struct probe_site **ret,
    size_t *n, struct error *e)
{
	struct line_search s = {.o = o, .file = file, .line = line, .work_left = MAX_WORK};
	struct table_visitor visitor = {search_table, search_sequence, search_done, &s};
	int err;

	if (image_load_symbols(o))
		return error_set(e, EXIT_OTHER, "out of memory");
	source_set_init(&s.sources, pick_wanted, &s);
	code_walker_init(&s.walker, &o->sections);
	err = tables_visit(o, &visitor, e);
	if (!err)
		err = check_ambiguous(&s, e);
	if (!err) {
		choose(&s);
		err = s.n ? make_sites(&s, ret, n, e) : nothing_found(&s, e);
	}
	code_walker_deinit(&s.walker);
	source_set_deinit(&s.sources);
	free(s.v);
	return err;
}
