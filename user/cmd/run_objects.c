// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where the target's processes map in-scope objects. A process is looked at when it execs, and, when libraries may be in scope, again while it
 * loads them. Objects that were not there at the start are read when they are first seen.
 */
#include "cmd/run.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RESCAN_FIRST_NS 5000000ULL  /* the loader maps a program's libraries within milliseconds of the exec */
#define RESCAN_LAST_NS 500000000ULL /* and dlopen may come at any time: one read of /proc/PID/maps, some 50 us */

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
	struct object *o = NULL;
	struct error e = {0};
	size_t n = 0, objects = r->lines.n_objects;

	if (is_seen(r, m) || !scope_has_binary(&r->scope, m->path, false))
		return -1;
	mark_seen(r, m);
	if (object_open(m->path, "", &o, &e) || object_add_lines(o, &r->scope, &r->lines, &n, &e) ||
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

void run_map_process(struct runner *r, int pid)
{
	struct cozbpf_mapping mappings[COZBPF_MAPPINGS];
	struct map_entry *all;
	struct process *p = *find_process(r, pid);
	size_t n, used = 0;

	if (maps_read(pid, &all, &n))
		return;
	for (size_t i = 0; i < n && used < COZBPF_MAPPINGS; i++) {
		int object = find_object(r, &all[i]);

		if (object < 0)
			object = read_object(r, pid, &all[i]);
		if (object < 0)
			continue;
		mappings[used++] = (struct cozbpf_mapping){.start = all[i].start,
		    .end = all[i].end,
		    .offset = all[i].offset,
		    .first = r->lines.objects[object].first,
		    .count = r->lines.objects[object].count};
	}
	if (r->o.sync_uprobe && p && !p->probed)
		p->probed = run_sync_process(r, pid, all, n);
	free(all);
	session_set_mappings(r->session, pid, mappings, used);
}

static void add_process(struct runner *r, int pid)
{
	struct process **at = find_process(r, pid), *p = *at;

	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return;
		*at = p;
	}
	p->pid = pid;
	p->interval_ns = RESCAN_FIRST_NS;
	p->probed = false;
	p->rescan_ns = r->scope.n_binaries || r->o.sync_uprobe ? monotonic_ns() + p->interval_ns : 0;
}

void run_on_event(const struct cozbpf_event *event, void *arg)
{
	struct process **at, *gone;
	struct runner *r = arg;

	switch (event->kind) {
	case COZBPF_EVENT_EXEC:
		session_drop_calls(r->session, (int)event->tgid); /* they would hold for the new program, too */
		add_process(r, (int)event->tgid);
		run_map_process(r, (int)event->tgid);
		break;
	case COZBPF_EVENT_FORK:
		add_process(r, (int)event->tgid); /* mappings were copied in the kernel */
		if (r->o.sync_uprobe)
			run_map_process(r, (int)event->tgid);
		break;
	case COZBPF_EVENT_EXIT:
		session_drop_calls(r->session, (int)event->tgid);
		at = find_process(r, (int)event->tgid);
		gone = *at;
		if (gone) {
			*at = gone->next;
			free(gone);
		}
		break;
	default:
		break;
	}
}

void run_rescan(struct runner *r, uint64_t now)
{
	for (struct process *p = r->processes; p; p = p->next) {
		if (!p->rescan_ns || now < p->rescan_ns)
			continue;
		run_map_process(r, p->pid);
		p->interval_ns = p->interval_ns * 2 > RESCAN_LAST_NS ? RESCAN_LAST_NS : p->interval_ns * 2;
		p->rescan_ns = now + p->interval_ns;
	}
}

void run_forget_processes(struct runner *r)
{
	while (r->processes) {
		struct process *next = r->processes->next;

		free(r->processes);
		r->processes = next;
	}
	for (size_t i = 0; i < r->n_seen; i++)
		free(r->seen[i].path);
	free(r->seen);
	r->seen = NULL;
	r->n_seen = 0;
}
