// SPDX-License-Identifier: BSD-3-Clause
/* What the reports in text begin with, a summary of the runs; and their lines by progress point. */
#include "report/text_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "core/text/names.h"
#include "report/words.h"

/* The index of a line's point in @p. @index: by name and kind, 1 + the index, or 0. */
static size_t point_of(const struct estimate_line *line, const struct names *names, uint32_t *index,
    struct text_points *p)
{
	uint32_t *at = &index[2 * names_find(names, line->progress) + line->is_latency];

	if (!*at)
		*at = (uint32_t)++p->n;
	return *at - 1;
}

static void sort_lines(
    const struct estimate *e, const struct names *names, uint32_t *index, struct text_points *ret)
{
	size_t begin = 0;

	for (size_t i = 0; i < e->n_lines; i++)
		ret->items[point_of(&e->lines[i], names, index, ret)].n++;
	for (size_t i = 0; i < ret->n; i++) {
		ret->items[i].lines = ret->lines + begin;
		begin += ret->items[i].n;
		ret->items[i].n = 0;
	}
	for (size_t i = 0; i < e->n_lines; i++) {
		struct text_point *point = &ret->items[point_of(&e->lines[i], names, index, ret)];

		/* Set above. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
		point->lines[point->n++] = &e->lines[i];
	}
	for (size_t i = 0; i < e->n_latencies; i++) {
		uint32_t name = names_find(names, e->latencies[i].name);

		if (name != UINT32_MAX && index[2 * name + 1])
			ret->items[index[2 * name + 1] - 1].latency = &e->latencies[i];
	}
}

void text_points_deinit(struct text_points *p)
{
	free(p->items);
	free(p->lines);
}

int text_points_init(struct text_points *p, const struct estimate *e)
{
	struct names names = {0};
	uint32_t *index = NULL, id;
	int err = 0;

	p->n = 0;
	p->items = calloc(e->n_lines + 1, sizeof(*p->items));
	p->lines = calloc(e->n_lines + 1, sizeof(*p->lines));
	for (size_t i = 0; !err && i < e->n_lines; i++)
		err = names_id(&names, e->lines[i].progress, &id);
	index = calloc(2 * names.n + 1, sizeof(*index));
	if (!p->items || !p->lines || !index)
		err = -ENOMEM;
	if (!err)
		sort_lines(e, &names, index, p);
	free(index);
	names_deinit(&names);
	return err;
}

static void print_loss(FILE *out, const struct estimate *e, const struct counter *c)
{
	uint64_t n = counter_value(c, &e->totals);

	if (c->shown == COUNTER_LOSS && (n || c->always))
		fprintf(out, ", %" PRIu64 " %s", n, c->many);
}

void text_summary(FILE *out, const struct estimate *e)
{
	char words[512];

	fprintf(out, "%" PRIu64 " experiments, %" PRIu64 " samples", e->experiments, e->samples);
	if (e->runtime_s > 0)
		fprintf(out, ", %.1f s", e->runtime_s);
	if (e->runs > 1)
		fprintf(out, ", %zu runs", e->runs);
	if (e->machines.n > 1)
		fprintf(out, " on %zu nodes", e->machines.n);
	for (size_t i = 0; i < n_run_counters; i++)
		print_loss(out, e, &run_counters[i]);
	if (e->n_dropped)
		fprintf(out, ", %zu %s%s left out for lack of data", e->n_dropped, estimate_unit(e),
		    e->n_dropped == 1 ? "" : "s");
	putc('\n', out);
	if (e->builds > 1)
		fprintf(out,
		    "warning: these are runs of %zu builds: a %s of one need not be the same in "
		    "another\n",
		    e->builds, estimate_unit(e));
	for (size_t i = 0; i < n_run_counters; i++) {
		counter_warning(&run_counters[i], &e->totals, words, sizeof(words));
		if (words[0])
			fprintf(out, "warning: %s\n", words);
	}
	if (e->n_lines && e->lines[0].wider >= NOISE_MANY)
		fprintf(out,
		    "warning: periods at one %s speedup differ by %.0f %%: intervals are %.1f "
		    "times "
		    "as wide as those of a steady program on a quiet machine\n",
		    estimate_unit(e), 100 * e->lines[0].scatter, e->lines[0].wider);
}
