// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where the target's processes map in-scope objects. A process is looked at when it execs, and again while it
 * loads libraries. Objects that were not there at the start are read when they are first seen.
 */
#include "cmd/run.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "target/tracee.h"

#define RESCAN_FIRST_NS 5000000ULL   /* the loader maps a program's libraries within milliseconds of the exec */
#define RESCAN_RARE_NS 8000000000ULL /* where libraries are not in scope, and only their unwind tables are missing */

/* A file that was looked at and has no lines in scope, so that it is not opened again. */
struct line_object_file {
	uint64_t ino;
	char *path;
};

static bool is_seen(const struct runner *r, const struct map_entry *m)
{
	for (size_t i = 0; i < r->n_seen; i++)
		if (r->seen[i].ino == m->ino && !strcmp(r->seen[i].path, m->path))
			return true;
	return false;
}

static void mark_seen(struct runner *r, const struct map_entry *m)
{
	struct line_object_file *bigger = realloc(r->seen, (r->n_seen + 1) * sizeof(*bigger));

	if (!bigger)
		return;
	r->seen = bigger;
	r->seen[r->n_seen++] = (struct line_object_file){m->ino, strdup(m->path)};
}

/* Index of the map's object for a mapping, or -1. Device numbers in maps are not always those of stat (overlay, btrfs): inode and path tell. */
static int find_object(const struct runner *r, const struct map_entry *m)
{
	for (size_t i = 0; i < r->lines.n_objects; i++)
		if (r->lines.objects[i].ino == m->ino && !strcmp(r->lines.objects[i].path, m->path))
			return (int)i;
	return -1;
}

/* Reads an object seen for the first time. Its index, or -1 when it is not in scope or cannot be read (said once). */
static int read_object(struct runner *r, int pid, const struct map_entry *m)
{
	struct object_place place = {m->file, m->path, "", m->ino};
	struct object *o = NULL;
	struct error e = {0};
	size_t n = 0, objects = r->lines.n_objects;
	char root[64];

	bool is_main = !strcmp(m->path, r->path);

	if (is_seen(r, m) || !scope_has_binary(&r->scope, m->path, is_main))
		return -1;
	mark_seen(r, m);
	if (is_main)
		run_say(
		    r, "warning: process %d runs another build of '%s' than was there at the start: the profile mixes both", pid, m->path);
	maps_root(pid, root, sizeof(root));
	place.root = root;
	if (object_open_at(&place, &o, &e) || object_add_lines(o, &r->scope, &r->lines, &n, &e) ||
	    session_add_lines(r->session, &r->lines, &e))
		run_say(r, "warning: '%s' in process %d stays out of scope: %s", m->path, pid, e.cause);
	else if (r->o.verbose)
		run_say(r, "'%s': %zu lines in scope", m->path, n);
	object_close(o);
	return r->lines.n_objects > objects ? (int)objects : -1;
}

static struct process **find_process(struct runner *r, int pid)
{
	struct process **p = &r->processes;

	while (*p && (*p)->pid != pid)
		p = &(*p)->next;
	return p;
}

bool run_has_process(struct runner *r, int pid)
{
	return *find_process(r, pid);
}

/* The mappings in scope come first: there may not be room for all. */
static size_t fill_mappings(struct runner *r, const struct map_entry *all, const int *object, size_t n, struct cozbpf_mapping *ret)
{
	size_t used = 0;

	for (int in_scope = 1; in_scope >= 0; in_scope--) {
		for (size_t i = 0; i < n && used < COZBPF_MAPPINGS; i++) {
			struct cozbpf_mapping m = {.start = all[i].start, .end = all[i].end, .offset = all[i].offset};

			if ((object[i] >= 0) != in_scope)
				continue;
			if (in_scope) {
				m.first = r->lines.objects[object[i]].first;
				m.count = r->lines.objects[object[i]].count;
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
		object[i] = find_object(r, &all[i]);
		if (object[i] < 0)
			object[i] = read_object(r, pid, &all[i]);
		run_points_mapped(r, pid, &all[i], object[i] >= 0);
	}
	if (r->o.sync_uprobe && p && !p->probed)
		p->probed = run_sync_process(r, pid, all, n);
	if (object)
		session_set_mappings(r->session, pid, mappings, fill_mappings(r, all, object, n, mappings));
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
		session_drop_calls(r->session, (int)event->tgid); /* they would hold for the new program, too */
		session_drop_counters(r->session, (int)event->tgid);
		p = run_add_process(r, (int)event->tgid, RESCAN_FIRST_NS);
		run_map_process(r, (int)event->tgid);
		if (p)
			run_inject_after_exec(r, p);
		break;
	case COZBPF_EVENT_FORK:
		p = run_add_process(r, (int)event->tgid, RUN_RESCAN_LAST_NS); /* mappings were copied in the kernel */
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
	uint64_t last = r->scope.n_binaries || run_points_awaited(r) ? RUN_RESCAN_LAST_NS : RESCAN_RARE_NS;
	bool all = run_unwind_collect(r);

	tracee_settle();
	for (struct process *p = r->processes; p; p = p->next) {
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
	while (r->processes) {
		struct process *next = r->processes->next;

		run_inject_forget(r->processes);
		free(r->processes);
		r->processes = next;
	}
	for (size_t i = 0; i < r->n_seen; i++)
		free(r->seen[i].path);
	free(r->seen);
	r->seen = NULL;
	r->n_seen = 0;
}
