/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: going over all line tables of an object, with the units they belong to.
 */
#ifndef COZBPF_TABLES_H
#define COZBPF_TABLES_H

#include "symbols/dwarf/sources.h"
#include "symbols/dwarf/units.h"

/* A run of addresses with one owner, after empty rows have been left out and line 0 has been given
 * to the row before it. */
struct line_run {
	uint64_t lo, hi;
	uint32_t source; /* NO_SOURCE: unknown */
	uint32_t line;   /* 0: nobody's */
	bool is_stmt;
};

struct table_visitor {
	/* Each table once, before its sequences, with the unit that names it. */
	int (*table)(void *ctx, const struct unit *u, const struct line_table *t);
	/* Each sequence whose code is in the object. The last row is its end. */
	int (*sequence)(
	    void *ctx, const struct line_table *t, const struct line_row *rows, size_t n);
	/* After the last sequence of the table. May be NULL. */
	int (*done)(void *ctx, const struct unit *u, const struct line_table *t);
	void *ctx;
};

/*
 * Visits the line tables of all units. A damaged table is passed over; -1 with @e when there is no
 * debug information, when all of it is damaged, when memory is short, or when a function of the
 * visitor returned a negative errno.
 */
int tables_visit(struct object *o, const struct table_visitor *v, struct error *e);

/* Turns rows [*i, n) into the next run, and moves *@i on. False at the end. @last (zeroed before
 * the first) is the run before. */
bool line_run_next(struct object *o, struct source_set *s, const struct line_table *t,
    const struct line_row *rows, size_t n, size_t *i, struct line_run *last);

/* Sets @e for an object without debug information, with the way to get it. Returns -1. */
int no_debug_info(const struct object *o, struct error *e);

#endif
