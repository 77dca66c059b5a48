// SPDX-License-Identifier: BSD-3-Clause
/* How often each line was sampled; see line_counts.h. */
#include "core/profile/line_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile/wait_stacks.h"
#include "core/text/names.h"

static int compare(const void *a, const void *b)
{
	const struct line_count *x = a, *y = b;

	return strcmp(x->line, y->line);
}

static int add_up(struct line_counts *c, struct names *names, const struct profile *p)
{
	c->has_cpu_ns = true;
	for (size_t i = 0; i < p->n_samples; i++) {
		const struct samples_record *s = &p->samples[i];
		uint64_t period_ns = p->runs[s->run].period_ns;
		uint32_t id;

		if (names_id(names, s->location, &id))
			return -ENOMEM;
		c->lines[id].line = names->items[id];
		add_capped(&c->lines[id].count, s->count);
		add_periods(&c->lines[id].cpu_ns, s->count, period_ns);
		c->has_cpu_ns &= period_ns || !s->count;
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
		const struct run_record *r = &p->runs[i];

		if (r->samples <= r->in_scope || !r->in_scope)
			continue;
		add_capped(&c->outside, r->samples - r->in_scope);
		add_periods(&c->outside_cpu_ns, r->samples - r->in_scope, r->period_ns);
		c->has_cpu_ns &= r->period_ns > 0;
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
