/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: gives out-of-scope code of one unit to the in-scope call sites at which
 * it was inlined. */
#ifndef COZBPF_INLINES_H
#define COZBPF_INLINES_H

#include "symbols/dwarf/codewalk.h"
#include "symbols/dwarf/tables.h"

struct line_ranges {
	struct line_range *v;
	size_t n, cap;
};

/* Appends a range, or lengthens the last one. 0 or -ENOMEM. */
int line_ranges_add(struct line_ranges *r, uint64_t lo, uint64_t hi, uint32_t line);

struct inliner {
	struct code_walker walker;
	struct code_range *gaps; /* out-of-scope code of the unit, by address once it is sorted */
	size_t n_gaps, gaps_cap;
	uint64_t pieces_left; /* bounds the work on damaged files */
	/* Sets *@ret to the line of a call site, 0 when the site is out of scope. 0 or -errno. */
	int (*site)(
	    void *ctx, const struct line_table *t, uint64_t file, uint64_t line, uint32_t *ret);
	void *ctx;
};

void inliner_init(struct inliner *i, struct image *o,
    int (*site)(void *ctx, const struct line_table *t, uint64_t file, uint64_t line, uint32_t *ret),
    void *ctx);
void inliner_deinit(struct inliner *i);

void inliner_start(struct inliner *i); /* before each unit */
int inliner_add(struct inliner *i, uint64_t lo, uint64_t hi);
/* Appends the code of each call site to @out, in file offsets. Outer sites come first, and inner
 * ones override them. */
int inliner_finish(struct inliner *i, const struct image *o, const struct unit *u,
    const struct line_table *t, struct line_ranges *out);

#endif
