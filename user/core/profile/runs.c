// SPDX-License-Identifier: BSD-3-Clause
/* Builds and twins among the runs of a profile, and taking runs out; see runs.h. Where sources lie
 * is in run_sources.c. */
#include "core/profile/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool runs_other_build(const struct profile *p, size_t *ret_first, size_t *ret_other)
{
	size_t first = 0;

	while (first < p->n_runs && !p->runs[first].build_id[0])
		first++;
	for (size_t i = first + 1; i < p->n_runs; i++) {
		if (p->runs[i].build_id[0] &&
		    strcmp(p->runs[i].build_id, p->runs[first].build_id)) {
			*ret_first = first;
			*ret_other = i;
			return true;
		}
	}
	return false;
}

size_t runs_count_builds(const struct profile *p)
{
	struct names builds = {0};
	const char *last = "";
	size_t n = 0;
	uint32_t id;

	/* Runs of a build mostly follow each other. Without memory some may count twice. */
	for (size_t i = 0; i < p->n_runs; i++) {
		if (!p->runs[i].build_id[0] || !strcmp(p->runs[i].build_id, last))
			continue;
		last = p->runs[i].build_id;
		n += names_id(&builds, last, &id) != 0;
	}
	n += builds.n;
	names_deinit(&builds);
	return n;
}

const char *runs_only_build(const struct profile *p)
{
	size_t i = 0, other;

	if (runs_other_build(p, &i, &other))
		return NULL;
	while (i < p->n_runs && !p->runs[i].build_id[0])
		i++;
	return i < p->n_runs ? p->runs[i].build_id : NULL;
}

size_t runs_without_build(const struct profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_runs; i++)
		if (!p->runs[i].build_id[0])
			n += p->runs[i].runs ? p->runs[i].runs : 1;
	return n;
}

bool runs_is_of(const struct run_record *r, const char *build)
{
	return !strncmp(r->build_id, build, strlen(build));
}

/* Twins */

struct ranges {
	const struct profile *p;
	size_t *first; /* by run: its first experiment; one more for the end */
};

static int compare_experiments(const struct experiment_record *x, const struct experiment_record *y)
{
	if (x->duration_ns != y->duration_ns)
		return x->duration_ns < y->duration_ns ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->speedup != y->speedup)
		return x->speedup < y->speedup ? -1 : 1;
	return strcmp(x->selected, y->selected);
}

/* As words are: one that is the beginning of another stands before it. */
static int compare_runs(const void *a, const void *b, void *context)
{
	const struct ranges *ranges = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct run_record *x = &ranges->p->runs[i], *y = &ranges->p->runs[j];
	size_t n_x = ranges->first[i + 1] - ranges->first[i],
	       n_y = ranges->first[j + 1] - ranges->first[j];
	int ret = strcmp(x->build_id, y->build_id);

	if (x->startup_time_ns != y->startup_time_ns)
		return x->startup_time_ns < y->startup_time_ns ? -1 : 1;
	for (size_t k = 0; !ret && k < n_x && k < n_y; k++)
		ret = compare_experiments(&ranges->p->experiments[ranges->first[i] + k],
		    &ranges->p->experiments[ranges->first[j] + k]);
	if (ret)
		return ret;
	if (n_x != n_y)
		return n_x < n_y ? -1 : 1;
	if (x->runtime_ns != y->runtime_ns)
		return x->runtime_ns < y->runtime_ns ? -1 : 1;
	return i > j ? -1 : i < j;
}

static bool is_beginning(const struct ranges *ranges, uint32_t i, uint32_t j)
{
	const struct run_record *x = &ranges->p->runs[i], *y = &ranges->p->runs[j];
	size_t n = ranges->first[i + 1] - ranges->first[i];

	if (!x->startup_time_ns || x->startup_time_ns != y->startup_time_ns ||
	    strcmp(x->build_id, y->build_id) || n > ranges->first[j + 1] - ranges->first[j])
		return false;
	for (size_t k = 0; k < n; k++) {
		if (compare_experiments(&ranges->p->experiments[ranges->first[i] + k],
			&ranges->p->experiments[ranges->first[j] + k]))
			return false;
	}
	return true;
}

int runs_find_twins(const struct profile *p, uint32_t *ret)
{
	struct ranges ranges = {p, calloc(p->n_runs + 1, sizeof(*ranges.first))};
	uint32_t *order = calloc(p->n_runs + 1, sizeof(*order));
	int err = ranges.first && order ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < p->n_experiments; i++)
		ranges.first[p->experiments[i].run + 1] = i + 1;
	for (uint32_t i = 0; !err && i < p->n_runs; i++) {
		if (ranges.first[i + 1] < ranges.first[i])
			ranges.first[i + 1] = ranges.first[i];
		order[i] = ret[i] = i;
	}
	if (!err)
		qsort_r(order, p->n_runs, sizeof(*order), compare_runs, &ranges);
	for (size_t i = p->n_runs; !err && i-- > 1;) {
		if (is_beginning(&ranges, order[i - 1], order[i]))
			ret[order[i - 1]] = ret[order[i]];
	}
	free(ranges.first);
	free(order);
	return err;
}

/* Taking out */

static void free_experiment(const struct profile *p, struct experiment_record *x)
{
	for (size_t i = 0; i < x->n_points; i++) {
		if (!p->names.items)
			free(x->points[i].name);
		free(x->points[i].cells);
	}
	if (!p->names.items)
		free(x->selected);
	free(x->points);
	free(x->lines);
}

static uint32_t number_after(const bool *drop, uint32_t run, uint32_t *at, uint32_t *ret)
{
	for (; *at < run; (*at)++)
		*ret += !drop[*at];
	return *ret;
}

void runs_drop(struct profile *p, const bool *drop)
{
	size_t kept = 0;
	uint32_t at = 0, number = 0;

	for (size_t i = 0; i < p->n_experiments; i++) {
		struct experiment_record *x = &p->experiments[i];

		if (drop[x->run]) {
			free_experiment(p, x);
			continue;
		}
		x->run = number_after(drop, x->run, &at, &number);
		p->experiments[kept++] = *x;
	}
	p->n_experiments = kept;
	kept = at = number = 0;
	for (size_t i = 0; i < p->n_samples; i++) {
		struct samples_record *s = &p->samples[i];

		if (drop[s->run]) {
			if (!p->names.items)
				samples_free_names(s);
			continue;
		}
		s->run = number_after(drop, s->run, &at, &number);
		p->samples[kept++] = *s;
	}
	p->n_samples = kept;
	kept = at = number = 0;
	for (size_t i = 0; i < p->n_members; i++) {
		struct member_record m = p->members[i];

		if (drop[m.run])
			continue;
		m.run = number_after(drop, m.run, &at, &number);
		p->members[kept++] = m;
	}
	p->n_members = kept;
	kept = at = number = 0;
	for (size_t i = 0; i < p->n_nodes; i++) {
		struct node_record n = p->nodes[i];

		if (drop[n.run])
			continue;
		n.run = number_after(drop, n.run, &at, &number);
		p->nodes[kept++] = n;
	}
	p->n_nodes = kept;
	kept = 0;
	for (size_t i = 0; i < p->n_runs; i++) {
		if (!drop[i])
			p->runs[kept++] = p->runs[i];
	}
	p->n_runs = kept;
}
