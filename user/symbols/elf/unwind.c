// SPDX-License-Identifier: BSD-3-Clause
/* Unwind tables from .eh_frame; see object_unwind_rows(). */
#include "symbols/reading.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf/cfi.h"
#include "symbols/elf/image.h"

struct rows {
	struct cozbpf_unwind_row *v;
	size_t n, room, max;
};

static bool same_rule(const struct cozbpf_unwind_row *a, const struct cozbpf_unwind_row *b)
{
	return a->kind == b->kind && a->cfa == b->cfa && a->slot == b->slot;
}

static int add_row(struct rows *r, const struct cozbpf_unwind_row *row)
{
	struct cozbpf_unwind_row *bigger;

	if ((r->n && same_rule(&r->v[r->n - 1], row)) || r->n == r->max)
		return 0;
	if (r->n == r->room) {
		r->room = r->room ? 2 * r->room : 1024;
		bigger = realloc(r->v, r->room * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		r->v = bigger;
	}
	r->v[r->n++] = *row;
	return 0;
}

/* Where the rows of a section of code go. */
struct section {
	struct rows *rows;
	uint64_t addr, offset, end; /* of the code: address, and the same in the file */
};

static int add_at(uint64_t lo, const struct cozbpf_unwind_row *found, void *ctx)
{
	const struct section *s = ctx;
	struct cozbpf_unwind_row row = *found;
	uint64_t at = s->offset + (lo - s->addr);

	if (at >= s->end || at > UINT32_MAX)
		return 0;
	row.lo = (uint32_t)at;
	if (s->rows->n && row.lo <= s->rows->v[s->rows->n - 1].lo)
		return 0;
	return add_row(s->rows, &row);
}

/* The rows of one section of code: of its functions, from *@i on, and none in between. Damaged
 * tables have functions that lie in others: these are left out. */
static int add_code(const struct segment *code, const struct cfi *c,
    const struct cfi_function *functions, size_t n, size_t *i, struct section *s)
{
	static const struct cozbpf_unwind_row none = {0};
	uint64_t at = code->lo, hi = code->lo + (s->end - s->offset);
	int err = 0;

	for (; !err && *i < n && functions[*i].lo < hi; (*i)++) {
		const struct cfi_function *f = &functions[*i];

		if (f->lo < at)
			continue;
		if (f->lo > at)
			err = add_at(at, &none, s);
		if (!err)
			err = cfi_rows(c, f, add_at, s);
		at = f->hi;
	}
	if (err || at >= hi)
		return err;
	return add_at(at, &none, s);
}

/* Programs without section headers name the table for exceptions in their segments, and that table
 * begins with the place of the other. */
static bool find_by_segment(Elf *elf, struct cfi *ret)
{
	struct bytes file;
	GElf_Phdr p, load;
	struct reader r;
	uint64_t addr;
	size_t n;

	file.data = (const uint8_t *)elf_rawfile(elf, &file.size);
	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_GNU_EH_FRAME)
			continue;
		r = reader_at(file, p.p_offset, 8);
		if ((read_u32(&r) >> 8 & 0xff) != (DW_EH_PE_pcrel | DW_EH_PE_sdata4))
			return false;
		addr = p.p_vaddr + 4 + (uint64_t)(int64_t)(int32_t)read_u32(&r);
		for (size_t j = 0; j < n; j++)
			if (gelf_getphdr(elf, (int)j, &load) && load.p_type == PT_LOAD &&
			    addr - load.p_vaddr < load.p_filesz && load.p_offset < file.size &&
			    load.p_filesz <= file.size - load.p_offset) {
				ret->addr = addr;
				ret->bytes.data = file.data + load.p_offset + (addr - load.p_vaddr);
				ret->bytes.size = load.p_filesz - (addr - load.p_vaddr);
				return !r.bad;
			}
		return false;
	}
	return false;
}

bool image_frames(const struct image *o, struct cfi *ret)
{
	GElf_Ehdr header;

	*ret = (struct cfi){0};
	if (!gelf_getehdr(o->main.elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB)
		return false;
	ret->machine = cfi_machine(header.e_machine);
	if (!ret->machine)
		return false;
	if (elf_section_addr(o->main.elf, ".eh_frame", &ret->addr))
		ret->bytes = elf_section(o->main.elf, ".eh_frame");
	return ret->bytes.data || find_by_segment(o->main.elf, ret);
}

/* Headers may promise any size, so the code ends where the file ends. */
static int add_all(const struct image *o, const struct cfi *c, uint64_t file_size, struct rows *r)
{
	struct cfi_function *functions;
	struct section s = {.rows = r};
	size_t n, i = 0;
	int err = cfi_functions(c, &functions, &n);

	for (size_t k = 0; !err && k < o->n_code; k++) {
		s.addr = s.offset = o->code[k].lo;
		s.end = o->code[k].hi;
		while (i < n && functions[i].lo < s.addr)
			i++;
		if (!image_clip(o, &s.offset, &s.end))
			continue;
		s.end = s.end < file_size ? s.end : file_size;
		if (s.offset < s.end)
			err = add_code(&o->code[k], c, functions, n, &i, &s);
	}
	free(functions);
	return err;
}

int image_unwind_rows(struct image *o, size_t max, struct cozbpf_unwind_row **ret, size_t *n)
{
	struct rows r = {.max = max};
	struct error changed;
	struct cfi table;
	int err;

	*ret = NULL;
	*n = 0;
	if (!image_frames(o, &table))
		return 0;
	err = add_all(o, &table, o->main.bytes.size, &r);
	if (err || image_check(o, &changed)) {
		free(r.v);
		return err;
	}
	if (r.n == r.max && r.n)
		/* This row stands for all code that there was no room for. */
		r.v[r.n - 1].kind = COZBPF_UNWIND_NONE;
	*ret = r.v;
	*n = r.n;
	return 0;
}
