// SPDX-License-Identifier: BSD-3-Clause
/* The list of places, and what is looked at for them; see places.h. What differs between kinds of
 * points is in the kinds' tables. */
#include "run/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/places/spec.h"
#include "kernel/session.h"
#include "run/console.h"
#include "run/files.h"
#include "run/point_kind.h"
#include "run/target.h"

#define POINT_KIND_ENTRY(spec, name) [spec] = &name,
static const struct point_kind *const kinds[] = {POINT_KINDS(POINT_KIND_ENTRY)};

static void set_placed(struct points *p, struct place *at)
{
	struct point *point = &p->points[at->index];

	at->is_placed = true;
	if (!at->spec.name)
		return; /* markers make points of their own */
	point->unit = at->kind->unit;
	point->is_sampled = at->kind->is_sampled;
	point->is_free = at->kind->is_free;
}

static bool runs_as_we_do(int pid)
{
	char name[32];
	struct stat st;

	snprintf(name, sizeof(name), "/proc/%d", pid);
	return !stat(name, &st) && st.st_uid == getuid();
}

/* Whether the program has other rights than the user who starts it. */
static bool gives_rights(const struct object *o)
{
	const char *file = object_probe_path(o);
	struct stat st;

	return stat(file, &st) || st.st_mode & (S_ISUID | S_ISGID) ||
	       getxattr(file, "security.capability", NULL, 0) > 0;
}

int places_may_probe(const struct points *p, const struct file *file, struct error *e)
{
	if (!geteuid() || (file->ino && runs_as_we_do(file->pid)))
		return 0;
	if (p->target->ops->restarts && file == files_main(p->files) &&
	    !gives_rights(p->files->main_object))
		return 0;
	error_set(e, EXIT_FORBIDDEN,
	    "no process of the target that is yours runs '%s', and only root may probe other files",
	    file->path);
	return error_hint(e, "run it with sudo");
}

int places_try(
    struct points *p, struct place *at, struct file *file, struct object *o, struct error *e)
{
	int err = places_may_probe(p, file, e) ? -1 : at->kind->place_in(p, at, o, e);

	if (err) {
		session_forget_probes(p->session);
		return err;
	}
	if (session_place_probes(p->session, e))
		return -1;
	set_placed(p, at);
	return files_add_place(p->files, file, at, e);
}

/* What no file at hand has may come with another one in scope, where there can be others. */
static int await(struct points *p, struct place *at, const struct error *why)
{
	at->missing = *why;
	console_say(p->console, "progress point '%s' is awaited: %s", at->spec.name, why->cause);
	return 0;
}

static int place_in_main(struct points *p, struct place *at, struct error *e)
{
	if (!p->files->main_object)
		error_set(e, EXIT_USAGE, "it names no binary, and the command is a script");
	else if (!places_try(p, at, files_main(p->files), p->files->main_object, e))
		return 0;
	at->is_anywhere = p->files->scope.n_binaries && e->status == EXIT_USAGE;
	return at->is_anywhere ? await(p, at, e) : -1;
}

/* A name may be that of a library that is nowhere to be seen yet. */
static int place_in_named(struct points *p, struct place *at, struct error *e)
{
	struct target *t = p->target;
	struct file *file;
	struct object *o;

	if (t->ops->find_file(t, at->spec.path, at->spec.name, &file, e) ||
	    files_open(p->files, file, &o, e))
		return !strchr(at->spec.path, '/') && strstr(at->spec.path, ".so") ? await(p, at, e)
										   : -1;
	at->path = strdup(object_path(o));
	if (!at->path)
		return error_set(e, EXIT_OTHER, "out of memory");
	/* The target may map the file later. */
	return places_may_probe(p, file, e) ? await(p, at, e) : places_try(p, at, file, o, e);
}

static int place_at_start(struct points *p, struct place *at, struct error *e)
{
	if (!at->kind->place)
		return at->spec.path ? place_in_named(p, at, e) : place_in_main(p, at, e);
	if (at->kind->place(p, at, e))
		return at->kind->comes_later && p->files->scope.n_binaries ? await(p, at, e) : -1;
	set_placed(p, at);
	return 0;
}

struct place *places_new(struct points *p, const struct point_kind *kind)
{
	struct place *at = calloc(1, sizeof(*at));

	if (!at)
		return NULL;
	at->kind = kind;
	at->arg = -1;
	at->next = p->places;
	p->places = at;
	return at;
}

int places_add(struct points *p, struct spec *spec, unsigned index, int arg, struct error *e)
{
	struct place *at = places_new(p, kinds[spec->kind]);

	if (!at)
		return error_set(e, EXIT_OTHER, "out of memory");
	at->spec = *spec;
	at->index = index;
	at->role = p->points[index].role;
	at->arg = arg;
	*spec = (struct spec){0};
	return place_at_start(p, at, e);
}

int places_add_throughput(struct points *p, const char *text, struct error *e)
{
	struct spec spec = {0};
	int err;

	if (spec_parse(text, &spec, e))
		return -1;
	err = points_add(p, spec.name, spec.name, COZBPF_ROLE_VISIT, e);
	if (!err)
		err = places_add(p, &spec, p->n_points - 1, -1, e);
	spec_deinit(&spec);
	return err;
}

static void place_in_mapped(struct points *p, struct place *at, struct file *file)
{
	bool was_placed = at->is_placed;
	struct object *o = NULL;
	struct error e = {0};
	int err = files_open(p->files, file, &o, &e);

	if (!err)
		err = places_try(p, at, file, o, &e);
	if (err)
		files_add_place(p->files, file, at, &e); /* not again */
	if (!err && at->spec.path && !at->path)
		at->path = strdup(file->path);
	if (o || at->spec.path)
		at->kind->tell(p, at, file->path, err, was_placed, &e);
}

void places_mapped(void *points, struct file *file, bool in_scope)
{
	struct points *p = points;

	for (struct place *at = p->places; at; at = at->next) {
		struct error e = {0};

		if (at->kind->place) {
			if (!at->is_placed && in_scope && !at->kind->place(p, at, &e))
				set_placed(p, at);
			continue;
		}
		if (!at->kind->matches(at, file->path, in_scope) &&
		    (at->spec.path || strcmp(file->path, p->files->main_path)))
			continue;
		if (!places_may_probe(p, file, &e) && !files_has_place(p->files, file, at))
			place_in_mapped(p, at, file);
	}
}

bool places_awaited(const struct points *p)
{
	for (const struct place *at = p->places; at; at = at->next)
		if (!at->is_placed)
			return true;
	return false;
}

const struct error *places_missing(const struct points *p, unsigned index)
{
	for (const struct place *at = p->places; at; at = at->next)
		if (at->index == index && !at->is_placed)
			return &at->missing;
	return NULL;
}

void places_deinit(struct points *p)
{
	while (p->places) {
		struct place *next = p->places->next;

		spec_deinit(&p->places->spec);
		free(p->places->path);
		free(p->places);
		p->places = next;
	}
}
