// SPDX-License-Identifier: BSD-3-Clause
/* The places that a watch probes: markers and static probes of what the target maps, functions that
 * its stacks show above work. */
#include "run/point_watch_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/places/linemap.h"
#include "core/places/spec.h"
#include "core/text/paths.h"
#include "kernel/nops.h"
#include "run/files.h"
#include "run/places.h"
#include "run/point_markers.h"
#include "run/points.h"
#include "target/maps.h"

#define MAX_FUNCTIONS 16
/* fewer of them, since a probe there may meet millions of visits a second until it is removed */
#define MAX_INNERMOST 4
/* of a file: it may have thousands */
#define MAX_STATIC 24
/* fewer tell no share */
#define MIN_STACKS 50
/* What ends a unit of work is rarely a function alone; the higher up the stack, the likelier. */
#define FUNCTION_WEIGHT 0.4
#define FUNCTION_SHARE_WEIGHT 0.2
#define INNERMOST_WEIGHT 0.3
#define MARKER_WEIGHT 1.5
#define USDT_WEIGHT 0.7

/* Their functions and probes are no units of the program's work. */
static const char *const runtimes[] = {"libc.so", "libc-", "ld-linux", "ld-musl", "ld-2",
    "libpthread", "libm.so", "libstdc++", "libgcc_s", "libdl", "librt"};

static bool is_runtime(const char *path)
{
	const char *name = path_base(path);

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++)
		if (!strncmp(name, runtimes[i], strlen(runtimes[i])))
			return true;
	return maps_is_shim(path) || *path != '/';
}

static bool is_main(const struct points *p, const struct file *file)
{
	return !strcmp(file->path, p->files->main_path);
}

/* A -P that leads to what it was made of; NULL: there is none. Takes over @text. */
static char *make_spec(enum spec_kind kind, const char *name, char *text)
{
	struct spec spec;
	struct error e;
	bool same;

	if (!text || spec_parse(text, &spec, &e)) {
		free(text);
		return NULL;
	}
	same = spec.kind == kind && !strcmp(spec.name, name ? name : text);
	spec_deinit(&spec);
	if (same)
		return text;
	free(text);
	return NULL;
}

/* A function that a symbol names, or (@addr) one that only has an address. */
static char *function_spec(
    const struct points *p, const struct file *file, const char *name, uint64_t addr)
{
	const char *path = is_main(p, file) ? "" : file->path, *colon = *path ? ":" : "";
	char *text;
	int length = addr ? asprintf(&text, "%s=%s%s+0x%" PRIx64, name, path, colon, addr)
			  : asprintf(&text, "%s%s%s", path, colon, name);

	return make_spec(SPEC_SYMBOL, addr ? name : NULL, length < 0 ? NULL : text);
}

static void add_markers(struct watch *w, struct watch_group *g, struct object *o)
{
	struct marker *markers = NULL;
	struct error e;
	struct candidate *c;
	size_t n = 0;

	if (object_find_markers(o, &markers, &n, &e))
		n = 0;
	point_markers_cheapen(markers, n);
	for (size_t i = 0; i < n && i < MAX_STATIC; i++) {
		if (markers[i].kind != MARKER_PROGRESS || !markers[i].n_sites ||
		    object_check_sites(o, markers[i].sites, markers[i].n_sites, false, true, &e))
			continue;
		c = watch_add(w, CANDIDATE_MARKER, strdup(markers[i].name), NULL);
		if (!c)
			break;
		c->what = "marker of coz.h";
		c->weight = MARKER_WEIGHT;
		c->cost_ns = CANDIDATE_COST_NOP;
		watch_add_sites(g, c, markers[i].sites, markers[i].n_sites, 0);
	}
	markers_free(markers, n);
}

/* The probes of one name, all of whose places count. */
static void add_usdt(struct watch *w, struct watch_group *g, struct object *o,
    const struct sdt_probe *probe, const char *path)
{
	struct sdt_probe *all = NULL;
	char *text = NULL, *name = NULL;
	struct candidate *c = NULL;
	struct probe_site site;
	struct error e;
	size_t n = 0;

	if (asprintf(&text, "usdt:%s:%s:%s", path, probe->provider, probe->name) < 0)
		return;
	text = make_spec(SPEC_USDT, NULL, text);
	if (asprintf(&name, "%s:%s", probe->provider, probe->name) < 0)
		name = NULL;
	c = watch_add(w, CANDIDATE_USDT, name, text);
	if (!c)
		return;
	c->what = "static probe";
	c->weight = USDT_WEIGHT;
	c->cost_ns = CANDIDATE_COST_NOP;
	if (object_find_usdt(o, probe->provider, probe->name, &all, &n, &e))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		site = (struct probe_site){.offset = all[i].addr_offset};
		if (!object_check_sites(o, &site, 1, false, true, &e) && site.is_cheap &&
		    !(site.may_clobber && nop_long_clobbers()))
			watch_add_sites(g, c, &site, 1, all[i].semaphore_offset);
	}
	sdt_probes_free(all, n);
}

static bool is_first(const struct sdt_probe *probes, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(probes[j].provider, probes[i].provider) &&
		    !strcmp(probes[j].name, probes[i].name))
			return false;
	return true;
}

static void add_static(struct watch *w, struct watch_group *g, struct object *o, const char *path)
{
	struct sdt_probe *probes = NULL;
	struct error e;
	unsigned added = 0;
	size_t n = 0;

	add_markers(w, g, o);
	if (object_sdt_probes(o, &probes, &n, &e))
		n = 0;
	for (size_t i = 0; i < n && added < MAX_STATIC; i++) {
		if (!strcmp(probes[i].provider, "coz") || !is_first(probes, i))
			continue;
		add_usdt(w, g, o, &probes[i], path);
		added++;
	}
	sdt_probes_free(probes, n);
}

/* The places of a function, and what a visit costs; 0: it cannot be probed. *@ret is the caller's
 * to free. */
static double find_function(
    struct object *o, const struct watch_function *f, struct probe_site **ret, size_t *n)
{
	double cost = CANDIDATE_COST_FUNCTION;
	struct error e;

	if (object_find_symbol(o, f->symbol, f->addr, ret, n, &e) || !*n ||
	    object_check_sites(o, *ret, *n, true, geteuid(), &e))
		return 0;
	for (size_t i = 0; i < *n; i++)
		if (!(*ret)[i].is_cheap)
			cost = CANDIDATE_COST_STEPPED;
	return cost;
}

/* @unit: "MODULE:NAME" or "MODULE+0xADDRESS". False: the rest of a module, which is no function. */
static bool name_function(const char *unit, const char *module, struct watch_function *ret)
{
	size_t length = strlen(module);

	if (strncmp(unit, module, length))
		return false;
	ret->name = ret->symbol = unit + length + 1;
	if (unit[length] == ':')
		return true;
	ret->name = unit;
	ret->symbol = "";
	if (unit[length] == '+')
		ret->addr = strtoull(unit + length + 1, NULL, 16);
	return ret->addr;
}

static bool is_candidate(const struct watch *w, const char *spec)
{
	for (size_t i = 0; i < w->shown.n; i++)
		if (w->shown.all[i].spec && !strcmp(w->shown.all[i].spec, spec))
			return true;
	return false;
}

bool watch_add_function(const struct points *p, struct watch *w, struct watch_group *g,
    struct object *o, const struct watch_function *f)
{
	struct probe_site *sites = NULL;
	struct candidate *c = NULL;
	double cost = 0;
	size_t n = 0;
	char *spec = function_spec(p, g->file, f->name, f->addr);

	if (spec && !is_candidate(w, spec))
		cost = find_function(o, f, &sites, &n);
	if (cost > 0 && n <= COZBPF_CANDIDATES - g->n) {
		c = watch_add(w, CANDIDATE_FUNCTION, strdup(f->name), spec);
		spec = NULL;
	}
	if (c) {
		c->what = f->what;
		c->share = f->share;
		c->is_innermost = f->is_innermost;
		c->weight = f->weight;
		c->cost_ns = cost;
		watch_add_sites(g, c, sites, n, 0);
	}
	free(sites);
	free(spec);
	return c != NULL;
}

static unsigned add_functions(const struct points *p, struct watch *w, struct watch_group *g,
    struct object *o, bool innermost, unsigned room)
{
	struct line_map map;
	struct on_stacks *units = NULL;
	unsigned added = 0;
	struct error e;
	size_t n = 0;

	if (w->stacks.n < MIN_STACKS || line_map_init(&map))
		return 0;
	if (!line_map_rename(&map, path_base(g->file->path), files_name(g->file)) &&
	    !object_add_functions(o, &map, &n, &e) && map.n_objects)
		stacks_count(&w->stacks, g->file->number, &map, innermost, &units);
	for (size_t i = 0; units && i < map.n_lines && added < room; i++) {
		struct watch_function f = {.share = (double)units[i].stacks / (double)w->stacks.n,
		    .is_innermost = innermost,
		    .what = "function"};

		if (f.share < CANDIDATE_SHARE_MIN)
			break;
		f.weight = innermost ? INNERMOST_WEIGHT
				     : FUNCTION_WEIGHT + FUNCTION_SHARE_WEIGHT * f.share;
		if (name_function(map.lines[units[i].unit].file, files_name(g->file), &f) &&
		    !(object_is_go(o) && watch_is_go_library(f.symbol)))
			added += watch_add_function(p, w, g, o, &f);
	}
	free(units);
	line_map_deinit(&map);
	return added;
}

/* The files on the stacks have functions that count, all others static probes only. */
static void look_into(
    struct points *p, struct watch *w, struct file *file, bool innermost, unsigned *functions)
{
	bool has_functions = stacks_have(&w->stacks, file->number);
	struct watch_group *g;
	struct object *o;
	struct error e;

	if (!file->ino || is_runtime(file->path) || (innermost && !has_functions) ||
	    places_may_probe(p, file, &e) || files_open(p->files, file, &o, &e))
		return;
	g = calloc(1, sizeof(*g));
	if (!g)
		return;
	g->file = file;
	g->fd = -1;
	if (!innermost)
		add_static(w, g, o, file->path);
	if (!innermost && object_is_go(o))
		watch_add_requests(p, w, g, o);
	if (has_functions)
		*functions += add_functions(p, w, g, o, innermost,
		    (innermost ? MAX_INNERMOST : MAX_FUNCTIONS) - *functions);
	files_close(p->files);
	g->next = w->groups;
	w->groups = g;
}

void watch_look(struct points *p, struct watch *w, bool innermost)
{
	unsigned functions = 0;

	for (int main = 1; main >= 0; main--)
		for (struct file *file = p->files->all; file; file = file->next)
			if (is_main(p, file) == main)
				look_into(p, w, file, innermost, &functions);
}
