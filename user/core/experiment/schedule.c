/* SPDX-License-Identifier: BSD-3-Clause */
/* Decks of speedups, one per line, in a hash that grows with the lines seen; how a deck is built is
 * said in the header. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/experiment/schedule.h"

/* as many as a line needs to be ranked (core/estimate/estimate.c) */
#define N_LARGE 5

/* The deck of one line. */
struct schedule_line {
	bool used;
	bool pending; /* the second half of a pair is due, and is... */
	uint8_t pending_pct;
	uint8_t next;  /* index into the pass; n_speedups: the pass is over */
	uint8_t large; /* turns of the large ones so far, from a random one on */
	uint32_t line;
	struct rng rng;
	uint8_t pass[SCHEDULE_PCT_MAX];
};

static struct rng line_rng(const struct schedule *s, uint32_t line)
{
	struct rng mixed = {s->rng.state ^ ((uint64_t)line << 32 | line)};

	/* The streams must not be shifted copies of each other: the state is an output of the
	 * generator, not a counter. */
	return (struct rng){rng_next(&mixed)};
}

int schedule_init(
    struct schedule *s, const struct rng *seeded, const unsigned *speedups_pct, size_t n)
{
	bool seen[SCHEDULE_PCT_MAX + 1] = {false};

	memset(s, 0, sizeof(*s));
	s->rng = *seeded;
	if (!speedups_pct) {
		for (unsigned pct = 5; pct <= 100; pct += 5)
			s->speedups_pct[s->n_speedups++] = (uint8_t)pct;
		s->has_large = true;
		return 0;
	}
	if (!n)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		if (speedups_pct[i] > SCHEDULE_PCT_MAX)
			return -EINVAL;
		if (speedups_pct[i] && !seen[speedups_pct[i]])
			s->speedups_pct[s->n_speedups++] = (uint8_t)speedups_pct[i];
		seen[speedups_pct[i]] = true;
	}
	return 0;
}

void schedule_deinit(struct schedule *s)
{
	free(s->lines);
	memset(s, 0, sizeof(*s));
}

/* The slot of @line in a table with at least one free slot: its own, or the free one where it
 * belongs. */
static struct schedule_line *slot(struct schedule_line *lines, size_t size, uint32_t line)
{
	struct rng hash = {line};
	size_t i = rng_next(&hash) & (size - 1);

	while (lines[i].used && lines[i].line != line)
		i = (i + 1) & (size - 1);
	return &lines[i];
}

/* Room for one more line: at most three quarters of the slots are taken. */
static bool reserve(struct schedule *s)
{
	size_t size = s->size ? 2 * s->size : 16;
	struct schedule_line *lines;

	if (s->size && 4 * (s->n_lines + 1) <= 3 * s->size)
		return true;
	lines = calloc(size, sizeof(*lines));
	if (!lines)
		return false;
	for (size_t i = 0; i < s->size; i++)
		if (s->lines[i].used)
			*slot(lines, size, s->lines[i].line) = s->lines[i];
	free(s->lines);
	s->lines = lines;
	s->size = size;
	return true;
}

/* The deck of @line, made when it is new; NULL without memory. */
static struct schedule_line *deck(struct schedule *s, uint32_t line)
{
	struct schedule_line *l;

	if (s->size) {
		l = slot(s->lines, s->size, line);
		if (l->used)
			return l;
	}
	if (!reserve(s))
		return NULL;
	l = slot(s->lines, s->size, line);
	l->used = true;
	l->line = line;
	l->rng = line_rng(s, line);
	l->next = (uint8_t)s->n_speedups;
	l->large = (uint8_t)rng_below(&l->rng, N_LARGE);
	memcpy(l->pass, s->speedups_pct, s->n_speedups);
	s->n_lines++;
	return l;
}

/* The next speedup of the line's pass; a pass that is over is shuffled anew (Fisher-Yates). */
static uint8_t draw(const struct schedule *s, struct schedule_line *l)
{
	if (l->next >= s->n_speedups) {
		for (size_t i = s->n_speedups - 1; i > 0; i--) {
			size_t j = rng_below(&l->rng, i + 1);
			uint8_t pct = l->pass[i];

			l->pass[i] = l->pass[j];
			l->pass[j] = pct;
		}
		l->next = 0;
	}
	return l->pass[l->next++];
}

/* All of them come equally often, and neighbours are far apart. */
static uint8_t draw_large(struct schedule_line *l)
{
	static const uint8_t pct[N_LARGE] = {100, 70, 90, 60, 80};

	return pct[l->large++ % N_LARGE];
}

unsigned schedule_next(struct schedule *s, uint32_t line, bool curve)
{
	struct schedule_line *l;
	uint8_t pct;

	if (!s->n_speedups)
		return 0;
	l = deck(s, line);
	if (!l)
		return rng_below(&s->rng, 2) ? 0
					     : s->speedups_pct[rng_below(&s->rng, s->n_speedups)];
	if (l->pending) {
		l->pending = false;
		return l->pending_pct;
	}
	pct = curve || !s->has_large ? draw(s, l) : draw_large(l);
	l->pending = true;
	if (rng_below(&l->rng, 2)) {
		l->pending_pct = 0;
		return pct;
	}
	l->pending_pct = pct;
	return 0;
}

unsigned schedule_speedup(struct schedule *s, uint32_t line)
{
	struct schedule_line *l;

	if (!s->n_speedups)
		return 0;
	l = deck(s, line);
	return l ? draw(s, l) : s->speedups_pct[rng_below(&s->rng, s->n_speedups)];
}
