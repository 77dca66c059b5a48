// SPDX-License-Identifier: BSD-3-Clause
/* The answer so far, in the middle of a run: the leading line for the progress line, and whether
 * --until has come true. */
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/estimate/estimate.h"
#include "core/text/names.h"
#include "core/text/paths.h"

#define LEADER_NS 3000000000ULL /* between two estimates: some milliseconds of work each */
/* as long again as one takes: with thousands of experiments it takes more */
#define LEADER_TIMES 50
#define LEADER_REPLICATES 100  /* order, and widths to a tenth */
#define SETTLED_REPLICATES 400 /* ends of intervals */

void run_free_answer(struct answer *a)
{
	estimate_deinit(&a->estimate);
	so_far_deinit(&a->so_far);
	*a = (struct answer){0};
}

/* 0, or -1: there is none. The caller frees it, while the runner's records are there. */
static int estimate_so_far(
    const struct runner *r, uint64_t now, const struct estimate_options *o, struct answer *ret)
{
	struct run_so_far now_measured;

	*ret = (struct answer){0};
	recorder_so_far(&r->recorder, now, r->experiments.machine.delayed_ns, &now_measured);
	if (!so_far_init(&ret->so_far, &r->recorder.profile,
		r->recorder.is_running ? &now_measured : NULL) &&
	    !estimate_profile(&ret->so_far.profile, o, &ret->estimate))
		return 0;
	run_free_answer(ret);
	return -1;
}

/* The line of experiments of one name; line 0: there is none. */
struct named_line {
	uint32_t line;
	size_t wanted; /* 1 + its place among the wanted; 0: it has none */
};

/* @lines: by id of @names. False: out of memory. */
static bool name_lines(const struct runner *r, struct names *names, struct named_line *lines)
{
	uint32_t id;

	for (size_t i = 0; i < r->recorder.profile.n_experiments; i++) {
		if (names_id(names, r->recorder.profile.experiments[i].selected, &id))
			return false;
		lines[id].line = lines[id].line ? lines[id].line : r->recorder.experiment_lines[i];
	}
	return true;
}

/* A line is wanted as much as at the progress point where it is wanted most. */
static void want(struct wanted *wanted, size_t *n, struct named_line *at, double share)
{
	struct wanted *w;

	if (!at->wanted) {
		wanted[(*n)++] = (struct wanted){.line = at->line};
		at->wanted = *n;
	}
	w = &wanted[at->wanted - 1];
	w->share = fmax(w->share, share);
}

static void keep_wanted(struct runner *r, const struct estimate *e)
{
	struct wanted *wanted = calloc(e->n_lines + 1, sizeof(*wanted));
	struct named_line *lines = calloc(r->recorder.profile.n_experiments + 1, sizeof(*lines));
	double *shares = calloc(e->n_lines + 1, sizeof(*shares));
	struct names names = {0};
	size_t n = 0;

	if (wanted && lines && shares && name_lines(r, &names, lines) &&
	    !estimate_wanted(e, shares)) {
		for (size_t i = 0; i < e->n_lines; i++) {
			uint32_t id = names_find(&names, e->lines[i].line);

			if (id != UINT32_MAX && lines[id].line)
				want(wanted, &n, &lines[id], shares[i]);
		}
		experiment_want(&r->experiments.machine, wanted, n);
		wanted = NULL;
	}
	names_deinit(&names);
	free(wanted);
	free(lines);
	free(shares);
}

static void name_leader(struct runner *r, const struct estimate *e)
{
	r->answer.leader[0] = 0;
	if (!e->n_lines || e->lines[0].verdict == VERDICT_NOT_ENOUGH_DATA)
		return;
	snprintf(r->answer.leader, sizeof(r->answer.leader), ", leading: %.100s",
	    path_base(e->lines[0].line));
}

void run_look(struct runner *r, uint64_t now)
{
	struct estimate_options o = {
	    .seed = r->o.seed, .replicates = LEADER_REPLICATES, .sort = run_view_sort(r)};
	struct answer a;
	uint64_t took;

	/* Between experiments: nothing closes late for it. */
	if (now < r->answer.leader_at_ns || !r->recorder.profile.n_experiments ||
	    (experiment_is_open(&r->experiments.machine) && !r->o.end_to_end))
		return;
	if (!estimate_so_far(r, now, &o, &a)) {
		name_leader(r, &a.estimate);
		if (!r->files.fixed_line && !r->o.end_to_end)
			keep_wanted(r, &a.estimate);
		run_view_take(r, &a);
	}
	took = monotonic_ns() - now;
	r->answer.leader_at_ns =
	    now + took + (took * LEADER_TIMES > LEADER_NS ? took * LEADER_TIMES : LEADER_NS);
}

bool run_settled(struct runner *r, uint64_t now)
{
	struct estimate_options o = {.seed = r->o.seed, .replicates = SETTLED_REPLICATES};
	struct answer a;

	if (!r->o.until_width || r->answer.settled || now < r->answer.settled_at_ns ||
	    r->recorder.profile.n_experiments == r->answer.settled_experiments)
		return r->answer.settled;
	if (r->o.end_to_end && r->recorder.is_running)
		return false; /* between runs */
	r->answer.settled_at_ns = now + LEADER_NS;
	r->answer.settled_experiments = r->recorder.profile.n_experiments;
	if (!estimate_so_far(r, now, &o, &a)) {
		r->answer.settled = estimate_settled(&a.estimate, r->o.until_width);
		run_free_answer(&a);
	}
	if (r->answer.settled)
		run_say(r, "the gains of the leading lines are known to within %s", r->o.until);
	return r->answer.settled;
}
