// SPDX-License-Identifier: BSD-3-Clause
/* Progress points at a function: where it begins, at an offset in it, where it returns. */
#include "run/point_kind.h"

static int place_in(struct points *p, struct place *at, struct object *o, struct error *e)
{
	struct probe_site *sites = NULL;
	size_t n = 0;

	if (object_find_symbol(o, at->spec.symbol, at->spec.offset, &sites, &n, e))
		return -1;
	return point_probe_sites(p, at, o, sites, n, e);
}

static int place_return(struct points *p, struct place *at, struct object *o, struct error *e)
{
	if (!object_is_go(o))
		return place_in(p, at, o, e);
	error_set(e, EXIT_USAGE,
	    "'%s' is a Go program: its stacks move, so a probe at a return would crash it",
	    object_path(o));
	return error_hint(
	    e, "probe the function's entry, or a line before its return: -P FILE:LINE");
}

const struct point_kind point_function = {
    .place_in = place_in,
    .matches = point_probe_matches,
    .tell = point_probe_tell,
    .unit = 1,
};

const struct point_kind point_return = {
    .place_in = place_return,
    .matches = point_probe_matches,
    .tell = point_probe_tell,
    .unit = 1,
};
