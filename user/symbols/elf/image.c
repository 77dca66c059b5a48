// SPDX-License-Identifier: BSD-3-Clause
/* Opens an ELF file and its debug information: segments, sections, build id. debugfile.c looks for
 * separate debug files. */
#include "symbols/elf/image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "symbols/elf/gotable.h"
#include "symbols/elf/openfile.h"

/* Higher counts belong to no linked program. They bound the work on damaged files. */
#define MAX_SEGMENTS 4096
#define MAX_SECTIONS 1000000

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_DATA ELFDATA2LSB
#else
#define HOST_DATA ELFDATA2MSB
#endif

/* libelf looks for the last zero byte of the table with each name, which is quick where the table
 * ends with one, as it has to. */
static bool has_good_names(Elf *elf)
{
	Elf_Data *data;
	Elf_Scn *scn;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings) || !strings)
		return true;
	scn = elf_getscn(elf, strings);
	data = scn ? elf_rawdata(scn, NULL) : NULL;
	return !data || !data->d_buf || !data->d_size ||
	       !((const char *)data->d_buf)[data->d_size - 1];
}

int elf_check(Elf *elf, bool relocatable, char *why, size_t size)
{
	GElf_Ehdr header;
	char *ident = elf_getident(elf, NULL);

	if (elf_kind(elf) != ELF_K_ELF || !ident || !gelf_getehdr(elf, &header)) {
		snprintf(why, size, "it is not an ELF file");
	} else if (ident[EI_DATA] != HOST_DATA) {
		snprintf(why, size, "it is built for a machine with another byte order");
	} else if (!has_good_names(elf)) {
		snprintf(why, size, "its section names are damaged");
	} else if (relocatable) {
		return 0;
	} else if (header.e_type == ET_REL) {
		snprintf(why, size, "it is an object file that is not linked yet");
	} else if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
		snprintf(why, size, "it is neither a program nor a shared library");
	} else {
		return 0;
	}
	return -1;
}

static int (*open_file)(const char *root, const char *path, char *why, size_t size) = file_open;

void image_files_by(int (*open)(const char *root, const char *path, char *why, size_t size))
{
	open_file = open;
}

int elf_file_open(struct elf_file *f, const char *root, const char *path, bool relocatable,
    char *why, size_t size)
{
	int fd = open_file(root, path, why, size);

	*f = (struct elf_file){.fd = -1};
	return fd < 0 ? -1 : elf_file_take(f, fd, relocatable, why, size);
}

int elf_file_take(struct elf_file *f, int fd, bool relocatable, char *why, size_t size)
{
	int err;

	elf_version(EV_CURRENT);
	*f = (struct elf_file){.fd = fd};
	err = mapped_open(&f->bytes, f->fd);
	if (!err && f->bytes.data)
		f->elf = elf_memory(f->bytes.data, f->bytes.size);
	if (err)
		snprintf(why, size, "%s", strerror(-err));
	else if (!f->elf)
		snprintf(why, size, "it is not an ELF file");
	else if (!elf_check(f->elf, relocatable, why, size))
		return 0;
	elf_file_close(f);
	return -1;
}

void elf_file_close(struct elf_file *f)
{
	if (f->elf)
		elf_end(f->elf);
	mapped_close(&f->bytes);
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct elf_file){.fd = -1};
}

static bool has_changed(const struct elf_file *f)
{
	return f->elf && mapped_changed(&f->bytes, f->fd);
}

int image_check(const struct image *o, struct error *e)
{
	bool debug = has_changed(&o->debug) || has_changed(&o->alt);

	if (!debug && !has_changed(&o->main))
		return 0;
	error_set(e, EXIT_OTHER, "'%s' changed while it was read",
	    debug && o->debug_path ? o->debug_path : o->path);
	return error_hint(e, "try again once nobody writes to it any more");
}

/* Section @name, or its old compressed spelling (".zdebug_x" for ".debug_x"). */
static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *scn = NULL;
	size_t strings, n = 0;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((scn = elf_nextscn(elf, scn)) && n++ < MAX_SECTIONS) {
		const char *s =
		    gelf_getshdr(scn, header) ? elf_strptr(elf, strings, header->sh_name) : NULL;

		if (s && (!strcmp(s, name) || (!strncmp(s, ".z", 2) && !strcmp(s + 2, name + 1))))
			return scn;
	}
	return NULL;
}

bool elf_has_section(Elf *elf, const char *name)
{
	GElf_Shdr header;

	return find_section(elf, name, &header) && header.sh_type != SHT_NOBITS &&
	       header.sh_size > 0;
}

bool elf_section_addr(Elf *elf, const char *name, uint64_t *ret)
{
	GElf_Shdr header;

	if (!find_section(elf, name, &header))
		return false;
	*ret = header.sh_addr;
	return true;
}

struct bytes elf_section(Elf *elf, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *scn = find_section(elf, name, &header);
	Elf_Data *data;

	/* dwarf_begin_elf has decompressed the sections that it knows. The others are decompressed
	 * here. */
	if (!scn || header.sh_type == SHT_NOBITS ||
	    ((header.sh_flags & SHF_COMPRESSED) && elf_compress(scn, 0, 0) < 0))
		return (struct bytes){0};
	data = elf_rawdata(scn, NULL);
	return data && data->d_buf ? (struct bytes){data->d_buf, data->d_size} : (struct bytes){0};
}

uint32_t elf_build_id(Elf *elf, uint8_t id[20])
{
	const void *note;
	ssize_t len = dwelf_elf_gnu_build_id(elf, &note);

	if (len <= 0)
		return 0;
	if (len > 20)
		len = 20;
	memset(id, 0, 20);
	memcpy(id, note, (size_t)len);
	return (uint32_t)len;
}

static int segment_cmp(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static int read_segments(struct image *o)
{
	size_t n;

	o->is_static = true;
	if (elf_getphdrnum(o->main.elf, &n) || n > MAX_SEGMENTS)
		return -EINVAL;
	o->segments = calloc(n + 1, sizeof(*o->segments));
	if (!o->segments)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(o->main.elf, (int)i, &p))
			return -EINVAL;
		if (p.p_type == PT_INTERP)
			o->is_static = false;
		if (p.p_type == PT_LOAD && (p.p_flags & PF_X) && p.p_filesz &&
		    p.p_vaddr + p.p_filesz > p.p_vaddr && p.p_offset + p.p_filesz > p.p_offset)
			o->segments[o->n_segments++] =
			    (struct segment){p.p_vaddr, p.p_vaddr + p.p_filesz, p.p_offset};
	}
	qsort(o->segments, o->n_segments, sizeof(*o->segments), segment_cmp);
	return 0;
}

/* Executable sections tell code from the rest of its segment, such as headers at address 0, where
 * linkers leave discarded code. */
static int read_code(struct image *o)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s;
	size_t n;

	if (elf_getshdrnum(o->main.elf, &n) || n > MAX_SECTIONS)
		n = 0;
	o->code = calloc(n + o->n_segments + 1, sizeof(*o->code));
	if (!o->code)
		return -ENOMEM;
	while (o->n_code < n && (scn = elf_nextscn(o->main.elf, scn)))
		if (gelf_getshdr(scn, &s) &&
		    (s.sh_flags & (SHF_EXECINSTR | SHF_ALLOC)) == (SHF_EXECINSTR | SHF_ALLOC) &&
		    s.sh_addr + s.sh_size > s.sh_addr)
			o->code[o->n_code++] =
			    (struct segment){s.sh_addr, s.sh_addr + s.sh_size, s.sh_offset};
	if (!o->n_code) {
		memcpy(o->code, o->segments, o->n_segments * sizeof(*o->code));
		o->n_code = o->n_segments;
	}
	qsort(o->code, o->n_code, sizeof(*o->code), segment_cmp);
	return 0;
}

/* The last segment that begins at or before @addr, when that segment holds @addr. */
static const struct segment *segment_at(const struct segment *v, size_t n, uint64_t addr)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v[mid].lo <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && addr < v[lo - 1].hi ? &v[lo - 1] : NULL;
}

bool image_offset(const struct image *o, uint64_t addr, uint64_t *ret)
{
	const struct segment *s = segment_at(o->segments, o->n_segments, addr);

	if (s)
		*ret = addr - s->lo + s->offset;
	return s;
}

bool image_address(const struct image *o, uint64_t offset, uint64_t *ret)
{
	for (size_t i = 0; i < o->n_segments; i++) {
		const struct segment *s = &o->segments[i];

		if (offset >= s->offset && offset - s->offset < s->hi - s->lo) {
			*ret = offset - s->offset + s->lo;
			return true;
		}
	}
	return false;
}

bool image_is_code(const struct image *o, uint64_t addr)
{
	return segment_at(o->code, o->n_code, addr) && segment_at(o->segments, o->n_segments, addr);
}

uint64_t image_code_start(const struct image *o, uint64_t addr)
{
	const struct segment *c = segment_at(o->code, o->n_code, addr),
			     *s = segment_at(o->segments, o->n_segments, addr);

	return c && s ? (c->lo > s->lo ? c->lo : s->lo) : 0;
}

uint64_t image_code_end(const struct image *o, uint64_t addr)
{
	const struct segment *c = segment_at(o->code, o->n_code, addr),
			     *s = segment_at(o->segments, o->n_segments, addr);

	return c && s ? (c->hi < s->hi ? c->hi : s->hi) : 0;
}

bool image_clip(const struct image *o, uint64_t *lo, uint64_t *hi)
{
	const struct segment *s = segment_at(o->segments, o->n_segments, *lo);

	if (!s || *hi <= *lo)
		return false;
	if (*hi > s->hi)
		*hi = s->hi;
	*lo = *lo - s->lo + s->offset;
	*hi = *hi - s->lo + s->offset;
	return true;
}

/* Opens the debug information that @elf has in itself, if any. */
static void open_dwarf(struct image *o, Elf *elf, bool is_searched)
{
	if (!elf_has_section(elf, ".debug_info") || !elf_has_section(elf, ".debug_line"))
		return;
	o->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!o->dwarf)
		return;
	o->sections = (struct debug_sections){
	    .info = elf_section(elf, ".debug_info"),
	    .abbrev = elf_section(elf, ".debug_abbrev"),
	    .line = elf_section(elf, ".debug_line"),
	    .line_str = elf_section(elf, ".debug_line_str"),
	    .str = elf_section(elf, ".debug_str"),
	    .str_offsets = elf_section(elf, ".debug_str_offsets"),
	    .ranges = elf_section(elf, ".debug_ranges"),
	    .rnglists = elf_section(elf, ".debug_rnglists"),
	    .addr = elf_section(elf, ".debug_addr"),
	};
	if (is_searched ? o->alt.elf != NULL : alt_file_find(o, elf))
		o->sections.alt_str = elf_section(o->alt.elf, ".debug_str");
}

static int open_main(struct image *o, int fd, struct error *e)
{
	char why[256];

	if (fd < 0 ? elf_file_open(&o->main, o->root, o->file, false, why, sizeof(why))
		   : elf_file_take(&o->main, fd, false, why, sizeof(why))) {
		error_set(e, EXIT_USAGE, "cannot read '%s': %s", o->path, why);
		if (strstr(why, "not an ELF"))
			error_hint(e, "name the program itself, not a script that starts it");
		return -1;
	}
	o->build_id_len = elf_build_id(o->main.elf, o->build_id);
	if (read_segments(o) || read_code(o))
		return error_set(
		    e, EXIT_USAGE, "cannot read '%s': its program headers are damaged", o->path);
	if (!o->n_segments)
		return error_set(
		    e, EXIT_USAGE, "'%s' has no code: it is a debug file or damaged", o->path);
	return 0;
}

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

static int open_code(const struct image_parts *parts, struct image **ret, struct error *e)
{
	struct image *o = calloc(1, sizeof(*o));

	if (!o)
		return error_set(e, EXIT_OTHER, "out of memory");
	o->main.fd = o->debug.fd = o->alt.fd = -1;
	o->file = strdup(parts->place.file);
	o->path = strdup(parts->place.path);
	o->root = strdup(parts->place.root ? parts->place.root : "");
	o->real_path = parts->real_path;
	o->fetches = parts->place.fetches;
	o->debug_path = copy_of(parts->debug_path);
	o->debug_note = copy_of(parts->debug_note);
	if (!o->file || !o->path || !o->root) {
		image_close(o);
		return error_set(e, EXIT_OTHER, "out of memory");
	}
	if (open_main(o, parts->main, e)) {
		image_close(o);
		return -1;
	}
	*ret = o;
	return 0;
}

/* Files that were found before: whether they belong to the object was looked at then. */
static void open_known(struct image *o, const struct image_parts *parts)
{
	char why[256];

	if (parts->debug >= 0)
		elf_file_take(&o->debug, parts->debug, false, why, sizeof(why));
	if (parts->alt >= 0)
		elf_file_take(&o->alt, parts->alt, true, why, sizeof(why));
}

int image_open_parts(const struct image_parts *parts, struct image **ret, struct error *e)
{
	struct image *o = NULL;

	if (open_code(parts, &o, e))
		return -1;
	if (parts->is_searched)
		open_known(o, parts);
	if (!parts->without_debug)
		open_dwarf(o, o->main.elf, parts->is_searched);
	if (!parts->without_debug && !o->dwarf) {
		if (!parts->is_searched)
			debug_file_find(o);
		if (o->debug.elf)
			open_dwarf(o, o->debug.elf, parts->is_searched);
	}
	if (image_check(o, e)) {
		image_close(o);
		return -1;
	}
	*ret = o;
	return 0;
}

int image_open_at(const struct object_place *place, struct image **ret, struct error *e)
{
	const struct image_parts parts = {.place = *place, .main = -1, .debug = -1, .alt = -1};

	return image_open_parts(&parts, ret, e);
}

int image_open(const char *path, const char *root, struct image **ret, struct error *e)
{
	const struct object_place place = {path, path, root, false};

	return image_open_at(&place, ret, e);
}

void image_close(struct image *o)
{
	if (!o)
		return;
	if (o->dwarf)
		dwarf_end(o->dwarf);
	image_minidebug_free(o);
	image_go_free(o);
	elf_file_close(&o->alt);
	elf_file_close(&o->debug);
	elf_file_close(&o->main);
	free(o->symbols);
	free(o->segments);
	free(o->code);
	free(o->debug_path);
	free(o->alt_path);
	free(o->debug_note);
	free(o->file);
	free(o->path);
	free(o->root);
	free(o);
}

const char *image_path(const struct image *o)
{
	return o->path;
}

bool image_has_debug_info(struct image *o)
{
	return o->dwarf || image_go_table(o);
}

bool image_is_static(const struct image *o)
{
	return o->is_static;
}

bool image_has_text(const struct image *o, const char *text)
{
	struct bytes rodata = elf_section(o->main.elf, ".rodata");

	return rodata.data && memmem(rodata.data, rodata.size, text, strlen(text) + 1);
}

const char *image_debug_path(const struct image *o)
{
	return o->debug.elf ? o->debug_path : NULL;
}

const char *image_alt_path(const struct image *o)
{
	return o->alt.elf ? o->alt_path : NULL;
}

const char *image_debug_note(const struct image *o)
{
	return o->debug_note;
}

uint32_t image_build_id(const struct image *o, uint8_t id[20])
{
	memcpy(id, o->build_id, 20);
	return o->build_id_len;
}
