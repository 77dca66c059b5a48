// SPDX-License-Identifier: BSD-3-Clause
/* Progress points at a static probe (USDT) that the program's source names. */
#include "run/point_kind.h"

#include <stdlib.h>

static int place_in(struct points *p, struct place *at, struct object *o, struct error *e)
{
	struct point_probe probe = {.index = at->index, .role = at->role};
	struct sdt_probe *probes = NULL;
	struct probe_site *sites = NULL;
	size_t n = 0;
	int err = object_find_usdt(o, at->spec.group, at->spec.event, &probes, &n, e);

	if (!err) {
		sites = calloc(n + 1, sizeof(*sites));
		err = sites ? 0 : error_set(e, EXIT_OTHER, "out of memory");
	}
	for (size_t i = 0; !err && i < n; i++)
		sites[i].offset = probes[i].addr_offset;
	if (!err)
		err = point_probe_check_named(at, o, sites, n, false, e);
	for (size_t i = 0; !err && i < n; i++) {
		probe.offset = sites[i].offset;
		probe.semaphore = probes[i].semaphore_offset;
		err = point_probe_key(p, at, o, probes[i].args, &probe.key, e) ||
			      point_probe_add(p, at, o, &probe, &sites[i], e)
			  ? -1
			  : 0;
	}
	free(sites);
	sdt_probes_free(probes, n);
	return err;
}

const struct point_kind point_usdt = {
    .place_in = place_in,
    .matches = point_probe_matches,
    .tell = point_probe_tell,
    .unit = 1,
};
