/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The door of user/symbols/: debug information and symbols of one ELF file. libdw, libelf and
 * capstone are used below it only. The input is untrusted: damage is an error, never a crash.
 *
 * Each function that reads a file does so in a child of ours without rights (a reader, see
 * sandbox/sandbox.h). Where a reader crashes, or needs too much time or memory, the function fails
 * (EXIT_NO_RESULT), and the object can be asked again. A reading costs a fork, 1 ms. A file that is
 * cut off while it is read is an error.
 *
 * Inside, includes go one way, each part to those before it (make lint checks):
 *   sandbox/   the reader as a process: its rights, its limits, its answer
 *   elf/       the file, its separate debug file, symbol tables, static probes, unwind tables
 *   dwarf/     .debug_line and .debug_info: lines, units, functions, inlined copies
 *   code/      machine code: where a probe costs least, where blocks begin
 *   code/coz/  the places of Coz's own coz.h in programs that run already
 *   door/      the functions below: each asks a reader, and checks the answer
 * dwarf/ and code/ do not know each other, elf/ and sandbox/ neither.
 *
 * Parts with a door of their own: elf/openfile.h, elf/privileges.h.
 */
#ifndef COZBPF_SYMBOLS_H
#define COZBPF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/errors.h"
#include "core/places/linemap.h"
#include "core/places/scope.h"

struct object;

/* Opens the ELF file at @path. Separate debug files are looked for below @root, which is "" or
 * "/proc/PID/root": /usr/lib/debug/.build-id/xx/yyy.debug, and .gnu_debuglink beside the file, in
 * .debug/ and in /usr/lib/debug/DIR. What lies below @root is found within it (elf/openfile.h). 0,
 * or -1 with @e. */
int object_open(const char *path, const char *root, struct object **ret, struct error *e);

/* The same for a file of another process. That process may see the file at another path, and the
 * file may have been replaced since. */
struct object_place {
	/* What is opened, such as /proc/PID/map_files/... */
	const char *file;
	const char *path; /* as the process sees it, for messages and patterns */
	const char *root; /* as for object_open() */
	/* Debug files that are not installed are asked for, see debug_files_from(). */
	bool fetches;
};
int object_open_at(const struct object_place *place, struct object **ret, struct error *e);
/* For object_unwind_rows() only: the file is opened, and not looked at. */
int object_open_code(const char *path, const char *root, struct object **ret, struct error *e);
void object_close(struct object *o); /* accepts NULL */

/* Whom object_open_at() asks for a debug file by its build id, in hex; @path is the object's. A
 * descriptor, which is taken over and not trusted, or -1. NULL: nobody is asked. */
typedef int debug_file_fetch(void *ctx, const char *build_id, const char *path);
void debug_files_from(debug_file_fetch *fetch, void *ctx);

/* Facts, valid as long as the object is open. */
const char *object_path(const struct object *o);
/* For the kernel, as the file to probe: the open file itself, whatever its path leads to by now. */
const char *object_probe_path(const struct object *o);
/* In itself or in a separate file, or as a Go program's own table of lines. */
bool object_has_debug_info(const struct object *o);
bool object_is_static(const struct object *o); /* no PT_INTERP: nothing can be preloaded */
bool object_is_go(const struct object *o);     /* made by the Go compiler, whose stacks move */
/* Whether @text is a string constant of the program: with a zero byte at its end. */
bool object_has_text(const struct object *o, const char *text);   /* reads the file */
uint32_t object_build_id(const struct object *o, uint8_t id[20]); /* length, 0 for none */
/* For line_map_find_object(). The path is borrowed from the object. */
struct line_object object_identity(const struct object *o);

/*
 * Adds the object with all its lines in @scope to @map. Inlined functions of out-of-scope files
 * belong to their in-scope call site (paper 3.1). Rows of line 0 belong to the row before them in
 * the same function. 0 with the number of in-scope lines in *@n_lines, which can be 0: the caller
 * decides what to say. -1 with @e: no debug information at all, or damaged.
 */
int object_add_lines(struct object *o, const struct scope *scope, struct line_map *map,
    size_t *n_lines, struct error *e);

/*
 * The same with functions as units, of code that has no debug information: a unit is "MODULE:NAME"
 * for a function that symbols name, "MODULE+0xADDRESS" for one that .eh_frame alone knows, and
 * "MODULE" for the rest of the code; MODULE is the base name of the file, ADDRESS that of the
 * linker. Clones, cold parts and overloads are one unit with what they are of.
 */
int object_add_functions(struct object *o, struct line_map *map, size_t *n_units, struct error *e);

/* Either of them, or blocks, as the scope's granularity says. A block's unit is
 * "FUNCTION+0xOFFSET", where FUNCTION is as above, but clones, cold parts and overloads are
 * functions of their own: "MODULE:NAME.cold", "MODULE:NAME@0xADDRESS". Code of no function has no
 * blocks. Where the scope names source files, blocks are in scope whose first instruction is. -1
 * with @e also when nothing of the object is known to have blocks. */
int object_add_units(struct object *o, const struct scope *scope, struct line_map *map,
    size_t *n_units, struct error *e);

/* Adds one object with the functions of the perf map (core/places/perfmap.h) behind @fd to @ret:
 * ranges are addresses. Of a long file the end counts. -1 with @e. */
int perf_map_read(int fd, uint64_t size, const char *path, struct line_map *ret, struct error *e);

/* While a file is read, @wanted is asked every few milliseconds, by the thread that waits for the
 * reader. True ends the reading: -1 with @e. NULL: nobody is asked. */
void reading_stops_when(bool (*wanted)(void));

/* Whether all readers so far had a filter of system calls: the kernel, or a container, may refuse
 * it. */
bool reading_is_filtered(void);

/* All source files that the line tables name, with the number of lines in each; for messages about
 * scopes that match nothing. source_files_free() frees the array and the strings. */
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
	/* The function that the place lies in, for messages: demangled, cut off when too long. */
	char function[128];
	/* Set by object_check_sites(): the kernel emulates the instruction. */
	bool is_cheap;
	/* Set there, too: the instruction is a nop of five bytes in the midst of a function. Linux
	 * 6.18 makes a call of it, which overwrites what the function has below its stack pointer
	 * (the red zone). The next instruction, when it is executed exactly as often; 0: nobody
	 * knows. */
	bool may_clobber;
	uint64_t next;
	/* Of a marker: the five-byte nop behind its first one, as executed as often; 0: none. */
	uint64_t long_nop;
};

/*
 * File offsets of @symbol + @offset, from .symtab, .dynsym or the debug file. @symbol is the
 * linkage name, the demangled name, or the demangled name without its parameters when that is
 * unambiguous. Copies that the compiler cloned (.part.0, .constprop.0, .isra.0) are returned too.
 * Where @symbol is "", @offset is the address of code, as the linker gave it.
 * *@ret is the caller's to free. -1 with @e (EXIT_USAGE) when @offset lies beyond the symbol's end,
 * and when there is no such symbol; the hint then gives the nearest names.
 */
int object_find_symbol(struct object *o, const char *symbol, uint64_t offset,
    struct probe_site **ret, size_t *n, struct error *e);

/* The sites of several functions at once; a function that is not there has none. */
struct named_site {
	uint32_t name; /* index */
	uint64_t offset;
};
int object_find_symbols(struct object *o, const char *const *names, size_t n_names,
    struct named_site **ret, size_t *n, struct error *e);

/*
 * Looks at the instructions of sites before they are probed. @move: each site moves to a place that
 * is executed exactly as often and costs least, where there is one for certain. There, arguments
 * may no longer be in their registers, nor the return address on top of the stack. -1 with @e
 * (EXIT_USAGE) when no instruction begins at a site: a probe replaces the first byte of one.
 * @strict: -1 also where that cannot be told, such as on other machines than x86-64 and arm64.
 */
int object_check_sites(
    struct object *o, struct probe_site *sites, size_t n, bool move, bool strict, struct error *e);

/*
 * The functions of the object by the shortest names that object_find_symbol() takes: sorted, each
 * once. 0 with *@n = 0 for a stripped file; -1 with @e when memory is short. functions_free() frees
 * the names.
 */
int object_functions(struct object *o, char ***ret, size_t *n, struct error *e);
void functions_free(char **names, size_t n); /* accepts NULL */

/*
 * Where line @line of @file (a path, or a suffix of one at a '/') begins as a statement. Each
 * function and each inlined copy with code of the line has one site, so that one execution of the
 * line is one visit; dwarf/findline.c tells how the site is chosen. -1 with @e (EXIT_USAGE) when
 * the file or the line has no code; the hint names the nearest lines that have, or the nearest file
 * names.
 */
int object_find_line(struct object *o, const char *file, uint32_t line, struct probe_site **ret,
    size_t *n, struct error *e);

/* A static probe that the program's source names: by <sys/sdt.h>, in systemtap's note format 3, or
 * by include/coz.h. */
struct sdt_probe {
	char *provider, *name;
	uint64_t addr_offset; /* of the instruction, as a file offset */
	/* Of the 16-bit counter of the probe's users, as a file offset; 0: there is none. */
	uint64_t semaphore_offset;
	char *args; /* as in the note; core/places/probe_args.h reads them */
};

/*
 * All static probes in the order of their notes; 0 with *@n = 0 when there are none. Damaged notes
 * are left out as long as one note can be read. -1 with @e when none can (EXIT_NO_RESULT), and for
 * a 32-bit program (EXIT_USAGE). sdt_probes_free() frees the probes.
 */
int object_sdt_probes(struct object *o, struct sdt_probe **ret, size_t *n, struct error *e);
void sdt_probes_free(struct sdt_probe *probes, size_t n); /* accepts NULL */

/* The sites of probe @provider:@name, at least one. -1 with @e (EXIT_USAGE) when there is no such
 * probe; the hint names the nearest probes of the object. */
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
	/* Places in the source whose visits cannot be counted: only of object_find_coz_sites(). */
	size_t n_lost;
};

/*
 * The markers of cozbpf's coz.h by kind and name, their sites by offset; 0 with *@n = 0 when there
 * are none. -1 with @e as object_sdt_probes(). markers_free() frees the markers.
 */
int object_find_markers(struct object *o, struct marker **ret, size_t *n, struct error *e);

/*
 * As object_find_markers(), for programs built with Coz's own coz.h, in processes that run already
 * and in static programs. A place of that header asks once for its counter, and keeps NULL when
 * there is no profiler. Its site is the branch that then skips the counting, executed once a visit.
 *
 * A place that has not been executed before may lose its first visit. When the compiler has taken
 * the branch out of a loop, or uses it for several visits, the place cannot be counted (n_lost).
 * There are no markers in programs without such places, in programs for other machines than x86-64,
 * and in those with neither symbols nor .eh_frame_hdr. -1 with @e when memory is short, or when the
 * code would take too long to look through (EXIT_NO_RESULT).
 */
int object_find_coz_sites(struct object *o, struct marker **ret, size_t *n, struct error *e);

void markers_free(struct marker *markers, size_t n); /* accepts NULL */

/* A place that a loop which waits by trying again executes once in each turn. All are file offsets.
 */
struct spin_site {
	uint64_t offset;    /* of an instruction: PAUSE, or the branch back of an idle loop */
	uint64_t from, to;  /* of an idle loop, or of the PAUSE alone */
	uint32_t kind;      /* COZBPF_SPINS_PAUSE or COZBPF_SPINS_IDLE */
	uint32_t condition; /* on which it turns there: COZBPF_BRANCH_*; 0: always */
};

/* Which are sought. */
struct spin_question {
	unsigned kinds;
	/* Idle loops within the 64 bytes of each of these file offsets; NULL: of the whole file. */
	const uint64_t *around;
	size_t n_around, max;
};

/*
 * Where code spins, sorted, at most max places. There are none for another machine than x86-64.
 * Code that belongs to no function of the symbols or of .eh_frame_hdr is left out. *@ret is the
 * caller's to free. 0, or -1 with @e.
 */
int object_spin_sites(struct object *o, const struct spin_question *q, struct spin_site **ret,
    size_t *n, struct error *e);

/*
 * A basic block: code that is entered at its first instruction only, and left at its last one only.
 * Branch targets begin blocks; jumps, conditional or not, and returns end them. Calls do not: a
 * block's time is that with what it calls.
 *
 * An execution of a block may have no exit: it calls what does not return, or an exception leaves
 * it. An exit may have no entry: after setjmp(), or where a computed jump leads into a block
 * (code/blockmap.h). Neither is counted. Where a call is a block's last instruction the exit is the
 * next one, at ->end, which others may execute as well: that is an exit of whoever has entered.
 */
struct block_site {
	uint64_t start, end;  /* [start, end) in file offsets; both 0: no block begins there */
	uint64_t entry, exit; /* to probe: executed once in each execution of the block, exit last;
				 see above for exit == end */
	bool entry_is_cheap, exit_is_cheap; /* the kernel emulates the instruction */
	bool calls;                         /* a function, or the kernel */
	bool loops;                         /* it ends with a branch to its own start */
	uint32_t instructions;
	char function[128];       /* as the block's unit has it, without the module */
	uint64_t function_offset; /* of the block in it */
	char lines[128]; /* "compress.c:612-618", of the file with most of its code; "": unknown */
};

/* Of the blocks that begin at the @n file offsets, which are ranges' of the line map (a scope of
 * GRANULARITY_BLOCK). -1 with @e. */
int object_block_sites(
    struct object *o, const uint64_t *starts, size_t n, struct block_site *ret, struct error *e);

/*
 * What the delay machine needs to know of a Go program's runtime, for x86-64, Go 1.19 and later.
 * All of it is told by the file, which is not trusted: a wrong offset reads wrong memory of the
 * program itself. The struct owns nothing.
 */
enum go_event {
	GO_EXECUTE, /* runtime.execute(gp): the thread goes over to gp; on g0 */
	GO_PARK,    /* runtime.park_m(gp): gp leaves the thread, blocked; on g0 */
	GO_READY, /* runtime.ready(gp): gp becomes runnable, by m.curg where there is one; on g0 */
	GO_NEW,   /* the go statement: gp has been made by m.curg, with its goid; on g0 */
	GO_EXIT,  /* runtime.gdestroy(gp), before 1.22 runtime.goexit0(gp): gp ends; on g0 */
	GO_COLLECT, /* runtime.gcDrain(): m.curg is a worker of the collector; on g0 */
	GO_EVENTS
};

/* Where general registers hold an argument, in the calling convention of Go on x86-64. */
enum go_register { GO_RAX, GO_RBX };

/* One place for a probe: each time that the event happens the place is executed once. */
struct go_site {
	uint64_t offset;      /* of an instruction, as a file offset; what uprobes take */
	enum go_register gp;  /* the register that holds gp's address there */
	bool is_cheap;        /* as of struct probe_site */
	const char *function; /* that the place lies in, for messages; static text */
};

/* Offsets in bytes within the runtime's own structs, all below 4096. */
struct go_offsets {
	uint16_t g_stack;        /* struct { lo, hi uintptr } */
	uint16_t g_m;            /* *m; NULL while the goroutine has no thread */
	uint16_t g_atomicstatus; /* uint32: 1 runnable, 2 running, 4 waiting, 6 dead */
	uint16_t g_goid;         /* uint64 */
	uint16_t m_g0;           /* *g: the scheduler's stack */
	uint16_t m_gsignal;      /* *g: the signal handlers' stack */
	uint16_t m_curg;         /* *g: the goroutine that the thread runs, or NULL */
	uint16_t m_mallocing;    /* int32 */
	uint16_t m_preemptoff; /* string { data, len }: len, at offset + 8, is 0 when preemptible */
	uint16_t m_locks;      /* int32 */
};

struct go_runtime {
	char version[32]; /* as the file says: "go1.23.4", "devel go1.28-..." */
	struct go_offsets at;
	/* From the debug information of this file; false: by the version, from a table. */
	bool offsets_are_own;
	/* The thread's g, a pointer, is at thread pointer (fs base) + tls_g. Within Go code the
	 * same is in r14, except on signal stacks and in C. */
	int64_t tls_g;
	struct go_site sites[GO_EVENTS];
};

/*
 * 1 when the file is no Go program, with *@ret zeroed; 0; -1 with @e, which names what was not
 * found (an unknown version, another machine, functions that are missing or renamed). Then
 * ->version is set as far as it is known, else "".
 */
int object_go_runtime(struct object *o, struct go_runtime *ret, struct error *e);

/*
 * Unwind tables: how to get from a frame of an object's code to its caller's, read from .eh_frame,
 * as rows that the kernel side can search. Rows hold what compilers say of ordinary functions on
 * x86-64 and arm64. Where the rule is another one (expressions, other registers) the row is
 * COZBPF_UNWIND_NONE.
 *
 * The rows of all code of the object, sorted by file offset; each row holds up to the next one. At
 * most @max rows are made, and code beyond has no rule. *@n is 0 for an object without .eh_frame
 * and for other machines. Another thread may set *@stop, which ends the reading: -1 with @e. *@ret
 * is the caller's to free. 0, or -1 with @e.
 */
struct cozbpf_unwind_row;
int object_unwind_rows(struct object *o, size_t max, const bool *stop,
    struct cozbpf_unwind_row **ret, size_t *n, struct error *e);

#endif
