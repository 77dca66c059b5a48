// SPDX-License-Identifier: BSD-3-Clause
/* The answer so far, in the middle of a run: the leading line for the progress line, and whether --until has come true. */
#include "cmd/run.h"

#include <stdlib.h>
#include <string.h>

#include "core/estimate.h"

#define LEADER_NS 3000000000ULL /* between two estimates: some milliseconds of work each */
#define LEADER_REPLICATES 50    /* order is all that the progress line needs */
#define SETTLED_REPLICATES 400  /* ends of intervals */

bool run_line_samples(const struct runner *r, size_t line, struct samples_record *ret)
{
	const struct cozbpf_line_count *count = &session_line_counts(r->session)[line];
	bool named = !r->fixed_line && !r->o.end_to_end; /* the run's baselines refer to lines by their ids */

	*ret = (struct samples_record){.count = count->all - r->counts_before[line],
	    .free = count->free - r->free_before[line],
	    .has_free = true,
	    .run = r->run,
	    .id = named ? (uint32_t)line : 0};
	return ret->count && asprintf(&ret->location, "%s:%u", r->lines.lines[line].file, r->lines.lines[line].line) >= 0;
}

/* Adds what a run's end will add to the records: its samples and its times. False: out of memory. */
static bool add_this_run(const struct runner *r, uint64_t now, struct profile *p, size_t n_before)
{
	const struct cozbpf_control *c = session_control(r->session);
	struct run_record *run;

	if (!p->samples || !p->runs || !p->n_runs)
		return false;
	memcpy(p->samples, r->profile.samples, n_before * sizeof(*p->samples));
	memcpy(p->runs, r->profile.runs, p->n_runs * sizeof(*p->runs));
	for (size_t i = 1; i < r->lines.n_lines && i < r->counts_room; i++)
		p->n_samples += run_line_samples(r, i, &p->samples[p->n_samples]);
	run = &p->runs[p->n_runs - 1];
	run->runtime_ns = now - r->started_ns;
	run->free_ns = run->runtime_ns > r->delayed_ns ? run->runtime_ns - r->delayed_ns : 0;
	run->samples = c->samples - r->samples_before;
	run->in_scope = c->in_scope - r->in_scope_before;
	return true;
}

/* 0, or -1: there is none. @ret borrows from @p, which the caller frees with free_so_far(). */
static int estimate_so_far(const struct runner *r, uint64_t now, int replicates, struct profile *p, struct estimate *ret)
{
	struct estimate_options o = {.seed = r->o.seed, .replicates = replicates};

	*p = r->profile;
	if (!r->profiling)
		return estimate_profile(p, &o, ret) ? -1 : 0;
	p->samples = calloc(r->profile.n_samples + r->lines.n_lines + 1, sizeof(*p->samples));
	p->runs = calloc(r->profile.n_runs + 1, sizeof(*p->runs));
	return !add_this_run(r, now, p, r->profile.n_samples) || estimate_profile(p, &o, ret) ? -1 : 0;
}

static void free_so_far(const struct runner *r, struct profile *p)
{
	if (p->samples == r->profile.samples)
		return;
	for (size_t i = r->profile.n_samples; i < p->n_samples; i++)
		free(p->samples[i].location);
	free(p->samples);
	free(p->runs);
}

void run_find_leader(struct runner *r, uint64_t now)
{
	struct estimate e;
	struct profile p;

	if (now < r->leader_at_ns)
		return;
	r->leader_at_ns = now + LEADER_NS;
	r->leader[0] = 0;
	if (!estimate_so_far(r, now, LEADER_REPLICATES, &p, &e)) {
		if (e.n_lines && e.lines[0].verdict != VERDICT_NOT_ENOUGH_DATA) {
			const char *slash = strrchr(e.lines[0].line, '/');

			snprintf(r->leader, sizeof(r->leader), ", leading: %.100s", slash ? slash + 1 : e.lines[0].line);
		}
		estimate_deinit(&e);
	}
	free_so_far(r, &p);
}

bool run_settled(struct runner *r, uint64_t now)
{
	struct estimate e;
	struct profile p;

	if (!r->o.until_width || r->settled || now < r->settled_at_ns || r->profile.n_experiments == r->settled_experiments)
		return r->settled;
	if (r->o.end_to_end && r->profiling)
		return false; /* between runs */
	r->settled_at_ns = now + LEADER_NS;
	r->settled_experiments = r->profile.n_experiments;
	if (!estimate_so_far(r, now, SETTLED_REPLICATES, &p, &e)) {
		r->settled = estimate_settled(&e, r->o.until_width);
		estimate_deinit(&e);
	}
	free_so_far(r, &p);
	if (r->settled)
		run_say(r, "the gains of the leading lines are known to within %s", r->o.until);
	return r->settled;
}
