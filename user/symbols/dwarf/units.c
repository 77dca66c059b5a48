// SPDX-License-Identifier: BSD-3-Clause
/* The compilation units of an object: their first entries tell where lines, abbreviations and
 * address tables are. */
#include "symbols/dwarf/units.h"

#include <dwarf.h>
#include <errno.h>

void unit_iter_init(struct unit_iter *i, Dwarf *dwarf, const struct debug_sections *s)
{
	*i = (struct unit_iter){.dwarf = dwarf, .sections = s};
	abbrevs_init(&i->abbrevs, s->abbrev);
}

void unit_iter_deinit(struct unit_iter *i)
{
	abbrevs_deinit(&i->abbrevs);
}

uint64_t unit_addr_at(const struct debug_sections *s, const struct unit *u, uint64_t index)
{
	struct reader r;

	if (index > s->addr.size)
		return 0;
	r = reader_at(s->addr, u->addr_base + index * u->addr_size, u->addr_size);
	return r.bad ? 0 : read_uint(&r, u->addr_size);
}

uint64_t unit_addr(const struct debug_sections *s, const struct unit *u, struct reader *r,
    const struct abbrev_attr *attr)
{
	if (attr->size_class == SIZE_LEB)
		return unit_addr_at(s, u, read_uleb(r));
	return attr->form == DW_FORM_addr ? read_uint(r, attr->size)
					  : unit_addr_at(s, u, read_uint(r, attr->size));
}

/* A string of the first entry; NULL: it cannot be found. Strings by index need their base first. */
static const char *read_string_value(const struct debug_sections *s, const struct unit *u,
    struct reader *r, const struct abbrev_attr *attr)
{
	const char *string;
	uint64_t value;

	if (attr->form == DW_FORM_string) {
		string = read_string(r);
		return r->bad ? NULL : string;
	}
	value = value_is_number(attr) ? value_number(r, attr) : UINT64_MAX;
	switch (attr->form) {
	case DW_FORM_strp:
		return string_at(s->str, value);
	case DW_FORM_line_strp:
		return string_at(s->line_str, value);
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:
		return string_at(s->alt_str, value);
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index: {
		struct reader at = {.bad = true};

		if (value <= s->str_offsets.size)
			at = reader_at(s->str_offsets, u->str_offsets_base + value * u->offset_size,
			    u->offset_size);
		return at.bad ? NULL : string_at(s->str, read_uint(&at, u->offset_size));
	}
	default:
		return NULL;
	}
}

/* Attributes that other attributes depend on: the bases of indexes. */
static void read_base(struct unit *u, struct reader *r, const struct abbrev_attr *attr)
{
	uint64_t value = value_is_number(attr) ? value_number(r, attr) : 0;

	switch (attr->name) {
	case DW_AT_stmt_list:
		u->has_lines = true;
		u->lines = value;
		break;
	case DW_AT_language:
		u->is_rust = value == DW_LANG_Rust ||
			     value == 0x9000 /* a number used before the official one */;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		u->addr_base = value;
		break;
	case DW_AT_rnglists_base:
		u->rnglists_base = value;
		break;
	case DW_AT_GNU_ranges_base:
		u->ranges_base = value;
		break;
	case DW_AT_str_offsets_base:
		u->str_offsets_base = value;
		break;
	case DW_AT_GNU_dwo_id:
		u->dwo_id = value;
		break;
	default:
		break;
	}
}

static void read_rest(const struct debug_sections *s, struct unit *u, struct reader *r,
    const struct abbrev_attr *attr)
{
	switch (attr->name) {
	case DW_AT_comp_dir:
		u->comp_dir = read_string_value(s, u, r, attr);
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		u->dwo_name = read_string_value(s, u, r, attr);
		break;
	case DW_AT_low_pc:
		u->low_pc = value_is_addr(attr) ? unit_addr(s, u, r, attr) : 0;
		break;
	default:
		break;
	}
}

/* Reads the first entry. 1; 0 when it is no unit with code or is damaged; -ENOMEM. */
static int read_root(struct unit_iter *i, struct unit *u)
{
	struct reader r = reader_at(i->sections->info, u->die, u->end - u->die), start;
	const struct abbrev *a;
	int err = abbrevs_read(&i->abbrevs, u);

	if (err)
		return err == -EINVAL ? 0 : err;
	a = abbrev_find(&i->abbrevs, read_uleb(&r));
	if (!a || a->kind != DIE_UNIT)
		return 0;
	start = r;
	for (int pass = 0; pass < 2; pass++) {
		r = start;
		for (uint32_t k = 0; k < a->n_attrs && !r.bad; k++) {
			const struct abbrev_attr *attr = &i->abbrevs.attrs[a->first_attr + k];
			struct reader value = r;

			value_skip(u, &r, attr);
			if (pass == 0)
				read_base(u, &value, attr);
			else
				read_rest(i->sections, u, &value, attr);
		}
	}
	return !r.bad;
}

/* From DWARF 5 on, headers of skeleton and split units end with the number that joins the two. */
static void read_header(const struct debug_sections *s, struct unit *u)
{
	struct reader r = reader_at(s->info, u->offset + (u->offset_size == 8 ? 14 : 6), 1);
	uint8_t type = u->version >= 5 ? read_u8(&r) : 0;

	if (type != DW_UT_skeleton && type != DW_UT_split_compile)
		return;
	r = reader_at(s->info, u->die - 8, 8);
	u->dwo_id = read_u64(&r);
}

int unit_next(struct unit_iter *i, struct unit *ret)
{
	for (;;) {
		struct unit u = {.offset = i->next};
		Dwarf_Off next, abbrev;
		Dwarf_Half version;
		size_t header;
		int found = dwarf_next_unit(i->dwarf, i->next, &next, &header, &version, &abbrev,
		    &u.addr_size, &u.offset_size, NULL, NULL);

		if (found)
			return found < 0 ? -EINVAL : 0;
		if (next <= i->next)
			return -EINVAL;
		u.end = next < i->sections->info.size ? next : i->sections->info.size;
		u.die = i->next + header;
		u.abbrev = abbrev;
		u.version = version;
		i->next = next;
		if (u.version < 2 || u.version > 5 || u.die >= u.end)
			continue;
		read_header(i->sections, &u);
		found = read_root(i, &u);
		if (!found)
			continue;
		if (found > 0)
			*ret = u;
		return found;
	}
}
