/* SPDX-License-Identifier: BSD-3-Clause */
/* The length of the next experiment from the observations of the last one; the rule is in the
 * header. */
#include <stdbool.h>

#include "core/experiment/length.h"

void length_init(struct length *l, uint64_t given_ns, uint64_t many)
{
	l->many = many;
	l->ns = given_ns ? given_ns : LENGTH_FIRST_NS;
	l->min_ns = given_ns ? given_ns : LENGTH_MIN_NS;
	l->max_ns = l->ns > LENGTH_MAX_NS ? l->ns : LENGTH_MAX_NS;
}

void length_update(struct length *l, const uint64_t *bursts, size_t n_points)
{
	uint64_t most = 0;
	bool spare =
	    true; /* every point with enough observations has enough for half the length, too */

	if (!n_points)
		return;
	for (size_t i = 0; i < n_points; i++) {
		if (bursts[i] > most)
			most = bursts[i];
		if (bursts[i] >= LENGTH_BURSTS_MIN && bursts[i] < 2 * LENGTH_BURSTS_MIN)
			spare = false;
	}
	if (most < LENGTH_BURSTS_MIN)
		l->ns = l->ns <= l->max_ns / 2 ? 2 * l->ns : l->max_ns;
	else if (most >= l->many && spare)
		l->ns = l->ns / 2 > l->min_ns ? l->ns / 2 : l->min_ns;
}
