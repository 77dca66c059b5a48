/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: a walk over those entries of a unit that stand for code. */
#ifndef COZBPF_CODEWALK_H
#define COZBPF_CODEWALK_H

#include "symbols/dwarf/units.h"

struct code_range {
	uint64_t lo, hi;
};

/* A function or an inlined copy of one, with addresses. */
struct code_die {
	uint64_t offset; /* identifies the entry */
	/* How many entries of this kind are around this one; below CODE_MAX_LEVEL. */
	unsigned level;
	bool inlined;
	uint64_t call_file, call_line; /* of an inlined copy */
	const struct code_range *ranges;
	size_t n_ranges;
};

#define CODE_MAX_LEVEL 1024

/* 0: go into the entry; 1: pass over its children; negative: stop, and return this. */
typedef int code_die_fn(void *ctx, const struct code_die *d);

/* Reused from unit to unit. */
struct code_walker {
	const struct debug_sections *sections;
	struct abbrevs abbrevs;
	struct code_range *ranges;
	size_t n_ranges, ranges_cap;
	/* Bytes of split units that may be read: all skeletons of a damaged file can name one big
	 * file. */
	uint64_t split_left;
	/* Ranges that may be read: a damaged file can name one long list a million times. */
	uint64_t ranges_left;
};

void code_walker_init(struct code_walker *w, const struct debug_sections *s);
void code_walker_deinit(struct code_walker *w);

/* Calls @fn for each function and inlined copy in @u, outer ones first. 0, -EINVAL, -ENOMEM,
 * or what @fn returned. */
int code_walk(struct code_walker *w, const struct unit *u, code_die_fn *fn, void *ctx);

/* ranges.c: fills w->ranges. A form or list that makes no sense has no ranges. 0, -ENOMEM, or
 * -EINVAL when there are too many. */
int code_range_add(struct code_walker *w, uint64_t lo, uint64_t hi);
int code_ranges_read(struct code_walker *w, const struct unit *u, uint64_t value, bool is_index);

/* split.c: as code_walk(), but in the split unit when @u is a skeleton whose file can be found. */
int code_walk_split(
    struct code_walker *w, const struct image *o, const struct unit *u, code_die_fn *fn, void *ctx);

#endif
