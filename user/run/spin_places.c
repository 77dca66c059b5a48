// SPDX-License-Identifier: BSD-3-Clause
/* A file's places in loops that wait; see spin_places.h. */
#include "run/spin_places.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/files.h"

struct spin_places *spin_places(struct file *file)
{
	if (file->spins)
		return file->spins;
	file->spins = calloc(1, sizeof(*file->spins));
	if (file->spins)
		file->spins->fd = -1;
	return file->spins;
}

int spin_places_add(struct spin_places *p, uint64_t offset, uint64_t cookie, struct error *e)
{
	uint64_t *offsets, *cookies;

	for (size_t i = 0; i < p->n; i++)
		if (p->offsets[i] == offset)
			return 0;
	offsets = realloc(p->offsets, (p->n + 1) * sizeof(*offsets));
	p->offsets = offsets ? offsets : p->offsets;
	cookies = realloc(p->cookies, (p->n + 1) * sizeof(*cookies));
	p->cookies = cookies ? cookies : p->cookies;
	if (!offsets || !cookies)
		return error_set(e, EXIT_OTHER, "out of memory");
	p->offsets[p->n] = offset;
	p->cookies[p->n++] = cookie;
	return 0;
}

void spin_places_hold(struct spin_places *p, const struct object *o)
{
	if (p->fd < 0)
		p->fd = open(object_probe_path(o), O_RDONLY | O_CLOEXEC);
}

void spin_places_remove(struct spin_places *p, uint64_t offset)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->offsets[i] != offset)
			continue;
		p->n--;
		memmove(p->offsets + i, p->offsets + i + 1, (p->n - i) * sizeof(*p->offsets));
		memmove(p->cookies + i, p->cookies + i + 1, (p->n - i) * sizeof(*p->cookies));
		return;
	}
}

void spin_places_free(struct file *file)
{
	if (!file->spins)
		return;
	if (file->spins->fd >= 0)
		close(file->spins->fd);
	free(file->spins->offsets);
	free(file->spins->cookies);
	free(file->spins->asked);
	free(file->spins);
	file->spins = NULL;
}

bool spin_is_found(uint64_t found, uint64_t samples)
{
	return found >= SPIN_SAMPLES && found >= samples / SPIN_RARE;
}
