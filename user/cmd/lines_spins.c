// SPDX-License-Identifier: BSD-3-Clause
/* `cozbpf lines --spins`: where a binary waits by trying again. */
#include "cmd/lines.h"

#include <stdlib.h>

#include "report/say.h"

#define MANY (1 << 20)

/* The source line in scope, or -, and the file offset. */
static void print_one(FILE *out, const struct line_map *map, uint64_t offset)
{
	uint32_t line = map->n_objects ? line_map_lookup(map, 0, offset) : 0;

	if (line)
		fprintf(out, "%s:%u", map->lines[line].file, map->lines[line].line);
	else
		putc('-', out);
	fprintf(out, "\t0x%llx\n", (unsigned long long)offset);
}

int lines_print_spins(
    FILE *out, struct object *o, const struct scope *scope, struct line_map *map, struct error *e)
{
	struct error no_lines = {0};
	uint64_t *sites;
	size_t n, n_lines;

	if (object_spin_sites(o, MANY, &sites, &n, e))
		return -1;
	if (n) /* most libraries have no debug information */
		object_add_lines(o, scope, map, &n_lines, &no_lines);
	for (size_t i = 0; i < n; i++)
		print_one(out, map, sites[i]);
	free(sites);
	say("%zu place%s where '%s' waits by PAUSE", n, n == 1 ? "" : "s", object_path(o));
	return 0;
}
