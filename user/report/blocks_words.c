// SPDX-License-Identifier: BSD-3-Clause
/* An analysis of blocks in words, for its reports; see blocks.h. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/text/paths.h"
#include "report/blocks.h"
#include "report/words.h"

size_t blocks_shown(const struct blocks_report *r)
{
	size_t n = r->all ? r->analysis->n_results : r->analysis->n_reported;

	return r->top && r->top < n ? r->top : n;
}

void block_place_words(const struct block_place *p, char *buf, size_t size)
{
	if (*p->lines)
		snprintf(buf, size, "%s", p->lines);
	else
		snprintf(buf, size, "%s+0x%" PRIx64, p->function, p->offset);
}

void block_function_words(const struct block_place *p, char *buf, size_t size)
{
	snprintf(buf, size, "%s+0x%" PRIx64 " in %s%s", p->function, p->offset,
	    path_base(p->object), p->calls ? ", with what it calls" : "");
}

void block_count_words(double n, char *buf, size_t size)
{
	static const struct {
		double of;
		const char *name;
	} units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (n < units[i].of * 0.9995)
			continue;
		snprintf(buf, size, n < 99.95 * units[i].of ? "%.1f %s" : "%.0f %s",
		    n / units[i].of, units[i].name);
		return;
	}
	snprintf(buf, size, "%.0f", n);
}

void block_share_words(double share, char *buf, size_t size)
{
	if (isnan(share))
		snprintf(buf, size, "unknown");
	else if (share >= 9.995)
		snprintf(buf, size, share < 1e6 ? "%.0f x" : "%.1e x", share);
	else
		snprintf(buf, size, share < 0.9995 ? "%.1f %%" : "%.0f %%", 100 * share);
}

static void feature_words(const struct block_difference *d, double value, char *buf, size_t size)
{
	if (d->feature == FEATURE_BLOCKED || d->feature == FEATURE_RUNNABLE)
		time_words(value, buf, size);
	else
		block_count_words(value, buf, size);
}

void block_difference_words(const struct block_difference *d, char *buf, size_t size)
{
	static const char *const names[] = {[FEATURE_BLOCKED] = "threads blocked for",
	    [FEATURE_RUNNABLE] = "threads waited for a CPU for",
	    [FEATURE_SWITCHES] = "context switches:",
	    [FEATURE_PREEMPTIONS] = "preemptions:",
	    [FEATURE_MIGRATIONS] = "migrations to another CPU:",
	    [FEATURE_MINOR_FAULTS] = "minor page faults:",
	    [FEATURE_MAJOR_FAULTS] = "page faults that read the disk:"};
	char slow[32], usual[32], where[256];

	feature_words(d, d->slow, slow, sizeof(slow));
	feature_words(d, d->usual, usual, sizeof(usual));
	if (d->feature != FEATURE_BLOCK) {
		snprintf(buf, size, "%s %s, usually %s", names[d->feature], slow, usual);
		return;
	}
	block_place_words(d->other, where, sizeof(where));
	snprintf(buf, size, "%s executed %s times, usually %s", where, slow, usual);
}

void block_run_words(
    const struct block_analysis *a, const struct block_read_run *r, char *buf, size_t size)
{
	if (a->logs->n_logs > 1)
		snprintf(buf, size, "%s:%" PRIu64, path_base(a->logs->logs[r->log]), r->run.number);
	else
		snprintf(buf, size, "run %" PRIu64, r->run.number);
}

void blocks_summary_words(const struct block_analysis *a, char *buf, size_t size)
{
	const struct block_read_run *any = a->n_runs     ? a->runs[0]
					   : a->n_failed ? a->failed[0]
							 : NULL;
	char cpu[32];
	int n;

	time_words(a->cpu_ns, cpu, sizeof(cpu));
	n = snprintf(buf, size, "%zu run%s of %s, %s of CPU time%s", a->n_runs,
	    a->n_runs == 1 ? "" : "s", any ? path_base(any->session.program) : "nothing", cpu,
	    a->n_runs == 1 ? "" : " each");
	if (a->n_failed && n > 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, "; %zu failed and do%s not count", a->n_failed,
		    a->n_failed == 1 ? "es" : "");
}

void blocks_nearest_words(const struct block_analysis *a, char *buf, size_t size)
{
	const struct block_result *r = a->nearest;
	char where[256], takes[32], varies[32];

	*buf = 0;
	if (a->n_reported || !r)
		return;
	block_place_words(r->place, where, sizeof(where));
	block_share_words(r->significance_ns / a->cpu_ns, takes, sizeof(takes));
	block_share_words(r->range_ns / a->cpu_ns, varies, sizeof(varies));
	snprintf(buf, size,
	    "no block takes %g %% of the CPU time and varies by as much; the nearest one, %s, "
	    "takes "
	    "%s and varies by %s",
	    a->options.threshold_pct, where, takes, varies);
}

/* The block that most samples met, of those without times. */
static const struct block_result *leading_untimed(const struct block_analysis *a)
{
	return a->n_timed < a->n_results ? &a->results[a->n_timed] : NULL;
}

static void few_words(const struct block_analysis *a, char *buf, size_t size)
{
	if (a->n_runs == 1)
		snprintf(buf, size,
		    "one run does not tell what varies from run to run: -n 20 "
		    "makes twenty");
	else if (a->n_runs < 3)
		snprintf(buf, size,
		    "two runs have no intervals: three do, and five tell slow "
		    "runs");
	else if (a->n_runs < 5)
		snprintf(
		    buf, size, "%zu runs do not tell which of them are slow: five do", a->n_runs);
}

static void damage_words(const struct block_logs *l, char *buf, size_t size)
{
	if (l->n_damaged)
		snprintf(buf, size,
		    "%zu damaged part%s of the log%s left out, the first one at line %zu of '%s'",
		    l->n_damaged, l->n_damaged == 1 ? "" : "s",
		    l->n_damaged == 1 ? " was" : " were", l->damaged_line, l->damaged_log);
}

static void untimed_words(const struct block_analysis *a, char *buf, size_t size)
{
	const struct block_result *r = leading_untimed(a);
	size_t n = a->n_results - a->n_timed;
	char where[256];

	if (!r || r->share * 100 < a->options.threshold_pct)
		return;
	block_place_words(r->place, where, sizeof(where));
	snprintf(buf, size,
	    "%zu block%s counted and never timed, such as %s, which %.1f %% of the samples met", n,
	    n == 1 ? " was" : "s were", where, 100 * r->share);
}

void blocks_warning(const struct block_analysis *a, unsigned n, char *buf, size_t size)
{
	const struct block_logs *l = a->logs;

	for (unsigned i = 0; i < 6; i++) {
		*buf = 0;
		if (i == 0)
			damage_words(l, buf, size);
		else if (i == 1 && l->n_nameless)
			snprintf(buf, size,
			    "%zu figures were left out: the names of their blocks are damaged",
			    l->n_nameless);
		else if (i == 2 && l->n_twins)
			snprintf(buf, size, "%zu run%s there twice and counted once", l->n_twins,
			    l->n_twins == 1 ? " is" : "s are");
		else if (i == 3 && a->has_cut)
			snprintf(buf, size, "no run succeeded, so runs that were cut off count");
		else if (i == 4 && a->n_runs)
			few_words(a, buf, size);
		else if (i == 5)
			untimed_words(a, buf, size);
		if (*buf && !n--)
			return;
	}
	*buf = 0;
}

double block_time_in(const struct block_result *r, uint32_t run)
{
	for (uint32_t i = 0; i < r->n_in; i++)
		if (r->in[i].run == run)
			return r->in[i].time_ns;
	return 0;
}
