// SPDX-License-Identifier: BSD-3-Clause
/* Progress points at a source line. All files in scope may have code of it, each for itself. */
#include "run/point_kind.h"

static int place_in(struct points *p, struct place *at, struct object *o, struct error *e)
{
	struct probe_site *sites = NULL;
	size_t n = 0;

	if (object_find_line(o, at->spec.file, at->spec.line, &sites, &n, e))
		return -1;
	return point_probe_sites(p, at, o, sites, n, e);
}

static bool matches(const struct place *at, const char *path, bool in_scope)
{
	(void)at;
	(void)path;
	return in_scope;
}

const struct point_kind point_line = {
    .place_in = place_in,
    .matches = matches,
    .tell = point_probe_tell,
    .unit = 1,
};
