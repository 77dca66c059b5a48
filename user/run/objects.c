// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where the target's processes map in-scope objects. A process is looked at when it execs, and
 * again while it loads libraries. Objects that were not there at the start are read when they are
 * first seen.
 */
#include "run/run.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "target/tracee.h"

/* the loader maps a program's libraries within milliseconds of the exec */
#define RESCAN_FIRST_NS 5000000ULL
/* where libraries are not in scope, and only their unwind tables are missing */
#define RESCAN_RARE_NS 8000000000ULL

/* A file that processes map, so that it is opened but once. */
struct seen_file {
	uint64_t dev, ino; /* as maps says */
	char *path;
	int object; /* its index in the line map; -1: it is not in scope, or cannot be read */
};

static const struct seen_file *find_seen(const struct runner *r, const struct map_entry *m)
{
	for (size_t i = 0; i < r->files.n_seen; i++)
		if (r->files.seen[i].dev == m->dev && r->files.seen[i].ino == m->ino &&
		    !strcmp(r->files.seen[i].path, m->path))
			return &r->files.seen[i];
	return NULL;
}

static void mark_seen(struct runner *r, const struct map_entry *m, int object)
{
	struct seen_file *bigger = realloc(r->files.seen, (r->files.n_seen + 1) * sizeof(*bigger));

	if (!bigger)
		return;
	r->files.seen = bigger;
	bigger[r->files.n_seen] = (struct seen_file){m->dev, m->ino, strdup(m->path), object};
	r->files.n_seen += bigger[r->files.n_seen].path != NULL;
}

static bool has_path(const struct runner *r, const char *path)
{
	for (size_t i = 0; i < r->files.lines.n_objects; i++)
		if (!strcmp(r->files.lines.objects[i].path, path))
			return true;
	return false;
}

void run_warn_build(const struct runner *r, int pid, const char *path)
{
	if (has_path(r, path))
		run_say(r,
		    "warning: process %d runs another build of '%s' than was there at the start: "
		    "the profile mixes both",
		    pid, path);
}

/* An object that is not in the line map: its index there, or -1 with @e. */
static int add_object(
    struct runner *r, int pid, const struct map_entry *m, struct object *o, struct error *e)
{
	size_t n = 0, objects = r->files.lines.n_objects;

	run_warn_build(r, pid, m->path);
	if (object_add_lines(o, &r->files.scope, &r->files.lines, &n, e) ||
	    session_add_lines(r->session, &r->files.lines, e))
		return -1;
	if (r->o.verbose)
		run_say(r, "'%s': %zu lines in scope", m->path, n);
	return (int)objects;
}

/* Reads an object seen for the first time. Its index, or -1 when it is not in scope or cannot be
 * read (said once). */
static int read_object(struct runner *r, int pid, const struct map_entry *m)
{
	char root[64];
	struct object_place place = {m->file, m->path, root};
	struct line_object identity;
	struct object *o = NULL;
	struct error e = {0};
	int ret = -1;

	if (!has_path(r, m->path) &&
	    !scope_has_binary(&r->files.scope, m->path, !strcmp(m->path, r->target.path)))
		return -1;
	maps_root(pid, root, sizeof(root));
	if (!object_open_at(&place, &o, &e)) {
		identity = object_identity(o);
		ret = line_map_find_object(&r->files.lines, &identity);
		if (ret < 0)
			ret = add_object(r, pid, m, o, &e);
	}
	if (ret < 0)
		run_say(
		    r, "warning: '%s' in process %d stays out of scope: %s", m->path, pid, e.cause);
	object_close(o);
	return ret;
}

/* Index of the map's object for a mapping, or -1. */
static int find_object(struct runner *r, int pid, const struct map_entry *m)
{
	const struct seen_file *seen = find_seen(r, m);
	int ret = seen ? seen->object : read_object(r, pid, m);

	if (!seen)
		mark_seen(r, m, ret);
	return ret;
}

static struct process **find_process(struct runner *r, int pid)
{
	struct process **p = &r->target.processes;

	while (*p && (*p)->pid != pid)
		p = &(*p)->next;
	return p;
}

bool run_has_process(struct runner *r, int pid)
{
	return *find_process(r, pid);
}

/* The mappings in scope come first: there may not be room for all. */
static size_t fill_mappings(struct runner *r, const struct map_entry *all, const int *object,
    size_t n, struct cozbpf_mapping *ret)
{
	size_t used = 0;

	for (int in_scope = 1; in_scope >= 0; in_scope--) {
		for (size_t i = 0; i < n && used < COZBPF_MAPPINGS; i++) {
			struct cozbpf_mapping m = {
			    .start = all[i].start, .end = all[i].end, .offset = all[i].offset};

			if ((object[i] >= 0) != in_scope)
				continue;
			if (in_scope) {
				m.first = r->files.lines.objects[object[i]].first;
				m.count = r->files.lines.objects[object[i]].count;
			}
			run_unwind_slice(r, &all[i], &m);
			ret[used++] = m;
		}
	}
	return used;
}

void run_map_process(struct runner *r, int pid)
{
	struct cozbpf_mapping mappings[COZBPF_MAPPINGS];
	struct map_entry *all;
	struct process *p = *find_process(r, pid);
	int *object;
	size_t n;

	if (maps_read(pid, &all, &n))
		return;
	object = calloc(n + 1, sizeof(*object));
	for (size_t i = 0; object && i < n; i++) {
		object[i] = find_object(r, pid, &all[i]);
		run_points_mapped(r, pid, &all[i], object[i] >= 0);
	}
	if (r->o.sync_uprobe && p && !p->probed)
		p->probed = run_sync_process(r, pid, all, n);
	if (object)
		session_set_mappings(
		    r->session, pid, mappings, fill_mappings(r, all, object, n, mappings));
	free(object);
	free(all);
}

struct process *run_add_process(struct runner *r, int pid, uint64_t interval_ns)
{
	struct process **at = find_process(r, pid), *p = *at;

	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		*at = p;
	}
	p->pid = pid;
	p->interval_ns = interval_ns;
	p->probed = false;
	p->rescan_ns = monotonic_ns() + p->interval_ns;
	return p;
}

void run_on_event(const struct cozbpf_event *event, void *arg)
{
	struct process **at, *gone, *p;
	struct runner *r = arg;

	switch (event->kind) {
	case COZBPF_EVENT_COUNTER:
		run_on_counter(r, (const struct cozbpf_counter_event *)event);
		break;
	case COZBPF_EVENT_EXEC:
		session_drop_calls(
		    r->session, (int)event->tgid); /* they would hold for the new program, too */
		session_drop_counters(r->session, (int)event->tgid);
		p = run_add_process(r, (int)event->tgid, RESCAN_FIRST_NS);
		run_map_process(r, (int)event->tgid);
		if (p)
			run_inject_after_exec(r, p);
		break;
	case COZBPF_EVENT_FORK:
		p = run_add_process(r, (int)event->tgid,
		    RUN_RESCAN_LAST_NS); /* mappings were copied in the kernel */
		if (p)
			run_inject_after_fork(p, *find_process(r, (int)event->arg));
		if (r->o.sync_uprobe)
			run_map_process(r, (int)event->tgid);
		break;
	case COZBPF_EVENT_EXIT:
		session_drop_calls(r->session, (int)event->tgid);
		session_drop_counters(r->session, (int)event->tgid);
		at = find_process(r, (int)event->tgid);
		gone = *at;
		if (gone) {
			*at = gone->next;
			run_inject_forget(gone);
			free(gone);
		}
		break;
	default:
		break;
	}
}

void run_rescan(struct runner *r, uint64_t now)
{
	uint64_t last = r->files.scope.n_binaries || run_points_awaited(r) ? RUN_RESCAN_LAST_NS
									   : RESCAN_RARE_NS;
	bool all = run_unwind_collect(r);

	tracee_settle();
	for (struct process *p = r->target.processes; p; p = p->next) {
		run_inject_due(r, p, now);
		if (!all && now < p->rescan_ns)
			continue;
		run_map_process(r, p->pid);
		p->interval_ns = p->interval_ns * 2 > last ? last : p->interval_ns * 2;
		p->rescan_ns = now + p->interval_ns;
	}
}

void run_forget_processes(struct runner *r)
{
	while (r->target.processes) {
		struct process *next = r->target.processes->next;

		run_inject_forget(r->target.processes);
		free(r->target.processes);
		r->target.processes = next;
	}
	for (size_t i = 0; i < r->files.n_seen; i++)
		free(r->files.seen[i].path);
	free(r->files.seen);
	r->files.seen = NULL;
	r->files.n_seen = 0;
}
