// SPDX-License-Identifier: BSD-3-Clause
/* A chance of being wrong, divided among lines; see shares.h. */
#include "core/estimate/shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CHANCE 0.05 /* that scatter alone explains any statement at one progress point */

static double weight(uint64_t samples)
{
	return (double)samples + 1; /* 1: Coz's files may have none */
}

int shares_add(struct shares *s, const char *progress, uint64_t samples)
{
	uint32_t id;

	if (names_id(&s->points, progress, &id))
		return -ENOMEM;
	if (id >= s->room) {
		size_t room = s->room ? s->room * 2 : 16;
		double *larger = reallocarray(s->all, room, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		memset(larger + s->room, 0, (room - s->room) * sizeof(*larger));
		s->all = larger;
		s->room = room;
	}
	s->all[id] += weight(samples);
	return 0;
}

double shares_chance(const struct shares *s, const char *progress, uint64_t samples)
{
	return MAX_CHANCE * weight(samples) / s->all[names_find(&s->points, progress)];
}

void shares_deinit(struct shares *s)
{
	names_deinit(&s->points);
	free(s->all);
	memset(s, 0, sizeof(*s));
}
