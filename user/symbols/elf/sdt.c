// SPDX-License-Identifier: BSD-3-Clause
/* Static probes (SDT, USDT) from the notes of an object. markers.c picks the markers of coz.h among
 * them; core/places/probe_args.c reads the arguments. */
#include "symbols/elf/image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/text/suggest.h"

#define NOTE_SECTION ".note.stapsdt"
#define BASE_SECTION ".stapsdt.base"
#define NOTE_OWNER "stapsdt"
#define NOTE_TYPE 3

struct note_reader {
	const struct image *o;
	bool moves; /* the object has a base section, at `base` */
	uint64_t base;
	struct sdt_probe *v;
	size_t n, cap, n_damaged;
};

bool image_data_offset(const struct image *o, uint64_t addr, uint64_t *ret)
{
	size_t n;

	if (elf_getphdrnum(o->main.elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(o->main.elf, (int)i, &p))
			return false;
		if (p.p_type != PT_LOAD || addr < p.p_vaddr || addr - p.p_vaddr >= p.p_filesz)
			continue;
		*ret = addr - p.p_vaddr + p.p_offset;
		return *ret >= p.p_offset;
	}
	return false;
}

static void probe_deinit(struct sdt_probe *p)
{
	free(p->provider);
	free(p->name);
	free(p->args);
}

void sdt_probes_free(struct sdt_probe *probes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		probe_deinit(&probes[i]);
	free(probes);
}

static int add_probe(struct note_reader *r, const struct sdt_probe *borrowed)
{
	struct sdt_probe *grown, *p;

	if (r->n == r->cap) {
		grown = reallocarray(r->v, r->cap ? r->cap * 2 : 16, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		r->v = grown;
		r->cap = r->cap ? r->cap * 2 : 16;
	}
	p = &r->v[r->n];
	*p = *borrowed;
	p->provider = strdup(borrowed->provider);
	p->name = strdup(borrowed->name);
	p->args = strdup(borrowed->args);
	if (!p->provider || !p->name || !p->args) {
		probe_deinit(p);
		return -ENOMEM;
	}
	r->n++;
	return 0;
}

/* Reads what a note describes. A note that makes no sense is counted and left out. 0 or -ENOMEM. */
static int read_description(struct note_reader *r, struct reader *d)
{
	uint64_t addr = read_u64(d), base = read_u64(d), semaphore = read_u64(d);
	const char *provider = read_string(d), *name = read_string(d), *args = read_string(d);
	/* Older tools leave the arguments out, together with their closing zero. */
	bool bad = d->bad && !(*name && !reader_left(d));
	/* prelink moves addresses but not notes. The base is in both, and the difference tells how
	 * far the code was moved. */
	uint64_t moved = r->moves && base ? r->base - base : 0;
	struct sdt_probe p = {(char *)provider, (char *)name, 0, 0, (char *)args};

	/* The linker discarded the function and left its note. */
	if (!bad && !addr)
		return 0;
	if (bad || !*provider || !*name || !image_is_code(r->o, addr + moved) ||
	    !image_offset(r->o, addr + moved, &p.addr_offset) ||
	    (semaphore && !image_data_offset(r->o, semaphore + moved, &p.semaphore_offset))) {
		r->n_damaged++;
		return 0;
	}
	return add_probe(r, &p);
}

/* Notes stand one after the other, each part of them padded to four bytes. */
static int read_notes(struct note_reader *r, struct bytes section)
{
	struct reader notes = reader_at(section, 0, section.size);
	int err = 0;

	while (!err && reader_left(&notes) >= 12) {
		uint64_t owner_size = read_u32(&notes), size = read_u32(&notes);
		uint32_t type = read_u32(&notes);
		struct reader rest = notes;
		uint64_t owner_padded = (owner_size + 3) & ~3ULL, padded = (size + 3) & ~3ULL;
		struct reader owner, d;

		if (owner_padded > reader_left(&rest) || size > reader_left(&rest) - owner_padded) {
			r->n_damaged++;
			break;
		}
		owner = (struct reader){rest.p, rest.p + owner_size, false};
		d = (struct reader){rest.p + owner_padded, rest.p + owner_padded + size, false};
		if (type == NOTE_TYPE && !strcmp(read_string(&owner), NOTE_OWNER))
			err = read_description(r, &d);
		/* The last one may lack its padding. */
		read_skip(&notes, owner_padded + padded < reader_left(&notes)
				      ? owner_padded + padded
				      : reader_left(&notes));
	}
	return err;
}

static int read_object(struct note_reader *r, struct error *e)
{
	const struct image *o = r->o;
	/* strip leaves these notes; some tools move all that is not loaded to the debug file. */
	Elf *elf = !elf_has_section(o->main.elf, NOTE_SECTION) && o->debug.elf ? o->debug.elf
									       : o->main.elf;
	struct bytes section = elf_section(elf, NOTE_SECTION);

	if (gelf_getclass(o->main.elf) != ELFCLASS64) {
		error_set(e, EXIT_USAGE, "'%s' is a 32-bit program", o->path);
		return error_hint(e,
		    "static probes of 64-bit programs only can be used; name a function or a line");
	}
	r->moves = elf_section_addr(o->main.elf, BASE_SECTION, &r->base);
	if (section.data && read_notes(r, section))
		return error_set(e, EXIT_OTHER, "out of memory");
	if (image_check(o, e))
		return -1;
	if (r->n || !r->n_damaged)
		return 0;
	error_set(e, EXIT_NO_RESULT, "the notes of static probes in '%s' are damaged", o->path);
	return error_hint(e,
	    "'readelf -n %s' shows them; name a function or a line instead, or build the program "
	    "anew",
	    o->path);
}

static int read_probes(struct image *o, struct note_reader *r, struct error *e)
{
	*r = (struct note_reader){.o = o};
	if (!read_object(r, e))
		return 0;
	sdt_probes_free(r->v, r->n);
	return -1;
}

int image_sdt_probes(struct image *o, struct sdt_probe **ret, size_t *n, struct error *e)
{
	struct note_reader r;

	if (read_probes(o, &r, e))
		return -1;
	*ret = r.v;
	*n = r.n;
	return 0;
}

static int not_found(
    const struct note_reader *r, const char *provider, const char *name, struct error *e)
{
	const char *path = r->o->path;
	char wanted[256], candidate[256], names[512];
	struct suggest near;

	snprintf(wanted, sizeof(wanted), "%s:%s", provider, name);
	suggest_init(&near, wanted);
	for (size_t i = 0; i < r->n; i++) {
		snprintf(candidate, sizeof(candidate), "%s:%s", r->v[i].provider, r->v[i].name);
		suggest_add(&near, candidate);
	}
	error_set(e, EXIT_USAGE, "no static probe '%s' in '%s'", wanted, path);
	if (!r->n)
		return error_hint(e, "it has none at all; name a function or a line");
	if (*suggest_list(&near, names, sizeof(names)))
		return error_hint(e, "did you mean %s?", names);
	/* Nothing is similar: a few of the probes show how they are called. */
	suggest_init(&near, "");
	for (size_t i = 0; i < r->n; i++) {
		snprintf(candidate, sizeof(candidate), "%s:%s", r->v[i].provider, r->v[i].name);
		if (near.n == SUGGEST_MAX)
			break;
		near.word = candidate;
		near.word_len = strlen(candidate);
		suggest_add(&near, candidate);
	}
	suggest_list(&near, names, sizeof(names));
	return error_hint(e, "'readelf -n %s' lists those it has, such as %s%s", path, names,
	    r->n_damaged ? "; some are damaged" : "");
}

int image_find_usdt(struct image *o, const char *provider, const char *name, struct sdt_probe **ret,
    size_t *n, struct error *e)
{
	struct note_reader r;
	size_t kept = 0;
	int err = 0;

	if (read_probes(o, &r, e))
		return -1;
	for (size_t i = 0; i < r.n; i++)
		kept += !strcmp(r.v[i].provider, provider) && !strcmp(r.v[i].name, name);
	if (!kept) {
		err = not_found(&r, provider, name, e);
		sdt_probes_free(r.v, r.n);
		return err;
	}
	kept = 0;
	for (size_t i = 0; i < r.n; i++) {
		if (!strcmp(r.v[i].provider, provider) && !strcmp(r.v[i].name, name))
			r.v[kept++] = r.v[i];
		else
			probe_deinit(&r.v[i]);
	}
	*ret = r.v;
	*n = kept;
	return 0;
}
