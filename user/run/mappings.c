// SPDX-License-Identifier: BSD-3-Clause
/* Files on their way from a process's mappings to the kernel side; see mappings.h. */
#include "run/mappings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/session.h"
#include "run/calls.h"
#include "run/console.h"
#include "run/files.h"
#include "run/goroutines.h"
#include "run/hot.h"
#include "run/jit.h"
#include "run/options.h"
#include "run/spins.h"
#include "run/unwinder.h"
#include "target/maps.h"
#include "target/program.h"

/* What a process maps where. */
struct mapped {
	const struct map_entry *at;
	struct file *file; /* NULL: out of memory */
};

static bool has_path(const struct files *f, const char *path)
{
	for (size_t i = 0; i < f->lines.n_objects; i++)
		if (!strcmp(f->lines.objects[i].path, path))
			return true;
	return false;
}

/* Before a file is added. */
static void warn_build(const struct files *f, int pid, const char *path)
{
	if (has_path(f, path))
		console_say(f->console,
		    "warning: process %d runs another build of '%s' than was there at the start: "
		    "the profile mixes both",
		    pid, path);
}

void mappings_decide_units(struct files *f, bool has_debug_info, int maker)
{
	struct scope *s = &f->scope;

	if (s->granularity != GRANULARITY_AUTO || s->n_binaries ||
	    scope_has_lines(s, has_debug_info && !maker))
		return;
	s->granularity = GRANULARITY_FUNCTION;
	if (has_debug_info)
		console_say(f->console,
		    "process %d has a perf map of functions that it makes while it runs: functions "
		    "are made faster, not lines",
		    maker);
	else
		console_say(f->console,
		    "'%s' has no debug information: functions are made faster, not lines",
		    f->main_path);
}

static void say_units(const struct files *f, const char *path, size_t n)
{
	bool lines = n && f->lines.lines[f->lines.n_lines - 1].line;

	if (f->o->verbose)
		console_say(
		    f->console, "'%s': %zu %ss in scope", path, n, scope_unit(&f->scope, lines));
}

static void set_line_object(struct file *file, int index)
{
	file->line_object = index;
	file->is_read = true;
}

/* A full table takes what a look has met, if it is small enough, and nothing else. */
static bool has_room(const struct files *f, struct file *file)
{
	file->is_left_out = f->is_full && !file->samples;
	return !file->is_left_out;
}

/* Gives the kernel side an object of @n units, added when the map had so many objects and lines, or
 * takes it out of the map again. */
static int tell_lines(
    struct files *f, struct file *file, size_t n, size_t n_objects, size_t n_lines, struct error *e)
{
	if (!session_add_lines(f->session, &f->lines, e))
		return 0;
	error_set(e, EXIT_OTHER,
	    "no room for its %zu units and %u address ranges in the line table", n,
	    f->lines.objects[n_objects].count);
	line_map_cut(&f->lines, n_objects, n_lines);
	f->is_full = file->is_left_out = true;
	return error_hint(e, "what is found after it stays out, too; name what matters with -b");
}

int mappings_read_program(struct files *f, int pid, struct file *file, struct error *e)
{
	struct line_object identity;
	char name[NAME_MAX + 1];
	struct object *o;
	size_t n = 0, objects = f->lines.n_objects, lines = f->lines.n_lines;
	int known;

	program_name(pid, file->path, name);
	/* Where it fails the caller says why, so nobody is to try again. */
	if (files_set_program(f, file, name, e) || files_open(f, file, &o, e)) {
		set_line_object(file, -1);
		return -1;
	}
	identity = object_identity(o);
	known = line_map_find_object(&f->lines, &identity);
	if (known >= 0) {
		set_line_object(file, known);
		return 0;
	}
	if (!has_room(f, file)) {
		set_line_object(file, -1);
		return error_set(e, EXIT_OTHER, "the line table is full");
	}
	warn_build(f, pid, file->path);
	if (scope_has_binary(&f->scope, file->path, true) &&
	    (object_add_units(o, &f->scope, &f->lines, &n, e) ||
		(f->session && tell_lines(f, file, n, objects, lines, e)))) {
		set_line_object(file, -1);
		return -1;
	}
	if (f->lines.n_objects > objects)
		set_line_object(file, (int)objects);
	say_units(f, file->path, n);
	if (!f->main_object)
		f->main_object = o;
	return 0;
}

/* An object that is not in the line map: its index there, or -1 with @e. */
static int add_object(
    struct files *f, int pid, struct file *file, struct object *o, struct error *e)
{
	size_t n = 0, objects = f->lines.n_objects, lines = f->lines.n_lines;

	warn_build(f, pid, file->path);
	if (object_add_units(o, &f->scope, &f->lines, &n, e) ||
	    tell_lines(f, file, n, objects, lines, e))
		return -1;
	say_units(f, file->path, n);
	return (int)objects;
}

/* Nobody needs to know yet of what a look may still give room. */
static void say_out(const struct files *f, int pid, const struct file *file, const struct error *e)
{
	if (maps_is_memory(file->path) || (file->is_left_out && hot_may_look(f)))
		return;
	console_say(f->console, "warning: '%s' in process %d stays out of scope: %s%s%s",
	    file->path, pid, e->cause, *e->hint ? "; " : "", e->hint);
}

/* Reads an object seen for the first time. Its index, or -1 when it is not in scope or cannot be
 * read (said once). */
static int read_object(struct files *f, int pid, struct file *file)
{
	struct line_object identity;
	struct object *o = NULL;
	struct error e = {0};
	bool is_known = has_path(f, file->path);
	int ret = -1;

	if (maps_is_shim(file->path))
		return -1;
	if (!is_known &&
	    (!scope_has_binary(&f->scope, file->path, !strcmp(file->path, f->main_path)) ||
		!has_room(f, file)))
		return -1;
	if (!files_open(f, file, &o, &e)) {
		identity = object_identity(o);
		ret = line_map_find_object(&f->lines, &identity);
		if (ret < 0 && !has_room(f, file))
			return -1;
		if (ret < 0)
			ret = add_object(f, pid, file, o, &e);
	}
	if (ret < 0)
		say_out(f, pid, file, &e);
	return ret;
}

static bool is_in_scope(const struct file *file)
{
	return file && file->line_object >= 0;
}

/* The mappings in scope come first: there may not be room for all. */
static size_t fill(struct files *f, int pid, const struct map_entry *all,
    const struct mapped *mapped, size_t n, struct cozbpf_mapping *ret)
{
	size_t used = 0;

	for (int in_scope = 1; in_scope >= 0; in_scope--) {
		for (size_t i = 0; i < n && used < COZBPF_MAPPINGS; i++) {
			const struct map_entry *at = mapped[i].at;
			struct file *file = mapped[i].file;
			struct cozbpf_mapping m = {
			    .start = at->start, .end = at->end, .offset = at->offset};

			if (is_in_scope(file) != in_scope)
				continue;
			if (in_scope) {
				m.first = f->lines.objects[file->line_object].first;
				m.count = f->lines.objects[file->line_object].count;
			}
			if (file) {
				m.file = file->number;
				unwinder_slice(f, file, &m);
			}
			ret[used++] = m;
		}
		if (in_scope)
			used += jit_mappings(f, pid, all, n, ret + used, COZBPF_MAPPINGS - used);
	}
	return used;
}

/* In which order files are read: there may not be room for all. What a look has met comes first.
 * The loader places each library below those before it, and those that the program itself names
 * come before theirs. */
static int compare_mapped(const void *a, const void *b)
{
	const struct mapped *x = a, *y = b;
	size_t of_x = x->file ? x->file->samples : 0, of_y = y->file ? y->file->samples : 0;

	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return (x->at->start < y->at->start) - (x->at->start > y->at->start);
}

/* The program, which lies lowest, is first in any case. */
static void order(struct mapped *all, size_t n)
{
	size_t own = 0;

	while (own < n && !strcmp(all[own].at->path, all[0].at->path))
		own++;
	if (own < n)
		qsort(all + own, n - own, sizeof(*all), compare_mapped);
}

/* Reads the lines of the files that are new. */
static void read_files(
    struct files *f, int pid, const struct mapped *all, size_t n, bool stays_open)
{
	for (size_t i = 0; i < n; i++) {
		struct file *file = all[i].file;

		if (file && !file->is_read)
			set_line_object(file, read_object(f, pid, file));
		if (file)
			f->watcher.mapped(f->watcher.arg, file, is_in_scope(file));
		if (!stays_open)
			files_close(f);
	}
}

/* What was read since the map had so many objects and lines, and what has found no room, is new
 * again. */
static void forget(struct files *f, size_t n_objects, size_t n_lines)
{
	for (struct file *file = f->all; file; file = file->next) {
		if (!file->is_left_out && file->line_object < (int)n_objects)
			continue;
		file->line_object = -1;
		file->is_read = file->is_left_out = false;
	}
	line_map_cut(&f->lines, n_objects, n_lines);
	f->is_full = false;
}

/* Reads the lines of what the process maps, where there is not room for all by what runs most. The
 * table keeps its ranges when the map forgets them, so they are written over. */
static void read_all(struct files *f, int pid, struct mapped *all, size_t n, bool stays_open)
{
	size_t objects = f->lines.n_objects, lines = f->lines.n_lines, ranges = f->lines.n_ranges;

	if (n > COZBPF_MAPPINGS && scope_has_libraries(&f->scope))
		hot_look(f);
	order(all, n);
	read_files(f, pid, all, n, stays_open);
	if (!f->is_full || !hot_may_look(f))
		return;
	hot_look(f);
	forget(f, objects, lines);
	order(all, n);
	read_files(f, pid, all, n, stays_open);
	session_set_ranges(
	    f->session, (uint32_t)ranges, f->lines.ranges + ranges, f->lines.n_ranges - ranges);
}

/* Said once: what stands in the way is the same for all. */
static void warn_untold(struct files *f, int pid, int err)
{
	if (!f->untold_warned)
		console_say(f->console,
		    "warning: the kernel side takes no mappings of process %d, which so has no "
		    "lines: %s",
		    pid, strerror(err));
	f->untold_warned = true;
}

void mappings_read(struct files *f, int pid, bool *probed)
{
	bool is_awake = !session_is_asleep(f->session),
	     probes = is_awake && f->o->sync_uprobe && probed && !*probed;
	struct cozbpf_mapping mappings[COZBPF_MAPPINGS];
	struct map_entry *all;
	struct mapped *mapped;
	size_t n;
	int err = -ENOMEM;

	if (maps_read(pid, &all, &n))
		return;
	mapped = calloc(n + 1, sizeof(*mapped));
	for (size_t i = 0; mapped && i < n; i++)
		mapped[i] = (struct mapped){&all[i], files_mapped(f, pid, &all[i])};
	/* A library that holds calls is looked into once more below. */
	if (mapped)
		read_all(f, pid, mapped, n, probes);
	if (probes)
		*probed = calls_probe(f, pid, all, n);
	if (is_awake) {
		spins_probe(f, pid, all, n);
		goroutines_probe(f, pid, all, n);
	}
	files_close(f);
	if (mapped)
		err = session_set_mappings(
		    f->session, pid, mappings, fill(f, pid, all, mapped, n, mappings));
	if (err)
		warn_untold(f, pid, -err);
	free(mapped);
	free(all);
}
