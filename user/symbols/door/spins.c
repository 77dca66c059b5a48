// SPDX-License-Identifier: BSD-3-Clause
/* Asks readers where code spins. */
#include <stdlib.h>

#include "symbols/door/object.h"

#define SITE_SIZE (3 * 8 + 2 * 4) /* bytes, as they are put */

static int find_sites(struct image *image, void *arg, struct out *out, struct error *e)
{
	struct spin_site *sites;
	size_t n;

	if (image_spin_sites(image, arg, &sites, &n))
		return error_set(e, EXIT_OTHER, "out of memory");
	put_u64(out, n);
	for (size_t i = 0; i < n; i++) {
		put_u64(out, sites[i].offset);
		put_u64(out, sites[i].from);
		put_u64(out, sites[i].to);
		put_u32(out, sites[i].kind);
		put_u32(out, sites[i].condition);
	}
	free(sites);
	return 0;
}

static struct spin_site get_site(struct in *in)
{
	struct spin_site ret;

	ret.offset = get_u64(in);
	ret.from = get_u64(in);
	ret.to = get_u64(in);
	ret.kind = get_u32(in);
	ret.condition = get_u32(in);
	return ret;
}

static bool is_good(const struct spin_site *s, unsigned kinds)
{
	return s->from <= s->offset && s->offset < s->to &&
	       (s->kind == COZBPF_SPINS_PAUSE || s->kind == COZBPF_SPINS_IDLE) && s->kind & kinds &&
	       s->condition < 2 * COZBPF_BRANCH_NOT;
}

int object_spin_sites(struct object *o, const struct spin_question *q, struct spin_site **ret,
    size_t *n, struct error *e)
{
	const struct question asked = {.work = find_sites, .arg = (void *)q};
	struct spin_site *sites;
	size_t count;
	struct in in;

	*ret = NULL;
	*n = 0;
	if (object_ask(o, &asked, &in, e))
		return -1;
	count = get_count(&in, SITE_SIZE);
	sites = calloc(count + 1, sizeof(*sites));
	in.bad |= !sites || count > q->max;
	for (size_t i = 0; !in.bad && i < count; i++) {
		sites[i] = get_site(&in);
		in.bad |=
		    !is_good(&sites[i], q->kinds) || (i && sites[i].offset <= sites[i - 1].offset);
	}
	if (object_answered(o, &in, e)) {
		free(sites);
		return -1;
	}
	*ret = sites;
	*n = count;
	return 0;
}
