// SPDX-License-Identifier: BSD-3-Clause
/* Which programs have goroutines with accounts, and their probes; see goroutines.h. */
#include "run/goroutines.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/session.h"
#include "run/console.h"
#include "run/files.h"
#include "run/options.h"

/* Where the runtime of a file is probed. */
struct go_places {
	uint64_t offsets[GO_EVENTS], cookies[GO_EVENTS];
	int fd; /* of the file, for the kernel; -1: it is not probed */
};

static const uint64_t events[GO_EVENTS] = {[GO_EXECUTE] = COZBPF_GO_EXECUTE,
    [GO_PARK] = COZBPF_GO_PARK,
    [GO_READY] = COZBPF_GO_READY,
    [GO_NEW] = COZBPF_GO_NEW,
    [GO_EXIT] = COZBPF_GO_EXIT,
    [GO_COLLECT] = COZBPF_GO_COLLECT};

static struct cozbpf_go offsets_of(const struct go_runtime *r)
{
	return (struct cozbpf_go){.g_m = r->at.g_m,
	    .g_atomicstatus = r->at.g_atomicstatus,
	    .g_goid = r->at.g_goid,
	    .m_g0 = r->at.m_g0,
	    .m_curg = r->at.m_curg,
	    .m_mallocing = r->at.m_mallocing,
	    .m_preemptoff = r->at.m_preemptoff,
	    .m_locks = r->at.m_locks,
	    .tls_g = r->tls_g};
}

void goroutines_decide(struct files *f, struct session_config *ret)
{
	struct go_runtime runtime;
	struct error e = {0};
	int err;

	if (!f->main_object || f->o->no_goroutines || f->o->suggests || f->o->sync_uprobe)
		return;
	err = object_go_runtime(f->main_object, &runtime, &e);
	if (!err)
		err = session_takes_goroutines(&e);
	if (err < 0)
		console_say(f->console,
		    "warning: '%s' is written in Go, but its goroutines have no accounts of their "
		    "own, threads have: %s",
		    f->main_path, e.cause);
	if (err)
		return;
	f->go = ret->go = offsets_of(&runtime);
	f->goroutines = ret->goroutines = true;
	if (f->o->verbose)
		console_say(f->console, "goroutines have accounts: %s, its structs by %s",
		    runtime.version,
		    runtime.offsets_are_own ? "debug information" : "a table of versions");
}

/* A Go program that is executed by another one may be of another version. */
static void find_places(struct files *f, struct file *file, struct go_places *ret)
{
	struct go_runtime runtime;
	struct cozbpf_go at;
	struct error e = {0};
	struct object *o;
	int err;

	if (files_open(f, file, &o, &e))
		return; /* whoever reads its lines says so */
	err = object_go_runtime(o, &runtime, &e);
	at = offsets_of(&runtime);
	if (!err && memcmp(&at, &f->go, sizeof(at)))
		err = error_set(&e, EXIT_OTHER, "its runtime, %s, is not that of the main program",
		    runtime.version);
	if (err < 0 && !f->go_warned)
		console_say(f->console,
		    "warning: goroutines of '%s' have no accounts of their own, threads have: %s",
		    file->path, e.cause);
	f->go_warned |= err < 0;
	if (err)
		return;
	for (unsigned i = 0; i < GO_EVENTS; i++) {
		ret->offsets[i] = runtime.sites[i].offset;
		ret->cookies[i] = COZBPF_GO_COOKIE(events[i], runtime.sites[i].gp == GO_RBX);
	}
	ret->fd = open(object_probe_path(o), O_RDONLY | O_CLOEXEC);
}

static const struct go_places *places_of(struct files *f, struct file *file)
{
	if (file->go)
		return file->go;
	file->go = calloc(1, sizeof(*file->go));
	if (!file->go)
		return NULL;
	file->go->fd = -1;
	find_places(f, file, file->go);
	return file->go;
}

/* Its program lies lowest. */
void goroutines_probe(struct files *f, int pid, const struct map_entry *maps, size_t n)
{
	struct file *file = f->goroutines && n ? files_mapped(f, pid, &maps[0]) : NULL;
	const struct go_places *places = file ? places_of(f, file) : NULL;
	struct error e = {0};
	char path[32];

	if (!places || places->fd < 0 || session_has_goroutines(f->session, pid))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", places->fd);
	const struct go_sites at = {.pid = pid,
	    .path = path,
	    .offsets = places->offsets,
	    .cookies = places->cookies,
	    .n = GO_EVENTS};
	if (session_add_goroutines(f->session, &at, &e))
		console_say(f->console,
		    "warning: goroutines of process %d have no accounts of their own, threads "
		    "have: %s",
		    pid, e.cause);
	else if (f->o->verbose)
		console_say(f->console, "process %d: its goroutines are followed", pid);
}

void goroutines_check(struct files *f)
{
	if (!f->goroutines || f->go_warned || session_go_is_sound(f->session))
		return;
	f->go_warned = true;
	console_say(f->console,
	    "warning: the runtime of '%s' is not what the file says: its threads have accounts, "
	    "goroutines have not",
	    f->main_path);
}

void goroutines_deinit(struct files *f)
{
	for (struct file *file = f->all; file; file = file->next) {
		if (!file->go)
			continue;
		if (file->go->fd >= 0)
			close(file->go->fd);
		free(file->go);
		file->go = NULL;
	}
}
