// SPDX-License-Identifier: BSD-3-Clause
/* Which function a line is in, by the code that they have in common; see linegroups.h. */
#include "core/places/linegroups.h"

#include <errno.h>
#include <stdlib.h>

/* Code that a line and a function have in common. */
struct common {
	uint32_t line, function;
	uint64_t bytes;
};

struct commons {
	struct common *v;
	size_t n;
};

static int by_line(const void *a, const void *b)
{
	const struct common *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

/* In the order of the result: functions in that of their addresses, and each one's lines as they
 * were. */
static int by_function(const void *a, const void *b)
{
	const struct common *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Both have sorted, disjoint ranges, so there are fewer pieces than ranges of both. */
static int find_common(
    const struct line_map *lines, const struct line_map *functions, struct commons *ret)
{
	const struct line_range *l = lines->ranges, *l_end = l + lines->n_ranges,
				*f = functions->ranges, *f_end = f + functions->n_ranges;

	ret->n = 0;
	ret->v = calloc(lines->n_ranges + functions->n_ranges + 1, sizeof(*ret->v));
	if (!ret->v)
		return -ENOMEM;
	while (l < l_end && f < f_end) {
		uint64_t lo = l->lo > f->lo ? l->lo : f->lo, hi = l->hi < f->hi ? l->hi : f->hi;

		if (lo < hi)
			ret->v[ret->n++] = (struct common){l->line, f->line, hi - lo};
		if (l->hi < f->hi)
			l++;
		else
			f++;
	}
	return 0;
}

/* Leaves one piece for each line: of the function with most of its code. */
static void choose_function(struct commons *c)
{
	size_t n = 0, kept = 0;

	if (c->n)
		qsort(c->v, c->n, sizeof(*c->v), by_line);
	for (size_t i = 0; i < c->n; i++) {
		if (n && !by_line(&c->v[n - 1], &c->v[i]))
			c->v[n - 1].bytes += c->v[i].bytes;
		else
			c->v[n++] = c->v[i];
	}
	for (size_t i = 0; i < n; i++) {
		if (!kept || c->v[kept - 1].line != c->v[i].line)
			c->v[kept++] = c->v[i];
		else if (c->v[kept - 1].bytes < c->v[i].bytes)
			c->v[kept - 1] = c->v[i];
	}
	c->n = kept;
	if (kept)
		qsort(c->v, kept, sizeof(*c->v), by_function);
}

void line_map_join(struct line_map *m, uint32_t function, uint32_t unit)
{
	struct source_line *f = &m->lines[function];

	if (!function || unit != m->n_lines - 1 || unit != function + f->n_lines + 1)
		return;
	f->n_lines++;
	m->lines[unit].function = function;
}

/* Adds the unit @from of another map. Its new id; 0: out of memory. */
static uint32_t add_unit(struct line_map *m, const struct line_map *other, uint32_t from)
{
	return line_map_line(m, other->lines[from].file, other->lines[from].line);
}

static int add_units(const struct line_map *lines, const struct line_map *functions,
    const struct commons *c, uint32_t *ids, struct line_map *ret)
{
	uint32_t function = 0;

	for (size_t i = 0; i < c->n; i++)
		ids[c->v[i].line] = UINT32_MAX;
	for (uint32_t i = 1; i < lines->n_lines; i++) {
		if (ids[i])
			continue;
		ids[i] = add_unit(ret, lines, i);
		if (!ids[i])
			return -ENOMEM;
	}
	for (size_t i = 0; i < c->n; i++) {
		const struct common *at = &c->v[i];

		if (!i || at->function != c->v[i - 1].function)
			function = add_unit(ret, functions, at->function);
		ids[at->line] = function ? add_unit(ret, lines, at->line) : 0;
		if (!ids[at->line])
			return -ENOMEM;
		line_map_join(ret, function, ids[at->line]);
	}
	return 0;
}

/* The ranges of @lines with their new ids. */
static int add_ranges(const struct line_map *lines, const uint32_t *ids, struct line_map *ret)
{
	struct line_range *ranges = calloc(lines->n_ranges + 1, sizeof(*ranges));
	int err = -ENOMEM;

	for (size_t i = 0; ranges && i < lines->n_ranges; i++) {
		ranges[i] = lines->ranges[i];
		ranges[i].line = ids[ranges[i].line];
	}
	if (ranges)
		err = line_map_add_object(ret, &lines->objects[0], ranges, lines->n_ranges);
	free(ranges);
	return err;
}

int line_map_group(
    const struct line_map *lines, const struct line_map *functions, struct line_map *ret)
{
	uint32_t *ids = calloc(lines->n_lines + 1, sizeof(*ids));
	struct commons c = {0};
	int err = ids ? find_common(lines, functions, &c) : -ENOMEM;

	if (!err) {
		choose_function(&c);
		err = add_units(lines, functions, &c, ids, ret);
	}
	if (!err && lines->n_objects)
		err = add_ranges(lines, ids, ret);
	free(c.v);
	free(ids);
	return err;
}
