/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files that the target maps, and those that the user names: one record for each, found by its
 * identity. A record holds all that is known of its file. Records live as long as the registry.
 */
#ifndef COZBPF_RUN_FILES_H
#define COZBPF_RUN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include <cozbpf/abi.h>
#include "core/places/linemap.h"
#include "core/places/scope.h"
#include "core/text/errors.h"
#include "symbols/symbols.h"
#include "target/maps.h"

struct console;
struct go_places;
struct idle_search;
struct jit;
struct probed_calls;
struct run_options;
struct session;
struct spin_places;
struct unwinder;

/*
 * A file as stat() knows it: what is in maps differs from that on some file systems. Containers of
 * one image see its files through overlays of their own, each with a device number. A probe goes to
 * the file below, once for all: a second one would count each visit twice.
 */
struct file_id {
	dev_t dev;
	/* on an overlay that of the file below */
	ino_t ino;
	bool is_overlay;
	/* of two files below with the same number, on two file systems, these differ */
	off_t size;
	struct timespec changed;
};

struct file {
	uint32_t number; /* from 1, in the order of coming */
	bool is_program; /* of a process of the target: the pattern MAIN means it */
	/* as maps says; 0 and 0: the file was named, and is not known to be mapped */
	uint64_t dev, ino;
	/* as the process sees it */
	char *path;
	char *name; /* of a program: its functions are called after it; NULL: after the file */
	/* where we find it: in the process that was seen last with it; pid 0: as we see it */
	char *file;
	int pid;
	/* while it is open */
	struct object *object;
	/* the first record of the same file, as stat() knows it; NULL: not known yet */
	struct file *first;
	struct file_id id;
	/* Lines in scope: the object's index in the line map; -1: not in scope, or not readable. */
	bool is_read, is_left_out; /* left out: there was no room for them */
	int line_object;
	/* Rows for unwinding (unwinder.h): their slice of the kernel's table. */
	bool is_unwound;
	uint32_t unwind_first, unwind_count;
	/* in which a short look has met it (hot.h) */
	size_t samples;
	/* Calls that synchronise (calls.h); NULL: nobody has asked. */
	struct probed_calls *calls;
	/* Where its code spins (spin_places.h); likewise. */
	struct spin_places *spins;
	/* Where its runtime is probed (goroutines.h); likewise. */
	struct go_places *go;
	/* Places of progress points that were looked for here; of the first record only. */
	const void **places;
	size_t n_places;
	struct file *next;
};

/* Who is told of each file that a process maps, each time that its mappings are read. */
struct file_watcher {
	void (*mapped)(void *arg, struct file *file, bool in_scope);
	void *arg;
};

struct files {
	/* Borrowed. The session is there once the lines are read. */
	const struct run_options *o;
	const struct console *console;
	struct session *session;
	const char *main_path; /* of the target's program; the pattern MAIN means it */
	struct file_watcher watcher;
	/* to be read by all */
	struct scope scope;
	struct line_map lines;
	/* units of the kernel's functions or system calls: their ids */
	struct {
		uint32_t first, end;
	} kernel;
	struct object
	    *main_object; /* of the first program; NULL: there is none, as with a script */
	/* the line table had no room for a file */
	bool is_full;
	/* Processes whose mappings are to be read yet, and that may be looked at before (hot.h).
	 * Borrowed. */
	const int *running;
	size_t n_running;
	bool has_looked;
	/* what a probe of a call costs; 0: not measured */
	uint64_t probe_cost_ns;
	/* COZBPF_SPINS_*: what samples still look for */
	unsigned spins_sought;
	/* how the target was found to spin: its files are probed for that */
	unsigned spins_probed;
	/* a bit for each function of --spin that a file has */
	uint64_t spins_found;
	/* The main program's goroutines have accounts; its runtime. */
	bool goroutines, go_warned;
	bool untold_warned; /* mappings that the kernel side did not take */
	struct cozbpf_go go;
	/* private */
	struct file *all;
	struct unwinder *unwinder;
	struct jit *jit;                /* jit.h */
	struct idle_search *idle_loops; /* idle.c */
};

/* Zeroed, and the options set. -1 with @e. */
int files_init(struct files *f, struct error *e);
/* After unwinder_deinit(), calls_deinit(), spins_deinit(), goroutines_deinit() and jit_deinit(). */
void files_deinit(struct files *f);

/* The record of a file that process @pid maps. NULL: out of memory. */
struct file *files_mapped(struct files *f, int pid, const struct map_entry *m);
/* The record of a file that was named: @path as process @pid sees it, @file as we do; pid 0: we see
 * the same. NULL: out of memory. */
struct file *files_named(struct files *f, int pid, const char *path, const char *file);

/* The record of that number; NULL: there is none. */
struct file *files_numbered(const struct files *f, uint32_t number);

/* The file is a program that is called @name, and the pattern MAIN means it. -1 with @e. */
int files_set_program(struct files *f, struct file *file, const char *name, struct error *e);
/* What its functions are called after. */
const char *files_name(const struct file *file);

/* The root that the way to the file leads through: "" or /proc/PID/root. */
void files_root(const struct file *file, char *ret, size_t size);
/* Opens the file, unless it is open. The object is the registry's. -1 with @e. */
int files_open(struct files *f, struct file *file, struct object **ret, struct error *e);
/* The record of the main object; NULL: there is none. */
struct file *files_main(const struct files *f);
/* Debug information takes memory: closes all but the main object. */
void files_close(struct files *f);

/* Whether a place was looked for in the file, under any of its names; true where that cannot be
 * told. */
bool files_has_place(struct files *f, struct file *file, const void *place);
int files_add_place(struct files *f, struct file *file, const void *place, struct error *e);

/* After no line was found: says which source files there are. -1. */
int files_fail_no_lines(const struct files *f, struct error *e);

#endif
