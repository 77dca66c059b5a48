// SPDX-License-Identifier: BSD-3-Clause
/* Files on their way from a process's mappings to the kernel side; see mappings.h. */
#include "run/mappings.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/session.h"
#include "run/calls.h"
#include "run/console.h"
#include "run/files.h"
#include "run/jit.h"
#include "run/options.h"
#include "run/spins.h"
#include "run/unwinder.h"

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
		    f->console, "'%s': %zu %s in scope", path, n, lines ? "lines" : "functions");
}

static void set_line_object(struct file *file, int index)
{
	file->line_object = index;
	file->is_read = true;
}

int mappings_read_program(struct files *f, int pid, struct file *file, struct error *e)
{
	struct line_object identity;
	struct object *o;
	size_t n = 0, objects;
	int known;

	file->is_program = true;
	if (files_open(f, file, &o, e))
		return -1;
	identity = object_identity(o);
	known = line_map_find_object(&f->lines, &identity);
	if (known >= 0) {
		set_line_object(file, known);
		return 0;
	}
	warn_build(f, pid, file->path);
	objects = f->lines.n_objects;
	if (scope_has_binary(&f->scope, file->path, true) &&
	    object_add_units(o, &f->scope, &f->lines, &n, e))
		return -1;
	if (f->lines.n_objects > objects)
		set_line_object(file, (int)objects);
	say_units(f, file->path, n);
	if (!f->main_object)
		f->main_object = o;
	return 0;
}

/* An object that is not in the line map: its index there, or -1 with @e. */
static int add_object(
    struct files *f, int pid, const struct file *file, struct object *o, struct error *e)
{
	size_t n = 0, objects = f->lines.n_objects;

	warn_build(f, pid, file->path);
	if (object_add_units(o, &f->scope, &f->lines, &n, e))
		return -1;
	if (session_add_lines(f->session, &f->lines, e)) {
		f->left_out = objects + 1;
		return error_hint(
		    e, "what is found after it stays out, too; name what matters with -b");
	}
	say_units(f, file->path, n);
	return (int)objects;
}

/* Reads an object seen for the first time. Its index, or -1 when it is not in scope or cannot be
 * read (said once). */
static int read_object(struct files *f, int pid, struct file *file)
{
	struct line_object identity;
	struct object *o = NULL;
	struct error e = {0};
	bool is_full = f->left_out;
	int ret = -1;

	if (files_is_shim(file->path))
		return -1;
	if (!has_path(f, file->path) && (is_full || !scope_has_binary(&f->scope, file->path,
							!strcmp(file->path, f->main_path))))
		return -1;
	if (!files_open(f, file, &o, &e)) {
		identity = object_identity(o);
		ret = line_map_find_object(&f->lines, &identity);
		if (is_full && (ret < 0 || (size_t)ret >= f->left_out - 1))
			return -1;
		if (ret < 0)
			ret = add_object(f, pid, file, o, &e);
	}
	if (ret < 0 && !maps_is_memory(file->path))
		console_say(f->console, "warning: '%s' in process %d stays out of scope: %s%s%s",
		    file->path, pid, e.cause, *e.hint ? "; " : "", e.hint);
	return ret;
}

static bool is_in_scope(const struct file *file)
{
	return file && file->line_object >= 0;
}

/* The mappings in scope come first: there may not be room for all. */
static size_t fill(struct files *f, int pid, const struct map_entry *all, struct file *const *files,
    size_t n, struct cozbpf_mapping *ret)
{
	size_t used = 0;

	for (int in_scope = 1; in_scope >= 0; in_scope--) {
		for (size_t i = 0; i < n && used < COZBPF_MAPPINGS; i++) {
			struct cozbpf_mapping m = {
			    .start = all[i].start, .end = all[i].end, .offset = all[i].offset};

			if (is_in_scope(files[i]) != in_scope)
				continue;
			if (in_scope) {
				m.first = f->lines.objects[files[i]->line_object].first;
				m.count = f->lines.objects[files[i]->line_object].count;
			}
			if (files[i]) {
				m.file = files[i]->number;
				unwinder_slice(f, files[i], &m);
			}
			ret[used++] = m;
		}
		if (in_scope)
			used += jit_mappings(f, pid, all, n, ret + used, COZBPF_MAPPINGS - used);
	}
	return used;
}

/* The record of a file that is mapped, with its lines read. NULL: out of memory. */
static struct file *look_at(struct files *f, int pid, const struct map_entry *m)
{
	struct file *file = files_mapped(f, pid, m);

	if (file && !file->is_read)
		set_line_object(file, read_object(f, pid, file));
	if (file)
		f->watcher.mapped(f->watcher.arg, file, is_in_scope(file));
	return file;
}

static int compare_mappings(const void *a, const void *b)
{
	const struct map_entry *x = a, *y = b;

	return (x->start < y->start) - (x->start > y->start);
}

/* There may not be room for all. So the program, which lies lowest, is first. The loader places
 * each library below those before it, and those that the program itself names come before theirs.
 */
static void order(struct map_entry *all, size_t n)
{
	size_t own = 0;

	while (own < n && !strcmp(all[own].path, all[0].path))
		own++;
	if (own < n)
		qsort(all + own, n - own, sizeof(*all), compare_mappings);
}

void mappings_read(struct files *f, int pid, bool *probed)
{
	bool probes = f->o->sync_uprobe && probed && !*probed;
	struct cozbpf_mapping mappings[COZBPF_MAPPINGS];
	struct map_entry *all;
	struct file **files;
	size_t n;

	if (maps_read(pid, &all, &n))
		return;
	order(all, n);
	files = calloc(n + 1, sizeof(struct file *));
	for (size_t i = 0; files && i < n; i++) {
		files[i] = look_at(f, pid, &all[i]);
		/* A library that holds calls is looked into once more below. */
		if (!probes)
			files_close(f);
	}
	if (probes)
		*probed = calls_probe(f, pid, all, n);
	spins_probe(f, pid, all, n);
	files_close(f);
	if (files)
		session_set_mappings(
		    f->session, pid, mappings, fill(f, pid, all, files, n, mappings));
	free(files);
	free(all);
}
