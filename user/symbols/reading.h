/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to user/symbols/ and to tests of its readers: what a reader does, in the process that
 * calls it. Each function keeps the contract that symbols.h gives to the function of the same name,
 * image_x() that of object_x(). door/ calls them in a child.
 */
#ifndef COZBPF_READING_H
#define COZBPF_READING_H

#include <cozbpf/abi.h>

#include "symbols/symbols.h"

/* An object whose files are in this process's memory. */
struct image;

/* What is known of an object's files before they are read. Descriptors are taken over; -1: none. */
struct image_parts {
	struct object_place place;
	/* The path without symbolic links, where there is no root; NULL: as it is. */
	const char *real_path;
	int main;           /* -1: by its path */
	bool without_debug; /* sections of debug information take time to decompress */
	/* The search for separate files is over, and these were found. */
	bool is_searched;
	int debug, alt;
	const char *debug_path, *debug_note; /* NULL: none */
};

/* What a reader opens to have a debug file fetched: this, and the build id in hex. */
#define FETCHED_FILE "debuginfod:"

/* elf/ */
int image_open_parts(const struct image_parts *parts, struct image **ret, struct error *e);
int image_open(const char *path, const char *root, struct image **ret, struct error *e);
int image_open_at(const struct object_place *place, struct image **ret, struct error *e);
void image_close(struct image *o); /* accepts NULL */
const char *image_path(const struct image *o);
bool image_has_debug_info(struct image *o);
/* Of the separate debug file, of dwz's file, and why a debug file was not taken; NULL: none. */
const char *image_debug_path(const struct image *o);
const char *image_alt_path(const struct image *o);
const char *image_debug_note(const struct image *o);
uint32_t image_build_id(const struct image *o, uint8_t id[20]);
bool image_is_static(const struct image *o);
bool image_is_go(struct image *o);
bool image_has_text(const struct image *o, const char *text);
int image_find_symbol(struct image *o, const char *symbol, uint64_t offset, struct probe_site **ret,
    size_t *n, struct error *e);
int image_functions(struct image *o, char ***ret, size_t *n, struct error *e);
int image_add_functions(struct image *o, struct line_map *map, size_t *n_units, struct error *e);
int image_sdt_probes(struct image *o, struct sdt_probe **ret, size_t *n, struct error *e);
int image_find_usdt(struct image *o, const char *provider, const char *name, struct sdt_probe **ret,
    size_t *n, struct error *e);
int image_find_markers(struct image *o, struct marker **ret, size_t *n, struct error *e);
int image_unwind_rows(struct image *o, size_t max, struct cozbpf_unwind_row **ret, size_t *n);

/* Who opens the files that an object names: file_open() (elf/openfile.h) unless told. A reader
 * without rights asks somebody else. */
void image_files_by(int (*open)(const char *root, const char *path, char *why, size_t size));

/* dwarf/ */
int image_add_lines(struct image *o, const struct scope *scope, struct line_map *map,
    size_t *n_lines, struct error *e);
int image_source_files(struct image *o, const struct scope *scope, struct source_file **ret,
    size_t *n, struct error *e);
int image_find_line(struct image *o, const char *file, uint32_t line, struct probe_site **ret,
    size_t *n, struct error *e);

/* Where the runtime's structs have their fields. @version: as the file says. -1 with @e. */
int image_go_offsets(
    struct image *o, const char *version, struct go_offsets *ret, bool *is_own, struct error *e);

/* code/ */

/*
 * Looks for a cheaper place for a probe of the instruction at file offset @offset, usually the
 * first of a function. *@ret is an instruction that is executed exactly as often and that the
 * kernel emulates. The kernel executes all others singly, which takes a microsecond, in a virtual
 * machine 17. *@ret is
 * @offset itself when that instruction is emulated, when nothing better is certain, and on other
 * machines than x86-64. 0, or -1 when @offset is not code.
 *
 * At the other place arguments may no longer be in their registers, nor the return address on top
 * of the stack. So points that read an argument, and probes of returns, have to stay.
 */
int image_cheap_site(struct image *o, uint64_t offset, uint64_t *ret);

/* Whether the kernel emulates the instruction at a file offset. False on other machines. */
bool image_site_is_cheap(struct image *o, uint64_t offset);

/* Whether a probe there may overwrite what a function has below its stack pointer: the instruction
 * is a nop of five bytes, which Linux 6.18 makes a call. Where a function begins it has nothing
 * there yet. *@ret_next: the instruction behind it, executed exactly as often; 0: that is not
 * certain. */
bool image_site_may_clobber(struct image *o, uint64_t offset, uint64_t *ret_next);

/*
 * -1 with @e (EXIT_USAGE) when no instruction begins at file offset @offset: a probe replaces the
 * first byte of one. Code is decoded from the start of the function, which the file itself has to
 * tell; a debug file is not believed. @strict: -1 also where that cannot be told, such as on other
 * machines than x86-64 and arm64. (boundary.c)
 */
int image_check_site(struct image *o, uint64_t offset, bool strict, struct error *e);
/* As object_spin_sites(); 0 or -errno. (spinsite.c) */
int image_spin_sites(
    struct image *o, const struct spin_question *q, struct spin_site **ret, size_t *n);

/*
 * Adds the object with its blocks as units: those whose first instruction has a line in @within, a
 * map of this object alone; NULL: all of them. As object_add_units() with GRANULARITY_BLOCK.
 * (blocks.c)
 */
int image_add_blocks(struct image *o, const struct line_map *within, struct line_map *map,
    size_t *n_units, struct error *e);
/* As object_block_sites(), but without lines. */
int image_block_sites(
    struct image *o, const uint64_t *starts, size_t n, struct block_site *ret, struct error *e);

/* The runtime's places for probes, and where a thread's g is. -1 with @e (EXIT_USAGE), which names
 * the function that is not there. (gosites.c, gotls.c) */
int image_go_sites(struct image *o, struct go_site sites[GO_EVENTS], struct error *e);
int image_go_tls(struct image *o, int64_t *ret, struct error *e);

/* code/coz/ */
int image_find_coz_sites(struct image *o, struct marker **ret, size_t *n, struct error *e);
/* The same, but gives up after @work instructions. */
int find_coz_sites(struct image *o, uint64_t work, struct marker **ret, size_t *n, struct error *e);

/* door/ */
/* As object_go_runtime(). (goruntime.c) */
int image_go_runtime(struct image *o, struct go_runtime *ret, struct error *e);

#endif
