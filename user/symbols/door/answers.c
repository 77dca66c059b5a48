// SPDX-License-Identifier: BSD-3-Clause
/* Sites, probes and markers as bytes, and back with each value checked; see object.h. */
#include "symbols/door/object.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE (1 << 20) /* names in notes; no compiler makes longer ones */
#define MARKER_SIZE 256

/* Zeroed elements; with @in bad there may be none. */
static void *make(struct in *in, size_t n, size_t size)
{
	void *ret = calloc(n + 1, size);

	in->bad |= !ret;
	return ret;
}

void put_sites(struct out *out, const struct probe_site *sites, size_t n)
{
	put_u64(out, n);
	for (size_t i = 0; i < n; i++) {
		put_u64(out, sites[i].offset);
		put_u32(out, sites[i].is_cheap);
		put_u64(out, sites[i].long_nop);
		put_string(out, sites[i].function);
	}
}

void get_sites(struct in *in, struct probe_site **ret, size_t *n)
{
	struct probe_site *sites;

	*n = get_count(in, 25);
	*ret = sites = make(in, *n, sizeof(*sites));
	for (size_t i = 0; i < *n && !in->bad; i++) {
		sites[i].offset = get_u64(in);
		sites[i].is_cheap = get_u32(in) != 0;
		sites[i].long_nop = get_u64(in);
		strcpy(sites[i].function, get_string(in, sizeof(sites[i].function)));
	}
}

void put_probes(struct out *out, const struct sdt_probe *probes, size_t n)
{
	put_u64(out, n);
	for (size_t i = 0; i < n; i++) {
		put_u64(out, probes[i].addr_offset);
		put_u64(out, probes[i].semaphore_offset);
		put_string(out, probes[i].provider);
		put_string(out, probes[i].name);
		put_string(out, probes[i].args);
	}
}

void get_probes(struct in *in, struct sdt_probe **ret, size_t *n)
{
	struct sdt_probe *probes;
	size_t count = get_count(in, 31);

	*ret = probes = make(in, count, sizeof(*probes));
	for (*n = 0; *n < count && !in->bad; ++*n) {
		struct sdt_probe *p = &probes[*n];

		p->addr_offset = get_u64(in);
		p->semaphore_offset = get_u64(in);
		p->provider = get_copy(in, TEXT_SIZE);
		p->name = get_copy(in, TEXT_SIZE);
		p->args = get_copy(in, TEXT_SIZE);
	}
}

void put_markers(struct out *out, const struct marker *markers, size_t n)
{
	put_u64(out, n);
	for (size_t i = 0; i < n; i++) {
		put_u32(out, markers[i].kind);
		put_u64(out, markers[i].n_lost);
		put_string(out, markers[i].name);
		put_sites(out, markers[i].sites, markers[i].n_sites);
	}
}

/* As object_find_markers() promises names: they go into profiles. */
static bool is_good_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	return *name;
}

void get_markers(struct in *in, struct marker **ret, size_t *n)
{
	struct marker *markers;
	size_t count = get_count(in, 25);

	*ret = markers = make(in, count, sizeof(*markers));
	for (*n = 0; *n < count && !in->bad; ++*n) {
		struct marker *m = &markers[*n];
		uint32_t kind = get_u32(in);

		m->kind = kind <= MARKER_END ? (enum marker_kind)kind : MARKER_PROGRESS;
		m->n_lost = (size_t)get_u64(in);
		m->name = get_copy(in, MARKER_SIZE);
		get_sites(in, &m->sites, &m->n_sites);
		in->bad |= kind > MARKER_END || !m->name || !is_good_name(m->name) ||
			   (!m->n_sites && !m->n_lost);
	}
}
