// SPDX-License-Identifier: BSD-3-Clause
/* Progress points that are time executed in a line, as samples tell it: no probe, no cost. */
#include "run/files.h"
#include "run/point_kind.h"

/* A millisecond executed is a visit. */
#define VISIT_UNITS (1000000 / COZBPF_SAMPLED_UNIT_NS)

static int place(struct points *p, struct place *at, struct error *e)
{
	uint32_t line = line_map_find(&p->files->lines, at->spec.file, at->spec.line, e);

	return line ? session_add_sampled(p->session, at->index, line, e) : -1;
}

const struct point_kind point_sampled = {
    .place = place,
    .comes_later = true,
    .unit = VISIT_UNITS,
    .is_sampled = true,
    .is_free = true,
};
