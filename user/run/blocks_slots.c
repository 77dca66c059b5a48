// SPDX-License-Identifier: BSD-3-Clause
/* Which candidates are watched, where there are more of them than the kernel side has slots; see
 * blocks_private.h. */
#include <stdlib.h>

#include "run/blocks_private.h"

/* Slots that go round among those that the others do not leave to. */
#define ROTATING (COZBPF_BLOCK_SLOTS / 4)

void slots_init(struct blocks *b)
{
	for (size_t i = 0; i < COZBPF_BLOCK_SLOTS; i++)
		b->slots[i] = SIZE_MAX;
}

static void add_reading(struct block_reading *sum, const struct block_reading *r)
{
	if (r->timed) {
		sum->min_ns = sum->timed && sum->min_ns < r->min_ns ? sum->min_ns : r->min_ns;
		sum->max_ns = sum->max_ns > r->max_ns ? sum->max_ns : r->max_ns;
	}
	sum->entries += r->entries;
	sum->timed += r->timed;
	sum->sum_ns += r->sum_ns;
	sum->wall_ns += r->wall_ns;
	sum->probe_ns += r->probe_ns;
	for (size_t i = 0; i < COZBPF_BLOCK_CELLS; i++)
		sum->cells[i] += r->cells[i];
}

/* It is in no window. */
static void give_back(struct blocks *b, size_t slot)
{
	struct candidate *c = &b->candidates[b->slots[slot]];
	struct block_reading r;

	session_read_block(b->rooms.session, (unsigned)slot, &r);
	add_reading(&c->reading, &r);
	c->slot = NO_SLOT;
	c->entries = c->probe_ns = 0;
	if (c->state != CANDIDATE_REFUSED)
		c->state = CANDIDATE_WAITS;
	b->slots[slot] = SIZE_MAX;
}

static void take(struct blocks *b, size_t candidate, size_t slot)
{
	struct candidate *c = &b->candidates[candidate];

	session_clear_block(b->rooms.session, (unsigned)slot);
	b->slots[slot] = candidate;
	c->slot = (int)slot;
	c->entries = c->probe_ns = 0;
	c->state = c->executed_ns > 0 ? CANDIDATE_SAMPLED : CANDIDATE_NEW;
	c->runs_watched++;
	c->was_watched = true;
}

static bool goes_before(const struct candidate *a, const struct candidate *b, bool least_watched)
{
	if (least_watched && a->runs_watched != b->runs_watched)
		return a->runs_watched < b->runs_watched;
	return a->samples > b->samples;
}

/* The most significant of those that wait, or the least watched. SIZE_MAX: none waits. */
static size_t find_waiting(const struct blocks *b, bool least_watched)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < b->n; i++)
		if (b->candidates[i].state == CANDIDATE_WAITS &&
		    (best == SIZE_MAX ||
			goes_before(&b->candidates[i], &b->candidates[best], least_watched)))
			best = i;
	return best;
}

/* Those with fewest samples go first. */
static void make_room(struct blocks *b)
{
	for (unsigned i = 0; i < ROTATING; i++) {
		size_t least = SIZE_MAX;

		for (size_t s = 0; s < COZBPF_BLOCK_SLOTS; s++)
			if (b->slots[s] != SIZE_MAX &&
			    (least == SIZE_MAX || b->candidates[b->slots[s]].samples <
						      b->candidates[b->slots[least]].samples))
				least = s;
		if (least == SIZE_MAX)
			return;
		windows_leave(b, b->slots[least]);
		give_back(b, least);
	}
}

void slots_assign(struct blocks *b, bool rotates)
{
	size_t used = 0, waiting = find_waiting(b, false);

	for (size_t s = 0; s < COZBPF_BLOCK_SLOTS; s++)
		used += b->slots[s] != SIZE_MAX;
	if (rotates && waiting != SIZE_MAX && used == COZBPF_BLOCK_SLOTS) {
		make_room(b);
		used -= ROTATING;
	}
	for (size_t s = 0; s < COZBPF_BLOCK_SLOTS && waiting != SIZE_MAX; s++) {
		if (b->slots[s] != SIZE_MAX)
			continue;
		waiting = find_waiting(b, used >= COZBPF_BLOCK_SLOTS - ROTATING);
		if (waiting == SIZE_MAX)
			return;
		take(b, waiting, s);
		used++;
	}
}

void slots_free(struct blocks *b)
{
	for (size_t s = 0; s < COZBPF_BLOCK_SLOTS; s++)
		if (b->slots[s] != SIZE_MAX)
			give_back(b, s);
}
