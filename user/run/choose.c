// SPDX-License-Identifier: BSD-3-Clause
/* From watches to a point, or to a list of suggestions; see choose.h. */
#include "run/choose.h"

#include <stdio.h>
#include <unistd.h>

#include "report/suggestions.h"
#include "run/point_choice.h"
#include "run/point_watch.h"
#include "run/runner.h"

static unsigned slices(const struct runner *r)
{
	return r->o.suggests ? (unsigned)(r->o.duration_ns / CANDIDATE_SLICE_NS) : CANDIDATE_SLICES;
}

int choose_begin(struct runner *r, uint64_t now, struct error *e)
{
	double seconds = slices(r) * (double)CANDIDATE_SLICE_NS / 1e9;

	if (r->o.suggests)
		console_say(&r->console, "watching '%s' for %.3g s", r->target.path, seconds);
	else
		console_say(&r->console,
		    "no progress point given (-P): watching what the program does for %.3g s",
		    seconds);
	return point_watch_begin(&r->points, slices(r), true, now, e);
}

/* A command may have something to do later, as a server has: system calls are watched on. */
static enum choose_state watch_on(
    struct runner *r, uint64_t now, uint64_t *ret_due, struct error *e)
{
	if (!r->o.end_to_end)
		console_say(&r->console, "nothing found that could be a progress point: %s%s",
		    r->o.duty ? "no series begins"
			      : "the whole run is one unit of progress, as with --end-to-end,",
		    " until something is");
	r->o.end_to_end = true;
	point_watch_deinit(&r->points);
	*ret_due = now;
	return point_watch_begin(&r->points, slices(r), false, now, e) ? CHOICE_FAILED
								       : CHOICE_OPEN;
}

enum choose_state choose_step(struct runner *r, uint64_t now, uint64_t *ret_due, struct error *e)
{
	int err;

	if (point_watch_step(&r->points, now, ret_due))
		return CHOICE_OPEN;
	point_watch_end(&r->points);
	if (r->o.suggests)
		return CHOICE_MADE;
	err = point_choice_make(&r->points, e);
	if (err > 0 && r->target.ops->restarts)
		return watch_on(r, now, ret_due, e);
	if (err > 0)
		err = point_choice_fail(&r->points, e);
	point_watch_deinit(&r->points);
	r->o.end_to_end = false;
	return err ? CHOICE_FAILED : CHOICE_MADE;
}

bool choose_is_idle(const struct runner *r)
{
	return r->o.end_to_end;
}

void choose_end(struct runner *r)
{
	if (!r->points.watch)
		return;
	point_watch_end(&r->points);
	if (r->o.suggests)
		return;
	point_watch_deinit(&r->points);
	/* Without a point nothing but the whole run was measured. */
	r->o.end_to_end = true;
}

int choose_print(const struct runner *r)
{
	const struct point_watch *w = r->points.watch;
	const struct suggestions s = {.program = r->target.name,
	    .watch = &w->figures,
	    .all = w->all,
	    .n = w->n,
	    .good = w->good,
	    .stacks = w->stacks};
	FILE *out = r->target.ops->restarts ? stderr : stdout;

	if (r->o.json)
		report_suggestions_json(out, &s);
	else
		report_suggestions(out, &s);
	fflush(out);
	return (int)w->good;
}
