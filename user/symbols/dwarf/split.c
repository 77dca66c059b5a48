// SPDX-License-Identifier: BSD-3-Clause
/* Split units (-gsplit-dwarf): the object has the line table; a .dwo file beside the sources has
 * functions and inlined copies. */
#include "symbols/dwarf/golines.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "core/text/paths.h"

/* What it costs to open a file, in bytes read meanwhile. */
#define OPEN_COST 16384

struct split {
	struct elf_file file;
	Dwarf *dwarf;
	struct debug_sections sections;
};

static void split_close(struct split *s)
{
	if (s->dwarf)
		dwarf_end(s->dwarf);
	elf_file_close(&s->file);
}

/* Takes @n off what may be read. False, and nothing is left: there is less. */
static bool spend(struct code_walker *w, uint64_t n)
{
	bool enough = n <= w->split_left;

	w->split_left -= enough ? n : w->split_left;
	return enough;
}

/* Bytes of all sections, decompressed: libdw reads them all. */
static uint64_t file_bytes(Elf *elf)
{
	Elf_Scn *scn = NULL;
	uint64_t sum = 0;
	GElf_Shdr header;
	GElf_Chdr packed;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_type != SHT_NOBITS)
			sum += (header.sh_flags & SHF_COMPRESSED) && gelf_getchdr(scn, &packed)
				   ? packed.ch_size
				   : header.sh_size;
	return sum;
}

static bool split_open(
    struct split *s, struct code_walker *w, const struct image *o, const struct unit *skeleton)
{
	char file[PATH_MAX], path[2 * PATH_MAX], why[256];
	uint64_t bytes;

	*s = (struct split){.file.fd = -1};
	if (!path_join(file, sizeof(file), skeleton->comp_dir, skeleton->dwo_name))
		return false;
	/* A relative name counts from our directory, which is no place for a container's files. */
	if (*o->root && file[0] != '/')
		return false;
	snprintf(path, sizeof(path), "%s%s", o->root, file);
	if (elf_file_open(&s->file, o->root, path, true, why, sizeof(why)))
		return false;
	bytes = file_bytes(s->file.elf);
	s->dwarf = bytes <= w->split_left && spend(w, bytes)
		       ? dwarf_begin_elf(s->file.elf, DWARF_C_READ, NULL)
		       : NULL;
	if (!s->dwarf) {
		split_close(s);
		return false;
	}
	s->sections = (struct debug_sections){
	    .info = elf_section(s->file.elf, ".debug_info.dwo"),
	    .abbrev = elf_section(s->file.elf, ".debug_abbrev.dwo"),
	    .rnglists = elf_section(s->file.elf, ".debug_rnglists.dwo"),
	    .ranges = o->sections.ranges,
	    .addr = o->sections.addr,
	};
	return true;
}

/* Finds the unit of @skeleton, and adds what only the skeleton knows. */
static bool split_unit(
    struct split *s, struct code_walker *w, const struct unit *skeleton, struct unit *ret)
{
	struct unit_iter units;
	uint64_t abbrevs_left;
	bool found = false;

	unit_iter_init(&units, s->dwarf, &s->sections);
	abbrevs_left = units.abbrevs.bytes_left;
	while (!found && unit_next(&units, ret) > 0)
		found = ret->dwo_id == skeleton->dwo_id;
	spend(w, abbrevs_left - units.abbrevs.bytes_left);
	unit_iter_deinit(&units);
	if (!found)
		return false;
	ret->low_pc = skeleton->low_pc;
	ret->addr_base = skeleton->addr_base;
	ret->ranges_base = skeleton->ranges_base;
	/* There is one table of range lists, and its offsets follow its header. */
	ret->rnglists_base = ret->offset_size == 8 ? 20 : 12;
	return true;
}

int code_walk_split(
    struct code_walker *w, const struct image *o, const struct unit *u, code_die_fn *fn, void *ctx)
{
	struct code_walker walker;
	struct split s;
	struct unit unit;
	uint64_t abbrevs_left;
	int err;

	if (u->go)
		return go_code_walk(w, u->go, fn, ctx);
	if (!u->dwo_name || !spend(w, OPEN_COST) || !split_open(&s, w, o, u))
		/* Without its file, a skeleton may still name ranges. */
		return code_walk(w, u, fn, ctx);
	if (!split_unit(&s, w, u, &unit)) {
		split_close(&s);
		return code_walk(w, u, fn, ctx);
	}
	code_walker_init(&walker, &s.sections);
	abbrevs_left = walker.abbrevs.bytes_left;
	err = code_walk(&walker, &unit, fn, ctx);
	spend(w, abbrevs_left - walker.abbrevs.bytes_left);
	code_walker_deinit(&walker);
	split_close(&s);
	return err;
}
