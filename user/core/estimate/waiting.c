// SPDX-License-Identifier: BSD-3-Clause
/* See waiting.h. */
#include "core/estimate/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/places/waits.h"
#include "core/profile/counters.h"
#include "core/profile/wait_stacks.h"

#define LEAST_SHARE 0.01

/* What is known about a name while records are read: 1 + an index, or 0. */
struct by_name {
	uint32_t line, unit;
};

/* A waker of a unit, from one record. */
struct seen {
	uint32_t unit; /* index of the unit */
	struct waiting_waker waker;
};

struct reading {
	struct waiting *w;
	struct by_name *by_name; /* by id of the name: two for each record at most */
	struct seen *seen;
	size_t n_seen, seen_room;
};

double waiting_share(uint64_t n, uint64_t all)
{
	return !all ? 0 : n < all ? (double)n / (double)all : 1;
}

static bool is_wait(const struct samples_record *s)
{
	size_t length;

	return wait_of_unit(s->location, &length) >= 0;
}

/* Our copy of a name, and what is known about it. NULL without memory. */
static const char *own(struct reading *r, const char *name, struct by_name **ret)
{
	uint32_t id;

	if (names_copy(&r->w->names, name, &id))
		return NULL;
	*ret = &r->by_name[id];
	return r->w->names.items[id];
}

/* The line of a record: of waits what is before their class. NULL without memory. */
static struct waiting_line *line_of(struct reading *r, const struct samples_record *s)
{
	size_t length = strlen(s->location);
	struct by_name *at;
	const char *name;
	char *line;

	if (is_wait(s))
		wait_of_unit(s->location, &length);
	line = strndup(s->location, length);
	name = line ? own(r, line, &at) : NULL;
	free(line);
	if (!name)
		return NULL;
	if (!at->line) {
		r->w->lines[r->w->n++].line = name;
		at->line = (uint32_t)r->w->n;
	}
	return &r->w->lines[at->line - 1];
}

static int note_waker(struct reading *r, uint32_t unit, const struct waiting_waker *waker)
{
	if (r->n_seen == r->seen_room) {
		size_t room = 2 * r->seen_room + 64;
		struct seen *bigger = reallocarray(r->seen, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		r->seen = bigger;
		r->seen_room = room;
	}
	r->seen[r->n_seen++] = (struct seen){unit, *waker};
	return 0;
}

static int add_wakers(
    struct reading *r, const struct line_ids *ids, const struct samples_record *s, uint32_t unit)
{
	const char *text = s->wakers;
	struct waker_count c;
	struct by_name *at;
	int err = 0;

	while (!err && text && wait_waker_next(&text, &c)) {
		struct waiting_waker waker = {.waker = c.waker.line, .count = c.count};
		const struct samples_record *by =
		    waker_name(waker.waker) ? NULL : line_ids_find(ids, s->run, waker.waker);

		if (by) {
			waker.line = own(r, by->location, &at);
			err = waker.line ? 0 : -ENOMEM;
		} else if (!waker_name(waker.waker)) {
			waker.waker = COZBPF_WAKER_NO_LINE;
		}
		if (!err)
			err = note_waker(r, unit, &waker);
	}
	return err;
}

static int add_record(struct reading *r, const struct line_ids *ids, const struct samples_record *s)
{
	struct waiting_line *line = line_of(r, s);
	struct by_name *at;
	struct waiting *w = r->w;
	const char *name;
	size_t length;
	int class;

	if (!line)
		return -ENOMEM;
	class = wait_of_unit(s->location, &length);
	if (class < 0) {
		add_capped(&line->on, s->count);
		return 0;
	}
	add_capped(&line->classes[class], s->count);
	add_capped(&line->off, s->count);
	add_capped(&w->classes[class], s->count);
	add_capped(&w->off, s->count);
	name = own(r, s->location, &at);
	if (!name)
		return -ENOMEM;
	if (!at->unit) {
		w->units[w->n_units++].unit = name;
		at->unit = (uint32_t)w->n_units;
	}
	add_capped(&w->units[at->unit - 1].count, s->count);
	return add_wakers(r, ids, s, at->unit - 1);
}

/* By unit, then by who it is. */
static int compare_seen(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	if (x->waker.line && y->waker.line)
		return strcmp(x->waker.line, y->waker.line);
	if (x->waker.line || y->waker.line)
		return x->waker.line ? 1 : -1;
	return x->waker.waker < y->waker.waker ? -1 : x->waker.waker > y->waker.waker;
}

static int compare_wakers(const void *a, const void *b)
{
	const struct waiting_waker *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->line && y->line)
		return strcmp(x->line, y->line);
	return x->waker < y->waker ? -1 : x->waker > y->waker;
}

/* Adds up what several runs have seen, and gives each unit its wakers. */
static int sort_wakers(struct reading *r)
{
	struct waiting *w = r->w;
	size_t n = 0;

	w->wakers = calloc(r->n_seen + 1, sizeof(*w->wakers));
	if (!w->wakers)
		return -ENOMEM;
	if (r->n_seen)
		qsort(r->seen, r->n_seen, sizeof(*r->seen), compare_seen);
	for (size_t i = 0; i < r->n_seen; i++) {
		struct waiting_unit *unit = &w->units[r->seen[i].unit];

		add_capped(&unit->woken, r->seen[i].waker.count);
		if (i && !compare_seen(&r->seen[i - 1], &r->seen[i])) {
			add_capped(&w->wakers[n - 1].count, r->seen[i].waker.count);
			continue;
		}
		if (!unit->n++)
			unit->wakers = &w->wakers[n];
		w->wakers[n++] = r->seen[i].waker;
	}
	for (size_t i = 0; i < w->n_units; i++)
		if (w->units[i].n)
			qsort(w->wakers + (w->units[i].wakers - w->wakers), w->units[i].n,
			    sizeof(*w->wakers), compare_wakers);
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	const struct waiting_line *x = a, *y = b;

	if (x->larger_share != y->larger_share)
		return x->larger_share > y->larger_share ? -1 : 1;
	return strcmp(x->line, y->line);
}

static int compare_units(const void *a, const void *b)
{
	const struct waiting_unit *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->unit, y->unit);
}

/* All samples that are none of waits: no fewer than those of lines, whose records a run that was
 * killed may have alone. */
static void count_executed(struct waiting *w, const struct profile *p)
{
	struct run_record all;
	uint64_t of_lines = 0;

	runs_total(p, &all);
	w->on = all.samples > all.waits ? all.samples - all.waits : 0;
	for (size_t i = 0; i < w->n; i++)
		add_capped(&of_lines, w->lines[i].on);
	if (w->on < of_lines)
		w->on = of_lines;
}

static int read_records(struct reading *r, const struct profile *p)
{
	struct line_ids ids = {0};
	int err = line_ids_init(&ids, p);

	r->by_name = calloc(2 * p->n_samples + 1, sizeof(*r->by_name));
	r->w->lines = calloc(p->n_samples + 1, sizeof(*r->w->lines));
	r->w->units = calloc(p->n_samples + 1, sizeof(*r->w->units));
	if (!r->by_name || !r->w->lines || !r->w->units)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < p->n_samples; i++)
		err = add_record(r, &ids, &p->samples[i]);
	if (!err)
		err = sort_wakers(r);
	line_ids_deinit(&ids);
	free(r->by_name);
	free(r->seen);
	return err;
}

int waiting_init(struct waiting *w, const struct profile *p)
{
	struct reading r = {.w = w};
	size_t i = 0;
	int err;

	*w = (struct waiting){0};
	while (i < p->n_samples && !is_wait(&p->samples[i]))
		i++;
	if (i == p->n_samples)
		return 0;
	err = read_records(&r, p);
	if (err)
		return err;
	count_executed(w, p);
	for (i = 0; i < w->n; i++) {
		struct waiting_line *l = &w->lines[i];

		l->on_share = waiting_share(l->on, w->on);
		l->off_share = waiting_share(l->off, w->off);
		l->larger_share = l->on_share > l->off_share ? l->on_share : l->off_share;
	}
	qsort(w->lines, w->n, sizeof(*w->lines), compare_lines);
	qsort(w->units, w->n_units, sizeof(*w->units), compare_units);
	return 0;
}

size_t waiting_leading(const struct waiting *w, const struct waiting_unit *ret[WAITING_UNITS])
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_units && n < WAITING_UNITS; i++)
		if (w->units[i].n && waiting_share(w->units[i].count, w->off) >= LEAST_SHARE)
			ret[n++] = &w->units[i];
	return n;
}

size_t waiting_lines(const struct waiting *w)
{
	size_t n = 0;

	while (n < w->n && w->lines[n].larger_share >= LEAST_SHARE)
		n++;
	return n;
}

void waiting_deinit(struct waiting *w)
{
	free(w->lines);
	free(w->units);
	free(w->wakers);
	names_deinit(&w->names);
	*w = (struct waiting){0};
}
