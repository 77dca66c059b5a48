/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: visits all line tables of an object, with the units they belong to. */
#ifndef COZBPF_TABLES_H
#define COZBPF_TABLES_H

#include "symbols/dwarf/sources.h"
#include "symbols/dwarf/units.h"

/* A run of addresses with one line. Empty rows are left out; line 0 belongs to the row before. */
struct line_run {
	uint64_t lo, hi;
	uint32_t source; /* NO_SOURCE: unknown */
	uint32_t line;   /* 0: none */
	bool is_stmt;
};

struct table_visitor {
	/* Each table once, before its sequences, with the unit that names the table. */
	int (*table)(void *ctx, const struct unit *u, const struct line_table *t);
	/* Each sequence whose code is in the object. The last row is its end. */
	int (*sequence)(
	    void *ctx, const struct line_table *t, const struct line_row *rows, size_t n);
	/* After the last sequence of the table. May be NULL. */
	int (*done)(void *ctx, const struct unit *u, const struct line_table *t);
	void *ctx;
};

/*
 * Visits the line tables of all units. A damaged table is left out. -1 with @e when a function of
 * the visitor returned a negative errno, or memory is short. The same when there is no debug
 * information, or all of it is damaged.
 */
int tables_visit(struct image *o, const struct table_visitor *v, struct error *e);

/* Makes the next run of rows [*i, n) and advances *@i. False at the end. @last is the run before,
 * zeroed for the first. */
bool line_run_next(struct image *o, struct source_set *s, const struct line_table *t,
    const struct line_row *rows, size_t n, size_t *i, struct line_run *last);

#endif
