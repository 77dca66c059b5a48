// SPDX-License-Identifier: BSD-3-Clause
/*
 * Abbreviations and values of .debug_info. Nine of ten entries are only passed over, so sizes of
 * values matter most.
 *
 * Own code, not libdw's: units, entries and their walk take a quarter of the time of libdw's tree
 * functions (`make bench-startup`: 0.37 s beside 1.37 s at 537 MB).
 */
#include "symbols/dwarf/entries.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "symbols/dwarf/units.h"

#define MAX_ATTRS 1000000 /* of one unit's abbreviations; real units have thousands */
#define MAX_CODE 1000000
#define MAX_FIXED 65536 /* bytes of values in one entry */
/* Attributes of one abbreviation whose values take no bytes: an entry of one byte would have the
 * work of thousands. DWARF has some twenty flags. */
#define MAX_FREE 64
/* Bytes of abbreviations that may be read again, for units that share them (link-time
 * optimisation). */
#define SHARED_BYTES (64 << 20)

void abbrevs_init(struct abbrevs *a, struct bytes section)
{
	memset(a, 0, sizeof(*a));
	a->section = section;
	a->bytes_left = section.size + SHARED_BYTES;
}

void abbrevs_deinit(struct abbrevs *a)
{
	free(a->v);
	free(a->attrs);
	memset(a, 0, sizeof(*a));
}

/* Bytes of a value, when its form alone tells; else -1. */
static int fixed_size(const struct unit *u, uint64_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return u->addr_size;
	case DW_FORM_ref_addr:
		return u->version == 2 ? u->addr_size : u->offset_size;
	case DW_FORM_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_line_strp:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return u->offset_size;
	default:
		return -1;
	}
}

static uint8_t form_class(const struct unit *u, uint64_t form, uint8_t *size)
{
	int fixed = fixed_size(u, form);

	*size = fixed < 0 ? 0 : (uint8_t)fixed;
	if (fixed >= 0)
		return SIZE_FIXED;
	switch (form) {
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return SIZE_LEB;
	case DW_FORM_string:
		return SIZE_STRING;
	case DW_FORM_block1:
		return SIZE_BLOCK1;
	case DW_FORM_block2:
		return SIZE_BLOCK2;
	case DW_FORM_block4:
		return SIZE_BLOCK4;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return SIZE_BLOCK;
	case DW_FORM_indirect:
		return SIZE_INDIRECT;
	default:
		return SIZE_UNKNOWN;
	}
}

static uint8_t tag_kind(uint64_t tag)
{
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_skeleton_unit:
		return DIE_UNIT;
	case DW_TAG_subprogram:
		return DIE_FUNCTION;
	case DW_TAG_inlined_subroutine:
		return DIE_INLINED;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_entry_point:
		return DIE_CONTAINER;
	case DW_TAG_structure_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_union_type:
		return DIE_TYPE;
	default:
		return DIE_OTHER;
	}
}

static int reserve(void *array, size_t *cap, size_t need, size_t elem)
{
	void **p = array, *grown;
	size_t want = *cap * 2 > need ? *cap * 2 : need + 64;

	if (need <= *cap)
		return 0;
	grown = reallocarray(*p, want, elem);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	*cap = want;
	return 0;
}

/* Reads the attributes of one abbreviation. */
static int read_attrs(struct abbrevs *t, const struct unit *u, struct reader *r, struct abbrev *a)
{
	unsigned n_free = 0;

	a->first_attr = (uint32_t)t->n_attrs;
	a->all_fixed = true;
	for (;;) {
		uint64_t name = read_uleb(r), form = read_uleb(r);
		struct abbrev_attr *attr;

		if (r->bad || t->n_attrs >= MAX_ATTRS || a->size > MAX_FIXED)
			return -EINVAL;
		if (!name && !form)
			return 0;
		if (reserve(&t->attrs, &t->attrs_cap, t->n_attrs + 1, sizeof(*t->attrs)))
			return -ENOMEM;
		attr = &t->attrs[t->n_attrs++];
		*attr = (struct abbrev_attr){(uint16_t)(name > UINT16_MAX ? 0 : name),
		    (uint16_t)(form > UINT16_MAX ? 0 : form), 0, 0, 0};
		attr->size_class = form_class(u, form, &attr->size);
		if (form == DW_FORM_implicit_const)
			attr->implicit = read_sleb(r);
		n_free += attr->size_class == SIZE_FIXED && !attr->size;
		if (n_free > MAX_FREE)
			return -EINVAL;
		a->n_attrs++;
		a->size += attr->size;
		a->all_fixed &= attr->size_class == SIZE_FIXED;
		a->has_sibling |= name == DW_AT_sibling;
	}
}

static int read_abbrev(struct abbrevs *t, const struct unit *u, struct reader *r, uint64_t code)
{
	struct abbrev a = {.used = true};
	int err;

	a.kind = tag_kind(read_uleb(r));
	a.has_children = read_u8(r);
	err = code > MAX_CODE ? -EINVAL : read_attrs(t, u, r, &a);
	if (err || reserve(&t->v, &t->cap, code + 1, sizeof(a)))
		return err ?: -ENOMEM;
	if (code >= t->n) {
		memset(t->v + t->n, 0, (code + 1 - t->n) * sizeof(a));
		t->n = code + 1;
	}
	t->v[code] = a;
	return 0;
}

int abbrevs_read(struct abbrevs *t, const struct unit *u)
{
	struct reader r = {.bad = true};
	const uint8_t *start;
	uint64_t code, used;
	int err = 0;

	if (t->valid && t->offset == u->abbrev && t->version == u->version &&
	    t->addr_size == u->addr_size && t->offset_size == u->offset_size)
		return 0;
	t->valid = false;
	if (!t->bytes_left)
		return -EINVAL;
	if (u->abbrev < t->section.size)
		r = reader_at(t->section, u->abbrev, t->section.size - u->abbrev);
	start = r.p;
	t->n = t->n_attrs = 0;
	while (!err && (code = read_uleb(&r))) {
		err = read_abbrev(t, u, &r, code);
		/* Gaps between codes take memory too. */
		if ((uint64_t)(r.p - start) + t->n > t->bytes_left)
			err = -EINVAL;
	}
	/* What is damaged was read as well, and may be read for each unit. */
	used = (uint64_t)(r.p - start) + t->n;
	t->bytes_left -= used < t->bytes_left ? used : t->bytes_left;
	if (err || r.bad)
		return err ?: -EINVAL;
	t->offset = u->abbrev;
	t->version = u->version;
	t->addr_size = u->addr_size;
	t->offset_size = u->offset_size;
	t->valid = true;
	return 0;
}

static void skip_sized(const struct unit *u, struct reader *r, uint8_t size_class, uint8_t size)
{
	switch (size_class) {
	case SIZE_FIXED:
		read_skip(r, size);
		break;
	case SIZE_LEB:
		read_uleb(r);
		break;
	case SIZE_STRING:
		read_string(r);
		break;
	case SIZE_BLOCK1:
		read_skip(r, read_u8(r));
		break;
	case SIZE_BLOCK2:
		read_skip(r, read_u16(r));
		break;
	case SIZE_BLOCK4:
		read_skip(r, read_u32(r));
		break;
	case SIZE_BLOCK:
		read_skip(r, read_uleb(r));
		break;
	case SIZE_INDIRECT:
		size_class = form_class(u, read_uleb(r), &size);
		if (size_class == SIZE_INDIRECT)
			reader_fail(r);
		else
			skip_sized(u, r, size_class, size);
		break;
	default: /* a form of unknown size: what follows is lost */
		reader_fail(r);
	}
}

void value_skip(const struct unit *u, struct reader *r, const struct abbrev_attr *attr)
{
	skip_sized(u, r, attr->size_class, attr->size);
}

void values_skip(const struct abbrevs *t, const struct unit *u, struct reader *r,
    const struct abbrev *a, uint64_t *sibling)
{
	*sibling = 0;
	if (a->all_fixed && !a->has_sibling) {
		read_skip(r, a->size);
		return;
	}
	for (uint32_t i = 0; i < a->n_attrs && !r->bad; i++) {
		const struct abbrev_attr *attr = &t->attrs[a->first_attr + i];
		struct reader value = *r;

		skip_sized(u, r, attr->size_class, attr->size);
		if (attr->name == DW_AT_sibling && attr->size_class == SIZE_FIXED &&
		    attr->form != DW_FORM_ref_addr)
			*sibling = u->offset + read_uint(&value, attr->size);
	}
}

bool value_is_number(const struct abbrev_attr *attr)
{
	return attr->form == DW_FORM_implicit_const || attr->size_class == SIZE_LEB ||
	       (attr->size_class == SIZE_FIXED && attr->size > 0 && attr->size <= 8);
}

uint64_t value_number(struct reader *r, const struct abbrev_attr *attr)
{
	if (attr->form == DW_FORM_implicit_const)
		return (uint64_t)attr->implicit;
	if (attr->form == DW_FORM_sdata)
		return (uint64_t)read_sleb(r);
	return attr->size_class == SIZE_LEB ? read_uleb(r) : read_uint(r, attr->size);
}

bool value_is_addr(const struct abbrev_attr *attr)
{
	return attr->form == DW_FORM_addr || attr->form == DW_FORM_addrx ||
	       attr->form == DW_FORM_GNU_addr_index ||
	       (attr->form >= DW_FORM_addrx1 && attr->form <= DW_FORM_addrx4);
}
