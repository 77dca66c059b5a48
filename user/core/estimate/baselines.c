// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which baselines serve a line whose experiments began at a sample of it, and with what weight.
 *
 * A sample draws the line that gets an experiment, so another line might as well have got the
 * baseline. The probability of that is the other line's share of the samples at the opening. A
 * line's own baselines are one outcome of the draw. Taking all baselines, each weighted with that
 * probability, is the mean over all outcomes (Rao and Blackwell): same expectation, less scatter. A
 * baseline of another phase of the program holds no sample of the line, so its weight is 0.
 *
 * Some files do not say which lines were sampled. Then own baselines have the weight 1 and all
 * others 0. The scale is the same, so both sorts add up.
 */
#include "core/estimate/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_by_id(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int compare_by_line(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int compare_shares(const void *a, const void *b)
{
	const struct served_baseline *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_at_points(const void *a, const void *b)
{
	const struct observation *x = *(const struct observation *const *)a,
				 *y = *(const struct observation *const *)b;

	if (x->point != y->point)
		return x->point < y->point ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_indices(const void *a, const void *b)
{
	const struct observation *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

static bool is_shared(const struct experiment_record *x)
{
	return x->n_lines && !x->fixed && !speedup_permille(x->speedup);
}

/* Lines that were never selected need no baseline. */
static struct named *find_names(
    const struct profile *p, const struct observations *o, size_t *ret_n)
{
	struct named *names = calloc(2 * p->n_samples + 1, sizeof(*names));

	*ret_n = 0;
	for (size_t i = 0; names && i < p->n_samples; i++) {
		const struct samples_record *s = &p->samples[i];
		const char *units[] = {s->location, s->function};

		for (size_t j = 0; s->id && j < 2; j++) {
			struct named name = {
			    s->run, s->id, units[j] ? names_find(&o->lines, units[j]) : UINT32_MAX};

			if (name.line != UINT32_MAX)
				names[(*ret_n)++] = name;
		}
	}
	if (names && *ret_n)
		qsort(names, *ret_n, sizeof(*names), compare_by_id);
	return names;
}

/* The first name with the id @id or a higher one, searched from @at on. */
static size_t skip_to(const struct named *names, size_t n, uint32_t run, uint32_t id, size_t at)
{
	size_t end = n;

	while (at < end) {
		size_t middle = at + (end - at) / 2;

		if (names[middle].run < run || (names[middle].run == run && names[middle].id < id))
			at = middle + 1;
		else
			end = middle;
	}
	return at;
}

static void add_shares(struct baselines *b, const struct experiment_record *x, uint32_t index,
    const struct named *names, size_t n)
{
	double all = 0;
	size_t at = 0;

	for (size_t i = 0; i < x->n_lines; i++)
		all += (double)x->lines[i].opening;
	for (size_t i = 0; i < x->n_lines; i++) {
		const struct baseline_line *l = &x->lines[i];

		at = skip_to(names, n, x->run, l->id, at);
		for (int k = 0; k < 2 && at < n && names[at].run == x->run && names[at].id == l->id;
		     k++, at++)
			b->shares[b->n_shares++] = (struct served_baseline){.line = names[at].line,
			    .index = index,
			    .weight = (double)l->opening / all,
			    .samples = (double)l->observed,
			    .sampled = (double)x->observed_ns};
	}
}

/* By line; of a line they are in the order of the experiments already. There may be millions. */
static int sort_shares(struct baselines *b, size_t n_lines)
{
	struct served_baseline *sorted = calloc(b->n_shares + 1, sizeof(*sorted));
	size_t *next = calloc(n_lines + 1, sizeof(*next));

	if (!sorted || !next) {
		free(sorted);
		free(next);
		return -ENOMEM;
	}
	for (size_t i = 0; i < b->n_shares; i++)
		next[b->shares[i].line + 1]++;
	for (size_t i = 1; i <= n_lines; i++)
		next[i] += next[i - 1];
	for (size_t i = 0; i < b->n_shares; i++)
		sorted[next[b->shares[i].line]++] = b->shares[i];
	free(next);
	free(b->shares);
	b->shares = sorted;
	return 0;
}

/* A function has a share for each of its lines: together they are its own. */
static void add_up_shares(struct baselines *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_shares; i++) {
		if (n && !compare_shares(&b->shares[n - 1], &b->shares[i])) {
			b->shares[n - 1].weight += b->shares[i].weight;
			b->shares[n - 1].samples += b->shares[i].samples;
		} else {
			b->shares[n++] = b->shares[i];
		}
	}
	b->n_shares = n;
}

static int fill_shares(struct baselines *b, const struct profile *p, const struct observations *o)
{
	size_t n_names, n = 0;
	struct named *names = find_names(p, o, &n_names);

	for (size_t i = 0; i < p->n_experiments; i++)
		n += is_shared(&p->experiments[i]) ? 2 * p->experiments[i].n_lines : 0;
	b->shares = calloc(n + 1, sizeof(*b->shares));
	b->first = calloc(o->lines.n + 1, sizeof(*b->first));
	if (!names || !b->shares || !b->first) {
		free(names);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->n_experiments; i++) {
		if (is_shared(&p->experiments[i]))
			add_shares(b, &p->experiments[i], (uint32_t)i, names, n_names);
	}
	if (sort_shares(b, o->lines.n)) {
		free(names);
		return -ENOMEM;
	}
	add_up_shares(b);
	for (size_t i = b->n_shares; i > 0; i--)
		b->first[b->shares[i - 1].line] = i - 1;
	if (n_names)
		qsort(names, n_names, sizeof(*names), compare_by_line);
	b->names = names;
	b->n_names = n_names;
	return 0;
}

int baselines_init(struct baselines *b, const struct observations *o, const struct profile *p)
{
	memset(b, 0, sizeof(*b));
	b->p = p;
	b->runs = calloc(p->n_runs + 1, sizeof(*b->runs));
	b->at_points = calloc(o->n + 1, sizeof(*b->at_points));
	if (!b->runs || !b->at_points || fill_shares(b, p, o)) {
		baselines_deinit(b);
		return -ENOMEM;
	}
	for (size_t i = 0; i < o->n; i++) {
		if (is_shared(&p->experiments[o->items[i].index]))
			b->at_points[b->n_at_points++] = &o->items[i];
	}
	if (b->n_at_points)
		qsort(b->at_points, b->n_at_points, sizeof(*b->at_points), compare_at_points);
	return 0;
}

void baselines_deinit(struct baselines *b)
{
	free(b->names);
	free(b->shares);
	free(b->first);
	free(b->runs);
	free(b->at_points);
	memset(b, 0, sizeof(*b));
}

/* Whether the record of this own baseline says how much of the line was in its opening. Leaving the
 * line out says so as well. */
static bool is_known(const struct baselines *b, const struct observation *o)
{
	struct named name = {.run = o->run, .line = o->line};

	return is_shared(&b->p->experiments[o->index]) && b->n_names &&
	       bsearch(&name, b->names, b->n_names, sizeof(name), compare_by_line);
}

static const struct observation *find_observation(
    const struct baselines *b, uint32_t point, uint32_t index)
{
	struct observation key = {.point = point, .index = index};
	const struct observation *key_ptr = &key, **found = NULL;

	if (b->n_at_points)
		found = bsearch(&key_ptr, b->at_points, b->n_at_points, sizeof(*b->at_points),
		    compare_at_points);
	return found ? *found : NULL;
}

static size_t most_shares(const struct baselines *b, uint32_t line)
{
	size_t i = b->first[line], n = 0;

	while (i + n < b->n_shares && b->shares[i + n].line == line)
		n++;
	return n;
}

/* Fills @ret with the baselines that serve the line and point of @own, none of a line that the user
 * named. @ret needs room for most_shares() more than own ones. Returns their number. */
static size_t serve(
    const struct baselines *b, const struct observation *own, size_t n, struct observation *ret)
{
	size_t most = most_shares(b, own->line), k = 0, alone;

	for (size_t i = 0; i < n && !own[i].permille; i++) {
		if (!is_known(b, &own[i]))
			ret[k++] = own[i];
	}
	alone = k;
	for (size_t i = 0; i < n; i++)
		b->runs[own[i].run] = true;
	for (size_t i = 0; i < most; i++) {
		const struct served_baseline *s = &b->shares[b->first[own->line] + i];
		const struct observation *o = find_observation(b, own->point, s->index);

		if (!o || !b->runs[o->run])
			continue;
		ret[k] = *o;
		ret[k].line = own->line;
		ret[k].weight = s->weight;
		ret[k].samples = s->samples;
		ret[k++].sampled = s->sampled;
	}
	for (size_t i = 0; i < n; i++)
		b->runs[own[i].run] = false;
	/* In the order of time, however each baseline is known: the same records give the same
	 * draws. */
	if (alone && k > alone)
		qsort(ret, k, sizeof(*ret), compare_indices);
	return k;
}

int baselines_collect(
    const struct baselines *b, const struct observation *own, size_t n, struct collected *ret)
{
	size_t of_own = 0;

	while (of_own < n && !own[of_own].permille)
		of_own++;
	ret->obs = malloc((n + (b ? most_shares(b, own->line) : 0)) * sizeof(*own));
	if (!ret->obs)
		return -ENOMEM;
	if (b && own->fixed)
		memcpy(ret->obs, own, of_own * sizeof(*own));
	ret->baselines = !b ? 0 : own->fixed ? of_own : serve(b, own, n, ret->obs);
	memcpy(ret->obs + ret->baselines, own + of_own, (n - of_own) * sizeof(*own));
	ret->n = ret->baselines + n - of_own;
	return 0;
}

int observations_number_pieces(struct observation *obs, size_t n, size_t n_lines)
{
	uint32_t *last = calloc(n_lines + 1, sizeof(*last)), piece = 0;

	if (!last)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct observation *o = &obs[i];

		if (!i || !o->is_sum || !o[-1].is_sum || o->run != o[-1].run ||
		    last[o->line] == piece)
			piece++;
		o->piece = last[o->line] = piece;
	}
	free(last);
	return 0;
}
