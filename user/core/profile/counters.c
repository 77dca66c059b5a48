// SPDX-License-Identifier: BSD-3-Clause
/* The counters of a run; see counters.h. */
#include "core/profile/counters.h"

#include <string.h>

#include "core/profile/private.h"

#define AT(name) offsetof(struct run_record, name)
#define ALWAYS true
#define UNLESS_0 false
#define UNSHOWN .shown = COUNTER_UNSHOWN
#define LOSS(JSON, WHEN, ONE, MANY) \
	.shown = COUNTER_LOSS, .json = (JSON), .always = (WHEN), .one = (ONE), .many = (MANY)
#define SHARE(JSON, REST, MOST, BEFORE, AFTER)                                    \
	.shown = COUNTER_SHARE, .json = (JSON), .rest = AT(REST), .most = (MOST), \
	.before = (BEFORE), .after = (AFTER)

const struct counter run_counters[] = {
#define COUNTER(name, key, unit, from, SHOWN) {.at = AT(name), SHOWN},
#include "core/profile/counters.def"
};
const size_t n_run_counters = sizeof(run_counters) / sizeof(run_counters[0]);

static uint64_t value_at(const struct run_record *r, size_t at)
{
	uint64_t ret;

	memcpy(&ret, (const char *)r + at, sizeof(ret));
	return ret;
}

uint64_t counter_value(const struct counter *c, const struct run_record *r)
{
	return value_at(r, c->at);
}

double counter_share(const struct counter *c, const struct run_record *r)
{
	double value = (double)counter_value(c, r);

	return value > 0 ? value / (value + (double)value_at(r, c->rest)) : 0;
}

void counters_since(
    const struct run_record *now, const struct run_record *before, struct run_record *ret)
{
/* Those of processes fall where a process has made room for others (proc_stats). */
#define COUNTER(name, ...) ret->name = now->name > before->name ? now->name - before->name : 0;
#include "core/profile/counters.def"
}

/* Up to what a reader takes: a sum has to be readable. */
static void add_up_to(uint64_t *to, uint64_t more, uint64_t most)
{
	*to = *to < most && more < most - *to ? *to + more : most;
}

void run_add(struct run_record *to, const struct run_record *r)
{
	add_up_to(&to->runtime_ns, r->runtime_ns, MAX_NS);
#define COUNTER(name, key, unit, ...) add_up_to(&to->name, r->name, MAX_##unit);
#include "core/profile/counters.def"
}

void runs_total(const struct profile *p, struct run_record *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < p->n_runs; i++) {
		if (p->runs[i].fixed_speedups > ret->fixed_speedups)
			ret->fixed_speedups = p->runs[i].fixed_speedups;
		run_add(ret, &p->runs[i]);
	}
}
