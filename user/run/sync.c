// SPDX-License-Identifier: BSD-3-Clause
/* --sync=uprobe: probes on the calls that synchronise, in every process of the target, and what
 * they cost it. */
#include "run/run.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/places/sync_calls.h"
#include "target/procfs.h"

#define COST_PCT 5 /* of the target's CPU time: more bends what is measured */

/* Where the calls of one library are. Containers have different ones at one path, and a probe put
 * where the other has its calls would break them. */
struct sync_sites {
	uint64_t dev, ino; /* as maps says */
	char *path;
	uint64_t *offsets, *cookies;
	size_t n;
	uint64_t unlock; /* offset of pthread_mutex_unlock() */
	struct sync_sites *next;
};

static void add_sites(struct sync_sites *s, struct object *o, const struct sync_call *call)
{
	struct probe_site *sites;
	struct error e = {0};
	uint64_t *offsets, *cookies;
	size_t n;

	if (object_find_symbol(o, call->name, 0, &sites, &n, &e))
		return; /* not in this library, or not in this version */
	offsets = realloc(s->offsets, (s->n + n) * sizeof(*offsets));
	if (offsets)
		s->offsets = offsets;
	cookies = realloc(s->cookies, (s->n + n) * sizeof(*cookies));
	if (cookies)
		s->cookies = cookies;
	for (size_t i = 0; offsets && cookies && i < n; i++) {
		offsets[s->n] = sites[i].offset;
		cookies[s->n++] = call->cookie;
	}
	if (!strcmp(call->name, "pthread_mutex_unlock"))
		s->unlock = sites[0].offset;
	free(sites);
}

static const struct sync_sites *find_sites(struct runner *r, const struct map_entry *m)
{
	struct sync_sites *s = r->files.sync;
	struct error e = {0};
	struct object *o;

	while (s && (s->dev != m->dev || s->ino != m->ino || strcmp(s->path, m->path)))
		s = s->next;
	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->path = strdup(m->path);
	if (!s->path) {
		free(s);
		return NULL;
	}
	s->dev = m->dev;
	s->ino = m->ino;
	s->next = r->files.sync;
	r->files.sync = s;
	if (object_open(m->file, "", &o, &e)) {
		run_say(r, "warning: no call of '%s' is probed: %s", m->path, e.cause);
		return s;
	}
	for (size_t i = 0; i < n_sync_calls; i++)
		add_sites(s, o, &sync_calls[i]);
	object_close(o);
	return s;
}

/* What a probe costs is measured on a C library that is ours, whatever the target has. */
static void measure_cost(struct runner *r)
{
	const struct sync_sites *s;
	struct map_entry *maps;
	size_t n;

	if (r->points.probe_cost_ns || maps_read(getpid(), &maps, &n))
		return;
	for (size_t i = 0; i < n && !r->points.probe_cost_ns; i++) {
		s = is_sync_library(maps[i].path) ? find_sites(r, &maps[i]) : NULL;
		if (s && s->unlock)
			r->points.probe_cost_ns =
			    session_probe_cost_ns(r->session, maps[i].file, s->unlock);
	}
	free(maps);
}

bool run_sync_process(struct runner *r, int pid, const struct map_entry *maps, size_t n)
{
	const struct sync_sites *s;
	struct error e = {0};
	bool found = false,
	     is_static = !procfs_auxv(pid, AT_BASE); /* then the library is in the program */

	for (size_t i = 0; i < n; i++) {
		struct call_sites at = {.pid = pid, .path = maps[i].file};

		if (!(is_static || is_sync_library(maps[i].path)) ||
		    (i && !strcmp(maps[i].path, maps[i - 1].path)))
			continue;
		s = find_sites(r, &maps[i]);
		found = true;
		if (!s || !s->n)
			continue;
		at.offsets = s->offsets;
		at.cookies = s->cookies;
		at.n = s->n;
		if (session_add_calls(r->session, &at, &e)) {
			run_say(
			    r, "warning: the calls of process %d are not probed: %s", pid, e.cause);
			return true;
		}
		measure_cost(r);
		if (r->o.verbose)
			run_say(r, "process %d: %zu calls of '%s' are probed", pid, s->n, s->path);
	}
	return found;
}

void run_sync_warn(const struct runner *r)
{
	struct counters counters;
	struct cpu_use use;
	uint64_t calls;
	double cost;

	if (!r->o.sync_uprobe)
		return;
	session_read(r->session, &counters);
	calls = counters.sync_calls;
	session_cpu_use(r->session, &use);
	cost = use.executed_ns
		   ? (double)calls * (double)r->points.probe_cost_ns / (double)use.executed_ns
		   : 0;
	if (!calls)
		run_say(r, "warning: no probed call was ever made: is the program static, or does "
			   "it synchronise by other means? use --sync=wake");
	else if (r->o.verbose || cost * 100 > COST_PCT)
		run_say(r,
		    "%s%" PRIu64 " probes of calls were hit, at %" PRIu64
		    " ns each about %.0f %% of the program's CPU time%s",
		    cost * 100 > COST_PCT ? "warning: " : "", calls, r->points.probe_cost_ns,
		    100 * cost,
		    cost * 100 > COST_PCT ? ": that bends what is measured; use --sync=wake" : "");
}

void run_sync_deinit(struct runner *r)
{
	while (r->files.sync) {
		struct sync_sites *next = r->files.sync->next;

		free(r->files.sync->path);
		free(r->files.sync->offsets);
		free(r->files.sync->cookies);
		free(r->files.sync);
		r->files.sync = next;
	}
}
