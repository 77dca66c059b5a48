// SPDX-License-Identifier: BSD-3-Clause
/* Where programs spin, and their probes; see spins.h. */
#include "run/spins.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/session.h"
#include "run/console.h"
#include "run/files.h"
#include "run/options.h"

/* Some code executes PAUSE now and then without waiting for long, and what watches sched_yield()
 * costs each system call of the machine a little. So it takes so many samples, and one of so many.
 */
#define SPIN_SAMPLES 5
#define SPIN_RARE 256
/* libc has some 20, a browser 1,000 */
#define SITES_PER_FILE 16384

struct spin_places {
	uint64_t *offsets;
	size_t n;
	int fd; /* of the file, for the kernel: opening an object anew takes a reader; -1: none */
};

/* Whether samples have found enough threads that spin so. */
static bool is_found(const struct files *f, unsigned what, uint64_t samples)
{
	uint64_t found = session_spin_samples(f->session, what);

	return found >= SPIN_SAMPLES && found >= samples / SPIN_RARE;
}

void spins_init(struct files *f)
{
	f->spins_sought = f->o->no_spin ? 0 : COZBPF_SPINS_PAUSE | COZBPF_SPINS_YIELD;
	session_look_for_spins(f->session, f->spins_sought);
	/* Functions begin with any instruction. */
	if (f->o->spins.n)
		session_set_spin_cost(f->session, session_visit_cost_ns(f->session, VISIT_STEPPED));
}

bool spins_begin(struct files *f)
{
	struct error e = {0};
	struct counters c;
	unsigned found = 0;

	if (!f->spins_sought)
		return false;
	session_read(f->session, &c);
	if (f->o->spins.n || is_found(f, COZBPF_SPINS_PAUSE, c.samples))
		found |= f->spins_sought & COZBPF_SPINS_PAUSE;
	if (is_found(f, COZBPF_SPINS_YIELD, c.samples))
		found |= f->spins_sought & COZBPF_SPINS_YIELD;
	if (!found)
		return false;
	f->spins_sought &= ~found;
	session_look_for_spins(f->session, f->spins_sought);
	if (found & COZBPF_SPINS_YIELD && session_watch_yields(f->session, &e))
		console_say(f->console, "warning: %s", e.cause);
	if (found & COZBPF_SPINS_PAUSE)
		f->spins_probed = true;
	return found & COZBPF_SPINS_PAUSE;
}

static int add_places(struct spin_places *p, const struct probe_site *sites, size_t n)
{
	uint64_t *bigger = realloc(p->offsets, (p->n + n + 1) * sizeof(*bigger));

	if (!bigger)
		return -1;
	p->offsets = bigger;
	for (size_t i = 0; i < n; i++)
		p->offsets[p->n++] = sites[i].offset;
	return 0;
}

/* The functions that --spin names: where they begin, or a cheaper place as often executed. Most
 * files have none of them. */
static int find_functions(
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
		if (!err && add_places(ret, sites, n))
			err = error_set(e, EXIT_OTHER, "out of memory");
		free(sites);
	}
	return err;
}

static const struct spin_places *find_places(struct files *f, struct file *file)
{
	struct error e = {0};
	struct object *o;

	if (file->spins)
		return file->spins;
	file->spins = calloc(1, sizeof(*file->spins));
	if (!file->spins)
		return NULL;
	file->spins->fd = -1;
	if (files_open(f, file, &o, &e) ||
	    object_spin_sites(o, SITES_PER_FILE, &file->spins->offsets, &file->spins->n, &e) ||
	    find_functions(f, o, file->spins, &e))
		console_say(
		    f->console, "warning: where '%s' spins is not known: %s", file->path, e.cause);
	else if (file->spins->n)
		file->spins->fd = open(object_probe_path(o), O_RDONLY | O_CLOEXEC);
	if (f->o->verbose && file->spins->n)
		console_say(f->console, "'%s': spins at %zu places", file->path, file->spins->n);
	return file->spins;
}

static void probe_file(struct files *f, int pid, struct file *file)
{
	/* Our own handler holds the CPU by such a loop. */
	const struct spin_places *places = files_is_shim(file->path) ? NULL : find_places(f, file);
	struct error e = {0};
	char path[32];

	if (!places || places->fd < 0 || session_has_spins(f->session, pid, file->dev, file->ino))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", places->fd);
	struct spin_sites at = {.pid = pid,
	    .path = path,
	    .dev = file->dev,
	    .ino = file->ino,
	    .offsets = places->offsets,
	    .n = places->n};
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
	for (size_t i = 0; f->spins_probed && i < f->o->spins.n; i++)
		if (!(f->spins_found >> i & 1))
			return f->o->spins.items[i];
	return NULL;
}

void spins_deinit(struct files *f)
{
	for (struct file *file = f->all; file; file = file->next) {
		if (!file->spins)
			continue;
		if (file->spins->fd >= 0)
			close(file->spins->fd);
		free(file->spins->offsets);
		free(file->spins);
		file->spins = NULL;
	}
}
