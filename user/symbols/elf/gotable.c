// SPDX-License-Identifier: BSD-3-Clause
/* Finds and reads .gopclntab; see gotable.h. Its numbers are believed only within its bounds. */
#include "symbols/elf/gotable.h"

#include <stdlib.h>

#include "symbols/elf/goimage.h"
#include "symbols/elf/image.h"

#define MAGIC_116 0xfffffffaU
#define MAGIC_118 0xfffffff0U
#define MAGIC_120 0xfffffff1U
#define POINTER 8 /* bytes; Go's other machines are none of ours */

/* runtime.moduledata, in units of pointers. */
#define MODULE_TEXT 22
#define MODULE_GOFUNC_118 38
#define MODULE_GOFUNC_120 40
#define MODULE_GOFUNC_127 43

#define TREE_INDEX 2 /* PCDATA_InlTreeIndex */
#define TREE_DATA 3  /* FUNCDATA_InlTree */

/* The header's fields behind magic and sizes. */
struct header {
	uint64_t n_functions, n_files, text, names, units, files, values, functions;
};

static bool read_header(struct bytes all, struct go_table *t, struct header *h)
{
	struct reader r = reader_at(all, 0, all.size);
	uint32_t magic = read_u32(&r);
	uint16_t zero = read_u16(&r);
	uint8_t pointer;

	t->quantum = read_u8(&r);
	pointer = read_u8(&r);
	if (magic == MAGIC_116)
		t->layout = GO_LAYOUT_116;
	else if (magic == MAGIC_118)
		t->layout = GO_LAYOUT_118;
	else if (magic == MAGIC_120)
		t->layout = GO_LAYOUT_120;
	else
		return false;
	h->n_functions = read_u64(&r);
	h->n_files = read_u64(&r);
	h->text = t->layout == GO_LAYOUT_116 ? 0 : read_u64(&r);
	h->names = read_u64(&r);
	h->units = read_u64(&r);
	h->files = read_u64(&r);
	h->values = read_u64(&r);
	h->functions = read_u64(&r);
	return !r.bad && !zero && pointer == POINTER &&
	       (t->quantum == 1 || t->quantum == 2 || t->quantum == 4);
}

static struct bytes part(struct bytes all, uint64_t offset)
{
	return offset < all.size ? (struct bytes){all.data + offset, all.size - offset}
				 : (struct bytes){0};
}

/* Bytes of one entry of the list of functions: two numbers. */
static size_t entry_size(const struct go_table *t)
{
	return t->layout == GO_LAYOUT_116 ? 2 * POINTER : 8;
}

/* The parts of the table, when its header makes sense. */
static bool take_table(struct bytes all, struct go_table *t, struct header *h)
{
	*t = (struct go_table){0};
	if (!all.data || !read_header(all, t, h))
		return false;
	t->names = part(all, h->names);
	t->units = part(all, h->units);
	t->files = part(all, h->files);
	t->values = part(all, h->values);
	t->functions = part(all, h->functions);
	/* One more entry ends the last function. */
	if (!h->n_functions || h->n_functions >= t->functions.size / entry_size(t))
		return false;
	t->n_functions = h->n_functions;
	t->n_files = h->n_files;
	return t->names.data && t->units.data && t->files.data && t->values.data;
}

/* Entry @i of the list: a function's address, and where it is described. */
static bool read_entry(const struct go_table *t, size_t i, uint64_t *addr, uint64_t *offset)
{
	struct reader r = reader_at(t->functions, i * entry_size(t), entry_size(t));

	*addr = t->layout == GO_LAYOUT_116 ? read_u64(&r) : t->text + read_u32(&r);
	*offset = t->layout == GO_LAYOUT_116 ? read_u64(&r) : read_u32(&r);
	return !r.bad;
}

/* The numbers behind a function's fields: offsets of its further values, then those of its data. */
static void read_tail(const struct go_table *t, struct reader *r, uint32_t n_values, uint8_t n_data,
    struct go_function *f)
{
	struct reader data = *r;

	f->calls = 0;
	f->tree = UINT32_MAX;
	if (!t->trees.data || n_values <= TREE_INDEX || n_data <= TREE_DATA)
		return;
	read_skip(r, TREE_INDEX * 4);
	f->calls = read_u32(r);
	read_skip(&data, (uint64_t)n_values * 4 + TREE_DATA * 4);
	f->tree = read_u32(&data);
	if (r->bad || data.bad || !f->calls || f->tree >= t->trees.size) {
		f->calls = 0;
		f->tree = UINT32_MAX;
	}
}

bool go_function_at(const struct go_table *t, size_t i, struct go_function *ret)
{
	uint64_t offset, none;
	uint32_t name, n_values;
	uint8_t n_data;
	struct reader r;

	if (i >= t->n_functions || !read_entry(t, i, &ret->lo, &offset) ||
	    !read_entry(t, i + 1, &ret->hi, &none) || ret->hi <= ret->lo ||
	    offset >= t->functions.size)
		return false;
	r = reader_at(t->functions, offset, t->functions.size - offset);
	read_skip(&r, t->layout == GO_LAYOUT_116 ? POINTER : 4);
	name = read_u32(&r);
	read_skip(&r, 12); /* arguments, deferred calls, stack */
	ret->files = read_u32(&r);
	ret->lines = read_u32(&r);
	n_values = read_u32(&r);
	ret->unit = read_u32(&r);
	/* The line of the function's start, kind, flags, nothing. */
	read_skip(&r, t->layout == GO_LAYOUT_120 ? 7 : 3);
	n_data = read_u8(&r);
	ret->name = string_at(t->names, name);
	if (r.bad || !ret->name || !*ret->name)
		return false;
	read_tail(t, &r, n_values, n_data, ret);
	return true;
}

bool go_function_begins(const struct go_table *t, uint64_t addr)
{
	uint64_t at, offset;
	size_t lo = 0, hi = t->n_functions;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (!read_entry(t, mid, &at, &offset))
			return false;
		if (at == addr)
			return true;
		if (at < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

void go_values_start(
    const struct go_table *t, const struct go_function *f, uint32_t offset, struct go_values *ret)
{
	*ret = (struct go_values){
	    .r = {.bad = true},
	    .lo = f->lo,
	    .hi = f->lo,
	    .value = -1,
	    .quantum = t->quantum,
	    .first = true,
	};
	if (offset && offset < t->values.size)
		ret->r = reader_at(t->values, offset, t->values.size - offset);
}

/* Each stretch is a pair of numbers: by how much the value differs from the one before, with the
 * sign in the lowest bit, and the length of the code. No difference ends the list. */
bool go_values_next(struct go_values *v)
{
	uint32_t change = (uint32_t)read_uleb(&v->r);
	uint64_t length = (uint32_t)read_uleb(&v->r);

	v->lo = v->hi;
	if (v->r.bad || (!change && !v->first)) {
		reader_fail(&v->r);
		return false;
	}
	v->first = false;
	v->value = (int32_t)((uint32_t)v->value + ((change >> 1) ^ -(change & 1)));
	v->hi += length * v->quantum;
	return true;
}

bool go_file_at(
    const struct go_table *t, const struct go_function *f, int32_t number, uint32_t *ret)
{
	struct reader r;

	if (number < 0)
		return false;
	r = reader_at(t->units, ((uint64_t)f->unit + (uint32_t)number) * 4, 4);
	*ret = read_u32(&r);
	return !r.bad && *ret < t->files.size;
}

/* A field of inlined call @i. Go 1.20 has left out what the table's other parts tell. */
static bool call_field(const struct go_table *t, const struct go_function *f, uint32_t i,
    unsigned old_field, unsigned field, uint32_t *ret)
{
	bool is_old = t->layout != GO_LAYOUT_120;
	uint64_t at = f->tree + (uint64_t)i * (is_old ? 20 : 16) + (is_old ? old_field : field);
	struct reader r = reader_at(t->trees, at, 4);

	*ret = read_u32(&r);
	return !r.bad;
}

bool go_call_at(const struct go_table *t, const struct go_function *f, uint32_t i, uint32_t *ret)
{
	return call_field(t, f, i, 16, 8, ret) && *ret < f->hi - f->lo;
}

const char *go_call_name(const struct go_table *t, const struct go_function *f, uint32_t i)
{
	uint32_t name;

	return call_field(t, f, i, 12, 4, &name) ? string_at(t->names, name) : NULL;
}

/* Where the linker says that code starts: the module's data are sure, since the header's field is
 * not filled in by Go 1.26 and later, and by the loader only in programs that may lie anywhere. */
static bool find_text(struct image *o, struct go_table *t, const struct header *h, uint64_t module)
{
	const uint64_t candidates[] = {
	    module ? go_pointer_at(o, module + (uint64_t)MODULE_TEXT * POINTER) : 0,
	    h->text,
	    go_text_section(o),
	};
	uint64_t offset, addr;

	for (size_t i = 0; i < sizeof(candidates) / sizeof(*candidates); i++) {
		t->text = candidates[i];
		if (t->layout == GO_LAYOUT_116)
			t->text = 0;
		if ((t->text || t->layout == GO_LAYOUT_116) && read_entry(t, 0, &addr, &offset) &&
		    image_is_code(o, addr) && read_entry(t, t->n_functions - 1, &addr, &offset) &&
		    image_is_code(o, addr))
			return true;
	}
	return false;
}

/* Before Go 1.18 functions have pointers to their trees. */
static void find_trees(struct image *o, struct go_table *t, uint64_t module)
{
	unsigned minor = go_minor(image_go_version(o));
	unsigned at = t->layout == GO_LAYOUT_118 ? MODULE_GOFUNC_118
		      : minor >= 27              ? MODULE_GOFUNC_127
						 : MODULE_GOFUNC_120;

	if (module && minor && t->layout != GO_LAYOUT_116)
		t->trees = go_data_at(o, go_pointer_at(o, module + (uint64_t)at * POINTER));
}

static bool find_table(struct image *o, struct go_table *t)
{
	struct go_found found = {0};
	struct header h;
	uint64_t module;

	while (go_find_table(o, &found)) {
		if (!take_table(found.bytes, t, &h))
			continue;
		module = go_find_module(o, found.addr, found.addr + h.names);
		if (!find_text(o, t, &h, module))
			continue;
		find_trees(o, t, module);
		return true;
	}
	return false;
}

bool image_is_go(struct image *o)
{
	struct go_state *go = go_state_of(o);

	if (go && !go->is_go_known)
		go->is_go = elf_has_section(o->main.elf, ".go.buildinfo") || image_go_table(o);
	if (go)
		go->is_go_known = true;
	return go && go->is_go;
}

const struct go_table *image_go_table(struct image *o)
{
	struct go_state *go = go_state_of(o);

	if (!go)
		return NULL;
	if (!go->table_loaded)
		go->has_table = find_table(o, &go->table);
	go->table_loaded = true;
	return go->has_table ? &go->table : NULL;
}
