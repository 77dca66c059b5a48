// SPDX-License-Identifier: BSD-3-Clause
/* Finds Go's tables: by section, or by the bytes that they begin with where the sections are gone,
 * or the system's linker has put the table into one of its own; see goimage.h. */
#include "symbols/elf/goimage.h"

#include <stdlib.h>

#include "symbols/elf/image.h"

#define MAX_HEADERS 64     /* places looked at that only look like a table */
#define MAX_SECTIONS 65536 /* looked through for relocations */
#define BUILD_ALIGN 16

struct go_state *go_state_of(struct image *o)
{
	if (!o->go)
		o->go = calloc(1, sizeof(*o->go));
	return o->go;
}

void image_go_free(struct image *o)
{
	if (!o->go)
		return;
	free(o->go->version);
	free(o->go->module);
	free(o->go->root);
	free(o->go);
}

/* All segments and sections of a damaged file can be the whole file. */
static uint64_t most_bytes(const struct image *o)
{
	return 2 * (uint64_t)o->main.bytes.size;
}

static bool spend(uint64_t *left, size_t n)
{
	bool enough = n <= *left;

	*left -= enough ? n : *left;
	return enough;
}

/* The bytes of program header @i; .data is NULL: it is none that is loaded, or not in the file. */
static struct bytes loaded_segment(const struct image *o, size_t i, GElf_Phdr *p)
{
	struct bytes file = {o->main.bytes.data, o->main.bytes.size};

	if (!gelf_getphdr(o->main.elf, (int)i, p) || p->p_type != PT_LOAD ||
	    p->p_offset >= file.size)
		return (struct bytes){0};
	file.size -= p->p_offset;
	return (struct bytes){
	    file.data + p->p_offset, p->p_filesz < file.size ? p->p_filesz : file.size};
}

static size_t n_segments(const struct image *o)
{
	size_t n;

	return elf_getphdrnum(o->main.elf, &n) ? 0 : n;
}

struct bytes go_data_at(const struct image *o, uint64_t addr)
{
	GElf_Phdr p;

	for (size_t i = 0, n = n_segments(o); addr && i < n; i++) {
		struct bytes b = loaded_segment(o, i, &p);

		if (b.data && addr >= p.p_vaddr && addr - p.p_vaddr < b.size)
			return (struct bytes){
			    b.data + (addr - p.p_vaddr), b.size - (addr - p.p_vaddr)};
	}
	return (struct bytes){0};
}

/* A relocation that adds the program's base to an address. */
struct relocation {
	uint64_t place, addr;
};

/* The first one of @place, or of @addr where @place is 0. */
static bool relocation_in(Elf_Scn *scn, uint64_t place, uint64_t addr, struct relocation *ret)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	struct reader r = {.bad = true};

	if (data && data->d_buf)
		r = reader_at((struct bytes){data->d_buf, data->d_size}, 0, data->d_size);
	while (reader_left(&r) >= sizeof(Elf64_Rela)) {
		uint32_t type;

		ret->place = read_u64(&r);
		type = (uint32_t)read_u64(&r);
		ret->addr = read_u64(&r);
		if ((type == R_X86_64_RELATIVE || type == R_AARCH64_RELATIVE) &&
		    (place ? ret->place == place : ret->addr == addr))
			return true;
	}
	return false;
}

static bool find_relocation(
    const struct image *o, uint64_t place, uint64_t addr, struct relocation *ret)
{
	uint64_t left = most_bytes(o);
	Elf_Scn *scn = NULL;
	GElf_Shdr s;

	for (int i = 0; i < MAX_SECTIONS && (scn = elf_nextscn(o->main.elf, scn)); i++)
		if (gelf_getshdr(scn, &s) && s.sh_type == SHT_RELA && (s.sh_flags & SHF_ALLOC) &&
		    spend(&left, s.sh_size) && relocation_in(scn, place, addr, ret))
			return true;
	return false;
}

uint64_t go_pointer_at(const struct image *o, uint64_t addr)
{
	struct bytes b = go_data_at(o, addr);
	struct reader r = reader_at(b, 0, 8);
	uint64_t value = read_u64(&r);
	struct relocation found;

	if (r.bad || value)
		return value;
	return find_relocation(o, addr, 0, &found) ? found.addr : 0;
}

static bool by_section(const struct image *o, const char *name, struct go_found *f)
{
	f->bytes = elf_section(o->main.elf, name);
	return f->bytes.data && elf_section_addr(o->main.elf, name, &f->addr);
}

/* The next place in the segment, from f->at on, that holds the fixed bytes of a header. */
static bool by_magic(struct bytes segment, uint64_t addr, struct go_found *f)
{
	static const char ends[] = {'\xff', '\xff', '\xff', 0, 0};

	while (f->at < segment.size) {
		const uint8_t *found =
		    memmem(segment.data + f->at, segment.size - f->at, ends, sizeof(ends));
		uint64_t at;

		if (!found)
			return false;
		f->at = (uint64_t)(found - segment.data) + 1;
		at = f->at - 2;
		if (f->at < 2 || (found[-1] != 0xf0 && found[-1] != 0xf1 && found[-1] != 0xfa) ||
		    (addr + at) % 8)
			continue;
		f->bytes = (struct bytes){segment.data + at, segment.size - at};
		f->addr = addr + at;
		return true;
	}
	return false;
}

static bool search_table(const struct image *o, struct go_found *f)
{
	GElf_Phdr p;

	for (size_t n = n_segments(o); f->segment < n; f->segment++, f->at = 0) {
		struct bytes b = loaded_segment(o, f->segment, &p);

		if (b.data && !(p.p_flags & PF_X) && f->n_searched < MAX_HEADERS &&
		    (f->at || spend(&f->left, b.size)) && by_magic(b, p.p_vaddr, f)) {
			f->n_searched++;
			return true;
		}
	}
	return false;
}

/* Other programs are not searched: it takes time. */
static bool may_be_hidden(const struct image *o)
{
	return elf_has_section(o->main.elf, ".go.buildinfo") ||
	       !elf_has_section(o->main.elf, ".text");
}

bool go_find_table(const struct image *o, struct go_found *f)
{
	static const char *const sections[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	const unsigned n = sizeof(sections) / sizeof(*sections);

	while (f->stage < n)
		if (by_section(o, sections[f->stage++], f)) {
			f->stage = n + 1;
			return true;
		}
	if (f->stage == n) {
		f->stage = may_be_hidden(o) ? n + 2 : n + 1;
		f->left = most_bytes(o);
	}
	return f->stage == n + 2 && search_table(o, f);
}

static uint64_t module_in(struct bytes segment, uint64_t addr, uint64_t table, uint64_t names)
{
	for (size_t at = (8 - addr % 8) % 8; segment.size >= 16 && at <= segment.size - 16;
	     at += 8) {
		uint64_t pair[2];

		memcpy(pair, segment.data + at, sizeof(pair));
		if (pair[0] == table && pair[1] == names)
			return addr + at;
	}
	return 0;
}

uint64_t go_find_module(const struct image *o, uint64_t table, uint64_t names)
{
	struct relocation found;
	uint64_t module, left = most_bytes(o);
	GElf_Phdr p;

	if (elf_section_addr(o->main.elf, ".go.module", &module) &&
	    go_pointer_at(o, module) == table)
		return module;
	for (size_t i = 0, n = n_segments(o); i < n; i++) {
		struct bytes b = loaded_segment(o, i, &p);

		module = b.data && !(p.p_flags & PF_X) && spend(&left, b.size)
			     ? module_in(b, p.p_vaddr, table, names)
			     : 0;
		if (module)
			return module;
	}
	return find_relocation(o, 0, table, &found) && go_pointer_at(o, found.place + 8) == names
		   ? found.place
		   : 0;
}

uint64_t go_text_section(const struct image *o)
{
	uint64_t addr;

	return elf_section_addr(o->main.elf, ".text", &addr) ? addr : 0;
}

struct bytes go_find_build(const struct image *o)
{
	static const char magic[] = "\xff Go buildinf:";
	struct bytes b = elf_section(o->main.elf, ".go.buildinfo");
	uint64_t left = most_bytes(o);
	GElf_Phdr p;

	if (b.data || elf_has_section(o->main.elf, ".text"))
		return b;
	for (size_t i = 0, n = n_segments(o); i < n; i++) {
		const uint8_t *found;

		b = loaded_segment(o, i, &p);
		found = b.data && spend(&left, b.size)
			    ? memmem(b.data, b.size, magic, sizeof(magic) - 1)
			    : NULL;
		if (found && !((p.p_vaddr + (uint64_t)(found - b.data)) % BUILD_ALIGN))
			return (struct bytes){found, b.size - (size_t)(found - b.data)};
	}
	return (struct bytes){0};
}
