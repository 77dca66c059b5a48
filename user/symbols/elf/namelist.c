// SPDX-License-Identifier: BSD-3-Clause
/* The functions of an object by the names that a user may type: without signature where that is
 * unambiguous. */
#include "symbols/elf/image.h"

#include <stdlib.h>

#include "symbols/elf/names.h"

/* A function's names. */
struct named {
	char *full, *cut;
};

static int cut_cmp(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int ret = strcmp(x->cut, y->cut);

	return ret ? ret : strcmp(x->full, y->full);
}

static int name_cmp(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void functions_free(char **names, size_t n)
{
	for (size_t i = 0; names && i < n; i++)
		free(names[i]);
	free(names);
}

/* Both names of every function that is entered by a call. False: out of memory. */
static bool name_all(struct image *o, struct named *all, size_t *n)
{
	for (size_t i = 0; i < o->n_symbols; i++) {
		const char *name = o->symbols[i].name;

		if (symbol_is_cold(o, &o->symbols[i]))
			continue;
		all[*n].full = name_demangle(name, name_stem(name));
		all[*n].cut = all[*n].full ? strdup(all[*n].full) : NULL;
		if (!all[(*n)++].cut)
			return false;
		name_cut_signature(all[*n - 1].cut);
	}
	return true;
}

/* Moves the name of each function to @ret: the cut name, when all symbols with that name are one
 * function. */
static size_t choose_names(struct named *all, size_t n, char **ret)
{
	size_t end, used = 0;

	qsort(all, n, sizeof(*all), cut_cmp);
	for (size_t i = 0; i < n; i = end) {
		bool one = true;

		for (end = i + 1; end < n && !strcmp(all[end].cut, all[i].cut); end++)
			one &= !strcmp(all[end].full, all[i].full);
		for (size_t j = i; j < (one ? i + 1 : end); j++) {
			char **name = one ? &all[j].cut : &all[j].full;

			if (used && !strcmp(ret[used - 1], *name))
				continue;
			ret[used++] = *name;
			*name = NULL;
		}
	}
	qsort(ret, used, sizeof(*ret), name_cmp);
	return used;
}

int image_functions(struct image *o, char ***ret, size_t *n, struct error *e)
{
	struct named *all = NULL;
	char **names = NULL;
	size_t n_all = 0;
	bool ok = !image_load_symbols(o);

	if (ok) {
		all = calloc(o->n_symbols + 1, sizeof(*all));
		names = calloc(o->n_symbols + 1, sizeof(*names));
		ok = all && names && name_all(o, all, &n_all);
	}
	if (ok) {
		*n = choose_names(all, n_all, names);
		*ret = names;
	} else {
		free(names);
	}
	for (size_t i = 0; all && i < n_all; i++) {
		free(all[i].full);
		free(all[i].cut);
	}
	free(all);
	return ok ? 0 : error_set(e, EXIT_OTHER, "out of memory");
}
