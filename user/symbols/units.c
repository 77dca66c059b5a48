// SPDX-License-Identifier: BSD-3-Clause
/* The compilation units of an object, by libdw: where their lines, abbreviations and address tables are. */
#include "symbols/units.h"

#include <dwarf.h>
#include <errno.h>

static bool attr_number(Dwarf_Die *die, unsigned name, uint64_t *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value))
		return false;
	*ret = value;
	return true;
}

/* Reads what the first entry says. False when it is not that of a unit with code. */
static bool read_root(const struct object *o, struct unit *u)
{
	Dwarf_Attribute attr;
	Dwarf_Die die;
	uint64_t language = 0;
	int tag;

	if (!dwarf_offdie(o->dwarf, u->die, &die))
		return false;
	tag = dwarf_tag(&die);
	if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
		return false;
	u->has_lines = attr_number(&die, DW_AT_stmt_list, &u->lines);
	u->comp_dir = dwarf_attr(&die, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : NULL;
	attr_number(&die, DW_AT_language, &language);
	u->is_rust = language == DW_LANG_Rust || language == 0x9000 /* its number before it had one */;
	if (!attr_number(&die, DW_AT_addr_base, &u->addr_base))
		attr_number(&die, DW_AT_GNU_addr_base, &u->addr_base);
	attr_number(&die, DW_AT_rnglists_base, &u->rnglists_base);
	if (dwarf_lowpc(&die, &u->low_pc))
		u->low_pc = 0;
	return true;
}

int unit_next(struct unit_iter *i, struct unit *ret)
{
	for (;;) {
		struct unit u = {.offset = i->next};
		Dwarf_Off next, abbrev;
		Dwarf_Half version;
		size_t header;
		int found =
		    dwarf_next_unit(i->o->dwarf, i->next, &next, &header, &version, &abbrev, &u.addr_size, &u.offset_size, NULL, NULL);

		if (found)
			return found < 0 ? -EINVAL : 0;
		if (next <= i->next)
			return -EINVAL;
		u.end = next < i->o->sections.info.size ? next : i->o->sections.info.size;
		u.die = i->next + header;
		u.abbrev = abbrev;
		u.version = version;
		i->next = next;
		if (u.version < 2 || u.version > 5 || u.die >= u.end || !read_root(i->o, &u))
			continue;
		*ret = u;
		return 1;
	}
}
