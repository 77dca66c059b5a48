// SPDX-License-Identifier: BSD-3-Clause
/* Files with the answer so far, written with the rights of the profile's owner; see publish.h. */
#include "run/publish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile/line_counts.h"
#include "core/profile/wait_stacks.h"
#include "report/metrics.h"
#include "report/report.h"
#include "run/runner.h"

/* A text or a profile in memory. */
struct made {
	FILE *out;
	char *data;
	size_t size;
};

static bool open_made(struct made *m)
{
	*m = (struct made){0};
	m->out = open_memstream(&m->data, &m->size);
	return m->out;
}

/* @err: what was made is of no use. */
static void write_made(
    struct runner *r, struct made *m, const char *path, int err, bool *has_failed)
{
	bool is_whole = !fclose(m->out) && !err;

	err = is_whole ? identity_replace(&r->target.identity, path, m->data, m->size) : -ENOMEM;
	free(m->data);
	if (err && !*has_failed)
		console_say(&r->console, "warning: cannot write '%s': %s", path, strerror(-err));
	*has_failed = err;
}

static void write_metrics(struct runner *r, const struct estimate *e)
{
	const struct series *s = &r->series;
	const struct metrics_facts facts = {.target = r->target.name,
	    .profile = r->o.output,
	    .started_s = (double)s->started_real_ns / 1e9,
	    .series = s->duty.series,
	    .refusals = s->duty.refusals,
	    .experiments = r->recorder.n_added,
	    .series_s = (double)s->duty.spent_ns / 1e9};
	struct made m;

	if (open_made(&m))
		write_made(r, &m, r->o.metrics, report_metrics(m.out, &facts, e),
		    &r->series.metrics_failed);
}

/* Its reader adds samples up, which count several times for functions with what they call. */
static void write_pprof(struct runner *r, const struct estimate *e)
{
	const struct profile *p = &r->recorder.profile;
	struct line_counts counts = {0};
	struct unit_stacks stacks;
	struct made m;

	if (!unit_stacks_init(&stacks, p, false) && !line_counts_init(&counts, p) && counts.n &&
	    open_made(&m))
		write_made(r, &m, r->o.pprof,
		    report_pprof(m.out, p, &counts, &stacks, e, COZBPF_VERSION),
		    &r->series.pprof_failed);
	line_counts_deinit(&counts);
	unit_stacks_deinit(&stacks);
}

void publish(struct runner *r)
{
	struct estimate_options o = {.seed = ESTIMATE_SEED};
	struct estimate e;

	if ((!r->o.metrics && !r->o.pprof) || estimate_profile(&r->recorder.profile, &o, &e))
		return;
	if (r->o.metrics)
		write_metrics(r, &e);
	if (r->o.pprof)
		write_pprof(r, &e);
	estimate_deinit(&e);
}
