/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line map: in-scope lines and the file offsets that belong to them, for all objects (ELF
 * files) in scope. Pure data structure; it is filled by user/symbols/ and copied into the kernel's
 * line table by user/kernel/. Addresses are file offsets within the object's ELF file, so that one
 * table serves every process that maps the object, wherever it is mapped.
 */
#ifndef COZBPF_LINEMAP_H
#define COZBPF_LINEMAP_H

#include <stddef.h>
#include <stdint.h>

#include "core/text/errors.h"

struct source_line {
	char
	    *file; /* absolute, normalised path; interned: shared between lines; owned by the map */
	uint32_t line; /* from 1 */
};

/* [lo, hi) in file offsets of its object. Within an object ranges are sorted by lo, do not overlap,
 * and neighbours of the same line are merged. */
struct line_range {
	uint64_t lo, hi;
	uint32_t line; /* line id: index into line_map.lines, from 1; 0 is never used */
};

struct line_object {
	char *path;            /* as opened */
	uint8_t build_id[20];  /* zero padded */
	uint32_t build_id_len; /* 0: none */
	uint64_t dev, ino; /* of the file as opened, by stat(): what maps says differs from that on
			      some file systems (btrfs) */
	uint32_t first, count; /* its slice of line_map.ranges */
};

struct line_map {
	struct source_line
	    *lines;     /* lines[0] is unused; the same file:line in two objects is one line */
	size_t n_lines; /* one more than the highest id; 1 when empty */
	struct line_range *ranges;
	size_t n_ranges;
	struct line_object *objects;
	size_t n_objects;
	void *index; /* private: (file, line) -> id, and interned file names */
};

int line_map_init(struct line_map *m);
void line_map_deinit(struct line_map *m);

/* Id of file:line, which is added when it is new. 0 when memory is short. @file is copied. */
uint32_t line_map_line(struct line_map *m, const char *file, uint32_t line);

/* Id of an existing line named by the user as `path:line`; @file may be a suffix of the path at a
 * '/' ("src/a.c", "a.c"). 0: none. When the suffix is ambiguous the error names the candidates,
 * when nothing matches it names the nearest lines and files. */
uint32_t line_map_find(const struct line_map *m, const char *file, uint32_t line, struct error *e);

/* Adds an object with its unsorted ranges, which are sorted, clipped and merged here; on overlap
 * the later one in the array wins. 0 or -errno. */
int line_map_add_object(
    struct line_map *m, const struct line_object *o, const struct line_range *ranges, size_t n);

/*
 * Index of the object that @o is, by path, build id, dev and ino; -1: it is not there. Paths and
 * inode numbers of two containers coincide; a build id tells where both have one (an image's file
 * has a device in each container), else the device does. Paths count since scopes are made of them.
 */
int line_map_find_object(const struct line_map *m, const struct line_object *o);

/* Line id at @offset of object @object, 0 for none. */
uint32_t line_map_lookup(const struct line_map *m, size_t object, uint64_t offset);

#endif
