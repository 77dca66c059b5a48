// SPDX-License-Identifier: BSD-3-Clause
/* Why nothing could be estimated from a profile, and what to do about it: a report is never empty
 * without a reason (design.md section 10, 21). */
#include "core/estimate/estimate.h"

#include <inttypes.h>

static uint64_t count_visits(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_experiments; i++) {
		for (size_t j = 0; j < p->experiments[i].n_points; j++)
			n += p->experiments[i].points[j].delta;
	}
	return n;
}

static int no_experiment(const struct profile *p, const struct estimate *e, struct error *err)
{
	uint64_t in_scope = 0, samples = 0;

	for (size_t i = 0; i < p->n_runs; i++) {
		samples += p->runs[i].samples;
		in_scope += p->runs[i].in_scope;
	}
	if (samples && !in_scope) {
		error_set(err, EXIT_NO_RESULT,
		    "no experiment: none of the %" PRIu64 " samples fell in a source line in scope",
		    samples);
		return error_hint(err, "'cozbpf lines BINARY' shows what could be selected; -b and "
				       "-s widen the scope");
	}
	if (e->dropped_experiments) {
		error_set(err, EXIT_NO_RESULT,
		    "no experiment: all %" PRIu64 " were spoilt and dropped",
		    e->dropped_experiments);
		return error_hint(err, "'cozbpf doctor' says what keeps delays from being paid");
	}
	error_set(err, EXIT_NO_RESULT, "the profile holds no experiment");
	return error_hint(err, "the program has to run for a few seconds in lines in scope; "
			       "'cozbpf lines BINARY' shows what could be selected");
}

int estimate_reason(const struct profile *p, const struct estimate *e, struct error *err)
{
	for (size_t i = 0; i < e->n_lines; i++) {
		if (e->lines[i].shortage == SHORT_NONE || e->lines[i].shortage == SHORT_INTERVAL)
			return 0;
	}
	if (!p->n_experiments)
		return no_experiment(p, e, err);
	if (!count_visits(p)) {
		error_set(err, EXIT_NO_RESULT, "no progress point was visited in %zu experiments",
		    p->n_experiments);
		return error_hint(err, "check with -P that the point is where the program works; "
				       "--end-to-end takes the whole run as one visit");
	}
	error_set(err, EXIT_NO_RESULT, "no line has enough data yet: %zu experiments on %zu line%s",
	    p->n_experiments, e->n_lines, e->n_lines == 1 ? "" : "s");
	return error_hint(err, "profile longer or more often (runs add up in one file), or name a "
			       "line with --fixed-line");
}
