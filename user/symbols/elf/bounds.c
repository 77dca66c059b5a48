// SPDX-License-Identifier: BSD-3-Clause
/* Where functions begin and end: from symbols, and in stripped programs from .eh_frame_hdr, the
 * table for exceptions. */
#include "symbols/elf/image.h"

/* The form that linkers write, LSB Core 10.6.2: a count of four bytes, then pairs of four bytes
 * each, relative to the section, sorted. */
#define TABLE_VERSION 1
#define ENC_UDATA4 0x03
#define ENC_DATAREL_SDATA4 0x3b
#define TABLE_HEADER 12

static uint64_t table_addr(struct bytes table, uint64_t base, size_t i)
{
	int32_t distance;

	memcpy(&distance, table.data + i * 8, sizeof(distance));
	return base + (uint64_t)(int64_t)distance;
}

/* A damaged file can have a million sections to look through, and as many functions. */
static struct bytes load_unwound(struct image *o)
{
	if (!o->unwound_loaded && elf_section_addr(o->main.elf, ".eh_frame_hdr", &o->unwound_addr))
		o->unwound = elf_section(o->main.elf, ".eh_frame_hdr");
	o->unwound_loaded = true;
	return o->unwound;
}

/* Bounds of the table's entry for @addr; it ends where the next one begins. */
bool image_unwound_bounds(struct image *o, uint64_t addr, uint64_t *start, uint64_t *end)
{
	struct bytes section = load_unwound(o), table;
	struct reader r = reader_at(section, 0, section.size);
	uint8_t version = read_u8(&r), pointer = read_u8(&r), count = read_u8(&r),
		entries = read_u8(&r);
	uint32_t n, eh_frame = read_u32(&r);
	uint64_t base;
	size_t lo = 0, hi;

	(void)eh_frame;
	n = read_u32(&r);
	/* In all of these the pointer to .eh_frame has four bytes. */
	if (r.bad || version != TABLE_VERSION || (pointer & 0xf) != 0xb || count != ENC_UDATA4 ||
	    entries != ENC_DATAREL_SDATA4 || n > reader_left(&r) / 8)
		return false;
	base = o->unwound_addr;
	table = (struct bytes){section.data + TABLE_HEADER, (size_t)n * 8};
	for (hi = n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (table_addr(table, base, mid) <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	*start = table_addr(table, base, lo - 1);
	*end = lo < n ? table_addr(table, base, lo) : UINT64_MAX;
	return true;
}

/* Assembler code may give its symbols no size: such a function reaches up to the next symbol. */
static bool find_symbol(struct image *o, uint64_t addr, uint64_t *start, uint64_t *end)
{
	const struct symbol *s = image_load_symbols(o) ? NULL : image_symbol_at(o, addr);
	size_t next;

	if (!s || (s->size && addr - s->addr >= s->size))
		return false;
	*start = s->addr;
	*end = s->size ? s->addr + s->size : UINT64_MAX;
	next = image_symbols_upto(o, addr);
	if (!s->size && next < o->n_symbols)
		*end = o->symbols[next].addr;
	return true;
}

bool image_function_bounds(struct image *o, uint64_t addr, uint64_t *start, uint64_t *end)
{
	uint64_t section = image_code_end(o, addr);

	if (!find_symbol(o, addr, start, end) && !image_unwound_bounds(o, addr, start, end))
		return false;
	if (*end > section)
		*end = section;
	return *start <= addr && addr < *end && image_code_end(o, *start) == section;
}
