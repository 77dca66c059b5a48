// SPDX-License-Identifier: BSD-3-Clause
/* Any bytes as a profile: reading, estimating and reporting fail only by refusing, and a written
 * profile reads as the same one. Built by `make fuzz`. */
#include "limit.h"
#include "profiles.h"
#include "../unit/pprof_read.h"

#include <errno.h>
#include <math.h>

#include "core/estimate/estimate.h"
#include "core/estimate/compare.h"
#include "core/estimate/sums.h"
#include "core/profile/runs.h"
#include "report/compare.h"
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_comparison(FILE *out, const struct profile *p, const struct estimate *e)
{
	struct compare_side side = {p, e};
	struct text_options text = {.width = 80};
	struct comparison c;
	struct compare_report r = {"a", "b", &side, &side, &c};

	require(!compare_profiles(&side, &side, &c), "memory suffices");
	if (e->n_lines)
		require(
		    !compare_predict(&c, &side, &side, e->lines[0].line, e->runs % 2 ? 0.3 : NAN),
		    "a line is found by its name");
	for (size_t i = 0; i < c.n_points; i++)
		require(!(c.points[i].speedup.lo > 0) && !(c.points[i].speedup.hi < 0),
		    "a profile is as fast as itself");
	compare_text(out, &r, &text);
	compare_json(out, &r);
	comparison_deinit(&c);
}

static void check_pprof(const struct profile *p, const struct estimate *e)
{
	struct unit_stacks stacks;
	struct line_counts counts;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	pb_profile *read;

	require(!line_counts_init(&counts, p), "memory suffices");
	require(!unit_stacks_init(&stacks, p, false), "memory suffices");
	require(!report_pprof(out, p, &counts, &stacks, e, "0"), "memory suffices");
	fclose(out);
	read = pprof_read(text, size);
	require(read && pprof_is_sound(read), "pprof can read it");
	require(read->n_sample >= counts.n, "each line is there");
	perftools__profiles__profile__free_unpacked(read, NULL);
	unit_stacks_deinit(&stacks);
	line_counts_deinit(&counts);
	free(text);
}

static void check_estimate(const struct profile *p)
{
	struct estimate_options options = {.seed = 1, .replicates = 40, .waiting = true};
	struct text_options text = {.width = 80};
	struct estimate e;
	FILE *out = fopen("/dev/null", "w");
	struct error err;

	require(!estimate_profile(p, &options, &e), "memory suffices");
	for (size_t i = 0; i < e.n_lines; i++) {
		const struct estimate_line *l = &e.lines[i];

		require(l->max_speedup >= 0, "the largest gain is not below 0");
		require(l->verdict == VERDICT_NOT_ENOUGH_DATA || l->slope_lo <= l->slope_hi,
		    "intervals are ordered");
		require((l->verdict == VERDICT_NOT_ENOUGH_DATA) == (l->shortage != SHORT_NONE),
		    "a verdict or a reason");
	}
	estimate_reason(p, &e, &err);
	report_text(out, &e, &text);
	report_json(out, &e);
	report_csv(out, &e);
	check_comparison(out, p, &e);
	check_pprof(p, &e);
	fclose(out);
	estimate_deinit(&e);
}

/* What is done with several files; comes last, since it changes the profile. */
static void check_runs(struct profile *p)
{
	uint32_t *twins = calloc(p->n_runs + 1, sizeof(*twins));
	bool *drop = calloc(p->n_runs + 1, sizeof(*drop));
	FILE *out = fopen("/dev/null", "w");
	struct line_counts counts;
	struct unit_stacks stacks;
	const char *a, *b;
	size_t run, n = 0;

	require(!line_counts_init(&counts, p), "memory suffices");
	require(!unit_stacks_init(&stacks, p, true), "memory suffices");
	report_folded(out, &counts, &stacks);
	unit_stacks_deinit(&stacks);
	line_counts_deinit(&counts);
	fclose(out);
	require(runs_find_moved(p, &run, &a, &b) >= 0, "memory suffices");
	require(runs_move_sources(p, 0, "/src", "/a") >= 0, "memory suffices");
	require(!runs_find_twins(p, twins), "memory suffices");
	for (size_t i = 0; i < p->n_runs; i++) {
		require(twins[twins[i]] == twins[i], "what is kept is not a twin itself");
		drop[i] = twins[i] != i;
		n += !drop[i];
	}
	runs_drop(p, drop);
	require(p->n_runs == n, "the others are kept");
	for (size_t i = 0; i < p->n_experiments; i++)
		require(p->experiments[i].run < n, "runs are renumbered");
	free(twins);
	free(drop);
}

/* Nothing of what may stand in a file breaks the adding up. */
static void check_sum(struct profile *p)
{
	struct estimate_options options = {.seed = 1, .replicates = 40};
	size_t torn;
	bool *drop = calloc(p->n_runs + 1, sizeof(*drop));
	struct estimate e;
	int err;

	require(!runs_find_members(p, drop, &torn), "memory suffices");
	free(drop);
	err = profile_sum(p);
	require(!err || err == -E2BIG, "memory suffices");
	require(!estimate_profile(p, &options, &e), "memory suffices");
	estimate_deinit(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile p;

	limit_begin();
	if (!read_bytes(&p, data, size)) {
		if (p.n_runs)
			check_round_trip(&p);
		check_estimate(&p);
		check_runs(&p);
		check_sum(&p);
	}
	profile_deinit(&p);
	return 0;
}
