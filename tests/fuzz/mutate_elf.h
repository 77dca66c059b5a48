/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mutator that knows ELF files of 64 bits: it changes fields of headers, sections, symbols,
 * notes, and of DWARF's units, abbreviations and line programs. Random bytes in a file are mostly
 * code, which nobody reads.
 */
#ifndef COZBPF_FUZZ_MUTATE_ELF_H
#define COZBPF_FUZZ_MUTATE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

struct elf_mutation {
	uint8_t *data;
	size_t size;
	uint64_t random;
};

static inline uint64_t elf_random(struct elf_mutation *m, uint64_t below)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return below ? m->random % below : 0;
}

/* A value that tends to be wrong in an interesting way. */
static inline uint64_t elf_value(struct elf_mutation *m, uint64_t old)
{
	switch (elf_random(m, 10)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return old + 1;
	case 3:
		return old - 1;
	case 4:
		return old ^ 1ULL << elf_random(m, 64);
	case 5:
		return m->size - elf_random(m, 16);
	case 6:
		return 1ULL << elf_random(m, 64);
	case 7:
		return old * 2;
	case 8:
		return elf_random(m, 64);
	default:
		return elf_random(m, UINT64_MAX);
	}
}

/* Changes the @width bytes at @offset. */
static inline void elf_change(struct elf_mutation *m, uint64_t offset, size_t width)
{
	uint64_t v = 0;

	if (width > 8 || offset > m->size || width > m->size - offset)
		return;
	memcpy(&v, m->data + offset, width);
	v = elf_value(m, v);
	memcpy(m->data + offset, &v, width);
}

/* A field of one of @n structures of @size bytes at @offset; @widths are those of its fields. */
static inline void elf_change_field(
    struct elf_mutation *m, uint64_t offset, uint64_t n, size_t size, const char *widths)
{
	size_t which = elf_random(m, strlen(widths)), at = 0;

	if (!n || offset > m->size)
		return;
	for (size_t i = 0; i < which; i++)
		at += (size_t)(widths[i] - '0');
	elf_change(m, offset + elf_random(m, n) * size + at, (size_t)(widths[which] - '0'));
}

/* Where a chain of entries leads to, each of which begins with its length in four bytes. */
static inline uint64_t elf_entry(struct elf_mutation *m, const Elf64_Shdr *s)
{
	uint64_t at = s->sh_offset, end = s->sh_offset + s->sh_size;
	uint32_t length;

	for (uint64_t n = elf_random(m, 16); n && at < end && at < m->size - 4; n--) {
		memcpy(&length, m->data + at, sizeof(length));
		if (length > end - at - 4)
			break;
		at += 4 + length;
	}
	return at < end ? at : s->sh_offset;
}

/* An unsigned number of variable length, one of the first hundreds. */
static inline void elf_change_leb(struct elf_mutation *m, const Elf64_Shdr *s)
{
	uint64_t at = s->sh_offset, end = s->sh_offset + s->sh_size;

	for (uint64_t n = elf_random(m, 300); n && at + 1 < end && at + 1 < m->size; at++)
		n -= !(m->data[at] & 0x80);
	if (at < end && at < m->size)
		m->data[at] = (m->data[at] & 0x80) | (uint8_t)(elf_value(m, m->data[at]) & 0x7f);
}

/* Header fields of a unit or a line program; or what comes after: attributes, opcodes. */
static inline void elf_change_unit(struct elf_mutation *m, const Elf64_Shdr *s, bool is_line)
{
	uint64_t at = elf_entry(m, s);

	if (elf_random(m, 3))
		elf_change_field(m, at, 1, 0, is_line ? "42114111111111" : "4211484");
	else if (at + 12 < s->sh_offset + s->sh_size)
		elf_change(m, at + 12 + elf_random(m, s->sh_offset + s->sh_size - at - 12),
		    1ULL << elf_random(m, 4));
}

/* Bytes of a section that are not taken apart; most of what matters is at its begin. */
static inline void elf_change_bytes(struct elf_mutation *m, const Elf64_Shdr *s)
{
	uint64_t near = s->sh_size < 64 ? s->sh_size : 64;

	if (!elf_random(m, 8) && s->sh_size <= m->size - s->sh_offset)
		LLVMFuzzerMutate(m->data + s->sh_offset, s->sh_size, s->sh_size);
	else
		elf_change(m, s->sh_offset + elf_random(m, elf_random(m, 2) ? near : s->sh_size),
		    1ULL << elf_random(m, 4));
}

static inline const char *elf_name(
    const struct elf_mutation *m, const Elf64_Shdr *strings, uint32_t name)
{
	uint64_t at = strings->sh_offset + name;

	return at < m->size && memchr(m->data + at, 0, m->size - at) ? (const char *)m->data + at
								     : "";
}

static inline void elf_change_section(struct elf_mutation *m, const Elf64_Shdr *s, const char *name)
{
	if (!s->sh_size || s->sh_type == SHT_NOBITS || s->sh_offset >= m->size)
		return;
	if (s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM)
		elf_change_field(
		    m, s->sh_offset, s->sh_size / sizeof(Elf64_Sym), sizeof(Elf64_Sym), "411288");
	else if (s->sh_type == SHT_NOTE)
		elf_change_field(
		    m, elf_random(m, 2) ? s->sh_offset : elf_entry(m, s), 1, 0, "4441111888");
	else if (!strncmp(name, ".debug_abbrev", 13))
		elf_change_leb(m, s);
	else if (!strncmp(name, ".debug_info", 11) || !strncmp(name, ".debug_line", 12))
		elf_change_unit(m, s, name[7] == 'l');
	else
		elf_change_bytes(m, s);
}

static inline void elf_change_something(struct elf_mutation *m, const Elf64_Ehdr *h)
{
	uint64_t names = h->e_shoff + h->e_shstrndx * sizeof(Elf64_Shdr);
	Elf64_Shdr s, strings;
	uint64_t at;

	switch (elf_random(m, 16)) {
	case 0:
		elf_change_field(m, 16, 1, 0, "2248884222222");
		return;
	case 1:
		elf_change_field(m, h->e_phoff, h->e_phnum, sizeof(Elf64_Phdr), "44888888");
		return;
	case 2:
	case 3:
		elf_change_field(m, h->e_shoff, h->e_shnum, sizeof(Elf64_Shdr), "4488884488");
		return;
	}
	at = h->e_shoff + elf_random(m, h->e_shnum) * sizeof(s);
	if (at > m->size - sizeof(s) || names > m->size - sizeof(s))
		return;
	memcpy(&s, m->data + at, sizeof(s));
	memcpy(&strings, m->data + names, sizeof(strings));
	elf_change_section(m, &s, elf_name(m, &strings, s.sh_name));
}

/* Some changes at once, in place; now and then libFuzzer's own. Returns the new size. */
static inline size_t elf_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	struct elf_mutation m = {data, size, seed * 0x9e3779b97f4a7c15ULL + 1};
	Elf64_Ehdr h;

	if (size < sizeof(h) + sizeof(Elf64_Shdr) || !elf_random(&m, 8))
		return LLVMFuzzerMutate(data, size, max_size);
	for (uint64_t n = 1 + elf_random(&m, 4); n; n--) {
		memcpy(&h, data, sizeof(h));
		elf_change_something(&m, &h);
	}
	return size;
}

#endif
