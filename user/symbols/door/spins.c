// SPDX-License-Identifier: BSD-3-Clause
/* Asks readers where code spins. */
#include <stdlib.h>
#include <string.h>

#include "symbols/door/object.h"

static int find_sites(struct image *image, void *arg, struct out *out, struct error *e)
{
	const size_t *max = arg;
	uint64_t *sites;
	size_t n;

	if (image_spin_sites(image, *max, &sites, &n))
		return error_set(e, EXIT_OTHER, "out of memory");
	put_bytes(out, sites, n * sizeof(*sites));
	return 0;
}

int object_spin_sites(struct object *o, size_t max, uint64_t **ret, size_t *n, struct error *e)
{
	const struct question q = {.work = find_sites, .arg = &max};
	uint64_t *sites;
	size_t count;
	struct in in;

	*ret = NULL;
	*n = 0;
	if (object_ask(o, &q, &in, e))
		return -1;
	count = in.n / sizeof(*sites);
	sites = calloc(count + 1, sizeof(*sites));
	if (sites && count <= max)
		memcpy(sites, get_bytes(&in, count * sizeof(*sites)), count * sizeof(*sites));
	in.bad |= !sites || count > max;
	for (size_t i = 1; !in.bad && i < count; i++)
		in.bad |= sites[i] <= sites[i - 1];
	if (object_answered(o, &in, e)) {
		free(sites);
		return -1;
	}
	*ret = sites;
	*n = count;
	return 0;
}
