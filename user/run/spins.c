// SPDX-License-Identifier: BSD-3-Clause
/* Where programs spin, and their probes; see spins.h. */
#include "run/spins.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernel/session.h"
#include "run/console.h"
#include "run/files.h"
#include "run/idle.h"
#include "run/options.h"
#include "run/spin_places.h"
#include "target/maps.h"

/* Idle loops of other processors are not known (user/symbols/code/idleloop.h). */
#if defined(__x86_64__)
#define SOUGHT (COZBPF_SPINS_PAUSE | COZBPF_SPINS_YIELD | COZBPF_SPINS_IDLE)
#else
#define SOUGHT (COZBPF_SPINS_PAUSE | COZBPF_SPINS_YIELD)
#endif
/* What ranks of MPI call again and again while they wait: Open MPI, and MPICH on UCX. */
static const char *const pollers[] = {"opal_progress", "ucp_worker_progress"};
#define POLLERS (sizeof(pollers) / sizeof(pollers[0]))

/* libc has some 20, a browser 1,000 */
#define SITES_PER_FILE 16384

void spins_init(struct files *f)
{
	f->spins_sought = f->o->no_spin ? 0 : SOUGHT;
	session_look_for_spins(f->session, f->spins_sought);
	if (f->o->peers && !f->o->no_spin)
		f->spins_probed |= SPINS_NAMED;
}

/* Whether samples have found enough threads that spin so. */
static bool is_found(const struct files *f, unsigned what, uint64_t samples)
{
	return f->spins_sought & what &&
	       spin_is_found(session_spin_samples(f->session, what), samples);
}

bool spins_begin(struct files *f)
{
	bool has_changed = f->spins_sought & COZBPF_SPINS_IDLE && idle_look(f);
	struct error e = {0};
	struct counters c;
	unsigned found = 0;

	if (!f->spins_sought)
		return has_changed;
	session_read(f->session, &c);
	if (f->o->spins.n || is_found(f, COZBPF_SPINS_PAUSE, c.samples))
		found |= f->spins_sought & COZBPF_SPINS_PAUSE;
	if (is_found(f, COZBPF_SPINS_YIELD, c.samples))
		found |= COZBPF_SPINS_YIELD;
	if (!found)
		return has_changed;
	f->spins_sought &= ~found;
	session_look_for_spins(f->session, f->spins_sought);
	if (found & COZBPF_SPINS_YIELD && session_watch_yields(f->session, &e))
		console_say(f->console, "warning: %s", e.cause);
	f->spins_probed |= found & COZBPF_SPINS_PAUSE;
	if (f->o->spins.n)
		f->spins_probed |= SPINS_NAMED;
	return has_changed || found & COZBPF_SPINS_PAUSE;
}

/* Where a function begins, or a cheaper place as often executed. 1: it is not there, -1 with @e. */
static int add_function(
    struct object *o, const char *name, struct spin_places *ret, struct error *e)
{
	struct probe_site *sites;
	struct error none = {0};
	int err;
	size_t n;

	if (object_find_symbol(o, name, 0, &sites, &n, &none))
		return 1;
	err = object_check_sites(o, sites, n, true, false, e);
	for (size_t i = 0; !err && i < n; i++)
		err = spin_places_add(ret, sites[i].offset, 0, e);
	free(sites);
	return err ? -1 : 0;
}

/* The functions that --spin names, and those that poll in a job of many nodes. Most files have none
 * of them. */
static int add_functions(
    struct files *f, struct object *o, struct spin_places *ret, struct error *e)
{
	size_t n = f->o->spins.n, n_all = n + (f->o->peers ? POLLERS : 0), before = ret->n;

	for (size_t i = 0; i < n_all; i++) {
		int err = add_function(o, i < n ? f->o->spins.items[i] : pollers[i - n], ret, e);

		if (err < 0)
			return err;
		if (!err && i < n)
			f->spins_found |= 1ULL << i;
	}
	/* Functions begin with any instruction. */
	if (ret->n > before)
		session_set_spin_cost(f->session, session_visit_cost_ns(f->session, VISIT_STEPPED));
	return 0;
}

static int add_pauses(struct object *o, struct spin_places *ret, struct error *e)
{
	const struct spin_question q = {.kinds = COZBPF_SPINS_PAUSE, .max = SITES_PER_FILE};
	struct spin_site *sites;
	int err = 0;
	size_t n;

	if (object_spin_sites(o, &q, &sites, &n, e))
		return -1;
	for (size_t i = 0; !err && i < n; i++)
		err = spin_places_add(ret, sites[i].offset, 0, e);
	free(sites);
	return err;
}

/* The places of the file that are known; once the target is found to spin by PAUSE, these as well.
 */
static const struct spin_places *find_places(struct files *f, struct file *file)
{
	struct spin_places *p = spin_places(file);
	unsigned seek = p ? f->spins_probed & ~p->sought & (COZBPF_SPINS_PAUSE | SPINS_NAMED) : 0;
	struct error e = {0};
	struct object *o;
	size_t before;

	if (!seek)
		return p;
	p->sought |= seek;
	before = p->n;
	if (files_open(f, file, &o, &e) || (seek & COZBPF_SPINS_PAUSE && add_pauses(o, p, &e)) ||
	    (seek & SPINS_NAMED && add_functions(f, o, p, &e)))
		console_say(
		    f->console, "warning: where '%s' spins is not known: %s", file->path, e.cause);
	else if (p->n)
		spin_places_hold(p, o);
	if (f->o->verbose && p->n > before)
		console_say(f->console, "'%s': spins at %zu places", file->path, p->n - before);
	return p;
}

/* Those that have come since the process was probed last. */
static void probe_file(struct files *f, int pid, struct file *file)
{
	/* Our own handler holds the CPU by such a loop. */
	const struct spin_places *places = maps_is_shim(file->path) ? NULL : find_places(f, file);
	struct error e = {0};
	char path[32];
	size_t has;

	if (!places || places->fd < 0)
		return;
	has = session_count_spins(f->session, pid, file->dev, file->ino);
	if (has >= places->n)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", places->fd);
	struct spin_sites at = {.pid = pid,
	    .path = path,
	    .dev = file->dev,
	    .ino = file->ino,
	    .offsets = places->offsets + has,
	    .cookies = places->cookies + has,
	    .n = places->n - has};
	if (session_add_spins(f->session, &at, &e))
		console_say(f->console, "warning: '%s' in process %d may spin unseen: %s",
		    file->path, pid, e.cause);
}

void spins_probe(struct files *f, int pid, const struct map_entry *maps, size_t n)
{
	for (size_t i = 0; f->spins_probed && i < n; i++) {
		struct file *file = files_mapped(f, pid, &maps[i]);

		if (file)
			probe_file(f, pid, file);
	}
}

const char *spins_missing(const struct files *f)
{
	for (size_t i = 0; f->spins_probed & COZBPF_SPINS_PAUSE && i < f->o->spins.n; i++)
		if (!(f->spins_found >> i & 1))
			return f->o->spins.items[i];
	return NULL;
}

void spins_deinit(struct files *f)
{
	for (struct file *file = f->all; file; file = file->next)
		spin_places_free(file);
	idle_deinit(f);
}
