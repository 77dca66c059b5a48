// SPDX-License-Identifier: BSD-3-Clause
/* Where the sources of runs lie: the same program built in two directories has every line twice.
 * See runs.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/places/couple.h"
#include "core/text/paths.h"
#include "core/profile/runs.h"

/* What comes after the directory @dir, with its '/', or NULL where @path is not below it. */
static const char *below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	while (n && dir[n - 1] == '/')
		n--;
	return n && !strncmp(path, dir, n) && path[n] == '/' ? path + n : NULL;
}

/* Of @path's first @length bytes; the caller frees it. NULL: out of memory. */
static char *move_path(const char *path, size_t length, const char *old, const char *new)
{
	const char *rest = below(path, old);
	size_t n = strlen(new);
	char *ret;

	if (!rest)
		return strndup(path, length);
	while (n && new[n - 1] == '/')
		n--;
	rest += !new[0]; /* no directory: a relative path */
	length -= (size_t)(rest - path);
	ret = malloc(n + length + 1);
	if (!ret)
		return NULL;
	memcpy(ret, new, n);
	memcpy(ret + n, rest, length);
	ret[n + length] = 0;
	return ret;
}

/* The name of @name, a unit or a couple, when it has moved; the same when it has not; NULL without
 * memory. */
static char *moved(struct profile *p, char *name, const char *old, const char *new)
{
	size_t length = strlen(name), number;
	const char *second = path_of_line(name, &number) ? NULL : couple_split(name, NULL, &length);
	char *units[2], *both = NULL;
	uint32_t id;
	int err = -ENOMEM;

	if (!below(name, old) && !(second && below(second, old)))
		return name;
	units[0] = move_path(name, length, old, new);
	units[1] = second ? move_path(second, strlen(second), old, new) : NULL;
	if (units[0] && units[1])
		both = couple_name(units[0], units[1]);
	if (second ? both : units[0])
		err = names_copy(&p->names, second ? both : units[0], &id);
	free(units[0]);
	free(units[1]);
	free(both);
	return err ? NULL : (char *)p->names.items[id];
}

/* Returns 1 when @name has moved, 0, or -ENOMEM. */
static int move(struct profile *p, char **name, const char *old, const char *new)
{
	char *now = moved(p, *name, old, new);
	int ret = now ? now != *name : -ENOMEM;

	if (now)
		*name = now;
	return ret;
}

long runs_move_sources(struct profile *p, size_t first, const char *old, const char *new)
{
	int ret = 0;
	long n = 0;

	for (size_t i = 0; ret >= 0 && i < p->n_experiments; i++, n += ret)
		ret = p->experiments[i].run < first
			  ? 0
			  : move(p, &p->experiments[i].selected, old, new);
	for (size_t i = 0; ret >= 0 && i < p->n_samples; i++, n += ret)
		ret = p->samples[i].run < first ? 0 : move(p, &p->samples[i].location, old, new);
	for (size_t i = 0; ret >= 0 && i < p->n_nodes; i++, n += ret)
		ret = p->nodes[i].run < first || !p->nodes[i].line
			  ? 0
			  : move(p, &p->nodes[i].line, old, new);
	return ret < 0 ? ret : n;
}

/* Looking for lines that have moved */

struct place {
	const char *line;
	uint32_t run;
};

/* By file name and line number, then by path, then by run. */
static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int ret = strcmp(path_base(x->line), path_base(y->line));

	if (!ret)
		ret = strcmp(x->line, y->line);
	return ret ? ret : x->run < y->run ? -1 : x->run > y->run;
}

/* One for each line of each run. */
static struct place *all_places(const struct profile *p, size_t *ret_n)
{
	struct place *places = calloc(p->n_experiments + p->n_samples + 1, sizeof(*places));
	size_t n = 0, all = p->n_experiments + p->n_samples;

	if (!places)
		return NULL;
	for (size_t i = 0; i < p->n_experiments; i++)
		places[i] = (struct place){p->experiments[i].selected, p->experiments[i].run};
	for (size_t i = 0; i < p->n_samples; i++)
		places[p->n_experiments + i] =
		    (struct place){p->samples[i].location, p->samples[i].run};
	if (all)
		qsort(places, all, sizeof(*places), compare_places);
	for (size_t i = 0; i < all; i++) {
		if (!n || places[i].line != places[n - 1].line ||
		    places[i].run != places[n - 1].run)
			places[n++] = places[i];
	}
	*ret_n = n;
	return places;
}

/* What is known about a run beside run 0. */
struct beside {
	bool shares;       /* it has a line under the same path */
	const char *a, *b; /* a line of run 0, and of this one, that only end alike */
};

/* The @n places are of one file name and line number; those of one path stand together, by run. */
static void look_at(const struct place *places, size_t n, struct beside *runs)
{
	const char *reference = NULL;
	size_t first = 0;

	for (size_t i = 0; i < n && !reference; i++)
		reference = places[i].run ? NULL : places[i].line;
	for (size_t i = 0; reference && i < n; i++) {
		struct beside *run = &runs[places[i].run];

		/* Each place has a line. NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
		if (strcmp(places[i].line, places[first].line))
			first = i;
		if (!places[first].run) {
			run->shares = true;
		} else {
			run->a = reference;
			run->b = places[i].line;
		}
	}
}

int runs_find_moved(
    const struct profile *p, size_t *ret_run, const char **ret_a, const char **ret_b)
{
	size_t n = 0, end;
	struct place *places = all_places(p, &n);
	struct beside *runs = calloc(p->n_runs + 1, sizeof(*runs));
	int ret = places && runs ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < n; i = end) {
		for (end = i + 1;
		     end < n && !strcmp(path_base(places[end].line), path_base(places[i].line));
		     end++)
			;
		look_at(&places[i], end - i, runs);
	}
	for (size_t i = 1; !ret && i < p->n_runs; i++) {
		if (runs[i].shares || !runs[i].b)
			continue;
		*ret_run = i;
		*ret_a = runs[i].a;
		*ret_b = runs[i].b;
		ret = 1;
	}
	free(places);
	free(runs);
	return ret;
}
