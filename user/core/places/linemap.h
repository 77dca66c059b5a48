/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line map: in-scope lines and the file offsets that belong to them, for all objects (ELF
 * files) in scope. Pure data structure: user/symbols/ fills it, and user/kernel/ copies it into the
 * kernel's line table. Addresses are file offsets within the object's ELF file, so one table serves
 * every process that maps the object, at any address.
 */
#ifndef COZBPF_LINEMAP_H
#define COZBPF_LINEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/errors.h"

struct source_line {
	/* absolute, normalised path; interned: shared between lines; owned by the map */
	char *file;
	uint32_t line; /* from 1; 0: a function, whose name is in `file` (object_add_functions()) */
	uint32_t function; /* of a line: the function that holds it; 0: none is known */
	uint32_t n_lines;  /* of a function: its lines, which are the ids that follow its own */
	bool inclusive;    /* of a function: line_map.inclusive was set */
	uint8_t wait;   /* 1 + COZBPF_WAIT_*: waits of a class, of all lines or of one; 0: none */
	bool is_couple; /* two units at once, whose names are in `file` (couple.h) */
};

/* Ends the name of a function that counts with all that it calls. */
#define INCLUSIVE_SUFFIX " (inclusive)"

/* "FILE:LINE", or the name of a function, with INCLUSIVE_SUFFIX where the map says so, or of waits
 * (waits.h). The caller's to free; NULL: out of memory. */
char *source_line_name(const struct source_line *l);

/* Of such a name. */
bool source_line_is_inclusive(const char *name);

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
	/* of the file as opened, by stat(); /proc/PID/maps differs on some file systems (btrfs) */
	uint64_t dev, ino;
	uint32_t first, count; /* its slice of line_map.ranges */
};

struct line_map {
	/* lines[0] is unused; the same file:line in two objects is one line */
	struct source_line *lines;
	size_t n_lines; /* one more than the highest id; 1 when empty */
	struct line_range *ranges;
	size_t n_ranges;
	struct line_object *objects;
	size_t n_objects;
	bool inclusive; /* functions that are added count with what they call */
	void *index;    /* private: (file, line) -> id, interned file names, names of modules */
};

int line_map_init(struct line_map *m);
void line_map_deinit(struct line_map *m);

/* Makes room at once for so many more lines in so many more files. 0 or -errno. */
int line_map_expect(struct line_map *m, size_t n_lines, size_t n_names);

/* Functions of a file that is called @module are called after @name from now on: "NAME:FUNCTION". 0
 * or -ENOMEM. */
int line_map_rename(struct line_map *m, const char *module, const char *name);

/* Returns the id of file:line, adding a new line; 0: out of memory. @file is copied. */
uint32_t line_map_line(struct line_map *m, const char *file, uint32_t line);

/* Returns the id of an existing line that the user named as `path:line`, or 0. @file may be a
 * suffix of the path at a '/' ("src/a.c", "a.c"). The error names the candidates of an ambiguous
 * suffix, or else the nearest lines and files. */
uint32_t line_map_find(const struct line_map *m, const char *file, uint32_t line, struct error *e);

/* The same for a function or block that the user named, as its unit or without the module. */
uint32_t line_map_find_function(const struct line_map *m, const char *name, struct error *e);

/* The same among the kernel's functions, which are the units from @first to @end. */
uint32_t line_map_find_kernel(
    const struct line_map *m, uint32_t first, uint32_t end, const char *name, struct error *e);

/*
 * Adds COZBPF_WAIT_UNITS units for each class of waits: the class, whose lines the others are as a
 * function's, and those that have no name yet. Returns the first id; 0: out of memory.
 */
uint32_t line_map_add_waits(struct line_map *m);

/* Adds COZBPF_SYSCALL_UNITS units, one for each system call (syscalls.h). Returns the first id,
 * that of all of them, whose lines the others are; 0: out of memory. */
uint32_t line_map_add_syscalls(struct line_map *m);

/* Adds the couple of two units, which have their names by now. Returns its id; 0: out of memory. */
uint32_t line_map_add_couple(struct line_map *m, uint32_t first, uint32_t second);

/* The unit of waits @id is that of @line. */
void line_map_name_wait(struct line_map *m, uint32_t id, uint32_t line);

/* Adds an object with its unsorted ranges, which are sorted, clipped and merged here. On overlap
 * the later one in the array wins. Returns 0 or -errno. */
int line_map_add_object(
    struct line_map *m, const struct line_object *o, const struct line_range *ranges, size_t n);

/* Takes back the objects and lines that were added since there were @n_objects and @n_lines. */
void line_map_cut(struct line_map *m, size_t n_objects, size_t n_lines);

/*
 * Index of the object @o, by path, build id, dev and ino; -1: none. Two containers may have the
 * same paths and inode numbers. A build id tells files apart where both have one, since an image's
 * file has another device in each container. Else the device tells. Paths count since scopes are
 * made of them.
 */
int line_map_find_object(const struct line_map *m, const struct line_object *o);

/* Index of the first range of object @object that ends behind @offset: one past its last one where
 * none does. */
size_t line_map_after(const struct line_map *m, size_t object, uint64_t offset);
/* Index of the range that holds @offset of object @object. False: none does. */
bool line_map_range_at(const struct line_map *m, size_t object, uint64_t offset, size_t *ret);

/* Line id at @offset of object @object; 0: none. */
uint32_t line_map_lookup(const struct line_map *m, size_t object, uint64_t offset);

#endif
