// SPDX-License-Identifier: BSD-3-Clause
/* Asks readers for places to probe: functions, lines, static probes, markers. */
#include "symbols/door/object.h"

#include <stdlib.h>

#define NAME_SIZE (16 << 20) /* demangled names of templates have megabytes */
#define NOP_SIZE 5           /* of the nop that may become a call */

static int get_sites_of(const struct object *o, const struct question *q, struct probe_site **ret,
    size_t *n, struct error *e)
{
	struct probe_site *sites;
	struct in in;
	size_t count;

	if (object_ask(o, q, &in, e))
		return -1;
	get_sites(&in, &sites, &count);
	if (object_answered(o, &in, e)) {
		free(sites);
		return -1;
	}
	*ret = sites;
	*n = count;
	return 0;
}

struct wanted_symbol {
	const char *symbol;
	uint64_t offset;
};

static int find_symbol(struct image *image, void *arg, struct out *out, struct error *e)
{
	const struct wanted_symbol *w = arg;
	struct probe_site *sites;
	size_t n;

	if (image_find_symbol(image, w->symbol, w->offset, &sites, &n, e))
		return -1;
	put_sites(out, sites, n);
	return 0;
}

int object_find_symbol(struct object *o, const char *symbol, uint64_t offset,
    struct probe_site **ret, size_t *n, struct error *e)
{
	struct wanted_symbol w = {symbol, offset};
	const struct question q = {.work = find_symbol, .arg = &w};

	return get_sites_of(o, &q, ret, n, e);
}

struct wanted_symbols {
	const char *const *names;
	size_t n;
};

static int find_symbols(struct image *image, void *arg, struct out *out, struct error *e)
{
	const struct wanted_symbols *w = arg;
	struct probe_site *sites;
	struct error none;
	size_t n;

	for (uint32_t i = 0; i < w->n; i++) {
		if (image_find_symbol(image, w->names[i], 0, &sites, &n, &none))
			continue; /* not in this library, or not in this version */
		for (size_t k = 0; k < n; k++) {
			put_u32(out, i);
			put_u64(out, sites[k].offset);
		}
		free(sites);
	}
	return 0;
}

int object_find_symbols(struct object *o, const char *const *names, size_t n_names,
    struct named_site **ret, size_t *n, struct error *e)
{
	struct wanted_symbols w = {names, n_names};
	const struct question q = {.work = find_symbols, .arg = &w};
	struct named_site *sites;
	size_t count;
	struct in in;

	if (object_ask(o, &q, &in, e))
		return -1;
	count = in.n / 12;
	sites = calloc(count + 1, sizeof(*sites));
	in.bad |= !sites;
	for (size_t i = 0; i < count && !in.bad; i++) {
		sites[i].name = get_u32(&in);
		sites[i].offset = get_u64(&in);
		in.bad |= sites[i].name >= n_names;
	}
	if (object_answered(o, &in, e)) {
		free(sites);
		return -1;
	}
	*ret = sites;
	*n = count;
	return 0;
}

struct wanted_line {
	const char *file;
	uint32_t line;
};

static int find_line(struct image *image, void *arg, struct out *out, struct error *e)
{
	const struct wanted_line *w = arg;
	struct probe_site *sites;
	size_t n;

	if (image_find_line(image, w->file, w->line, &sites, &n, e))
		return -1;
	put_sites(out, sites, n);
	return 0;
}

int object_find_line(struct object *o, const char *file, uint32_t line, struct probe_site **ret,
    size_t *n, struct error *e)
{
	struct wanted_line w = {file, line};
	const struct question q = {find_line, &w, .needs_debug = true};

	return get_sites_of(o, &q, ret, n, e);
}

struct checked_sites {
	const struct probe_site *sites;
	size_t n;
	bool move, strict;
};

static int check_sites(struct image *image, void *arg, struct out *out, struct error *e)
{
	const struct checked_sites *c = arg;

	for (size_t i = 0; i < c->n; i++) {
		uint64_t at = c->sites[i].offset, next;

		if (c->move)
			image_cheap_site(image, at, &at);
		if (image_check_site(image, at, c->strict, e))
			return -1;
		put_u64(out, at);
		put_u32(out, image_site_is_cheap(image, at));
		put_u32(out, image_site_may_clobber(image, at, &next));
		put_u64(out, next);
	}
	return 0;
}

int object_check_sites(
    struct object *o, struct probe_site *sites, size_t n, bool move, bool strict, struct error *e)
{
	struct checked_sites c = {sites, n, move, strict};
	const struct question q = {.work = check_sites, .arg = &c};
	struct in in;

	if (!n)
		return 0;
	if (object_ask(o, &q, &in, e))
		return -1;
	for (size_t i = 0; i < n; i++) {
		uint64_t at = get_u64(&in);

		in.bad |= !move && at != sites[i].offset;
		sites[i].offset = at;
		sites[i].is_cheap = get_u32(&in) != 0;
		sites[i].may_clobber = get_u32(&in) != 0;
		sites[i].next = get_u64(&in);
		in.bad |= sites[i].next && sites[i].next != at + NOP_SIZE;
	}
	return object_answered(o, &in, e);
}

static int list_functions(struct image *image, void *arg, struct out *out, struct error *e)
{
	char **names;
	size_t n;

	if (image_functions(image, &names, &n, e))
		return -1;
	put_u64(out, n);
	for (size_t i = 0; i < n; i++)
		put_string(out, names[i]);
	return 0;
}

int object_functions(struct object *o, char ***ret, size_t *n, struct error *e)
{
	static const struct question q = {.work = list_functions};
	size_t count, made = 0;
	struct in in;
	char **names;

	if (object_ask(o, &q, &in, e))
		return -1;
	count = get_count(&in, 5);
	names = calloc(count + 1, sizeof(*names));
	in.bad |= !names;
	for (; made < count && !in.bad; made++)
		names[made] = get_copy(&in, NAME_SIZE);
	if (object_answered(o, &in, e)) {
		functions_free(names, made);
		return -1;
	}
	*ret = names;
	*n = count;
	return 0;
}

static int search_text(struct image *image, void *arg, struct out *out, struct error *e)
{
	put_u32(out, image_has_text(image, arg));
	return 0;
}

bool object_has_text(const struct object *o, const char *text)
{
	const struct question q = {.work = search_text, .arg = (void *)text};
	struct error e;
	struct in in;
	bool has;

	if (object_ask(o, &q, &in, &e))
		return false;
	has = get_u32(&in) != 0;
	return !object_answered(o, &in, &e) && has;
}

struct wanted_probe {
	const char *provider, *name; /* NULL: all */
};

static int find_probes(struct image *image, void *arg, struct out *out, struct error *e)
{
	const struct wanted_probe *w = arg;
	struct sdt_probe *probes;
	size_t n;

	if (w->name ? image_find_usdt(image, w->provider, w->name, &probes, &n, e)
		    : image_sdt_probes(image, &probes, &n, e))
		return -1;
	put_probes(out, probes, n);
	return 0;
}

static int get_probes_of(const struct object *o, struct wanted_probe w, struct sdt_probe **ret,
    size_t *n, struct error *e)
{
	const struct question q = {.work = find_probes, .arg = &w};
	struct sdt_probe *probes;
	struct in in;
	size_t count;

	if (object_ask(o, &q, &in, e))
		return -1;
	get_probes(&in, &probes, &count);
	if (object_answered(o, &in, e)) {
		sdt_probes_free(probes, count);
		return -1;
	}
	*ret = probes;
	*n = count;
	return 0;
}

int object_sdt_probes(struct object *o, struct sdt_probe **ret, size_t *n, struct error *e)
{
	return get_probes_of(o, (struct wanted_probe){NULL, NULL}, ret, n, e);
}

int object_find_usdt(struct object *o, const char *provider, const char *name,
    struct sdt_probe **ret, size_t *n, struct error *e)
{
	return get_probes_of(o, (struct wanted_probe){provider, name}, ret, n, e);
}

typedef int find_markers(struct image *o, struct marker **ret, size_t *n, struct error *e);

static int put_found(find_markers *find, struct image *image, struct out *out, struct error *e)
{
	struct marker *markers;
	size_t n;

	if (find(image, &markers, &n, e))
		return -1;
	put_markers(out, markers, n);
	return 0;
}

static int find_ours(struct image *image, void *arg, struct out *out, struct error *e)
{
	return put_found(image_find_markers, image, out, e);
}

static int find_coz(struct image *image, void *arg, struct out *out, struct error *e)
{
	return put_found(image_find_coz_sites, image, out, e);
}

static int get_markers_of(const struct object *o, const struct question *q, struct marker **ret,
    size_t *n, struct error *e)
{
	struct marker *markers;
	struct in in;
	size_t count;

	if (object_ask(o, q, &in, e))
		return -1;
	get_markers(&in, &markers, &count);
	if (object_answered(o, &in, e)) {
		markers_free(markers, count);
		return -1;
	}
	*ret = markers;
	*n = count;
	return 0;
}

int object_find_markers(struct object *o, struct marker **ret, size_t *n, struct error *e)
{
	static const struct question q = {.work = find_ours};

	return get_markers_of(o, &q, ret, n, e);
}

int object_find_coz_sites(struct object *o, struct marker **ret, size_t *n, struct error *e)
{
	static const struct question q = {.work = find_coz};

	return get_markers_of(o, &q, ret, n, e);
}
