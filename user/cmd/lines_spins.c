// SPDX-License-Identifier: BSD-3-Clause
/* `cozbpf lines --spins`: where a binary waits by trying again. */
#include "cmd/lines.h"

#include <stdlib.h>

#include <cozbpf/abi_spins.h>

#include "report/say.h"

#define MANY (1 << 20)

/* The source line in scope, or -, the file offset, and what is there. */
static void print_one(FILE *out, const struct line_map *map, const struct spin_site *site)
{
	uint32_t line = map->n_objects ? line_map_lookup(map, 0, site->offset) : 0;

	if (line)
		fprintf(out, "%s:%u", map->lines[line].file, map->lines[line].line);
	else
		putc('-', out);
	fprintf(out, "\t0x%llx\t%s\n", (unsigned long long)site->offset,
	    site->kind == COZBPF_SPINS_PAUSE ? "PAUSE" : "loop");
}

int lines_print_spins(
    FILE *out, struct object *o, const struct scope *scope, struct line_map *map, struct error *e)
{
	const struct spin_question q = {
	    .kinds = COZBPF_SPINS_PAUSE | COZBPF_SPINS_IDLE, .max = MANY};
	struct error no_lines = {0};
	struct spin_site *sites;
	size_t n, n_lines, pauses = 0;

	if (object_spin_sites(o, &q, &sites, &n, e))
		return -1;
	if (n) /* most libraries have no debug information */
		object_add_lines(o, scope, map, &n_lines, &no_lines);
	for (size_t i = 0; i < n; i++) {
		print_one(out, map, &sites[i]);
		pauses += sites[i].kind == COZBPF_SPINS_PAUSE;
	}
	free(sites);
	say("%zu place%s where '%s' waits by PAUSE, and %zu idle loop%s", pauses,
	    pauses == 1 ? "" : "s", object_path(o), n - pauses, n - pauses == 1 ? "" : "s");
	return 0;
}
