/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: entries of .debug_info: abbreviations, sizes of values, and values that
 * are numbers. */
#ifndef COZBPF_ENTRIES_H
#define COZBPF_ENTRIES_H

#include "symbols/elf/reader.h"

struct unit;

/* What an entry is to us, by its tag. */
enum die_kind {
	DIE_OTHER,     /* nothing of interest in it */
	DIE_UNIT,      /* root of a compilation unit, or the skeleton of one */
	DIE_CONTAINER, /* may hold code */
	DIE_TYPE,      /* may hold code in some languages */
	DIE_FUNCTION,
	DIE_INLINED,
};

/* How the size of a value is found. */
enum size_class {
	SIZE_FIXED,
	SIZE_LEB,
	SIZE_STRING,
	SIZE_BLOCK1,
	SIZE_BLOCK2,
	SIZE_BLOCK4,
	SIZE_BLOCK, /* its length is a LEB128 */
	SIZE_INDIRECT,
	SIZE_UNKNOWN,
};

struct abbrev {
	uint8_t kind;
	bool used, has_children, has_sibling;
	bool all_fixed;
	uint32_t first_attr, n_attrs;
	uint32_t size; /* of all values, when all_fixed */
};

struct abbrev_attr {
	uint16_t name, form;
	uint8_t size_class, size;
	int64_t implicit;
};

/* The abbreviations of one unit; reused from unit to unit. */
struct abbrevs {
	struct bytes section;
	/* How many more bytes may be read: in damaged files a million units can share one long
	 * table. */
	uint64_t bytes_left;
	uint64_t offset; /* of those that are held */
	uint16_t version;
	uint8_t addr_size, offset_size;
	bool valid;
	struct abbrev *v; /* by code */
	size_t n, cap;
	struct abbrev_attr *attrs;
	size_t n_attrs, attrs_cap;
};

void abbrevs_init(struct abbrevs *a, struct bytes section);
void abbrevs_deinit(struct abbrevs *a);

/* Reads the abbreviations of @u, unless they are held already. 0, -EINVAL or -ENOMEM. */
int abbrevs_read(struct abbrevs *a, const struct unit *u);

static inline const struct abbrev *abbrev_find(const struct abbrevs *a, uint64_t code)
{
	return code < a->n && a->v[code].used ? &a->v[code] : NULL;
}

/* Passes over the value of an attribute. */
void value_skip(const struct unit *u, struct reader *r, const struct abbrev_attr *attr);

/* Passes over all values of an entry. *@sibling becomes the section offset of the entry after its
 * children; 0: the entry does not say. */
void values_skip(const struct abbrevs *t, const struct unit *u, struct reader *r,
    const struct abbrev *a, uint64_t *sibling);

/* Whether the value is a number of at most 64 bits (constant, offset, index, reference). */
bool value_is_number(const struct abbrev_attr *attr);
uint64_t value_number(struct reader *r, const struct abbrev_attr *attr);

/* Whether the value is an address, in place or by index into .debug_addr. */
bool value_is_addr(const struct abbrev_attr *attr);

#endif
