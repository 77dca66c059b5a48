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

/* Idle loops of other processors are not known (user/symbols/code/idleloop.h). */
#if defined(__x86_64__)
#define SOUGHT (COZBPF_SPINS_PAUSE | COZBPF_SPINS_YIELD | COZBPF_SPINS_IDLE)
#else
#define SOUGHT (COZBPF_SPINS_PAUSE | COZBPF_SPINS_YIELD)
#endif
/* libc has some 20, a browser 1,000 */
#define SITES_PER_FILE 16384

void spins_init(struct files *f)
{
	f->spins_sought = f->o->no_spin ? 0 : SOUGHT;
	session_look_for_spins(f->session, f->spins_sought);
	/* Functions begin with any instruction. */
	if (f->o->spins.n)
		session_set_spin_cost(f->session, session_visit_cost_ns(f->session, VISIT_STEPPED));
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
	return has_changed || found & COZBPF_SPINS_PAUSE;
}

/* The functions that --spin names: where they begin, or a cheaper place as often executed. Most
 * files have none of them. */
static int add_functions(
    struct files *f, struct object *o, struct spin_places *ret, struct error *e)
{
	struct probe_site *sites;
	struct error none = {0};
	int err = 0;
	size_t n;

	for (size_t i = 0; !err && i < f->o->spins.n; i++) {
		if (object_find_symbol(o, f->o->spins.items[i], 0, &sites, &n, &none))
			continue;
		f->spins_found |= 1ULL << i;
		err = object_check_sites(o, sites, n, true, false, e);
		for (size_t j = 0; !err && j < n; j++)
			err = spin_places_add(ret, sites[j].offset, 0, e);
		free(sites);
	}
	return err;
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
	struct error e = {0};
	struct object *o;
	size_t before;

	if (!p || p->has_pauses || !(f->spins_probed & COZBPF_SPINS_PAUSE))
		return p;
	p->has_pauses = true;
	before = p->n;
	if (files_open(f, file, &o, &e) || add_pauses(o, p, &e) || add_functions(f, o, p, &e))
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
	const struct spin_places *places = files_is_shim(file->path) ? NULL : find_places(f, file);
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
