// SPDX-License-Identifier: BSD-3-Clause
/* Functions as units of a line map, for programs without debug information, and for blocks. Their
 * bounds come from symbols, and in stripped programs from .eh_frame, the table for exceptions. */
#include "symbols/elf/image.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/text/paths.h"
#include "symbols/elf/cfi.h"
#include "symbols/elf/names.h"

#define NAME_SIZE (NAME_MAX + 4096)

/* Ranges as they are collected; of two that overlap the later one wins. */
struct functions {
	struct image *o;
	struct line_map *map;
	const char *module; /* base name of the file */
	bool apart;         /* see image_add_each_function() */
	struct line_range *ranges;
	size_t n, room;
};

/* Overloads, and static functions of two files, share names: addresses tell them apart. */
static uint32_t unit_of(const struct functions *f, uint64_t addr, const char *name)
{
	size_t before = f->map->n_lines;
	uint32_t unit = line_map_line(f->map, name, 0);
	char own[NAME_SIZE + 32];

	if (!f->apart || !unit || f->map->n_lines > before)
		return unit;
	snprintf(own, sizeof(own), "%s@0x%llx", name, (unsigned long long)addr);
	return line_map_line(f->map, own, 0);
}

/* False: out of memory. What lies outside of the code is left out. */
static bool add_range(struct functions *f, uint64_t lo, uint64_t hi, const char *name)
{
	uint64_t addr = lo, end = image_code_end(f->o, lo);
	uint32_t unit;

	if (hi > end)
		hi = end;
	if (lo >= hi || !image_clip(f->o, &lo, &hi))
		return true;
	if (f->n == f->room) {
		size_t room = 2 * f->room + 64;
		struct line_range *bigger = reallocarray(f->ranges, room, sizeof(*bigger));

		if (!bigger)
			return false;
		f->ranges = bigger;
		f->room = room;
	}
	unit = unit_of(f, addr, name);
	f->ranges[f->n++] = (struct line_range){lo, hi, unit};
	return unit;
}

/* Code that belongs to no function has the module's name. */
static bool add_remainder(struct functions *f)
{
	bool ok = true;

	for (size_t i = 0; ok && i < f->o->n_code; i++)
		ok = add_range(f, f->o->code[i].lo, f->o->code[i].hi, f->module);
	return ok;
}

/* Whether a symbol says what function is at @addr. */
static bool has_symbol(const struct image *o, uint64_t addr)
{
	const struct symbol *s = image_symbol_at(o, addr);

	return s && (s->addr == addr || addr - s->addr < s->size);
}

static bool add_nameless(struct functions *f)
{
	struct cfi_function *all = NULL;
	struct cfi frames;
	char name[NAME_SIZE];
	size_t n = 0;
	bool ok = !image_frames(f->o, &frames) || !cfi_functions(&frames, &all, &n);

	for (size_t i = 0; ok && i < n; i++) {
		if (has_symbol(f->o, all[i].lo))
			continue;
		snprintf(name, sizeof(name), "%s+0x%llx", f->module, (unsigned long long)all[i].lo);
		ok = add_range(f, all[i].lo, all[i].hi, name);
	}
	free(all);
	return ok;
}

/* Clones, cold parts and overloads of one name are one unit, unless functions are apart: then what
 * the compiler has added stays. False: out of memory. */
static bool unit_name(const struct functions *f, const struct symbol *s, char *ret, size_t size)
{
	const char *symbol = s->name,
		   *cold = symbol_is_cold(f->o, s) ? strstr(symbol, ".cold") : NULL;
	size_t stem = name_stem(symbol);
	const char *added = "";
	char *name;

	if (cold && (size_t)(cold - symbol) < stem)
		stem = (size_t)(cold - symbol);
	if (f->apart && symbol[stem] == '.')
		added = symbol + stem;
	name = name_demangle(symbol, stem);
	if (!name)
		return false;
	name_cut_signature(name);
	snprintf(ret, size, "%s:%s%s", f->module, name, added);
	free(name);
	return true;
}

/* Of the names of one function the one that people call it by ("write", of "__GI___write",
 * "__write" and "write") is the smallest. */
static int alias_cmp(const char *a, const char *b)
{
	size_t length_a = strlen(a), length_b = strlen(b);

	if ((*a == '_') != (*b == '_'))
		return *a == '_' ? 1 : -1;
	if (length_a != length_b)
		return length_a < length_b ? -1 : 1;
	return strcmp(a, b);
}

/* Labels within a function, which assembler code has, are no functions. */
static bool add_named(struct functions *f)
{
	const struct symbol *s = f->o->symbols, *named;
	size_t n = f->o->n_symbols;
	uint64_t covered = 0;
	char name[NAME_SIZE];
	bool ok = true;

	for (size_t i = 0; ok && i < n; i++) {
		size_t next = image_symbols_upto(f->o, s[i].addr);
		uint64_t end = s[i].size  ? s[i].addr + s[i].size
			       : next < n ? s[next].addr
					  : UINT64_MAX;

		if ((i && s[i].addr == s[i - 1].addr) || end < s[i].addr ||
		    (!s[i].size && s[i].addr < covered))
			continue;
		named = &s[i];
		for (size_t j = i + 1; j < next; j++)
			if (alias_cmp(s[j].name, named->name) < 0)
				named = &s[j];
		if (s[i].size && end > covered)
			covered = end;
		ok = unit_name(f, named, name, sizeof(name)) && add_range(f, s[i].addr, end, name);
	}
	return ok;
}

static int add_functions(struct functions *f, struct error *e)
{
	struct line_object object = {.path = f->o->path};
	int err = -1;

	f->module = path_base(f->o->path);
	if (!image_load_symbols(f->o) && (f->apart || add_remainder(f)) && add_nameless(f) &&
	    add_named(f))
		err = line_map_add_object(f->map, &object, f->ranges, f->n);
	free(f->ranges);
	return err ? error_set(e, EXIT_OTHER, "out of memory while reading the functions of '%s'",
			 f->o->path)
		   : 0;
}

int image_add_functions(struct image *o, struct line_map *map, size_t *n_units, struct error *e)
{
	struct functions f = {.o = o, .map = map};
	size_t before = map->n_lines;

	if (add_functions(&f, e))
		return -1;
	*n_units = map->n_lines - before;
	return 0;
}

int image_add_each_function(struct image *o, struct line_map *map, struct error *e)
{
	struct functions f = {.o = o, .map = map, .apart = true};

	return add_functions(&f, e);
}
