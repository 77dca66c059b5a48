// SPDX-License-Identifier: BSD-3-Clause
/* Split units (-gsplit-dwarf): the object has the line table; a .dwo file beside the sources has
 * functions and inlined copies. */
#include "symbols/dwarf/codewalk.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "core/text/paths.h"

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

static bool split_open(struct split *s, const struct object *o, const struct unit *skeleton)
{
	char file[PATH_MAX], path[2 * PATH_MAX], why[256];

	*s = (struct split){.file.fd = -1};
	if (!path_join(file, sizeof(file), skeleton->comp_dir, skeleton->dwo_name))
		return false;
	/* A relative name counts from our directory, which is no place for a container's files. */
	if (*o->root && file[0] != '/')
		return false;
	snprintf(path, sizeof(path), "%s%s", o->root, file);
	if (elf_file_open(&s->file, o->root, path, true, why, sizeof(why)))
		return false;
	s->dwarf = dwarf_begin_elf(s->file.elf, DWARF_C_READ, NULL);
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
static bool split_unit(struct split *s, const struct unit *skeleton, struct unit *ret)
{
	struct unit_iter units;
	bool found = false;

	unit_iter_init(&units, s->dwarf, &s->sections);
	while (!found && unit_next(&units, ret) > 0)
		found = ret->dwo_id == skeleton->dwo_id;
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
    struct code_walker *w, const struct object *o, const struct unit *u, code_die_fn *fn, void *ctx)
{
	struct code_walker walker;
	struct split s;
	struct unit unit;
	int err;

	if (!u->dwo_name || !split_open(&s, o, u))
		/* Without its file, a skeleton may still name ranges. */
		return code_walk(w, u, fn, ctx);
	if (s.sections.info.size > w->split_left || !split_unit(&s, u, &unit)) {
		split_close(&s);
		return code_walk(w, u, fn, ctx);
	}
	w->split_left -= s.sections.info.size;
	code_walker_init(&walker, &s.sections);
	err = code_walk(&walker, &unit, fn, ctx);
	code_walker_deinit(&walker);
	split_close(&s);
	return err;
}
