// SPDX-License-Identifier: BSD-3-Clause
/* Landing pads: where a function goes on after an exception. Functions' entries of .eh_frame name
 * their tables in .gcc_except_table, in the form that gcc and clang write. */
#include "symbols/elf/image.h"

#include <dwarf.h>
#include <stdlib.h>

#include "symbols/elf/cfi.h"

/* Entries that are read: in a damaged file a million functions can name one table. */
#define MAX_ENTRIES (16U << 20)

struct landing {
	struct bytes tables;
	uint64_t addr; /* link-time address of their first byte */
	size_t left;   /* entries that may be read */
	void (*fn)(void *ctx, uint64_t addr);
	void *ctx;
};

/* A field of a call site: by these two encodings only. */
static uint64_t read_field(struct reader *r, uint8_t encoding)
{
	if (encoding == DW_EH_PE_uleb128)
		return read_uleb(r);
	if (encoding == DW_EH_PE_udata4)
		return read_u32(r);
	reader_fail(r);
	return 0;
}

/* What landing pads count from: written where it is not the function's begin. */
static uint64_t read_base(const struct landing *l, struct reader *r, uint64_t function)
{
	uint8_t encoding = read_u8(r);
	uint64_t place = l->addr + (uint64_t)(r->p - l->tables.data);

	switch (encoding) {
	case DW_EH_PE_omit:
		return function;
	case DW_EH_PE_absptr:
		return read_u64(r);
	case DW_EH_PE_udata4:
		return read_u32(r);
	case DW_EH_PE_pcrel | DW_EH_PE_sdata4:
		return place + (uint64_t)(int64_t)(int32_t)read_u32(r);
	default:
		reader_fail(r);
		return 0;
	}
}

static void read_table(struct landing *l, const struct cfi_function *f)
{
	uint64_t at = f->lsda - l->addr, base, size;
	struct reader r = reader_at(l->tables, at, at < l->tables.size ? l->tables.size - at : 0);
	uint8_t encoding;

	base = read_base(l, &r, f->lo);
	if (read_u8(&r) != DW_EH_PE_omit) /* of the types that are caught: where they end */
		read_uleb(&r);
	encoding = read_u8(&r);
	size = read_uleb(&r);
	if (r.bad || size > reader_left(&r))
		return;
	r.end = r.p + size;
	for (; reader_left(&r) && l->left; l->left--) {
		uint64_t pad;

		read_field(&r, encoding); /* from here */
		read_field(&r, encoding); /* so many bytes */
		pad = read_field(&r, encoding);
		read_uleb(&r); /* what is done there */
		if (!r.bad && pad)
			l->fn(l->ctx, base + pad);
	}
}

void image_landing_pads(struct image *o, void (*fn)(void *ctx, uint64_t addr), void *ctx)
{
	struct landing l = {.left = MAX_ENTRIES, .fn = fn, .ctx = ctx};
	struct cfi_function *all = NULL;
	struct cfi frames;
	size_t n = 0;

	if (!elf_section_addr(o->main.elf, ".gcc_except_table", &l.addr) ||
	    !image_frames(o, &frames) || cfi_functions(&frames, &all, &n))
		return;
	l.tables = elf_section(o->main.elf, ".gcc_except_table");
	for (size_t i = 0; i < n; i++)
		if (all[i].lsda)
			read_table(&l, &all[i]);
	free(all);
}
