// SPDX-License-Identifier: BSD-3-Clause
/* Where the calls of a library are, and what their probes cost; see calls.h. */
#include "run/calls.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/places/sync_calls.h"
#include "kernel/session.h"
#include "run/console.h"
#include "run/files.h"
#include "run/options.h"
#include "target/procfs.h"

/* of the target's CPU time: more bends what is measured */

/* Where the calls of one library are. Containers have different ones at one path, and a probe put
 * where the other has its calls would break them. */
struct probed_calls {
	uint64_t *offsets, *cookies;
	size_t n;
	uint64_t unlock; /* offset of pthread_mutex_unlock() */
};

static int add_sites(struct probed_calls *c, struct object *o, struct error *e)
{
	const char **names = calloc(n_sync_calls, sizeof(*names));
	struct named_site *sites = NULL;
	size_t n = 0;
	int err;

	for (size_t i = 0; names && i < n_sync_calls; i++)
		names[i] = sync_calls[i].name;
	err = names ? object_find_symbols(o, names, n_sync_calls, &sites, &n, e)
		    : error_set(e, EXIT_OTHER, "out of memory");
	c->offsets = calloc(n + 1, sizeof(*c->offsets));
	c->cookies = calloc(n + 1, sizeof(*c->cookies));
	for (size_t i = 0; c->offsets && c->cookies && i < n; i++) {
		const struct sync_call *call = &sync_calls[sites[i].name];

		c->offsets[c->n] = sites[i].offset;
		c->cookies[c->n++] = call->cookie;
		if (!c->unlock && !strcmp(call->name, "pthread_mutex_unlock"))
			c->unlock = sites[i].offset;
	}
	free(sites);
	free(names);
	return err;
}

static const struct probed_calls *find_calls(struct files *f, struct file *file)
{
	struct error e = {0};
	struct object *o;

	if (!file || file->calls)
		return file ? file->calls : NULL;
	file->calls = calloc(1, sizeof(*file->calls));
	if (!file->calls)
		return NULL;
	if (files_open(f, file, &o, &e) || add_sites(file->calls, o, &e))
		console_say(
		    f->console, "warning: no call of '%s' is probed: %s", file->path, e.cause);
	return file->calls;
}

/* What a probe costs is measured on a C library that is ours, whatever the target has. */
static void measure_cost(struct files *f)
{
	const struct probed_calls *c;
	struct map_entry *maps;
	size_t n;

	if (f->probe_cost_ns || maps_read(getpid(), &maps, &n))
		return;
	for (size_t i = 0; i < n && !f->probe_cost_ns; i++) {
		c = is_sync_library(maps[i].path)
			? find_calls(f, files_mapped(f, getpid(), &maps[i]))
			: NULL;
		if (c && c->unlock)
			f->probe_cost_ns =
			    session_probe_cost_ns(f->session, maps[i].file, c->unlock);
	}
	free(maps);
}

bool calls_probe(struct files *f, int pid, const struct map_entry *maps, size_t n)
{
	const struct probed_calls *c;
	struct error e = {0};
	bool found = false,
	     is_static = !procfs_auxv(pid, AT_BASE); /* then the library is in the program */

	for (size_t i = 0; i < n; i++) {
		struct call_sites at = {.pid = pid, .path = maps[i].file};

		if (!(is_static || is_sync_library(maps[i].path)) ||
		    (i && !strcmp(maps[i].path, maps[i - 1].path)))
			continue;
		c = find_calls(f, files_mapped(f, pid, &maps[i]));
		found = true;
		if (!c || !c->n)
			continue;
		at.offsets = c->offsets;
		at.cookies = c->cookies;
		at.n = c->n;
		if (session_add_calls(f->session, &at, &e)) {
			console_say(f->console,
			    "warning: the calls of process %d are not probed: %s", pid, e.cause);
			return true;
		}
		measure_cost(f);
		if (f->o->verbose)
			console_say(f->console, "process %d: %zu calls of '%s' are probed", pid,
			    c->n, maps[i].path);
	}
	return found;
}

void calls_deinit(struct files *f)
{
	for (struct file *file = f->all; file; file = file->next) {
		if (!file->calls)
			continue;
		free(file->calls->offsets);
		free(file->calls->cookies);
		free(file->calls);
		file->calls = NULL;
	}
}
