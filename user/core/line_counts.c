// SPDX-License-Identifier: BSD-3-Clause
/* How often each line was sampled; see line_counts.h. */
#include "core/line_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"

/* The last record of a line in the run that is being added up. */
struct last {
	uint64_t count;
	uint32_t run;
};

static int compare(const void *a, const void *b)
{
	const struct line_count *x = a, *y = b;

	return strcmp(x->line, y->line);
}

/* Counts are cumulative over a run, so that its last record of a line says it all. */
static int add_up(struct line_counts *c, struct last *last, struct names *names, const struct profile *p)
{
	for (size_t i = 0; i < p->n_samples; i++) {
		const struct samples_record *s = &p->samples[i];
		uint32_t id;

		if (names_id(names, s->location, &id))
			return -ENOMEM;
		if (last[id].run != s->run) {
			c->lines[id].count += last[id].count;
			last[id].run = s->run;
		}
		c->lines[id].line = names->items[id];
		last[id].count = s->count;
	}
	return 0;
}

int line_counts_init(struct line_counts *c, const struct profile *p)
{
	struct last *last = calloc(p->n_samples + 1, sizeof(*last));
	struct names names = {0};
	int ret = -ENOMEM;

	memset(c, 0, sizeof(*c));
	c->lines = calloc(p->n_samples + 1, sizeof(*c->lines));
	if (last && c->lines)
		ret = add_up(c, last, &names, p);
	for (size_t i = 0; !ret && i < names.n; i++) {
		c->lines[c->n] = c->lines[i];
		c->lines[c->n].count += last[i].count;
		c->n += c->lines[c->n].count > 0;
	}
	for (size_t i = 0; i < p->n_runs; i++) {
		if (p->runs[i].samples > p->runs[i].in_scope && p->runs[i].in_scope)
			c->outside += p->runs[i].samples - p->runs[i].in_scope;
	}
	if (!ret && c->n)
		qsort(c->lines, c->n, sizeof(*c->lines), compare);
	names_deinit(&names);
	free(last);
	if (ret)
		line_counts_deinit(c);
	return ret;
}

void line_counts_deinit(struct line_counts *c)
{
	free(c->lines);
	memset(c, 0, sizeof(*c));
}
