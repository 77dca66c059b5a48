/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: the compilation units, and a walk over those of their entries that
 * stand for code. */
#ifndef COZBPF_UNITS_H
#define COZBPF_UNITS_H

#include "symbols/dwarf/entries.h"
#include "symbols/elf/object.h"

struct unit {
	uint64_t offset, end; /* in .debug_info */
	uint64_t die;         /* of its first entry */
	uint64_t abbrev;      /* of its abbreviations */
	uint16_t version;
	uint8_t addr_size, offset_size;
	bool is_rust; /* whose functions are found inside of types */
	bool has_lines;
	uint64_t lines;  /* of its line table */
	uint64_t low_pc; /* base of its range lists */
	uint64_t addr_base, rnglists_base, str_offsets_base;
	uint64_t ranges_base; /* what range lists of DWARF 4 in a split unit count from */
	uint64_t dwo_id;      /* of a skeleton and of the split unit that belongs to it */
	const char *comp_dir; /* NULL: none */
	const char *dwo_name; /* file with the split unit; NULL: the unit is whole */
};

struct unit_iter {
	Dwarf *dwarf;
	const struct debug_sections *sections;
	struct abbrevs abbrevs;
	uint64_t next;
};

void unit_iter_init(struct unit_iter *i, Dwarf *dwarf, const struct debug_sections *s);
void unit_iter_deinit(struct unit_iter *i);

/* The next compilation unit. 1, 0 at the end, -EINVAL when the chain of units is broken, -ENOMEM.
 */
int unit_next(struct unit_iter *i, struct unit *ret);

struct code_range {
	uint64_t lo, hi;
};

/* A function or an inlined copy of one, with addresses. */
struct code_die {
	uint64_t offset; /* identifies it */
	unsigned level;  /* how many entries of this kind it lies in; below CODE_MAX_LEVEL */
	bool inlined;
	uint64_t call_file, call_line; /* of an inlined copy */
	const struct code_range *ranges;
	size_t n_ranges;
};

#define CODE_MAX_LEVEL 1024

/* 0: go on with what lies in it; 1: pass over that; negative: stop, and return this. */
typedef int code_die_fn(void *ctx, const struct code_die *d);

/* Reused from unit to unit. */
struct code_walker {
	const struct debug_sections *sections;
	struct abbrevs abbrevs;
	struct code_range *ranges;
	size_t n_ranges, ranges_cap;
	uint64_t split_left;  /* bytes of split units that may be read: damaged skeletons can all
				 name one big file */
	uint64_t ranges_left; /* how many more ranges may be read: damaged files can name one long
				 list a million times */
};

void code_walker_init(struct code_walker *w, const struct debug_sections *s);
void code_walker_deinit(struct code_walker *w);

/* Calls @fn for each function and inlined copy in @u, outer ones first. 0, -EINVAL, -ENOMEM or what
 * @fn returned. */
int code_walk(struct code_walker *w, const struct unit *u, code_die_fn *fn, void *ctx);

/* dieranges.c: fills w->ranges. A form or list that makes no sense yields none. 0 or -ENOMEM,
 * -EINVAL (too many). */
int code_range_add(struct code_walker *w, uint64_t lo, uint64_t hi);
int code_ranges_read(struct code_walker *w, const struct unit *u, uint64_t value, bool is_index);
/* An address in place or by index; 0 when there is none. */
uint64_t code_addr(const struct debug_sections *s, const struct unit *u, struct reader *r,
    const struct abbrev_attr *attr);

/* split.c: as code_walk, but of the split unit when @u is a skeleton and its file can be found. */
int code_walk_split(struct code_walker *w, const struct object *o, const struct unit *u,
    code_die_fn *fn, void *ctx);

#endif
