// SPDX-License-Identifier: BSD-3-Clause
/* Who names progress points; see point_sources.h. */
#include "run/point_sources.h"

#include "core/places/spec.h"
#include "run/console.h"
#include "run/options.h"
#include "run/places.h"
#include "run/point_counters.h"
#include "run/point_markers.h"
#include "run/point_pairs.h"
#include "run/points.h"
#include "run/target.h"

static int add_throughput(struct points *p, const char *text, struct error *e)
{
	struct spec spec = {0};
	int err;

	if (spec_parse(text, &spec, e))
		return -1;
	err = points_add(p, spec.name, spec.name, COZBPF_ROLE_VISIT, e);
	if (!err)
		err = places_add(p, &spec, p->n_points - 1, -1, e);
	spec_deinit(&spec);
	return err;
}

/* Points of the program's own source. 1: it names none. */
static int add_markers(struct points *p, struct error *e)
{
	int err = point_markers_add(p, e);

	if (err > 0)
		p->has_counters = point_counters_watch(p);
	return p->has_counters ? 0 : err;
}

/* Without a point of the user's or the program's the whole run is one unit of progress, where a run
 * has a beginning. */
static int take_whole_run(struct points *p, struct error *e)
{
	if (!p->target->ops->restarts) {
		error_set(e, EXIT_USAGE,
		    "no progress point given (-P), and the program has no markers of coz.h");
		return error_hint(e, "attached to a running process, visits to a point are the "
				     "only progress there is: -P FUNCTION, or -P FILE:LINE");
	}
	console_say(p->console,
	    "no progress point given (-P): the whole run is one unit of progress, as with "
	    "--end-to-end");
	p->o->end_to_end = true;
	return 0;
}

int point_sources_add(struct points *p, struct error *e)
{
	int err;

	for (size_t i = 0; i < p->o->progress.n; i++)
		if (add_throughput(p, p->o->progress.items[i], e))
			return -1;
	for (size_t i = 0; i < p->o->latency.n; i++)
		if (point_pairs_add(p, p->o->latency.items[i], e))
			return -1;
	if (p->n_points)
		return 0;
	if (!p->o->end_to_end) {
		err = add_markers(p, e);
		if (err <= 0)
			return err;
		if (take_whole_run(p, e))
			return -1;
	}
	if (p->o->runs == 1)
		console_say(p->console,
		    "end-to-end needs several runs of the command, for example -n 40: one run "
		    "answers nothing");
	return 0;
}
