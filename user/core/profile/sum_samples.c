// SPDX-License-Identifier: BSD-3-Clause
/* See sum_samples.h. Lines get new ids in a sum, and stacks and wakers are written in these. */
#include "core/profile/sum_samples.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile/wait_calls.h"
#include "core/profile/wait_fields.h"
#include "core/profile/wait_stacks.h"

#define KEY 512 /* bytes; of a unit and COZBPF_WAIT_CALLERS ids */

/* The samples of one run of `q`. */
struct samples_sum {
	const struct profile *p;
	const struct line_ids *ids;
	struct profile *q;
	struct names lines; /* id in the sum less 1 */
	struct samples_record *records;
	struct wait_calls **calls; /* NULL: none are known */
	size_t room;
	struct names stacks, wakers; /* keys of those in `waits` */
	struct wait_counts waits;
};

static int make_room(struct samples_sum *s)
{
	size_t room = 2 * s->room + 64;
	void *records = reallocarray(s->records, room, sizeof(*s->records)), *calls;

	if (!records)
		return -ENOMEM;
	s->records = records;
	calls = reallocarray(s->calls, room, sizeof(struct wait_calls *));
	if (!calls)
		return -ENOMEM;
	s->calls = calls;
	memset(s->records + s->room, 0, (room - s->room) * sizeof(*s->records));
	memset(s->calls + s->room, 0, (room - s->room) * sizeof(struct wait_calls *));
	s->room = room;
	return 0;
}

static int line_id(struct samples_sum *s, const char *location, uint32_t *ret)
{
	if (names_id(&s->lines, location, ret) || (s->lines.n > s->room && make_room(s)))
		return -ENOMEM;
	s->records[*ret].location = (char *)location;
	++*ret;
	return 0;
}

/* Waits */

static int count_stack(struct samples_sum *s, const struct stack_count *c)
{
	struct wait_counts *w = &s->waits;
	char key[KEY];
	int used = snprintf(key, sizeof(key), "%" PRIu32, c->stack.unit);
	uint32_t id;

	for (size_t i = 0; i < COZBPF_WAIT_CALLERS && c->stack.callers[i]; i++)
		used += snprintf(
		    key + used, sizeof(key) - (size_t)used, "/%" PRIu32, c->stack.callers[i]);
	if (names_copy(&s->stacks, key, &id))
		return -ENOMEM;
	if (id == w->n_stacks) {
		void *all = profile_grow(w->stacks, id, sizeof(*w->stacks));

		if (!all)
			return -ENOMEM;
		w->stacks = all;
		w->stacks[w->n_stacks++] = (struct stack_count){.stack = c->stack};
	}
	add_capped(&w->stacks[id].count, c->count);
	return 0;
}

static int count_waker(struct samples_sum *s, const struct waker_count *c)
{
	struct wait_counts *w = &s->waits;
	char key[KEY];
	uint32_t id;

	snprintf(key, sizeof(key), "%" PRIu32 "/%" PRIu32, c->waker.unit, c->waker.line);
	if (names_copy(&s->wakers, key, &id))
		return -ENOMEM;
	if (id == w->n_wakers) {
		void *all = profile_grow(w->wakers, id, sizeof(*w->wakers));

		if (!all)
			return -ENOMEM;
		w->wakers = all;
		w->wakers[w->n_wakers++] = (struct waker_count){.waker = c->waker};
	}
	add_capped(&w->wakers[id].count, c->count);
	return 0;
}

/* What the run calls @id; 0: it has no record, the file is damaged. */
static int translate(struct samples_sum *s, uint32_t run, uint32_t id, uint32_t *ret)
{
	const struct samples_record *of = line_ids_find(s->ids, run, id);

	*ret = 0;
	return of ? line_id(s, of->location, ret) : 0;
}

static int add_stacks(struct samples_sum *s, const struct samples_record *of, uint32_t unit)
{
	const char *text = of->stacks;
	struct stack_count c;

	while (text && wait_stack_next(&text, &c)) {
		struct stack_count sum = {.stack.unit = unit, .count = c.count};
		size_t n = 0;

		for (size_t i = 0; i < COZBPF_WAIT_CALLERS && c.stack.callers[i]; i++) {
			if (translate(s, of->run, c.stack.callers[i], &sum.stack.callers[n]))
				return -ENOMEM;
			n += sum.stack.callers[n] != 0;
		}
		if (n && count_stack(s, &sum))
			return -ENOMEM;
	}
	return 0;
}

static int add_wakers(struct samples_sum *s, const struct samples_record *of, uint32_t unit)
{
	const char *text = of->wakers;
	struct waker_count c;

	while (text && wait_waker_next(&text, &c)) {
		uint32_t line = c.waker.line;

		c.waker.unit = unit;
		if (line && !waker_name(line) && translate(s, of->run, line, &c.waker.line))
			return -ENOMEM;
		if (count_waker(s, &c))
			return -ENOMEM;
	}
	return 0;
}

static int add_calls(struct samples_sum *s, const struct samples_record *of, uint32_t unit)
{
	struct wait_calls **calls = &s->calls[unit - 1];

	if (!of->calls)
		return 0;
	if (!*calls)
		*calls = calloc(1, sizeof(struct wait_calls));
	if (!*calls)
		return -ENOMEM;
	wait_calls_parse(*calls, of->calls, of->count);
	return 0;
}

static int add_record(struct samples_sum *s, const struct samples_record *of)
{
	struct samples_record *to;
	uint32_t unit;

	if (line_id(s, of->location, &unit))
		return -ENOMEM;
	to = &s->records[unit - 1];
	add_capped(&to->count, of->count);
	add_capped(&to->free, of->free);
	to->has_free |= of->has_free;
	if (of->function)
		to->function = of->function;
	return add_stacks(s, of, unit) || add_wakers(s, of, unit) || add_calls(s, of, unit)
		   ? -ENOMEM
		   : 0;
}

/* To records */

/* The profile's own copy of @text, which is freed; NULL stays NULL. */
static int own(struct profile *q, char *text, char **ret)
{
	uint32_t id;
	int err;

	*ret = NULL;
	if (!text)
		return 0;
	err = names_copy(&q->names, text, &id);
	free(text);
	if (!err)
		*ret = (char *)q->names.items[id];
	return err;
}

/* A record has room for as many stacks as a run has. Those with fewest samples are left out. */
static void keep_most(struct wait_counts *w)
{
	size_t kept = 0, of_unit = 0;

	for (size_t i = 0; i < w->n_stacks; i++) {
		if (i && w->stacks[i].stack.unit != w->stacks[i - 1].stack.unit)
			of_unit = 0;
		if (of_unit++ < COZBPF_WAIT_STACKS)
			w->stacks[kept++] = w->stacks[i];
	}
	w->n_stacks = kept;
	kept = of_unit = 0;
	for (size_t i = 0; i < w->n_wakers; i++) {
		if (i && w->wakers[i].waker.unit != w->wakers[i - 1].waker.unit)
			of_unit = 0;
		if (of_unit++ < COZBPF_WAKERS)
			w->wakers[kept++] = w->wakers[i];
	}
	w->n_wakers = kept;
}

static int put(struct samples_sum *s, uint32_t unit, uint32_t run)
{
	struct samples_record sum = s->records[unit - 1], *all;
	const struct wait_calls *calls = s->calls[unit - 1];
	struct profile *q = s->q;
	char text[WAIT_CALLS_TEXT] = "";

	if (calls)
		wait_calls_text(calls, text);
	sum.run = run;
	sum.id = unit;
	if (own(q, strdup(sum.location), &sum.location) || !sum.location ||
	    own(q, sum.function ? strdup(sum.function) : NULL, &sum.function) ||
	    own(q, wait_stacks_text(&s->waits, unit), &sum.stacks) ||
	    own(q, wait_wakers_text(&s->waits, unit), &sum.wakers) ||
	    own(q, text[0] ? strdup(text) : NULL, &sum.calls))
		return -ENOMEM;
	all = profile_grow(q->samples, q->n_samples, sizeof(*all));
	if (!all)
		return -ENOMEM;
	q->samples = all;
	all[q->n_samples++] = sum;
	return 0;
}

static void samples_sum_deinit(struct samples_sum *s)
{
	for (size_t i = 0; i < s->room; i++)
		free(s->calls[i]);
	free(s->records);
	free(s->calls);
	names_deinit(&s->lines);
	names_deinit(&s->stacks);
	names_deinit(&s->wakers);
	wait_counts_deinit(&s->waits);
}

int sum_samples(const struct profile *p, const uint32_t *kinds, struct profile *q)
{
	struct line_ids ids;
	int err = line_ids_init(&ids, p);

	for (uint32_t run = 0; !err && run < q->n_runs; run++) {
		struct samples_sum s = {.p = p, .ids = &ids, .q = q};

		for (size_t i = 0; !err && i < p->n_samples; i++)
			if (kinds[p->samples[i].run] == run)
				err = add_record(&s, &p->samples[i]);
		wait_counts_sort(&s.waits);
		keep_most(&s.waits);
		for (uint32_t i = 1; !err && i <= s.lines.n; i++)
			err = put(&s, i, run);
		samples_sum_deinit(&s);
	}
	line_ids_deinit(&ids);
	return err;
}
