// SPDX-License-Identifier: BSD-3-Clause
/* Where programs spin, and their probes; see spins.h. */
#include "run/spins.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/session.h"
#include "run/console.h"
#include "run/files.h"
#include "run/options.h"

/* Some code executes PAUSE now and then without waiting for long. */
#define SPIN_SAMPLES 5
/* libc has some 20, a browser 1,000 */
#define SITES_PER_FILE 16384

struct spin_places {
	uint64_t *offsets;
	size_t n;
};

bool spins_begin(struct files *f)
{
	struct error e = {0};

	if (f->o->no_spin || f->spins_probed || session_spin_samples(f->session) < SPIN_SAMPLES)
		return false;
	f->spins_probed = true;
	if (session_watch_yields(f->session, &e))
		console_say(f->console, "warning: %s", e.cause);
	return true;
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
	if (files_open(f, file, &o, &e) ||
	    object_spin_sites(o, SITES_PER_FILE, &file->spins->offsets, &file->spins->n, &e))
		console_say(
		    f->console, "warning: where '%s' spins is not known: %s", file->path, e.cause);
	else if (f->o->verbose && file->spins->n)
		console_say(f->console, "'%s': spins at %zu places", file->path, file->spins->n);
	return file->spins;
}

/* Our own handler holds the CPU by such a loop. */
static bool is_shim(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && !strcmp(name, "/libcozbpf-shim.so");
}

static void probe_file(struct files *f, int pid, struct file *file)
{
	const struct spin_places *places;
	struct error e = {0};
	struct object *o;

	if (is_shim(file->path) || session_has_spins(f->session, pid, file->dev, file->ino))
		return;
	places = find_places(f, file);
	if (!places || !places->n || files_open(f, file, &o, &e))
		return;
	struct spin_sites at = {.pid = pid,
	    .path = object_probe_path(o),
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

void spins_deinit(struct files *f)
{
	for (struct file *file = f->all; file; file = file->next) {
		if (file->spins)
			free(file->spins->offsets);
		free(file->spins);
		file->spins = NULL;
	}
}
