// SPDX-License-Identifier: BSD-3-Clause
/* Why nothing could be estimated from a profile, and what to do about it: never a silent empty
 * report. */
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

static int no_experiment(const struct estimate *e, struct error *err)
{
	if (e->totals.samples && !e->totals.in_scope) {
		error_set(err, EXIT_NO_RESULT,
		    "no experiment: none of the %" PRIu64 " samples fell in code in scope",
		    e->totals.samples);
		return error_hint(err, "'cozbpf lines BINARY' shows what could be selected; -b and "
				       "-s widen the scope");
	}
	if (e->totals.dropped) {
		error_set(err, EXIT_NO_RESULT,
		    "no experiment: all %" PRIu64 " were spoilt and dropped", e->totals.dropped);
		return error_hint(err, "'cozbpf doctor' says what keeps delays from being paid");
	}
	error_set(err, EXIT_NO_RESULT, "the profile holds no experiment");
	return error_hint(err, "the program has to run for a few seconds in code in scope; "
			       "'cozbpf lines BINARY' shows what could be selected");
}

int estimate_reason(const struct profile *p, const struct estimate *e, struct error *err)
{
	for (size_t i = 0; i < e->n_lines; i++) {
		if (e->lines[i].shortage == SHORT_NONE || e->lines[i].shortage == SHORT_INTERVAL)
			return 0;
	}
	if (!p->n_experiments)
		return no_experiment(e, err);
	if (!count_visits(p)) {
		error_set(err, EXIT_NO_RESULT,
		    "no progress point was visited in %" PRIu64 " experiments", e->experiments);
		return error_hint(err, "check with -P that the point is where the program works; "
				       "--end-to-end takes the whole run as one visit");
	}
	error_set(err, EXIT_NO_RESULT,
	    "no %s has enough data yet: %" PRIu64 " experiments on %zu %s%s", estimate_unit(e),
	    e->experiments, e->n_lines, estimate_unit(e), e->n_lines == 1 ? "" : "s");
	return error_hint(err,
	    "profile longer or more often (runs add up in one file), or name a %s with "
	    "--fixed-line",
	    estimate_unit(e));
}
