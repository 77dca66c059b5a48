// SPDX-License-Identifier: BSD-3-Clause
/* Who names progress points; see point_sources.h. */
#include "run/point_sources.h"

#include "run/console.h"
#include "run/options.h"
#include "run/places.h"
#include "run/point_counters.h"
#include "run/point_markers.h"
#include "run/point_pairs.h"
#include "run/points.h"
#include "run/target.h"

/* Points of the program's own source. 1: it names none. */
static int add_markers(struct points *p, struct error *e)
{
	int err = point_markers_add(p, e);

	if (err > 0)
		p->has_counters = point_counters_watch(p);
	return p->has_counters ? 0 : err;
}

/* Without a point of the user's or the program's one is chosen while the target runs. Of several
 * runs the whole run is one unit of progress. */
static void leave_open(struct points *p)
{
	p->is_open = !p->target->ops->restarts || p->o->runs == 1;
	if (p->is_open)
		return;
	console_say(p->console,
	    "no progress point given (-P): the whole run is one unit of progress, as with "
	    "--end-to-end");
	p->o->end_to_end = true;
}

int point_sources_add(struct points *p, struct error *e)
{
	int err;

	for (size_t i = 0; i < p->o->progress.n; i++)
		if (places_add_throughput(p, p->o->progress.items[i], e))
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
		leave_open(p);
	}
	if (p->o->end_to_end && p->o->runs == 1)
		console_say(p->console,
		    "end-to-end needs several runs of the command (-n): one run answers nothing, "
		    "but tells how many are needed");
	return 0;
}
