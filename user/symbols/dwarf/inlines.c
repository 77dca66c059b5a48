// SPDX-License-Identifier: BSD-3-Clause
/* Attributes inlined out-of-scope code to a call site (paper 3.1): to the first one in scope, from
 * the innermost outwards. */
#include "symbols/dwarf/inlines.h"

#include <errno.h>
#include <stdlib.h>

#include "symbols/elf/gotable.h"

int line_ranges_add(struct line_ranges *r, uint64_t lo, uint64_t hi, uint32_t line)
{
	struct line_range *last = r->n ? &r->v[r->n - 1] : NULL;

	if (last && last->line == line && last->hi == lo) {
		last->hi = hi;
		return 0;
	}
	if (r->n == r->cap) {
		struct line_range *grown =
		    reallocarray(r->v, r->cap ? r->cap * 2 : 1024, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		r->v = grown;
		r->cap = r->cap ? r->cap * 2 : 1024;
	}
	/* While v is NULL, n == cap. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	r->v[r->n++] = (struct line_range){lo, hi, line};
	return 0;
}

void inliner_init(struct inliner *i, struct image *o,
    int (*site)(void *ctx, const struct line_table *t, uint64_t file, uint64_t line, uint32_t *ret),
    void *ctx)
{
	const struct go_table *go = o->dwarf ? NULL : image_go_table(o);

	memset(i, 0, sizeof(*i));
	code_walker_init(&i->walker, &o->sections);
	i->pieces_left = go ? (uint64_t)go->values.size + go->functions.size
			    : (uint64_t)o->sections.info.size + o->sections.line.size;
	i->site = site;
	i->ctx = ctx;
}

void inliner_deinit(struct inliner *i)
{
	code_walker_deinit(&i->walker);
	free(i->gaps);
	i->gaps = NULL;
}

void inliner_start(struct inliner *i)
{
	i->n_gaps = 0;
}

int inliner_add(struct inliner *i, uint64_t lo, uint64_t hi)
{
	if (i->n_gaps && i->gaps[i->n_gaps - 1].hi == lo) {
		i->gaps[i->n_gaps - 1].hi = hi;
		return 0;
	}
	if (i->n_gaps == i->gaps_cap) {
		size_t cap = i->gaps_cap ? i->gaps_cap * 2 : 256;
		struct code_range *grown = reallocarray(i->gaps, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		i->gaps = grown;
		i->gaps_cap = cap;
	}
	i->gaps[i->n_gaps++] = (struct code_range){lo, hi};
	return 0;
}

static int gap_cmp(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Sorts the gaps and joins those that overlap. */
static void sort_gaps(struct inliner *i)
{
	struct code_range *g = i->gaps;
	size_t n = 0, sorted = 1;

	while (sorted < i->n_gaps && g[sorted - 1].hi <= g[sorted].lo)
		sorted++;
	if (sorted >= i->n_gaps)
		return;
	qsort(g, i->n_gaps, sizeof(*g), gap_cmp);
	for (size_t k = 1; k < i->n_gaps; k++) {
		if (g[k].lo > g[n].hi)
			g[++n] = g[k];
		else if (g[k].hi > g[n].hi)
			g[n].hi = g[k].hi;
	}
	i->n_gaps = n + 1;
}

/* Index of the first gap that ends after @addr. */
static size_t first_gap(const struct inliner *i, uint64_t addr)
{
	size_t lo = 0, hi = i->n_gaps;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (i->gaps[mid].hi <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool touches_gap(const struct inliner *i, const struct code_die *d)
{
	for (size_t k = 0; k < d->n_ranges; k++) {
		size_t at = first_gap(i, d->ranges[k].lo);

		if (at < i->n_gaps && i->gaps[at].lo < d->ranges[k].hi)
			return true;
	}
	return false;
}

struct paint {
	struct inliner *i;
	const struct image *o;
	const struct line_table *t;
	struct line_ranges *out;
	/* For each open entry, the line that its out-of-scope code belongs to; 0: none. */
	uint32_t site[CODE_MAX_LEVEL];
};

/* Gives the gaps in one range to @site. */
static int paint_range(struct paint *p, const struct code_range *r, uint32_t site)
{
	struct inliner *i = p->i;

	for (size_t at = first_gap(i, r->lo); at < i->n_gaps && i->gaps[at].lo < r->hi; at++) {
		uint64_t lo = i->gaps[at].lo > r->lo ? i->gaps[at].lo : r->lo;
		uint64_t hi = i->gaps[at].hi < r->hi ? i->gaps[at].hi : r->hi;

		if (!i->pieces_left)
			return -E2BIG;
		i->pieces_left--;
		if (image_clip(p->o, &lo, &hi) && line_ranges_add(p->out, lo, hi, site))
			return -ENOMEM;
	}
	return 0;
}

static int paint_die(void *ctx, const struct code_die *d)
{
	struct paint *p = ctx;
	uint32_t outer = d->level && d->inlined ? p->site[d->level - 1] : 0, site = 0;
	int err;

	if (!touches_gap(p->i, d))
		return 1;
	if (d->inlined) {
		err = p->i->site(p->i->ctx, p->t, d->call_file, d->call_line, &site);
		if (err)
			return err;
	}
	if (!site)
		site = outer;
	p->site[d->level] = site;
	for (size_t k = 0; site != outer && k < d->n_ranges; k++) {
		err = paint_range(p, &d->ranges[k], site);
		if (err)
			return err;
	}
	return 0;
}

int inliner_finish(struct inliner *i, const struct image *o, const struct unit *u,
    const struct line_table *t, struct line_ranges *out)
{
	struct paint p = {.i = i, .o = o, .t = t, .out = out};
	int err;

	if (!i->n_gaps)
		return 0;
	sort_gaps(i);
	err = code_walk_split(&i->walker, o, u, paint_die, &p);
	/* Without its tree a unit still has its lines. Only its inlined code stays unattributed. */
	return err == -EINVAL || err == -E2BIG ? 0 : err;
}
