// SPDX-License-Identifier: BSD-3-Clause
/* From samples to blocks that are worth watching; see blocks_private.h. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/blocks_private.h"
#include "run/console.h"
#include "run/files.h"
#include "run/options.h"
#include "run/places.h"

/* a block with fewer may be there by chance */
#define LEAST_SAMPLES 5
/* Each question takes a reader some 10 ms; more blocks of a share of 1 % there cannot be of one
 * call level. */
#define ASKED_AT_ONCE 4096

/* The map has grown by files that have come. False: out of memory. */
static bool follow_map(struct blocks *b)
{
	size_t n = session_lines(b->rooms.session, &b->rooms.files->lines);
	uint64_t *before;
	bool *taken;

	if (n <= b->n_units)
		return true;
	before = realloc(b->samples_before, n * sizeof(*before));
	if (!before)
		return false;
	b->samples_before = before;
	taken = realloc(b->is_taken, n * sizeof(*taken));
	if (!taken)
		return false;
	b->is_taken = taken;
	memset(before + b->n_units, 0, (n - b->n_units) * sizeof(*before));
	memset(taken + b->n_units, 0, (n - b->n_units) * sizeof(*taken));
	b->n_units = n;
	return true;
}

static uint64_t all_samples(const struct blocks *b)
{
	struct counters c;

	session_read(b->rooms.session, &c);
	return c.samples;
}

void candidates_begin(struct blocks *b)
{
	const struct cozbpf_line_count *counts = session_line_counts(b->rooms.session);

	follow_map(b);
	for (size_t i = 0; i < b->n_units; i++)
		b->samples_before[i] = counts[i].all;
	b->all_before = all_samples(b);
}

uint64_t candidate_samples(const struct blocks *b, const struct candidate *c)
{
	return session_line_counts(b->rooms.session)[c->unit].all - b->samples_before[c->unit];
}

static bool is_many(const struct blocks *b, uint64_t samples, uint64_t all)
{
	return samples >= LEAST_SAMPLES &&
	       (double)samples >= b->rooms.o->blocks->share * (double)all;
}

/* In this run, or in all of them. */
static bool is_hot(
    const struct blocks *b, const struct cozbpf_line_count *counts, size_t unit, uint64_t all)
{
	return is_many(b, counts[unit].all, all) ||
	       is_many(b, counts[unit].all - b->samples_before[unit], all - b->all_before);
}

static struct file *find_file(const struct files *f, size_t index)
{
	const struct line_object *o = &f->lines.objects[index];
	struct file *file, *named = NULL;

	for (uint32_t i = 1; (file = files_numbered(f, i)); i++) {
		if (file->line_object == (int)index)
			return file;
		if (!named && !strcmp(file->path, o->path))
			named = file;
	}
	return named;
}

static void refuse(struct blocks *b, const struct line_object *o, const struct error *e)
{
	console_say(b->rooms.console, "warning: blocks of '%s' are not watched: %s%s%s", o->path,
	    e->cause, *e->hint ? "; " : "", e->hint);
}

/* The file of a line map's object, for its blocks to be probed; its descriptor is -1 where they
 * cannot be. */
static struct block_object *add_object(struct blocks *b, size_t index)
{
	const struct line_object *line = &b->rooms.files->lines.objects[index];
	struct block_object *bigger = realloc(b->objects, (b->n_objects + 1) * sizeof(*b->objects));
	struct block_object *at;

	if (!bigger)
		return NULL;
	b->objects = bigger;
	at = &b->objects[b->n_objects];
	*at = (struct block_object){.index = index, .fd = -1, .path = strdup(line->path)};
	if (!at->path)
		return NULL;
	b->n_objects++;
	for (uint32_t i = 0; i < line->build_id_len && i < sizeof(line->build_id); i++)
		snprintf(at->build_id + (size_t)(2 * i), 3, "%02x", line->build_id[i]);
	return at;
}

static int open_object(
    struct blocks *b, struct block_object *at, struct object **ret, struct error *e)
{
	struct files *f = b->rooms.files;
	struct file *file = find_file(f, at->index);

	if (!file)
		return error_set(e, EXIT_OTHER, "it is not there any more");
	if (places_may_probe(b->rooms.points, file, e) || files_open(f, file, ret, e))
		return -1;
	if (at->fd < 0)
		at->fd = open(object_probe_path(*ret), O_RDONLY | O_CLOEXEC);
	if (at->fd < 0)
		return error_set(e, EXIT_OTHER, "it cannot be opened to be probed");
	snprintf(at->probe_path, sizeof(at->probe_path), "/proc/self/fd/%d", at->fd);
	return 0;
}

static void add(struct blocks *b, uint32_t unit, size_t object, const struct block_site *site)
{
	size_t room = b->room * 2 + 64;
	struct candidate *bigger;

	if (site->start >= site->end)
		return;
	if (b->n == b->room) {
		bigger = realloc(b->candidates, room * sizeof(*bigger));
		if (!bigger)
			return;
		b->candidates = bigger;
		b->room = room;
	}
	b->candidates[b->n++] = (struct candidate){
	    .unit = unit, .object = object, .site = *site, .place = NO_PLACE, .slot = NO_SLOT};
}

/* Blocks of one file that samples have found. */
struct question {
	uint64_t starts[ASKED_AT_ONCE];
	uint32_t units[ASKED_AT_ONCE];
	size_t n;
};

static void ask(struct blocks *b, size_t index, const struct question *q)
{
	struct block_site *sites = calloc(q->n, sizeof(*sites));
	struct block_object *at = NULL;
	struct error e = {0};
	struct object *o;
	bool is_old;

	for (size_t i = 0; i < b->n_objects; i++)
		if (b->objects[i].index == index)
			at = &b->objects[i];
	is_old = at;
	if (!at)
		at = add_object(b, index);
	if (!sites || !at || (is_old && at->fd < 0))
		goto out;
	if (open_object(b, at, &o, &e) || object_block_sites(o, q->starts, q->n, sites, &e)) {
		refuse(b, &b->rooms.files->lines.objects[index], &e);
		if (at->fd >= 0)
			close(at->fd);
		at->fd = -1;
		goto out;
	}
	for (size_t i = 0; i < q->n; i++)
		add(b, q->units[i], (size_t)(at - b->objects), &sites[i]);
out:
	free(sites);
}

/* A unit has a range for each copy of a function's name in its file. */
static void ask_of_object(struct blocks *b, size_t index, const bool *is_new, struct question *q)
{
	const struct line_map *m = &b->rooms.files->lines;
	const struct line_object *o = &m->objects[index];

	q->n = 0;
	for (uint32_t i = o->first; i < o->first + o->count; i++) {
		if (!is_new[m->ranges[i].line])
			continue;
		q->starts[q->n] = m->ranges[i].lo;
		q->units[q->n++] = m->ranges[i].line;
		if (q->n < ASKED_AT_ONCE)
			continue;
		ask(b, index, q);
		q->n = 0;
	}
	if (q->n)
		ask(b, index, q);
}

static void ask_for(struct blocks *b, const bool *is_new)
{
	struct question *q = malloc(sizeof(*q));

	for (size_t i = 0; q && i < b->rooms.files->lines.n_objects; i++)
		ask_of_object(b, i, is_new, q);
	files_close(b->rooms.files);
	free(q);
}

void candidates_look(struct blocks *b)
{
	const struct cozbpf_line_count *counts = session_line_counts(b->rooms.session);
	uint64_t all = all_samples(b);
	bool any = false, *is_new;

	if (!follow_map(b))
		return;
	is_new = calloc(b->n_units, sizeof(*is_new));
	for (size_t i = 1; is_new && i < b->n_units; i++) {
		is_new[i] = !b->is_taken[i] && is_hot(b, counts, i, all);
		b->is_taken[i] |= is_new[i];
		any |= is_new[i];
	}
	if (any)
		ask_for(b, is_new);
	free(is_new);
	for (size_t i = 0; i < b->n; i++)
		b->candidates[i].samples = counts[b->candidates[i].unit].all;
}

void candidates_free(struct blocks *b)
{
	for (size_t i = 0; i < b->n_objects; i++) {
		if (b->objects[i].fd >= 0)
			close(b->objects[i].fd);
		free(b->objects[i].path);
	}
	free(b->objects);
	free(b->candidates);
	free(b->samples_before);
	free(b->is_taken);
}
