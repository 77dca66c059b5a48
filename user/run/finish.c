// SPDX-License-Identifier: BSD-3-Clause
/* What is written at the end of a run: samples of its lines, and its totals. */
#include "run/run.h"

#include <stdlib.h>

#include "core/profile/so_far.h"
#include "run/tell.h"

static void write_samples(struct runner *r, uint64_t now)
{
	struct run_so_far this_run;

	run_so_far(r, now, &this_run);
	for (size_t i = 1; i < this_run.n_lines; i++) {
		struct samples_record s, *bigger;

		if (!so_far_line(&this_run, i, &s))
			continue;
		r->recorder.counts_before[i] += s.count;
		r->recorder.free_before[i] += s.free;
		profile_write_samples(r->recorder.out, &s);
		bigger = realloc(
		    r->recorder.profile.samples, (r->recorder.profile.n_samples + 1) * sizeof(s));
		if (!bigger) {
			free(s.location);
			continue;
		}
		r->recorder.profile.samples = bigger;
		bigger[r->recorder.profile.n_samples++] = s;
	}
}

void run_write_totals(struct runner *r, uint64_t now)
{
	struct run_record *run = &r->recorder.profile.runs[r->recorder.profile.n_runs - 1];
	struct run_so_far this_run;
	struct cpu_use use;

	write_samples(r, now);
	run_so_far(r, now, &this_run);
	so_far_times(&this_run, run);
	run->lost = run_lost(r) - r->recorder.lost_before;
	r->recorder.lost_before += run->lost;
	run->dropped = r->experiments.dropped;
	session_cpu_use(r->session, &use);
	run->executed_ns = use.executed_ns - r->recorder.use_before.executed_ns;
	run->outsiders_ns = use.outsiders_ns - r->recorder.use_before.outsiders_ns;
	r->recorder.use_before = use;
	r->recorder.samples_before += run->samples;
	r->recorder.in_scope_before += run->in_scope;
	profile_write_runtime(r->recorder.out, run);
	fflush(r->recorder.out);
}
