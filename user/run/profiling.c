// SPDX-License-Identifier: BSD-3-Clause
/* The beginning and the end of a run of the profile; see profiling.h. */
#include "run/profiling.h"

#include "run/clock.h"
#include "run/runner.h"

int profiling_write_startup(struct runner *r, struct error *e)
{
	uint32_t fixed_speedups = 0;

	for (size_t i = 0; i < r->o.n_speedups; i++)
		fixed_speedups += r->o.speedups[i] > 0;
	return recorder_write_startup(&r->recorder, r->o.node, fixed_speedups, e);
}

void profiling_begin(struct runner *r, uint64_t now)
{
	recorder_begin(&r->recorder, now);
	target_begin_quotas(&r->target, now);
	if (r->points.n_points || !r->points.is_open)
		experiments_begin(&r->experiments, monotonic_ns());
}

void profiling_end(struct runner *r, uint64_t now, bool target_ended)
{
	struct run_totals totals = {0};

	r->has_ended = target_ended;
	experiments_end(&r->experiments, target_ended);
	run_peers_end(r->peers, !target_ended);
	totals.throttled_ns = target_end_quotas(&r->target);
	totals.delayed_ns = r->experiments.machine.delayed_ns;
	totals.dropped = r->experiments.machine.dropped;
	recorder_end(&r->recorder, now, &totals);
}
