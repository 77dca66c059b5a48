// SPDX-License-Identifier: BSD-3-Clause
/* How often each line was sampled; see line_counts.h. */
#include "core/profile/line_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/names.h"

static int compare(const void *a, const void *b)
{
	const struct line_count *x = a, *y = b;

	return strcmp(x->line, y->line);
}

static int add_up(struct line_counts *c, struct names *names, const struct profile *p)
{
	for (size_t i = 0; i < p->n_samples; i++) {
		uint32_t id;

		if (names_id(names, p->samples[i].location, &id))
			return -ENOMEM;
		c->lines[id].line = names->items[id];
		c->lines[id].count += p->samples[i].count;
	}
	return 0;
}

int line_counts_init(struct line_counts *c, const struct profile *p)
{
	struct names names = {0};
	int ret = -ENOMEM;

	memset(c, 0, sizeof(*c));
	c->lines = calloc(p->n_samples + 1, sizeof(*c->lines));
	if (c->lines)
		ret = add_up(c, &names, p);
	for (size_t i = 0; !ret && i < names.n; i++) {
		c->lines[c->n] = c->lines[i];
		c->n += c->lines[c->n].count > 0;
	}
	for (size_t i = 0; i < p->n_runs; i++) {
		if (p->runs[i].samples > p->runs[i].in_scope && p->runs[i].in_scope)
			c->outside += p->runs[i].samples - p->runs[i].in_scope;
	}
	if (!ret && c->n)
		qsort(c->lines, c->n, sizeof(*c->lines), compare);
	names_deinit(&names);
	if (ret)
		line_counts_deinit(c);
	return ret;
}

uint64_t line_counts_find(const struct line_counts *c, const char *line)
{
	const struct line_count key = {.line = line},
				*found = c->n ? bsearch(&key, c->lines, c->n, sizeof(key), compare)
					      : NULL;

	return found ? found->count : 0;
}

void line_counts_deinit(struct line_counts *c)
{
	free(c->lines);
	memset(c, 0, sizeof(*c));
}
