// SPDX-License-Identifier: BSD-3-Clause
/* The walk over functions and inlined copies. Done by hand, not by libdw's tree functions: all but one entry in ten are passed over
 * here by adding up sizes known from their abbreviation, which makes it ten times as fast. */
#include "symbols/units.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#define MAX_ATTRS 1000000 /* of one unit's abbreviations; real ones have some thousand */
#define MAX_CODE 1000000

enum die_kind {
	DIE_OTHER,     /* nothing of interest in it */
	DIE_CONTAINER, /* may hold code */
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

static uint8_t form_class(const struct unit *u, uint64_t form, uint8_t *size)
{
	*size = 0;
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return SIZE_FIXED;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		*size = 1;
		return SIZE_FIXED;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		*size = 2;
		return SIZE_FIXED;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		*size = 3;
		return SIZE_FIXED;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		*size = 4;
		return SIZE_FIXED;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		*size = 8;
		return SIZE_FIXED;
	case DW_FORM_data16:
		*size = 16;
		return SIZE_FIXED;
	case DW_FORM_addr:
		*size = u->addr_size;
		return SIZE_FIXED;
	case DW_FORM_ref_addr:
		*size = u->version == 2 ? u->addr_size : u->offset_size;
		return SIZE_FIXED;
	case DW_FORM_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_line_strp:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		*size = u->offset_size;
		return SIZE_FIXED;
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

static uint8_t tag_kind(const struct unit *u, uint64_t tag)
{
	switch (tag) {
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
		return u->is_rust ? DIE_CONTAINER : DIE_OTHER;
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
static int read_attrs(struct code_walker *w, const struct unit *u, struct reader *r, struct abbrev *a)
{
	a->first_attr = (uint32_t)w->n_attrs;
	a->all_fixed = true;
	for (;;) {
		uint64_t name = read_uleb(r), form = read_uleb(r);
		struct abbrev_attr *attr;

		if (r->bad || w->n_attrs >= MAX_ATTRS)
			return -EINVAL;
		if (!name && !form)
			return 0;
		if (reserve(&w->attrs, &w->attrs_cap, w->n_attrs + 1, sizeof(*w->attrs)))
			return -ENOMEM;
		attr = &w->attrs[w->n_attrs++];
		*attr = (struct abbrev_attr){(uint16_t)(name > UINT16_MAX ? 0 : name), (uint16_t)(form > UINT16_MAX ? 0 : form), 0, 0, 0};
		attr->size_class = form_class(u, form, &attr->size);
		if (form == DW_FORM_implicit_const)
			attr->implicit = read_sleb(r);
		a->n_attrs++;
		a->size += attr->size;
		a->all_fixed &= attr->size_class == SIZE_FIXED;
		a->has_sibling |= name == DW_AT_sibling;
	}
}

static int read_abbrevs(struct code_walker *w, const struct unit *u)
{
	struct bytes b = w->sections.abbrev;
	struct reader r = u->abbrev < b.size ? reader_at(b, u->abbrev, b.size - u->abbrev) : (struct reader){.bad = true};
	uint64_t code;

	w->n_abbrevs = w->n_attrs = 0;
	while ((code = read_uleb(&r))) {
		struct abbrev a = {.used = true};
		int err;

		a.kind = tag_kind(u, read_uleb(&r));
		a.has_children = read_u8(&r);
		err = code > MAX_CODE ? -EINVAL : read_attrs(w, u, &r, &a);
		if (err || reserve(&w->abbrevs, &w->abbrevs_cap, code + 1, sizeof(a)))
			return err ?: -ENOMEM;
		if (code >= w->n_abbrevs) {
			memset(w->abbrevs + w->n_abbrevs, 0, (code + 1 - w->n_abbrevs) * sizeof(a));
			w->n_abbrevs = code + 1;
		}
		w->abbrevs[code] = a;
	}
	return r.bad ? -EINVAL : 0;
}

static void skip_value(const struct unit *u, struct reader *r, uint8_t size_class, uint8_t size)
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
			skip_value(u, r, size_class, size);
		break;
	default: /* a form of unknown size: what follows cannot be found */
		reader_fail(r);
	}
}

/* Passes over the values of an entry. *@sibling becomes the offset, in the section, of the entry after its children; 0: not said. */
static void skip_values(const struct code_walker *w, const struct unit *u, struct reader *r, const struct abbrev *a, uint64_t *sibling)
{
	*sibling = 0;
	if (a->all_fixed && !a->has_sibling) {
		read_skip(r, a->size);
		return;
	}
	for (uint32_t i = 0; i < a->n_attrs; i++) {
		const struct abbrev_attr *attr = &w->attrs[a->first_attr + i];
		struct reader value = *r;

		skip_value(u, r, attr->size_class, attr->size);
		if (attr->name == DW_AT_sibling && attr->size_class == SIZE_FIXED && attr->form != DW_FORM_ref_addr)
			*sibling = u->offset + read_uint(&value, attr->size);
	}
}

/* What the attributes of a function say, before it is known which of them matter. */
struct code_values {
	uint64_t low, high, ranges;
	bool has_low, has_high, high_is_addr, has_ranges, ranges_is_index;
	uint64_t sibling;
};

static uint64_t read_addr(const struct code_walker *w, const struct unit *u, struct reader *r, const struct abbrev_attr *attr)
{
	if (attr->form == DW_FORM_addr)
		return read_uint(r, attr->size);
	return code_indexed_addr(w, u, attr->size_class == SIZE_LEB ? read_uleb(r) : read_uint(r, attr->size));
}

static bool is_addr(uint16_t form)
{
	return form == DW_FORM_addr || form == DW_FORM_addrx || form == DW_FORM_GNU_addr_index ||
	       (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}

static uint64_t read_number(struct reader *r, const struct abbrev_attr *attr)
{
	if (attr->form == DW_FORM_implicit_const)
		return (uint64_t)attr->implicit;
	if (attr->form == DW_FORM_sdata)
		return (uint64_t)read_sleb(r);
	return attr->size_class == SIZE_LEB ? read_uleb(r) : read_uint(r, attr->size);
}

static void read_code_value(const struct code_walker *w, const struct unit *u, struct reader *r, const struct abbrev_attr *attr,
    struct code_die *d, struct code_values *v)
{
	struct reader value = *r;

	skip_value(u, r, attr->size_class, attr->size);
	if (attr->size_class != SIZE_FIXED && attr->size_class != SIZE_LEB)
		return;
	switch (attr->name) {
	case DW_AT_sibling:
		v->sibling = attr->form == DW_FORM_ref_addr ? 0 : u->offset + read_number(&value, attr);
		break;
	case DW_AT_low_pc:
		v->has_low = is_addr(attr->form);
		v->low = v->has_low ? read_addr(w, u, &value, attr) : 0;
		break;
	case DW_AT_high_pc:
		v->has_high = true;
		v->high_is_addr = is_addr(attr->form);
		v->high = v->high_is_addr ? read_addr(w, u, &value, attr) : read_number(&value, attr);
		break;
	case DW_AT_ranges:
		v->has_ranges = true;
		v->ranges_is_index = attr->form == DW_FORM_rnglistx;
		v->ranges = read_number(&value, attr);
		break;
	case DW_AT_call_file:
		d->call_file = read_number(&value, attr);
		break;
	case DW_AT_call_line:
		d->call_line = read_number(&value, attr);
		break;
	default:
		break;
	}
}

/* Reads a function or inlined copy, with its ranges in w->ranges (none: it has no code). */
static int read_code(
    struct code_walker *w, const struct unit *u, struct reader *r, const struct abbrev *a, struct code_die *d, uint64_t *sibling)
{
	struct code_values v = {0};
	int err = 0;

	w->n_ranges = 0;
	for (uint32_t i = 0; i < a->n_attrs; i++)
		read_code_value(w, u, r, &w->attrs[a->first_attr + i], d, &v);
	if (v.has_low && v.has_high)
		err = code_range_add(w, v.low, v.high_is_addr ? v.high : v.low + v.high);
	else if (v.has_ranges)
		err = code_ranges_read(w, u, v.ranges, v.ranges_is_index);
	d->ranges = w->ranges;
	d->n_ranges = w->n_ranges;
	*sibling = v.sibling;
	return err;
}

static const struct abbrev *find_abbrev(const struct code_walker *w, uint64_t code)
{
	return code < w->n_abbrevs && w->abbrevs[code].used ? &w->abbrevs[code] : NULL;
}

/* Goes to @sibling, which has to lie ahead. False when it does not. */
static bool jump(const struct code_walker *w, struct reader *r, uint64_t sibling)
{
	uint64_t at = (uint64_t)(r->p - w->sections.info.data);

	if (sibling <= at || sibling - at > reader_left(r))
		return false;
	r->p += sibling - at;
	return true;
}

/* Passes over the children of an entry whose values have just been read. */
static void skip_children(const struct code_walker *w, const struct unit *u, struct reader *r, uint64_t sibling)
{
	uint64_t depth = 1;

	if (jump(w, r, sibling))
		return;
	while (depth && r->p < r->end) {
		uint64_t code = read_uleb(r);
		const struct abbrev *a;

		if (!code) {
			depth--;
			continue;
		}
		a = find_abbrev(w, code);
		if (!a) {
			reader_fail(r);
			return;
		}
		skip_values(w, u, r, a, &sibling);
		if (a->has_children && !jump(w, r, sibling))
			depth++;
	}
}

/* Where the walk stands: which of the entries that are open stand for code. */
struct walk {
	bool is_code[CODE_MAX_LEVEL];
	unsigned depth, level;
};

/* Reads one entry and opens it or passes over its children. */
static int walk_entry(struct code_walker *w, const struct unit *u, struct reader *r, struct walk *walk, code_die_fn *fn, void *ctx)
{
	struct code_die d = {.offset = (uint64_t)(r->p - w->sections.info.data), .level = walk->level};
	uint64_t code = read_uleb(r), sibling;
	const struct abbrev *a;
	bool is_code, descend;
	int ret;

	if (!code) {
		walk->depth--;
		walk->level -= walk->depth && walk->is_code[walk->depth];
		return 0;
	}
	a = find_abbrev(w, code);
	if (!a)
		return -EINVAL;
	is_code = a->kind == DIE_FUNCTION || a->kind == DIE_INLINED;
	descend = a->kind == DIE_CONTAINER;
	if (is_code) {
		d.inlined = a->kind == DIE_INLINED;
		ret = read_code(w, u, r, a, &d, &sibling);
		if (!ret && !r->bad && d.n_ranges) {
			ret = fn(ctx, &d);
			descend = ret == 0;
		}
		if (ret < 0)
			return ret;
	} else {
		skip_values(w, u, r, a, &sibling);
	}
	if (!a->has_children)
		return 0;
	if (!descend) {
		skip_children(w, u, r, sibling);
		return 0;
	}
	if (walk->depth >= CODE_MAX_LEVEL)
		return -EINVAL;
	walk->is_code[walk->depth++] = is_code;
	walk->level += is_code;
	return 0;
}

int code_walk(struct code_walker *w, const struct unit *u, code_die_fn *fn, void *ctx)
{
	struct reader r = reader_at(w->sections.info, u->die, u->end - u->die);
	struct walk walk = {.depth = 1};
	const struct abbrev *root;
	uint64_t sibling;
	int err = r.bad ? -EINVAL : read_abbrevs(w, u);

	if (err)
		return err;
	root = find_abbrev(w, read_uleb(&r));
	if (!root)
		return -EINVAL;
	skip_values(w, u, &r, root, &sibling);
	if (!root->has_children)
		return 0;
	while (!err && walk.depth && r.p < r.end)
		err = walk_entry(w, u, &r, &walk, fn, ctx);
	return err ?: r.bad ? -EINVAL : 0;
}

void code_walker_init(struct code_walker *w, const struct debug_sections *s)
{
	memset(w, 0, sizeof(*w));
	w->sections = *s;
	/* A range takes two bytes at least, and hardly any list is named twice. */
	w->ranges_left = (uint64_t)s->info.size + s->ranges.size + s->rnglists.size;
}

void code_walker_deinit(struct code_walker *w)
{
	free(w->abbrevs);
	free(w->attrs);
	free(w->ranges);
	memset(w, 0, sizeof(*w));
}
