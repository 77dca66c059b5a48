// SPDX-License-Identifier: BSD-3-Clause
/* See stacks.h. */
#include "core/places/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void stacks_add(struct stack_list *l, const struct cozbpf_stack *stack)
{
	void *bigger;

	if (l->n == STACKS_MAX)
		return;
	if (l->n_frames + stack->n > l->frames_room) {
		bigger =
		    reallocarray(l->frames, 2 * l->frames_room + COZBPF_FRAMES, sizeof(*l->frames));
		if (!bigger)
			return;
		l->frames = bigger;
		l->frames_room = 2 * l->frames_room + COZBPF_FRAMES;
	}
	if (l->n == l->room) {
		bigger = reallocarray(l->ends, 2 * l->room + 64, sizeof(*l->ends));
		if (!bigger)
			return;
		l->ends = bigger;
		l->room = 2 * l->room + 64;
	}
	memcpy(l->frames + l->n_frames, stack->frames, stack->n * sizeof(*l->frames));
	l->n_frames += stack->n;
	l->ends[l->n++] = l->n_frames;
}

void stacks_deinit(struct stack_list *l)
{
	free(l->frames);
	free(l->ends);
	*l = (struct stack_list){0};
}

bool stacks_have(const struct stack_list *l, uint32_t file)
{
	for (size_t i = 0; i < l->n_frames; i++)
		if (l->frames[i].file == file)
			return true;
	return false;
}

static int compare_counts(const void *a, const void *b)
{
	const struct on_stacks *x = a, *y = b;

	return x->stacks != y->stacks ? (x->stacks > y->stacks ? -1 : 1)
				      : (x->unit > y->unit) - (x->unit < y->unit);
}

/* A unit counts once for each stack: a function may call itself. */
static void count(const struct cozbpf_frame *f, uint32_t file, const struct line_map *map,
    size_t stack, struct on_stacks *units)
{
	uint32_t unit = f->file == file ? line_map_lookup(map, 0, f->offset) : 0;

	if (!unit || units[unit].last == stack + 1)
		return;
	units[unit].last = stack + 1;
	units[unit].stacks++;
}

int stacks_count(const struct stack_list *l, uint32_t file, const struct line_map *map,
    bool innermost, struct on_stacks **ret)
{
	struct on_stacks *units = calloc(map->n_lines, sizeof(*units));
	size_t first = 0;

	if (!units)
		return -ENOMEM;
	for (size_t i = 0; i < l->n; first = l->ends[i++]) {
		size_t from = innermost ? first : first + 1,
		       end = innermost ? first + 1 : l->ends[i];

		for (size_t frame = from; frame < end && frame < l->ends[i]; frame++)
			count(&l->frames[frame], file, map, i, units);
	}
	for (size_t i = 0; i < map->n_lines; i++)
		units[i].unit = (uint32_t)i;
	qsort(units, map->n_lines, sizeof(*units), compare_counts);
	*ret = units;
	return 0;
}
