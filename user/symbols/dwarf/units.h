/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: the compilation units, as their first entries describe them. */
#ifndef COZBPF_UNITS_H
#define COZBPF_UNITS_H

#include "symbols/dwarf/entries.h"
#include "symbols/elf/image.h"

struct go_lines;

struct unit {
	uint64_t offset, end; /* in .debug_info */
	uint64_t die;         /* of its first entry */
	uint64_t abbrev;      /* of its abbreviations */
	uint16_t version;
	uint8_t addr_size, offset_size;
	bool is_rust; /* Rust has functions inside of types */
	bool has_lines;
	uint64_t lines;  /* of its line table */
	uint64_t low_pc; /* base of its range lists */
	uint64_t addr_base, rnglists_base, str_offsets_base;
	/* What range lists of DWARF 4 in a split unit count from. */
	uint64_t ranges_base;
	/* Joins a skeleton and its split unit. */
	uint64_t dwo_id;
	const char *comp_dir; /* NULL: none */
	const char *dwo_name; /* the split unit's file; NULL: the unit is whole */
	/* Not DWARF, but a Go program's own table (golines.h); NULL: it is DWARF. */
	struct go_lines *go;
};

struct unit_iter {
	Dwarf *dwarf;
	const struct debug_sections *sections;
	struct abbrevs abbrevs;
	uint64_t next;
};

void unit_iter_init(struct unit_iter *i, Dwarf *dwarf, const struct debug_sections *s);
void unit_iter_deinit(struct unit_iter *i);

/* The next compilation unit. 1; 0 at the end; -EINVAL for a broken chain of units; -ENOMEM. */
int unit_next(struct unit_iter *i, struct unit *ret);

/* The address that an attribute gives, in place or by its index in .debug_addr; 0: none. */
uint64_t unit_addr(const struct debug_sections *s, const struct unit *u, struct reader *r,
    const struct abbrev_attr *attr);
/* The address at @index of the unit's part of .debug_addr; 0: none. */
uint64_t unit_addr_at(const struct debug_sections *s, const struct unit *u, uint64_t index);

#endif
