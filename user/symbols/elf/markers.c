// SPDX-License-Identifier: BSD-3-Clause
/* The markers that cozbpf's coz.h leaves in a program: static probes of the provider "coz", grouped
 * into progress points. */
#include "symbols/elf/markers.h"

#include <errno.h>
#include <stdlib.h>

#include "symbols/elf/names.h"

#define MARKER_PROVIDER "coz"
#define MARKER_NAME 255 /* longest name; include/coz.h promises it */

static const char *const kinds[] = {
    [MARKER_PROGRESS] = "progress", [MARKER_BEGIN] = "begin", [MARKER_END] = "end"};

/* Makes @name fit for a profile: never empty, no tab, no line end, at most MARKER_NAME long. */
static void clean_name(char ret[MARKER_NAME + 1], const char *name)
{
	size_t len = strnlen(name, MARKER_NAME);

	if (!len) {
		strcpy(ret, "(unnamed)");
		return;
	}
	for (size_t i = 0; i < len; i++)
		ret[i] = (unsigned char)name[i] < ' ' || name[i] == 0x7f ? ' ' : name[i];
	ret[len] = 0;
}

struct marker_place {
	enum marker_kind kind;
	char *name;
	uint64_t offset;
};

int marker_list_add(struct marker_list *l, enum marker_kind kind, const char *name, uint64_t offset)
{
	char clean[MARKER_NAME + 1];
	struct marker_place p = {.kind = kind, .offset = offset};

	if (l->n == l->cap) {
		struct marker_place *grown =
		    reallocarray(l->v, l->cap ? l->cap * 2 : 16, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		l->v = grown;
		l->cap = l->cap ? l->cap * 2 : 16;
	}
	clean_name(clean, name);
	p.name = strdup(clean);
	if (!p.name)
		return -ENOMEM;
	l->v[l->n++] = p;
	return 0;
}

void marker_list_deinit(struct marker_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].name);
	free(l->v);
	*l = (struct marker_list){0};
}

static int marker_cmp(const struct marker_place *x, const struct marker_place *y)
{
	return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : strcmp(x->name, y->name);
}

static int place_cmp(const void *a, const void *b)
{
	const struct marker_place *x = a, *y = b;
	int order = marker_cmp(x, y);

	return order ? order : x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Where coz.h has put a long nop behind the first one, on x86-64; else 0. */
static uint64_t long_nop_at(const struct image *o, uint64_t offset)
{
	static const uint8_t pair[] = {0x90, 0x0f, 0x1f, 0x44, 0x00, 0x00};
	size_t size;
	char *data = elf_rawfile(o->main.elf, &size);
	struct bytes file = {(const uint8_t *)data, size};
	struct reader r = reader_at(file, offset, sizeof(pair));

	return !r.bad && !memcmp(r.p, pair, sizeof(pair)) ? offset + 1 : 0;
}

/* Makes one marker of @n sorted places. Equal places are one site. */
static int make_marker(
    const struct image *o, struct marker_place *places, size_t n, struct marker *ret)
{
	*ret = (struct marker){.kind = places[0].kind,
	    .name = strdup(places[0].name),
	    .sites = calloc(n, sizeof(*ret->sites))};
	if (!ret->name || !ret->sites)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct symbol *symbol;
		uint64_t addr;

		if (places[i].offset == NO_SITE)
			ret->n_lost++;
		if (places[i].offset == NO_SITE || (i && places[i].offset == places[i - 1].offset))
			continue;
		symbol =
		    image_address(o, places[i].offset, &addr) ? image_symbol_at(o, addr) : NULL;
		ret->sites[ret->n_sites].offset = places[i].offset;
		ret->sites[ret->n_sites].long_nop = long_nop_at(o, places[i].offset);
		site_name(ret->sites[ret->n_sites++].function, symbol ? symbol->name : "?");
	}
	return 0;
}

int marker_list_group(struct marker_list *l, struct image *o, struct marker **ret, size_t *n)
{
	struct marker *markers = calloc(l->n + 1, sizeof(*markers));
	size_t made = 0, end;
	int err = markers ? image_load_symbols(o) : -ENOMEM;

	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), place_cmp);
	for (size_t i = 0; !err && i < l->n; i = end) {
		for (end = i + 1; end < l->n && !marker_cmp(&l->v[i], &l->v[end]);)
			end++;
		err = make_marker(o, &l->v[i], end - i, &markers[made++]);
	}
	if (err) {
		markers_free(markers, made);
		return err;
	}
	*ret = markers;
	*n = made;
	return 0;
}

void markers_free(struct marker *markers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(markers[i].name);
		free(markers[i].sites);
	}
	free(markers);
}

static int add_probes(struct marker_list *l, const struct sdt_probe *probes, size_t n)
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++)
		for (size_t k = 0; !err && !strcmp(probes[i].provider, MARKER_PROVIDER) &&
				   k < sizeof(kinds) / sizeof(*kinds);
		     k++)
			if (!strcmp(probes[i].name, kinds[k]))
				err = marker_list_add(
				    l, (enum marker_kind)k, probes[i].args, probes[i].addr_offset);
	return err;
}

int image_find_markers(struct image *o, struct marker **ret, size_t *n, struct error *e)
{
	struct marker_list l = {0};
	struct sdt_probe *probes;
	size_t n_probes;
	int err;

	if (image_sdt_probes(o, &probes, &n_probes, e))
		return -1;
	err = add_probes(&l, probes, n_probes);
	if (!err)
		err = marker_list_group(&l, o, ret, n);
	sdt_probes_free(probes, n_probes);
	marker_list_deinit(&l);
	return err ? error_set(e, EXIT_OTHER, "out of memory") : 0;
}
