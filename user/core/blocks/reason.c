// SPDX-License-Identifier: BSD-3-Clause
/* Why logs of blocks tell nothing, and what to do; see analyse.h. */
#include <stdio.h>

#include "core/blocks/analyse.h"

/* How the last run that does not count has failed. */
static void ending_words(const struct block_analysis *a, char *buf, size_t size)
{
	const struct block_run *r = &a->failed[a->n_failed - 1]->run;

	if (r->status < 0)
		snprintf(buf, size, "ended by signal %d", -r->status);
	else
		snprintf(buf, size, "exit status %d", r->status);
}

static int no_runs(const struct block_analysis *a, struct error *e)
{
	char ending[64];

	if (!a->n_failed) {
		error_set(e, EXIT_NO_RESULT, "%s%s%s no whole run",
		    a->logs->n_logs == 1 ? "the log '" : "",
		    a->logs->n_logs == 1 ? a->logs->logs[0] : "",
		    a->logs->n_logs == 1 ? "' holds" : "the logs hold");
		return error_hint(
		    e, "a run is written when it ends; was cozbpf killed, or the disk full?");
	}
	ending_words(a, ending, sizeof(ending));
	if (a->n_failed == 1)
		error_set(e, EXIT_NO_RESULT, "the only run failed: %s", ending);
	else
		error_set(e, EXIT_NO_RESULT, "all %zu runs failed, the last one: %s", a->n_failed,
		    ending);
	return error_hint(e, "'cozbpf blocks report --failed' counts such runs all the same");
}

int block_analysis_reason(const struct block_analysis *a, struct error *e)
{
	if (!a->n_runs)
		return no_runs(a, e);
	if (!a->n_results) {
		error_set(e, EXIT_NO_RESULT, "no block was watched in any run");
		return error_hint(e, "a run has to be long enough to be sampled; -b names the "
				     "binaries whose blocks are watched");
	}
	if (!a->n_timed) {
		error_set(e, EXIT_NO_RESULT, "%zu blocks were counted, and none of them was timed",
		    a->n_results);
		return error_hint(e, "more or longer runs have more time for each block");
	}
	if (a->cpu_ns > 0)
		return 0;
	error_set(e, EXIT_NO_RESULT, "the runs used no CPU time");
	return error_hint(e, "what waits is measured by 'cozbpf --off-cpu'");
}
