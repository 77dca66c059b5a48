// SPDX-License-Identifier: BSD-3-Clause
/* Where computed jumps may lead: tables in an object's data, and landing pads; see blockmap.h. */
#include "symbols/code/blockmap.h"

#include <string.h>

/* Entries of tables and relocations: a damaged file can name one table a million times. */
#define MAX_ENTRIES (64U << 20)

/* The code at @addr: its file offset, and the range that it is in; false: no instruction begins
 * there. */
static bool code_at(const struct block_map *b, uint64_t addr, uint64_t *offset, size_t *range)
{
	return image_is_code(b->o, addr) && image_offset(b->o, addr, offset) &&
	       block_range_of(b, *offset, range) && !b->is_bad[*range] &&
	       b->flags[*offset] & BLOCK_BEGINS;
}

static bool is_cold(const struct block_map *b, size_t range)
{
	return strstr(b->functions.lines[b->functions.ranges[range].line].file, ".cold");
}

/* An entry of a table for the function of range @own. False: it leads elsewhere. clang lets the
 * entries of what cannot be lead behind the function. */
static bool note_entry(struct block_map *b, size_t own, uint64_t addr)
{
	const struct line_range *ranges = b->functions.ranges;
	uint64_t offset;
	size_t range;

	if (image_offset(b->o, addr, &offset) && offset == ranges[own].hi)
		return true;
	if (!code_at(b, addr, &offset, &range) ||
	    (ranges[range].line != ranges[own].line && !is_cold(b, range)))
		return false;
	b->flags[offset] |= BLOCK_JOINED;
	return true;
}

/* A table of distances from @base ends where they no longer lead to the function. */
static void read_table(
    struct block_map *b, const struct code_ref *table, uint64_t base, size_t *left)
{
	struct bytes file = b->reader.d.file;
	struct reader r;
	uint64_t at;

	if (!image_data_offset(b->o, table->addr, &at) || at >= file.size)
		return;
	r = reader_at(file, at, file.size - at);
	for (; reader_left(&r) >= 4 && *left; --*left)
		if (!note_entry(b, table->range, base + (uint64_t)(int64_t)(int32_t)read_u32(&r)))
			return;
}

/* Distances are from the table, or from a label of the function. */
static void read_tables(struct block_map *b, size_t first, size_t end, size_t *left)
{
	const struct code_ref *refs = b->refs;

	for (size_t i = first; i < end; i++) {
		bool is_label = image_is_code(b->o, refs[i].addr);

		if (!is_label)
			read_table(b, &refs[i], refs[i].addr, left);
		for (size_t k = first; is_label && *left && k < end; k++)
			read_table(b, &refs[k], refs[i].addr, left);
	}
}

/* An address of an instruction in a function with a computed jump. */
static void note_word(struct block_map *b, uint64_t addr)
{
	uint64_t offset;
	size_t range;

	if (code_at(b, addr, &offset, &range) && b->computes[range])
		b->flags[offset] |= BLOCK_JOINED;
}

static void note_pad(void *ctx, uint64_t addr)
{
	struct block_map *b = ctx;
	uint64_t offset;
	size_t range;

	if (code_at(b, addr, &offset, &range))
		b->flags[offset] |= BLOCK_JOINED;
}

/* Most words are no address of code. */
static void read_words(struct block_map *b, const GElf_Phdr *p, size_t *left)
{
	const struct segment *code = b->o->code;
	uint64_t lo = code[0].lo, hi = code[b->o->n_code - 1].hi;
	struct bytes file = b->reader.d.file;
	uint64_t size = p->p_filesz < file.size ? p->p_filesz : file.size;
	struct reader r;

	if (p->p_offset > file.size || size > file.size - p->p_offset)
		return;
	r = reader_at(file, p->p_offset, size);
	read_skip(&r, (8 - p->p_vaddr % 8) % 8);
	for (; reader_left(&r) >= 8 && *left; --*left) {
		uint64_t word = read_u64(&r);

		if (word - lo < hi - lo)
			note_word(b, word);
	}
}

/* What a loader writes: the address is in the relocation. */
static void read_relocations(struct block_map *b, Elf_Scn *scn, size_t *left)
{
	uint64_t relative = b->reader.is_arm64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Rela rela;

	for (int i = 0; data && *left && gelf_getrela(data, i, &rela); i++, --*left)
		if (GELF_R_TYPE(rela.r_info) == relative)
			note_word(b, (uint64_t)rela.r_addend);
}

static void read_data(struct block_map *b)
{
	Elf *elf = b->o->main.elf;
	size_t n = 0, left = MAX_ENTRIES;
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	GElf_Phdr p;

	for (size_t i = 0; !elf_getphdrnum(elf, &n) && i < n; i++)
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD)
			read_words(b, &p, &left);
	while ((scn = elf_nextscn(elf, scn)) != NULL)
		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_RELA &&
		    header.sh_flags & SHF_ALLOC)
			read_relocations(b, scn, &left);
}

void block_map_resolve(struct block_map *b)
{
	size_t left = MAX_ENTRIES;

	for (size_t i = 0, end; i < b->n_refs; i = end) {
		for (end = i; end < b->n_refs && b->refs[end].range == b->refs[i].range; end++)
			note_word(b, b->refs[end].addr);
		read_tables(b, i, end, &left);
	}
	if (b->o->n_code)
		read_data(b);
	image_landing_pads(b->o, note_pad, b);
}
