// SPDX-License-Identifier: BSD-3-Clause
/* Functions and the lines that they hold: which line of the estimate is below which, and how much
 * of a program has a verdict. */
#include "core/estimate/private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/places/linemap.h"
#include "core/places/waits.h"
#include "core/text/paths.h"

/* By name, then by point. */
static int compare_functions(const void *a, const void *b)
{
	const struct estimate_line *x = *(const struct estimate_line *const *)a,
				   *y = *(const struct estimate_line *const *)b;
	int by_name = strcmp(x->line, y->line);

	if (!by_name)
		by_name = strcmp(x->progress, y->progress);
	return by_name ? by_name : x->is_latency - y->is_latency;
}

/* Sets the holders of lines. A function has none, whatever a damaged profile says. Returns 0 or
 * -ENOMEM. */
static int link_functions(struct estimate *e)
{
	const struct estimate_line **functions =
	    calloc(e->n_lines + 1, sizeof(struct estimate_line *));
	size_t n = 0;

	if (!functions)
		return -ENOMEM;
	for (size_t i = 0; i < e->n_lines; i++)
		if (e->lines[i].is_function)
			functions[n++] = &e->lines[i];
	if (n)
		qsort(functions, n, sizeof(*functions), compare_functions);
	for (size_t i = 0; n && i < e->n_lines; i++) {
		struct estimate_line *l = &e->lines[i];
		const struct estimate_line key = {.line = l->function,
					       .progress = l->progress,
					       .is_latency = l->is_latency},
					   *at = &key, **found = NULL;

		if (l->function && !l->is_function)
			found = bsearch(&at, functions, n, sizeof(*functions), compare_functions);
		l->holder = found ? *found : NULL;
	}
	free(functions);
	return 0;
}

bool estimate_is_decided(const struct estimate_line *l)
{
	return l->verdict != VERDICT_NOT_ENOUGH_DATA;
}

bool estimate_matters(const struct estimate_line *l)
{
	return l->verdict == VERDICT_OPTIMIZE || l->verdict == VERDICT_CONTENTION;
}

bool estimate_is_below(const struct estimate_line *l)
{
	return l->holder && estimate_is_decided(l->holder);
}

bool estimate_is_done_with(const struct estimate_line *l)
{
	return l->holder && l->holder->verdict == VERDICT_NO_EFFECT;
}

uint64_t estimate_decided_samples(const struct estimate_line *l)
{
	if (l->is_couple || source_line_is_inclusive(l->line))
		return 0;
	return estimate_is_decided(l) && !estimate_is_below(l) ? l->samples : 0;
}

double estimate_decided_share(const struct estimate *e, const struct estimate_line *first)
{
	uint64_t decided = 0;

	for (size_t i = 0; i < e->n_lines; i++) {
		if (estimate_same_point(&e->lines[i], first))
			decided += estimate_decided_samples(&e->lines[i]);
	}
	return e->samples ? fmin((double)decided / (double)e->samples, 1) : 0;
}

static const struct estimate_line *top_of(const struct estimate_line *l)
{
	return estimate_is_below(l) ? l->holder : l;
}

/* A function takes its lines along. */
static int compare_places(const void *a, const void *b)
{
	const struct estimate_line *x = *(const struct estimate_line *const *)a,
				   *y = *(const struct estimate_line *const *)b;

	if (top_of(x) != top_of(y))
		return top_of(x) < top_of(y) ? -1 : 1;
	if (estimate_is_below(x) != estimate_is_below(y))
		return estimate_is_below(x) ? 1 : -1;
	return x < y ? -1 : x > y;
}

int estimate_group_lines(struct estimate *e)
{
	const struct estimate_line **order;
	struct estimate_line *lines;

	if (link_functions(e))
		return -ENOMEM;
	order = calloc(e->n_lines + 1, sizeof(struct estimate_line *));
	lines = calloc(e->n_lines + 1, sizeof(*lines));
	if (!order || !lines) {
		free(order);
		free(lines);
		return -ENOMEM;
	}
	for (size_t i = 0; i < e->n_lines; i++)
		order[i] = &e->lines[i];
	if (e->n_lines)
		qsort(order, e->n_lines, sizeof(*order), compare_places);
	for (size_t i = 0; i < e->n_lines; i++)
		lines[i] = *order[i];
	free(order);
	free(e->lines);
	e->lines = lines;
	return link_functions(e);
}

const char *estimate_unit(const struct estimate *e)
{
	size_t number, n = 0;

	if (!e)
		return "line";
	for (size_t i = 0; i < e->n_lines; i++) {
		if (wait_of_unit(e->lines[i].line, &number) >= 0)
			return "unit";
		n += path_of_line(e->lines[i].line, &number) > 0;
	}
	return n == e->n_lines ? "line" : n ? "unit" : "function";
}
