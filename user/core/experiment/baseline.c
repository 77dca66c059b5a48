// SPDX-License-Identifier: BSD-3-Clause
/* Samples per line in the opening of a baseline and in the rest of it; see baseline.h. */
#include "core/experiment/baseline.h"

#include <stdlib.h>
#include <string.h>

/* with more the record might not fit into the megabyte that core/profile/read.c takes for a line */
#define MOST_LINES 32768

static size_t counted_lines(const struct baseline *b, const struct readings *in)
{
	return in->n_lines < b->room ? in->n_lines : b->room;
}

void baseline_none(struct baseline *b)
{
	b->due_ns = 0;
	b->n_lines = 0;
}

void baseline_open(struct baseline *b, const struct readings *in, uint64_t due_ns)
{
	baseline_none(b);
	if (!b->before)
		b->before = calloc(b->room, sizeof(*b->before));
	if (!b->before)
		return;
	/* Lines that are added later have no sample yet. */
	for (size_t i = 1; i < counted_lines(b, in); i++)
		b->before[i] = in->lines[i].all;
	b->due_ns = due_ns;
}

void baseline_split(struct baseline *b, const struct readings *in, uint64_t now_ns)
{
	size_t n = 0, max = counted_lines(b, in);

	b->due_ns = 0;
	for (size_t i = 1; i < max; i++)
		n += in->lines[i].all != b->before[i];
	if (!n || n > MOST_LINES)
		return;
	free(b->lines);
	b->lines = calloc(n, sizeof(*b->lines));
	b->since_ns = now_ns;
	for (size_t i = 1; b->lines && b->n_lines < n && i < max; i++) {
		uint64_t all = in->lines[i].all;

		if (all != b->before[i])
			b->lines[b->n_lines++] =
			    (struct baseline_line){(uint32_t)i, all - b->before[i], all};
	}
}

void baseline_close(
    struct baseline *b, const struct readings *in, uint64_t closed_ns, struct experiment_record *x)
{
	if (!b->n_lines || closed_ns <= b->since_ns)
		return;
	for (size_t i = 0; i < b->n_lines; i++)
		b->lines[i].observed = in->lines[b->lines[i].id].all - b->lines[i].observed;
	x->lines = b->lines;
	x->n_lines = b->n_lines;
	x->observed_ns = closed_ns - b->since_ns;
	b->lines = NULL;
	b->n_lines = 0;
}

void baseline_deinit(struct baseline *b)
{
	free(b->before);
	free(b->lines);
	memset(b, 0, sizeof(*b));
}
