// SPDX-License-Identifier: BSD-3-Clause
/* Where the fields of Go's runtime.g and runtime.m are: from DWARF, or by the version of Go. */
#include "symbols/dwarf/units.h"
#include "symbols/elf/gotable.h"

#include <dwarf.h>
#include <errno.h>
#include <stddef.h>

#define MAX_OFFSET 4096

/*
 * On 64-bit Linux, as `scripts/go-offsets.sh` prints them from programs that each version builds.
 * Of 1.20, which no suite of Debian has, runtime2.go was read. Field by field: stack, m,
 * atomicstatus, goid of g; g0, gsignal, curg, mallocing, preemptoff, locks of m.
 */
static const struct {
	unsigned first, last; /* minor versions */
	struct go_offsets at;
} known[] = {
    {19, 22, {0, 48, 144, 152, 0, 80, 192, 240, 248, 264}},
    {23, 24, {0, 48, 152, 160, 0, 80, 192, 240, 248, 264}},
    {25, 25, {0, 48, 144, 152, 0, 72, 184, 232, 240, 256}},
    {26, 27, {0, 48, 144, 152, 0, 72, 184, 240, 248, 264}},
};

#define FIRST_MINOR 19
#define LAST_MINOR 27

/* The fields by name. */
struct field {
	const char *name;
	size_t at; /* in struct go_offsets */
};
#define FIELD(s, name)                                         \
	{                                                      \
#name, offsetof(struct go_offsets, s##_##name) \
	}
static const struct field fields_g[] = {
    FIELD(g, stack), FIELD(g, m), FIELD(g, atomicstatus), FIELD(g, goid)};
static const struct field fields_m[] = {FIELD(m, g0), FIELD(m, gsignal), FIELD(m, curg),
    FIELD(m, mallocing), FIELD(m, preemptoff), FIELD(m, locks)};

static const struct wanted_struct {
	const char *name;
	const struct field *fields;
	size_t n;
} structs[] = {
    {"runtime.g", fields_g, sizeof(fields_g) / sizeof(*fields_g)},
    {"runtime.m", fields_m, sizeof(fields_m) / sizeof(*fields_m)},
};
#define STRUCTS (sizeof(structs) / sizeof(*structs))

struct struct_reader {
	const struct debug_sections *sections;
	struct abbrevs abbrevs;
	struct go_offsets *ret;
	size_t n_found[STRUCTS]; /* fields */
};

/* What an entry says of itself. */
struct entry {
	const char *name; /* NULL: none, or in a form that Go does not use */
	uint64_t offset, sibling;
	bool has_offset;
};

static void read_entry(const struct struct_reader *s, const struct unit *u, struct reader *r,
    const struct abbrev *a, struct entry *ret)
{
	*ret = (struct entry){0};
	for (uint32_t i = 0; i < a->n_attrs && !r->bad; i++) {
		const struct abbrev_attr *attr = &s->abbrevs.attrs[a->first_attr + i];
		struct reader value = *r;

		value_skip(u, r, attr);
		if (attr->name == DW_AT_name && attr->form == DW_FORM_string)
			ret->name = r->bad ? NULL : (const char *)value.p;
		else if (attr->name == DW_AT_name && attr->form == DW_FORM_strp)
			ret->name = string_at(s->sections->str, value_number(&value, attr));
		else if (attr->name == DW_AT_data_member_location && value_is_number(attr)) {
			ret->has_offset = true;
			ret->offset = value_number(&value, attr);
		}
	}
}

static void take_field(struct struct_reader *s, size_t which, const struct entry *member)
{
	for (size_t i = 0; i < structs[which].n; i++) {
		const struct field *f = &structs[which].fields[i];

		if (strcmp(member->name, f->name) || member->offset >= MAX_OFFSET)
			continue;
		*(uint16_t *)((char *)s->ret + f->at) = (uint16_t)member->offset;
		s->n_found[which]++;
	}
}

/* Reads the members of a struct, which have none themselves. */
static void read_members(
    struct struct_reader *s, const struct unit *u, struct reader *r, size_t which)
{
	s->n_found[which] = 0;
	while (r->p < r->end) {
		const struct abbrev *a = abbrev_find(&s->abbrevs, read_uleb(r));
		struct entry member;

		if (!a || a->has_children)
			return;
		read_entry(s, u, r, a, &member);
		if (member.name && member.has_offset)
			take_field(s, which, &member);
	}
}

static bool is_complete(const struct struct_reader *s)
{
	for (size_t i = 0; i < STRUCTS; i++)
		if (s->n_found[i] != structs[i].n)
			return false;
	return true;
}

/* All entries of a unit, whatever they are in: Go's types are all at the top. */
static int read_unit(struct struct_reader *s, const struct unit *u)
{
	struct reader r = reader_at(s->sections->info, u->die, u->end - u->die);
	int err = r.bad ? -EINVAL : abbrevs_read(&s->abbrevs, u);
	uint64_t sibling;

	while (!err && r.p < r.end && !is_complete(s)) {
		uint64_t code = read_uleb(&r);
		const struct abbrev *a = code ? abbrev_find(&s->abbrevs, code) : NULL;
		struct entry entry;

		if (!code)
			continue;
		if (!a)
			return -EINVAL;
		if (a->kind != DIE_TYPE) {
			values_skip(&s->abbrevs, u, &r, a, &sibling);
			continue;
		}
		read_entry(s, u, &r, a, &entry);
		for (size_t i = 0; entry.name && a->has_children && i < STRUCTS; i++)
			if (!strcmp(entry.name, structs[i].name))
				read_members(s, u, &r, i);
	}
	return err;
}

/* Whether debug information tells all of them. */
static bool read_structs(struct image *o, struct go_offsets *ret)
{
	struct struct_reader s = {.sections = &o->sections, .ret = ret};
	struct unit_iter units;
	struct unit u;

	if (!o->dwarf)
		return false;
	abbrevs_init(&s.abbrevs, o->sections.abbrev);
	unit_iter_init(&units, o->dwarf, &o->sections);
	while (!is_complete(&s) && unit_next(&units, &u) > 0)
		read_unit(&s, &u);
	unit_iter_deinit(&units);
	abbrevs_deinit(&s.abbrevs);
	return is_complete(&s);
}

int image_go_offsets(
    struct image *o, const char *version, struct go_offsets *ret, bool *is_own, struct error *e)
{
	unsigned minor = go_minor(version);

	*is_own = read_structs(o, ret);
	if (*is_own)
		return 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (minor >= known[i].first && minor <= known[i].last) {
			*ret = known[i].at;
			return 0;
		}
	error_set(e, EXIT_USAGE, "'%s' is built by '%s', whose runtime is not known", image_path(o),
	    *version ? version : "an unknown version of Go");
	return error_hint(e,
	    "build it with Go 1.%d to 1.%d, or with debug information (without -ldflags=-w)",
	    FIRST_MINOR, LAST_MINOR);
}
