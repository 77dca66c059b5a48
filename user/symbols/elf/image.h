/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: what a reader holds of an open object, and what the files of elf/ offer
 * to dwarf/ and code/. */
#ifndef COZBPF_IMAGE_H
#define COZBPF_IMAGE_H

#include <elfutils/libdw.h>
#include <gelf.h>

#include "symbols/elf/mapped.h"
#include "symbols/elf/reader.h"
#include "symbols/reading.h"

/* Executable memory of the object: [lo, hi) in link-time addresses, and the file offset of lo. */
struct segment {
	uint64_t lo, hi, offset;
};

/* Sections of debug information, decompressed; borrowed from the Elf they are in. */
struct debug_sections {
	struct bytes info, abbrev, line, line_str, str, str_offsets, ranges, rnglists, addr;
	/* .debug_str of the file to which dwz moved what several objects share. */
	struct bytes alt_str;
};

/* A function of the symbol tables. */
struct symbol {
	uint64_t addr, size;
	const char *name; /* linkage name, in the string section */
	bool is_own;      /* in the file itself, not in a debug file */
};

struct go_state;

struct elf_file {
	int fd;
	struct mapped bytes;
	Elf *elf; /* of the bytes in memory */
};

struct image {
	char *file, *path, *root; /* see struct object_place */
	const char *real_path;    /* see struct image_parts; borrowed */
	bool fetches;             /* see struct object_place */
	/* .elf is NULL where there is no separate debug file, or none that dwz made. */
	struct elf_file main, debug, alt;
	char *debug_path, *alt_path;
	/* Why a debug file was found and not taken; NULL: no such file. */
	char *debug_note;
	Dwarf *dwarf; /* NULL: no debug information */
	struct debug_sections sections;
	bool is_static;
	uint8_t build_id[20];
	uint32_t build_id_len;
	struct segment *segments; /* executable PT_LOADs */
	size_t n_segments;
	/* The executable sections, or the segments when there are no sections; sorted by lo. */
	struct segment *code;
	size_t n_code;
	struct symbol *symbols; /* by address; loaded on first use */
	size_t n_symbols;
	bool symbols_loaded;
	/* minidebug.c: what .gnu_debugdata holds; unpacked on first use */
	struct bytes mini_bytes;
	Elf *mini;
	bool mini_loaded;
	/* bounds.c: .eh_frame_hdr and its address; loaded on first use */
	struct bytes unwound;
	uint64_t unwound_addr;
	bool unwound_loaded;
	struct go_state *go; /* gotable.h; NULL: nobody has asked */
	/* code/cheapsite.c: bytes of code that have been searched for branches */
	uint64_t searched;
};

/* image.c */
/* Opens @path, within @root (openfile.h). 0, or -1 with the reason in @why. @relocatable: any ELF
 * file will do, also one that cannot be run. */
int elf_file_open(struct elf_file *f, const char *root, const char *path, bool relocatable,
    char *why, size_t size);
/* The same for a descriptor, which is taken over. */
int elf_file_take(struct elf_file *f, int fd, bool relocatable, char *why, size_t size);
void elf_file_close(struct elf_file *f);
/* Whether libelf can work with what it has opened: 0, or -1 with the reason in @why. */
int elf_check(Elf *elf, bool relocatable, char *why, size_t size);
/* After reading: 0, or -1 with @e when a file of the object was cut off meanwhile, so that what was
 * read means nothing. */
int image_check(const struct image *o, struct error *e);
bool elf_has_section(Elf *elf, const char *name);
struct bytes elf_section(Elf *elf, const char *name);
/* The link-time address of a section; false: there is none. */
bool elf_section_addr(Elf *elf, const char *name, uint64_t *ret);
uint32_t elf_build_id(Elf *elf, uint8_t id[20]);
/* File offset of a code address. */
bool image_offset(const struct image *o, uint64_t addr, uint64_t *ret);
bool image_address(const struct image *o, uint64_t offset, uint64_t *ret); /* the reverse */
bool image_is_code(const struct image *o, uint64_t addr);
/* Bounds of @addr's section of code, within @addr's segment; 0: the address is in none. */
uint64_t image_code_start(const struct image *o, uint64_t addr);
uint64_t image_code_end(const struct image *o, uint64_t addr);
/* Clips [*lo, *hi) to the segment of *lo and turns both into file offsets. */
bool image_clip(const struct image *o, uint64_t *lo, uint64_t *hi);

/* debugfile.c: looks for the separate debug file and opens it into o->debug. When none is found,
 * o->debug stays closed. */
void debug_file_find(struct image *o);
#define BUILD_ID_DIR "/usr/lib/debug/.build-id"
#define BUILD_ID_FILE 48 /* two digits a byte, ".debug" */
/* Name of the debug file below BUILD_ID_DIR ("ab/cdef.debug"); false without a build id. */
bool build_id_file(const struct image *o, char file[BUILD_ID_FILE]);
/* The same for the file with which @elf, an object or a debug file, shares strings (dwz), into
 * o->alt. */
bool alt_file_find(struct image *o, Elf *elf);

/* minidebug.c: the ELF file that .gnu_debugdata holds, of the image; NULL: none, or damaged, or too
 * large. */
Elf *image_minidebug(struct image *o);
void image_minidebug_free(struct image *o);

/* gotable.h has what is known of Go programs. */
void image_go_free(struct image *o);

/* symtab.c */
int image_load_symbols(struct image *o); /* 0 or -errno */
/* How many of the symbols are at or before @addr: the index of the first one behind. */
size_t image_symbols_upto(const struct image *o, uint64_t addr);
/* The last function at or before @addr; NULL: none. */
const struct symbol *image_symbol_at(const struct image *o, uint64_t addr);
/* Whether it is a function's cold part. Functions of Go may just be called so. */
bool symbol_is_cold(struct image *o, const struct symbol *s);
/* Where the last function at or before @addr begins, by the main file alone: its symbols, and its
 * table for exceptions. What a debug file says may not belong to the code. */
bool image_own_start(struct image *o, uint64_t addr, uint64_t *ret);
/* Whether a function begins in (@after, @upto]. */
bool image_function_begins(struct image *o, uint64_t after, uint64_t upto);

/* functions.c: as image_add_functions(), but clones, cold parts and overloads are units of their
 * own ("MODULE:NAME.cold", "MODULE:NAME@0xADDRESS"), and code of no function has none. */
int image_add_each_function(struct image *o, struct line_map *map, struct error *e);

/* landing.c: where code goes on after an exception, by the tables of .gcc_except_table: @fn gets
 * each address, of which some may be there twice. Damaged tables are left out. */
void image_landing_pads(struct image *o, void (*fn)(void *ctx, uint64_t addr), void *ctx);

/* unwind.c: .eh_frame, of machines that cfi_machine() knows; false: there is none. */
struct cfi;
bool image_frames(const struct image *o, struct cfi *ret);

/* sdt.c: file offset of an address of any loaded segment, data included; false: the address is not
 * in the file. */
bool image_data_offset(const struct image *o, uint64_t addr, uint64_t *ret);

/* bounds.c: of the table for exceptions. */
bool image_unwound_bounds(struct image *o, uint64_t addr, uint64_t *start, uint64_t *end);
/* Link-time addresses of @addr's function; false: it is not known. */
bool image_function_bounds(struct image *o, uint64_t addr, uint64_t *start, uint64_t *end);

#endif
