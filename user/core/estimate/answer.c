// SPDX-License-Identifier: BSD-3-Clause
/* The answer so far; see answer.h. */
#include "core/estimate/answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/text/names.h"
#include "core/text/paths.h"

/* Time between two looks: an estimate takes some milliseconds of work. */
#define LOOK_NS 3000000000ULL
/* With thousands of experiments an estimate takes longer. The next look waits this many times as
 * long as the last one took. */
#define LOOK_TIMES 50
#define LOOK_REPLICATES 100    /* enough for the order, and for widths to a tenth */
#define SETTLED_REPLICATES 400 /* enough for the ends of intervals */

bool answer_is_due(const struct answer *a, uint64_t now, enum sort_key sort)
{
	return now >= a->look_at_ns || sort != a->sort;
}

static void name_leader(struct answer *a, const struct estimate *e)
{
	a->leader[0] = 0;
	if (!e->n_lines || e->lines[0].verdict == VERDICT_NOT_ENOUGH_DATA)
		return;
	snprintf(a->leader, sizeof(a->leader), ", leading: %.100s", path_base(e->lines[0].line));
}

int answer_look(struct answer *a, const struct profile *p, enum sort_key sort, struct estimate *ret)
{
	struct estimate_options o = {.seed = a->seed, .replicates = LOOK_REPLICATES, .sort = sort};
	int err = estimate_profile(p, &o, ret);

	a->sort = sort;
	if (!err)
		name_leader(a, ret);
	return err;
}

void answer_looked(struct answer *a, uint64_t began, uint64_t now)
{
	uint64_t rest = (now - began) * LOOK_TIMES;

	a->look_at_ns = now + (rest > LOOK_NS ? rest : LOOK_NS);
}

/* The line of experiments of one name; line 0: there is none. */
struct named_line {
	uint32_t line;
	size_t wanted; /* 1 + its place among the wanted; 0: it has none */
};

/* Fills @ret, by id of @names. False: out of memory. */
static bool name_lines(
    const struct profile *p, const uint32_t *lines, struct names *names, struct named_line *ret)
{
	uint32_t id;

	for (size_t i = 0; i < p->n_experiments; i++) {
		if (names_id(names, p->experiments[i].selected, &id))
			return false;
		ret[id].line = ret[id].line ? ret[id].line : lines[i];
	}
	return true;
}

/* A line is wanted as much as at the progress point where it is wanted most. */
static void want(
    struct wanted *wanted, size_t *n, struct named_line *at, const struct wanted *there)
{
	struct wanted *w;

	if (!at->wanted) {
		wanted[(*n)++] = (struct wanted){.line = at->line};
		at->wanted = *n;
	}
	w = &wanted[at->wanted - 1];
	w->share = fmax(w->share, there->share);
	w->refine |= there->refine;
}

struct wanted *answer_wanted(
    const struct estimate *e, const struct profile *p, const uint32_t *lines, size_t *ret_n)
{
	struct wanted *ret = calloc(e->n_lines + 1, sizeof(*ret));
	struct named_line *named = calloc(p->n_experiments + 1, sizeof(*named));
	double *shares = calloc(e->n_lines + 1, sizeof(*shares));
	struct names names = {0};
	bool done = ret && named && shares && name_lines(p, lines, &names, named) &&
		    !estimate_wanted(e, shares);

	*ret_n = 0;
	for (size_t i = 0; done && i < e->n_lines; i++) {
		uint32_t id = names_find(&names, e->lines[i].line);

		if (id != UINT32_MAX && named[id].line)
			want(ret, ret_n, &named[id],
			    &(struct wanted){
				.share = shares[i], .refine = estimate_matters(&e->lines[i])});
	}
	names_deinit(&names);
	free(named);
	free(shares);
	if (done)
		return ret;
	free(ret);
	return NULL;
}

bool answer_may_settle(const struct answer *a, uint64_t now, size_t n)
{
	return a->until_width && !a->settled && now >= a->settle_at_ns &&
	       n != a->settled_experiments;
}

bool answer_settle(struct answer *a, const struct profile *p, uint64_t now)
{
	struct estimate_options o = {.seed = a->seed, .replicates = SETTLED_REPLICATES};
	struct estimate e;

	a->settle_at_ns = now + LOOK_NS;
	a->settled_experiments = p->n_experiments;
	if (!estimate_profile(p, &o, &e)) {
		a->settled = estimate_settled(&e, a->until_width);
		estimate_deinit(&e);
	}
	return a->settled;
}
