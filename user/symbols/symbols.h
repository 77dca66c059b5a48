/* SPDX-License-Identifier: BSD-3-Clause */
/* Debug information and symbols of one ELF file: the only place that knows libdw and libelf. Input
 * is untrusted: every failure is an error, never a crash. */
#ifndef COZBPF_SYMBOLS_H
#define COZBPF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/errors.h"
#include "core/places/linemap.h"
#include "core/places/scope.h"

struct object;

/* Opens the ELF file at @path. @root ("" or "/proc/PID/root") is put before the directories in
 * which separate debug files are looked for (/usr/lib/debug/.build-id/xx/yyy.debug, .gnu_debuglink
 * beside the file, in .debug/ and in /usr/lib/debug/DIR). 0, or -1 with @e. */
int object_open(const char *path, const char *root, struct object **ret, struct error *e);

/* The same for a file of another process, which may see it elsewhere, or where it has been replaced
 * since. */
struct object_place {
	const char *file; /* what is opened, such as /proc/PID/map_files/...; and what probes are
			     placed in */
	const char *path; /* as the process sees it: for messages, patterns and its directory */
	const char *root; /* as for object_open() */
};
int object_open_at(const struct object_place *place, struct object **ret, struct error *e);
/* The file's code only, for unwinding; debug information takes its time to decompress. */
int object_open_code(const char *path, struct object **ret, struct error *e);
void object_close(struct object *o); /* accepts NULL */

/* Facts, valid as long as the object is open. */
const char *object_path(const struct object *o);
const char *object_file(const struct object *o);    /* what was opened */
bool object_has_debug_info(const struct object *o); /* in itself or in a separate file */
bool object_is_static(const struct object *o);      /* no PT_INTERP: nothing can be preloaded */
bool object_is_go(const struct object *o);          /* made by the Go compiler, whose stacks move */
bool object_has_text(const struct object *o,
    const char *text); /* a string constant, as it stands between zero bytes */
uint32_t object_build_id(const struct object *o, uint8_t id[20]); /* length, 0 for none */
struct line_object object_identity(
    const struct object *o); /* for line_map_find_object(); the path is the object's */

/*
 * Adds the object with all its lines in @scope to @map. Inlined functions of out-of-scope files
 * belong to their in-scope call site (papers/003, 3.1); rows of line 0 belong to the row before
 * them in the same function. 0 with *@n_lines = number of in-scope lines found, which can be 0 (the
 * caller decides what to say), or -1 with @e: no debug information at all, or damaged.
 */
int object_add_lines(struct object *o, const struct scope *scope, struct line_map *map,
    size_t *n_lines, struct error *e);

/* All source files named in the line tables with the number of lines in each, for messages about
 * scopes that match nothing. The array and the strings are the caller's to free with
 * source_files_free. */
struct source_file {
	char *path;
	size_t n_lines;
	bool in_scope;
};
int object_source_files(struct object *o, const struct scope *scope, struct source_file **ret,
    size_t *n, struct error *e);
void source_files_free(struct source_file *files, size_t n);

/* A place for a probe, as a file offset (what uprobes take). */
struct probe_site {
	uint64_t offset;
	char function[128]; /* the function it lies in, demangled, possibly truncated; for messages
			     */
};

/*
 * File offset of @symbol + @offset from .symtab, .dynsym or the debug file. Matches the linkage
 * name, the demangled name, or the demangled name without its parameters when that is unambiguous.
 * Every copy that the compiler cloned (.part.0, .constprop.0, .isra.0) is returned too. -1 with @e
 * (EXIT_USAGE, "no symbol 'x' in 'path'", hint: the nearest names) when there is none; @offset
 * beyond the symbol's end is an error.
 * *@ret is the caller's to free.
 */
int object_find_symbol(struct object *o, const char *symbol, uint64_t offset,
    struct probe_site **ret, size_t *n, struct error *e);

/*
 * The functions of the object by their shortest names that object_find_symbol() takes, sorted, each
 * once. 0 with *@n = 0 for a stripped file; -1 with @e when memory is short. The names are the
 * caller's to free.
 */
int object_functions(struct object *o, char ***ret, size_t *n, struct error *e);
void functions_free(char **names, size_t n); /* accepts NULL */

/*
 * Where line @line of @file (a path or a suffix of one at a '/') begins as a statement: one site in
 * each function and each inlined copy that has code of the line, so that one execution of the line
 * is one visit (dwarf/findline.c tells how). -1 with @e (EXIT_USAGE) when the file or line has no
 * code; the hint names the nearest lines that have, or the nearest file names.
 */
int object_find_line(struct object *o, const char *file, uint32_t line, struct probe_site **ret,
    size_t *n, struct error *e);

/* A static probe that the program's source names (<sys/sdt.h>, systemtap's note format 3,
 * include/coz.h). */
struct sdt_probe {
	char *provider, *name;
	uint64_t addr_offset;      /* of the instruction, as a file offset */
	uint64_t semaphore_offset; /* of the 16-bit counter of its users, as a file offset; 0: it
				      has none */
	char *args; /* as they stand in the note; core/places/probe_args.h reads them */
};

/*
 * All static probes in the order of their notes; 0 with *@n = 0 when there are none. Damaged notes
 * are passed over as long as one can be read; -1 with @e when none can (EXIT_NO_RESULT), and for a
 * 32-bit program (EXIT_USAGE). The probes are the caller's to free.
 */
int object_sdt_probes(struct object *o, struct sdt_probe **ret, size_t *n, struct error *e);
void sdt_probes_free(struct sdt_probe *probes, size_t n); /* accepts NULL */

/* The sites of probe @provider:@name, at least one. -1 with @e (EXIT_USAGE) when there is none; the
 * hint names the nearest that the object has. */
int object_find_usdt(struct object *o, const char *provider, const char *name,
    struct sdt_probe **ret, size_t *n, struct error *e);

enum marker_kind {
	MARKER_PROGRESS, /* a visit */
	MARKER_BEGIN,    /* a transaction begins */
	MARKER_END,
};

/* A progress point of coz.h, ours or Coz's: all its places in one object. */
struct marker {
	enum marker_kind kind;
	char *name; /* 1 to 255 bytes, no control characters */
	struct probe_site *sites;
	size_t n_sites; /* at least one, unless n_lost */
	size_t n_lost;  /* places in the source whose visits cannot be counted; Coz's own only */
};

/*
 * The markers of cozbpf's coz.h by kind and name, their sites by offset; 0 with *@n = 0 when there
 * are none. -1 with @e as object_sdt_probes(). The markers are the caller's to free.
 */
int object_find_markers(struct object *o, struct marker **ret, size_t *n, struct error *e);

void markers_free(struct marker *markers, size_t n); /* accepts NULL */

#endif
