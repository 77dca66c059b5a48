// SPDX-License-Identifier: BSD-3-Clause
/* See wait_stacks.h. */
#include "core/profile/wait_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void add_capped(uint64_t *to, uint64_t more)
{
	if (__builtin_add_overflow(*to, more, to))
		*to = UINT64_MAX;
}

void add_periods(uint64_t *cpu_ns, uint64_t samples, uint64_t period_ns)
{
	uint64_t more;

	if (__builtin_mul_overflow(samples, period_ns, &more))
		more = UINT64_MAX;
	add_capped(cpu_ns, more);
}

/* Ids */

static int compare_ids(uint32_t run_a, uint32_t a, uint32_t run_b, uint32_t b)
{
	if (run_a != run_b)
		return run_a < run_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int compare_records(const void *a, const void *b)
{
	const struct samples_record *x = *(const struct samples_record *const *)a,
				    *y = *(const struct samples_record *const *)b;

	return compare_ids(x->run, x->id, y->run, y->id);
}

int line_ids_init(struct line_ids *ids, const struct profile *p)
{
	ids->n = 0;
	ids->records = calloc(p->n_samples + 1, sizeof(const struct samples_record *));
	if (!ids->records)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_samples; i++)
		if (p->samples[i].id)
			ids->records[ids->n++] = &p->samples[i];
	if (ids->n)
		qsort(ids->records, ids->n, sizeof(const struct samples_record *), compare_records);
	return 0;
}

const struct samples_record *line_ids_find(const struct line_ids *ids, uint32_t run, uint32_t id)
{
	size_t at = 0, end = ids->n;

	while (at < end) {
		size_t middle = at + (end - at) / 2;
		const struct samples_record *s = ids->records[middle];
		int order = compare_ids(s->run, s->id, run, id);

		if (!order)
			return s;
		if (order < 0)
			at = middle + 1;
		else
			end = middle;
	}
	return NULL;
}

void line_ids_deinit(struct line_ids *ids)
{
	free(ids->records);
	*ids = (struct line_ids){0};
}

/* Stacks */

const char *frame_name(const struct samples_record *frame, bool functions)
{
	return functions && frame->function ? frame->function : frame->location;
}

/* The text that equal stacks share. NULL without memory. */
static char *key_of(
    const char *unit, const struct samples_record **frames, size_t n, bool functions)
{
	size_t size = strlen(unit) + 1;
	char *key, *end;

	for (size_t i = 0; i < n; i++)
		size += strlen(frame_name(frames[i], functions)) + 1;
	key = malloc(size);
	if (!key)
		return NULL;
	end = stpcpy(key, unit);
	for (size_t i = 0; i < n; i++) {
		*end++ = '\n'; /* separates records, and so is in no name */
		end = stpcpy(end, frame_name(frames[i], functions));
	}
	return key;
}

/* Makes room for one more stack of @n frames. */
static int make_room(struct unit_stacks *s, size_t n)
{
	void *bigger;

	if (s->n_frames + n > s->frames_room) {
		s->frames_room = 2 * s->frames_room + COZBPF_WAIT_CALLERS;
		bigger =
		    reallocarray(s->frames, s->frames_room, sizeof(const struct samples_record *));
		if (!bigger)
			return -ENOMEM;
		s->frames = bigger;
	}
	if (s->n == s->room) {
		s->room = 2 * s->room + 64;
		bigger = reallocarray(s->stacks, s->room, sizeof(*s->stacks));
		if (!bigger)
			return -ENOMEM;
		s->stacks = bigger;
	}
	return 0;
}

/* Callers that have no record are left out: the file is damaged. */
static size_t find_frames(const struct line_ids *ids, uint32_t run, const struct stack_count *c,
    const struct samples_record **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < COZBPF_WAIT_CALLERS && c->stack.callers[i]; i++) {
		ret[n] = line_ids_find(ids, run, c->stack.callers[i]);
		n += ret[n] != NULL;
	}
	return n;
}

static int add_stack(struct unit_stacks *s, const struct samples_record *of,
    const struct samples_record **frames, size_t n, uint64_t count, bool functions,
    uint64_t period_ns)
{
	char *key = key_of(of->location, frames, n, functions);
	uint32_t id;
	int err = !key || names_copy(&s->keys, key, &id) ? -ENOMEM : 0;

	free(key);
	if (!err && id == s->n) {
		err = make_room(s, n);
		if (err)
			return err;
		memcpy(s->frames + s->n_frames, frames, n * sizeof(const struct samples_record *));
		s->n_frames += n;
		s->stacks[s->n++] = (struct unit_stack){.unit = of->location, .n = n};
	}
	if (err)
		return err;
	add_capped(&s->stacks[id].count, count);
	add_periods(&s->stacks[id].cpu_ns, count, period_ns);
	return 0;
}

static int add_record(struct unit_stacks *s, const struct line_ids *ids,
    const struct samples_record *of, bool functions, uint64_t period_ns)
{
	const struct samples_record *frames[COZBPF_WAIT_CALLERS];
	const char *text = of->stacks;
	struct stack_count c;
	int err = 0;

	while (!err && text && wait_stack_next(&text, &c)) {
		size_t n = find_frames(ids, of->run, &c, frames);

		if (n)
			err = add_stack(s, of, frames, n, c.count, functions, period_ns);
	}
	return err;
}

static int compare_units(const void *a, const void *b)
{
	const struct unit_stack *x = a, *y = b;
	int by_unit = strcmp(x->unit, y->unit);

	if (by_unit)
		return by_unit;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->frames < y->frames ? -1 : x->frames > y->frames;
}

int unit_stacks_init(struct unit_stacks *s, const struct profile *p, bool functions)
{
	struct line_ids ids = {0};
	int err = line_ids_init(&ids, p);
	size_t first = 0;

	*s = (struct unit_stacks){0};
	for (size_t i = 0; !err && i < p->n_samples; i++)
		err = add_record(
		    s, &ids, &p->samples[i], functions, p->runs[p->samples[i].run].period_ns);
	for (size_t i = 0; !err && i < s->n; first += s->stacks[i++].n)
		s->stacks[i].frames = s->frames + first;
	if (!err && s->n)
		qsort(s->stacks, s->n, sizeof(*s->stacks), compare_units);
	line_ids_deinit(&ids);
	return err;
}

const struct unit_stack *unit_stacks_find(
    const struct unit_stacks *s, const char *unit, size_t *ret_n)
{
	size_t at = 0, end = s->n;

	*ret_n = 0;
	while (at < end) {
		size_t middle = at + (end - at) / 2;

		if (strcmp(s->stacks[middle].unit, unit) < 0)
			at = middle + 1;
		else
			end = middle;
	}
	while (at + *ret_n < s->n && !strcmp(s->stacks[at + *ret_n].unit, unit))
		(*ret_n)++;
	return *ret_n ? &s->stacks[at] : NULL;
}

void unit_stacks_deinit(struct unit_stacks *s)
{
	free(s->stacks);
	free(s->frames);
	names_deinit(&s->keys);
	*s = (struct unit_stacks){0};
}
