// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where the specs of progress points lead, in files that are there at the start and in files that
 * the target maps later (dlopen, exec, a file that was replaced). A place has as many probes as its
 * spec has sites in as many files.
 */
#include "run/run.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "core/text/paths.h"
#include "core/places/probe_args.h"
#include "core/places/spec.h"
#include "symbols/code/cheapsite.h"
#include "symbols/symbols.h"

/*
 * A file as stat() knows it: what is in maps differs from that on some file systems. Containers of
 * one image see its files through overlays of their own, each with a device number, but a probe
 * goes to the file below, once for all: a second one would count each visit twice.
 */
struct file_id {
	dev_t dev;
	ino_t ino; /* on an overlay that of the file below */
	bool is_overlay;
	off_t size;
	struct timespec changed; /* of two files below with the same number, on two file systems,
				    this differs */
};

/* A spec that serves a point, or the markers of coz.h, which make points of their own. */
struct place {
	struct spec spec;
	bool is_markers;
	unsigned index, role; /* of the point */
	int arg;              /* that is the key of a latency; -1: the thread is */
	char *path; /* of the file that the spec names, as the target sees it; NULL: none is named,
		       or it has not come yet */
	struct file_id *files; /* that its probes are in */
	size_t n_files;
	bool is_placed;   /* somewhere */
	bool is_anywhere; /* names no file, and was not in the main executable: any file in scope
			     that has it will do */
	struct error missing; /* why not, where it is awaited */
	struct place *next;
};

static bool file_identify(const char *file, struct file_id *ret)
{
	struct statfs fs;
	struct stat st;

	if (stat(file, &st))
		return false;
	*ret = (struct file_id){st.st_dev, st.st_ino,
	    !statfs(file, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC, st.st_size, st.st_ctim};
	return true;
}

static bool is_same_file(const struct file_id *a, const struct file_id *b)
{
	if (a->ino != b->ino)
		return false;
	return a->dev == b->dev || (a->is_overlay && b->is_overlay && a->size == b->size &&
				       a->changed.tv_sec == b->changed.tv_sec &&
				       a->changed.tv_nsec == b->changed.tv_nsec);
}

static bool has_file(const struct place *p, struct file_id id)
{
	for (size_t i = 0; i < p->n_files; i++)
		if (is_same_file(&p->files[i], &id))
			return true;
	return false;
}

static int remember_file(struct place *p, const char *file, struct error *e)
{
	struct file_id *bigger = realloc(p->files, (p->n_files + 1) * sizeof(*bigger)), id;

	if (!bigger)
		return error_set(e, EXIT_OTHER, "out of memory");
	p->files = bigger;
	if (file_identify(file, &id))
		bigger[p->n_files++] = id;
	return 0;
}

static int find_sites(struct object *o, const struct spec *spec, struct probe_site **sites,
    size_t *n, struct error *e)
{
	switch (spec->kind) {
	case SPEC_LINE:
		return object_find_line(o, spec->file, spec->line, sites, n, e);
	case SPEC_RETURN:
		if (object_is_go(o)) {
			error_set(e, EXIT_USAGE,
			    "'%s' is a Go program: its stacks move, so a probe at a return would "
			    "crash it",
			    object_path(o));
			return error_hint(e, "probe the function's entry, or a line before its "
					     "return: -P FILE:LINE");
		}
		return object_find_symbol(o, spec->symbol, 0, sites, n, e);
	default:
		return object_find_symbol(o, spec->symbol, spec->offset, sites, n, e);
	}
}

/* The dearest of a point's probes is what its visits are taken to cost. */
static void note_cost(
    struct runner *r, const struct place *p, struct object *o, const struct point_probe *probe)
{
	struct point *point = &r->points.points[p->index];
	bool cheap = object_site_is_cheap(o, probe->offset);
	enum visit_sort sort = probe->at_return ? cheap ? VISIT_RETURN : VISIT_RETURN_STEPPED
			       : cheap          ? VISIT_CHEAP
						: VISIT_STEPPED;

	point->sort = sort > point->sort ? sort : point->sort;
}

/* Where the key of a latency is: in an argument of the static probe, or in a register where a
 * function begins. */
static int find_key(struct runner *r, const struct place *p, const struct object *o,
    const char *args, unsigned *ret, struct error *e)
{
	struct cozbpf_arg arg;
	int err;

	*ret = 0;
	if (p->arg < 0)
		return 0;
	if (args)
		err = probe_arg_parse(PROBE_ARCH_HOST, args, (unsigned)p->arg, &arg, e);
	else
		err =
		    probe_arg_function(PROBE_ARCH_HOST, object_is_go(o), (unsigned)p->arg, &arg, e);
	return err ? err : session_add_key(r->session, &arg, ret, e);
}

static int place_usdt(struct runner *r, const struct place *p, struct object *o, struct error *e)
{
	struct point_probe probe = {.index = p->index, .role = p->role, .path = object_file(o)};
	struct sdt_probe *probes = NULL;
	size_t n = 0;
	int err = object_find_usdt(o, p->spec.group, p->spec.event, &probes, &n, e);

	for (size_t i = 0; !err && i < n; i++) {
		probe.offset = probes[i].addr_offset;
		probe.semaphore = probes[i].semaphore_offset;
		note_cost(r, p, o, &probe);
		err = find_key(r, p, o, probes[i].args, &probe.key, e) ||
			      session_add_probe(r->session, &probe, e)
			  ? -1
			  : 0;
		if (!err && r->o.verbose)
			run_say(r, "progress point '%s' at 0x%llx of '%s'", p->spec.name,
			    (unsigned long long)probe.offset, object_path(o));
	}
	sdt_probes_free(probes, n);
	return err;
}

static int place_sites(struct runner *r, const struct place *p, struct object *o, struct error *e)
{
	struct point_probe probe = {.index = p->index,
	    .role = p->role,
	    .path = object_file(o),
	    .at_return = p->spec.kind == SPEC_RETURN};
	struct probe_site *sites = NULL;
	size_t n = 0;
	int err = find_sites(o, &p->spec, &sites, &n, e) || find_key(r, p, o, NULL, &probe.key, e)
		      ? -1
		      : 0;

	for (size_t i = 0; !err && i < n; i++) {
		probe.offset = sites[i].offset;
		/* Who gives an offset wants that very instruction; an argument is in its register
		 * at the first. */
		if (!probe.at_return && !p->spec.offset && p->arg < 0)
			object_cheap_site(o, sites[i].offset, &probe.offset);
		note_cost(r, p, o, &probe);
		err = session_add_probe(r->session, &probe, e);
		if (!err && r->o.verbose)
			run_say(r, "progress point '%s' at 0x%llx of '%s' in %s", p->spec.name,
			    (unsigned long long)probe.offset, object_path(o), sites[i].function);
	}
	free(sites);
	return err;
}

/* Probes all sites of the place in the file. 1: markers are looked for, and it has none. */
static int place_in_object(struct runner *r, struct place *p, struct object *o, struct error *e)
{
	int err = p->is_markers               ? run_place_markers(r, o, e)
		  : p->spec.kind == SPEC_USDT ? place_usdt(r, p, o, e)
					      : place_sites(r, p, o, e);

	if (err)
		session_forget_probes(r->session);
	if (err)
		return err > 0 ? 1 : -1;
	if (session_place_probes(r->session, e))
		return -1;
	p->is_placed = true;
	return remember_file(p, object_file(o), e);
}

/* Opens the file that a spec names. 1: it is the name of a library that is nowhere to be seen yet.
 */
static int open_named(struct runner *r, struct place *p, struct object **ret, struct error *e)
{
	char path[PATH_MAX];
	int err;

	if (r->target.attached) {
		err = run_attach_object(r, p->spec.path, ret, e);
	} else if (realpath(p->spec.path, path)) {
		err = object_open(path, "", ret, e);
	} else {
		error_set(e, EXIT_USAGE, "cannot open '%s' of progress point '%s': %s",
		    p->spec.path, p->spec.name, strerror(errno));
		err = error_hint(e, "PATH is that of the binary which holds the symbol");
	}
	if (!err) {
		p->path = strdup(object_path(*ret));
		return p->path ? 0 : error_set(e, EXIT_OTHER, "out of memory");
	}
	return !strchr(p->spec.path, '/') && strstr(p->spec.path, ".so") ? 1 : err;
}

/* What no file at hand has may come with another one in scope, where there can be others. */
static int await(struct runner *r, struct place *p, const struct error *why)
{
	p->missing = *why;
	run_say(r, "progress point '%s' is awaited: %s", p->spec.name, why->cause);
	return 0;
}

static int find_sampled(struct runner *r, struct place *p, struct error *e)
{
	uint32_t line = line_map_find(&r->files.lines, p->spec.file, p->spec.line, e);

	if (!line || session_add_sampled(r->session, p->index, line, e))
		return -1;
	p->is_placed = r->points.points[p->index].is_sampled = true;
	return 0;
}

static int place_sampled(struct runner *r, struct place *p, struct error *e)
{
	if (!find_sampled(r, p, e))
		return 0;
	return r->files.scope.n_binaries ? await(r, p, e) : -1;
}

static int place_tracepoint(struct runner *r, struct place *p, struct error *e)
{
	const struct point_probe probe = {
	    .index = p->index, .role = p->role, .category = p->spec.group, .name = p->spec.event};

	p->is_placed = true;
	return session_add_probe(r->session, &probe, e);
}

static int place_in_main(struct runner *r, struct place *p, struct error *e)
{
	if (!r->files.main_object)
		error_set(e, EXIT_USAGE, "it names no binary, and the command is a script");
	else if (!place_in_object(r, p, r->files.main_object, e))
		return 0;
	p->is_anywhere = r->files.scope.n_binaries && e->status == EXIT_USAGE;
	return p->is_anywhere ? await(r, p, e) : -1;
}

static int place_at_start(struct runner *r, struct place *p, struct error *e)
{
	struct object *o = NULL;
	int err;

	if (p->spec.kind == SPEC_TRACEPOINT)
		return place_tracepoint(r, p, e);
	if (p->spec.kind == SPEC_SAMPLED)
		return place_sampled(r, p, e);
	if (!p->spec.path)
		return place_in_main(r, p, e);
	err = open_named(r, p, &o, e);
	if (err == 1)
		return await(r, p, e);
	if (!err)
		err = place_in_object(r, p, o, e);
	object_close(o);
	return err;
}

int run_add_place(struct runner *r, struct spec *spec, unsigned index, int arg, struct error *e)
{
	struct place *p = calloc(1, sizeof(*p));

	if (!p)
		return error_set(e, EXIT_OTHER, "out of memory");
	*p = (struct place){.spec = *spec,
	    .index = index,
	    .role = r->points.points[index].role,
	    .arg = arg,
	    .next = r->points.places};
	r->points.places = p;
	*spec = (struct spec){0};
	return place_at_start(r, p, e);
}

/* Whether there are points is not known: the user may name some. */
static void tell_unmarked(const struct runner *r, const char *path, const struct error *e)
{
	run_say(r, "warning: progress points of coz.h in '%s': %s%s%s", path, e->cause,
	    *e->hint ? "; " : "", e->hint);
}

int run_add_markers(struct runner *r, struct error *e)
{
	struct place *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return error_set(e, EXIT_OTHER, "out of memory");
	*p = (struct place){
	    .is_markers = true, .is_anywhere = true, .arg = -1, .next = r->points.places};
	r->points.places = p;
	err = r->files.main_object ? place_in_object(r, p, r->files.main_object, e) : 1;
	p->is_placed = true; /* nothing is missed where there are none */
	if (err < 0 && e->status != EXIT_NO_RESULT)
		return -1;
	if (err < 0)
		tell_unmarked(r, object_path(r->files.main_object), e);
	if (err && r->files.main_object &&
	    remember_file(
		p, object_file(r->files.main_object), e)) /* not again when it is mapped */
		return -1;
	if (err)
		r->points.has_counters = run_watch_counters(r);
	return !err || r->points.has_counters ? 0 : 1;
}

/* Whether the file that a process maps is one for the place. */
static bool is_for(
    const struct runner *r, const struct place *p, const struct map_entry *m, bool in_scope)
{
	if (p->spec.path)
		return p->path ? !strcmp(m->path, p->path) : path_is_library(m->path, p->spec.path);
	return (in_scope && (p->is_anywhere || p->spec.kind == SPEC_LINE)) ||
	       !strcmp(m->path, r->target.path);
}

static void place_in_mapped(struct runner *r, struct place *p, int pid, const struct map_entry *m)
{
	char root[64];
	struct object_place at = {m->file, m->path, root};
	bool was_placed = p->is_placed;
	struct object *o = NULL;
	struct error e = {0};
	int err, placed = 0;

	maps_root(pid, root, sizeof(root));
	err = object_open_at(&at, &o, &e);
	if (!err)
		err = placed = place_in_object(r, p, o, &e);
	if (p->is_markers && placed < 0)
		tell_unmarked(r, m->path, &e);
	if (err)
		remember_file(p, m->file, &e); /* not again */
	if (!err && p->spec.path && !p->path)
		p->path = strdup(m->path);
	object_close(o);
	if (p->is_markers)
		return;
	if (!err)
		run_say(r, "progress point '%s' is in '%s'%s", p->spec.name, m->path,
		    was_placed ? ", too" : "");
	else if (p->spec.path)
		run_say(r, "warning: progress point '%s': %s", p->spec.name, e.cause);
}

void run_points_mapped(struct runner *r, int pid, const struct map_entry *m, bool in_scope)
{
	struct file_id id;

	for (struct place *p = r->points.places; p; p = p->next) {
		struct error e = {0};

		if (p->spec.kind == SPEC_SAMPLED && !p->is_placed && in_scope)
			find_sampled(r, p, &e);
		if (p->spec.kind == SPEC_SAMPLED || p->spec.kind == SPEC_TRACEPOINT ||
		    !is_for(r, p, m, in_scope))
			continue;
		if (file_identify(m->file, &id) && !has_file(p, id))
			place_in_mapped(r, p, pid, m);
	}
}

bool run_points_awaited(const struct runner *r)
{
	for (const struct place *p = r->points.places; p; p = p->next)
		if (!p->is_placed)
			return true;
	return false;
}

const struct error *run_point_missing(const struct runner *r, unsigned index)
{
	for (const struct place *p = r->points.places; p; p = p->next)
		if (p->index == index && !p->is_placed)
			return &p->missing;
	return NULL;
}

void run_places_deinit(struct runner *r)
{
	while (r->points.places) {
		struct place *next = r->points.places->next;

		spec_deinit(&r->points.places->spec);
		free(r->points.places->path);
		free(r->points.places->files);
		free(r->points.places);
		r->points.places = next;
	}
}
