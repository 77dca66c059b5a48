// SPDX-License-Identifier: BSD-3-Clause
/* See couple.h. */
#include "core/places/couple.h"

#include <stdio.h>
#include <string.h>

#define SIGN " + "

char *couple_name(const char *first, const char *second)
{
	char *name;

	return asprintf(&name, "%s" SIGN "%s", first, second) < 0 ? NULL : name;
}

const char *couple_split(const char *unit, const char *after, size_t *ret_length)
{
	const char *sign = strstr(after ? after : unit, SIGN);

	if (!sign)
		return NULL;
	*ret_length = (size_t)(sign - unit);
	return sign + strlen(SIGN);
}

/* Whether @unit is @holder, or one of the ids that follow as its lines do. */
static bool holds(const struct line_map *m, uint32_t holder, uint32_t unit)
{
	return unit >= holder && unit - holder <= m->lines[holder].n_lines;
}

bool couple_overlaps(const struct line_map *m, uint32_t first, uint32_t second)
{
	return holds(m, first, second) || holds(m, second, first);
}
