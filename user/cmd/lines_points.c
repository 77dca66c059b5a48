// SPDX-License-Identifier: BSD-3-Clause
/* `cozbpf lines --points`: the places of a binary that can be progress points, each in the form
 * that -P takes. */
#include "cmd/lines.h"

#include <stdio.h>

static const char *kind_name(enum marker_kind kind)
{
	return kind == MARKER_PROGRESS ? "progress" : kind == MARKER_BEGIN ? "begin" : "end";
}

static int print_markers(FILE *out, struct object *o, size_t *total, struct error *e)
{
	struct marker *markers = NULL;
	size_t n = 0;

	if (object_find_markers(o, &markers, &n, e))
		return -1;
	for (size_t i = 0; i < n; i++)
		fprintf(out, "coz.h\t%s '%s', %zu place%s; found without -P\n",
		    kind_name(markers[i].kind), markers[i].name, markers[i].n_sites,
		    markers[i].n_sites == 1 ? "" : "s");
	markers_free(markers, n);
	*total += n;
	return 0;
}

static bool is_same(const struct sdt_probe *a, const struct sdt_probe *b)
{
	return !strcmp(a->provider, b->provider) && !strcmp(a->name, b->name);
}

static bool is_first(const struct sdt_probe *probes, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (is_same(&probes[j], &probes[i]))
			return false;
	return true;
}

static int print_probes(FILE *out, struct object *o, size_t *total, struct error *e)
{
	struct sdt_probe *probes = NULL;
	size_t n = 0;

	if (object_sdt_probes(o, &probes, &n, e))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(probes[i].provider, "coz") || !is_first(probes, i))
			continue;
		fprintf(out, "usdt\tusdt:%s:%s:%s\n", object_path(o), probes[i].provider,
		    probes[i].name);
		++*total;
	}
	sdt_probes_free(probes, n);
	return 0;
}

static int print_functions(FILE *out, struct object *o, size_t *total, struct error *e)
{
	char **names = NULL;
	size_t n = 0;

	if (object_functions(o, &names, &n, e))
		return -1;
	for (size_t i = 0; i < n; i++)
		fprintf(out, "function\t%s\n", names[i]);
	functions_free(names, n);
	*total += n;
	return 0;
}

int lines_print_points(FILE *out, struct object *o, struct error *e)
{
	size_t total = 0;

	if (print_markers(out, o, &total, e) || print_probes(out, o, &total, e) ||
	    print_functions(out, o, &total, e))
		return -1;
	if (!total) {
		error_set(e, EXIT_NO_RESULT, "'%s' has no markers, no USDT probes and no symbols",
		    object_path(o));
		return error_hint(e, "it is stripped: install its debug symbols; tracepoints "
				     "(tracepoint:CATEGORY:NAME) need none");
	}
	return 0;
}
