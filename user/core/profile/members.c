// SPDX-License-Identifier: BSD-3-Clause
/* Runs that are in sums and are met again, by themselves or in another sum; see runs.h. */
#include "core/profile/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/hash.h"

uint64_t runs_first(const struct experiment_record *x)
{
	uint64_t key[3] = {0};

	if (!x)
		return 0;
	key[0] = x->duration_ns;
	key[1] = x->start_ns;
	key[2] = (uint64_t)(x->speedup * 1000 + 0.5);
	return hash_bytes(1, key, sizeof(key)) & INT64_MAX;
}

const struct experiment_record *runs_next_first(const struct profile *p, uint32_t run, size_t *at)
{
	while (*at < p->n_experiments && p->experiments[*at].run < run)
		(*at)++;
	return *at < p->n_experiments && p->experiments[*at].run == run ? &p->experiments[*at]
									: NULL;
}

/* A run, in a sum or not. */
struct known_run {
	uint64_t startup_time_ns, first;
	const char *build_id;
	uint32_t run; /* that it is, or the sum that it is in */
	bool is_member;
};

static int compare_known(const void *a, const void *b)
{
	const struct known_run *x = a, *y = b;

	if (x->startup_time_ns != y->startup_time_ns)
		return x->startup_time_ns < y->startup_time_ns ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return strcmp(x->build_id, y->build_id);
}

static size_t list_known(const struct profile *p, struct known_run *ret)
{
	size_t n = 0, at = 0;

	for (size_t i = 0; i < p->n_members; i++) {
		const struct member_record *m = &p->members[i];

		ret[n++] = (struct known_run){
		    m->startup_time_ns, m->first, p->runs[m->run].build_id, m->run, true};
	}
	for (uint32_t i = 0; i < p->n_runs; i++) {
		const struct run_record *r = &p->runs[i];
		uint64_t first = runs_first(runs_next_first(p, i, &at));

		if (!r->runs && r->startup_time_ns)
			ret[n++] =
			    (struct known_run){r->startup_time_ns, first, r->build_id, i, false};
	}
	return n;
}

/* The @n known ones are one run. Of sums that have it the greatest one keeps it. @shared counts, by
 * sum, those that another one keeps. */
static void look_at_same(
    const struct profile *p, const struct known_run *known, size_t n, bool *drop, uint64_t *shared)
{
	const struct known_run *keeper = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct run_record *r = &p->runs[known[i].run];

		if (known[i].is_member &&
		    (!keeper || r->runs > p->runs[keeper->run].runs ||
			(r->runs == p->runs[keeper->run].runs && known[i].run < keeper->run)))
			keeper = &known[i];
	}
	for (size_t i = 0; keeper && i < n; i++) {
		if (!known[i].is_member)
			drop[known[i].run] = true;
		else if (known[i].run != keeper->run)
			shared[known[i].run]++;
	}
}

int runs_find_members(const struct profile *p, bool *drop, size_t *ret_torn)
{
	struct known_run *known = calloc(p->n_members + p->n_runs + 1, sizeof(*known));
	uint64_t *shared = calloc(p->n_runs + 1, sizeof(*shared));
	size_t n, end;

	*ret_torn = SIZE_MAX;
	if (!known || !shared) {
		free(known);
		free(shared);
		return -ENOMEM;
	}
	n = p->n_members ? list_known(p, known) : 0;
	if (n)
		qsort(known, n, sizeof(*known), compare_known);
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && !compare_known(&known[i], &known[end]); end++)
			;
		look_at_same(p, &known[i], end - i, drop, shared);
	}
	for (size_t i = 0; i < p->n_runs; i++) {
		if (shared[i] && shared[i] >= p->runs[i].runs)
			drop[i] = true;
		else if (shared[i] && !drop[i])
			*ret_torn = i;
	}
	free(known);
	free(shared);
	return 0;
}
