/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/dwarf/: lines and inlined calls of a Go program by .gopclntab, for
 * programs without DWARF, in the form of DWARF's. */
#ifndef COZBPF_GOLINES_H
#define COZBPF_GOLINES_H

#include "symbols/dwarf/codewalk.h"
#include "symbols/dwarf/tables.h"
#include "symbols/elf/gotable.h"

/* What the table's numbers are looked up in. */
struct go_lines {
	const struct go_table *t;
	struct line_table table; /* its files are those of the Go table */
	uint32_t *offsets;       /* of the files' names, in their order */
	/* Steps that may be made: all functions of a damaged table can share one long list. */
	uint64_t work_left;
};

/* Visits the lines as one table of one unit, a sequence for each function. 0 or a negative errno,
 * or what the visitor returned. */
int go_lines_visit(struct image *o, const struct go_table *t, const struct table_visitor *v);

/* As code_walk(), for the unit that go_lines_visit() has made. */
int go_code_walk(struct code_walker *w, struct go_lines *g, code_die_fn *fn, void *ctx);

/* golines.c: the rows of a function into g->table, its end last. 0, -ENOMEM; -EINVAL when there is
 * no work left. */
int go_rows(struct go_lines *g, const struct go_function *f);

#endif
