// SPDX-License-Identifier: BSD-3-Clause
/*
 * Progress points that a program's own source names: the markers of our coz.h, which are probed,
 * and the counters of Coz's, which the preloaded shim hands out and samples look at.
 */
#include "run/run.h"

#include <ctype.h>
#include <stdlib.h>

#include "symbols/code/coz/sites.h"
#include "symbols/symbols.h"

#define COUNTER_SYMBOL "_coz_get_counter"
#define COUNTER_PROBE "_cozbpf_counter" /* user/shim/counters.c */

static int place_marker(struct runner *r, const struct marker *m, struct object *o, struct error *e)
{
	struct point_probe probe = {.path = object_file(o)};
	int err;

	if (m->kind == MARKER_PROGRESS) {
		err = run_point_named(r, m->name, &probe.index, e);
	} else {
		err = run_pair_named(r, m->name, &probe.index, e);
		probe.role = m->kind == MARKER_BEGIN ? COZBPF_ROLE_BEGIN : COZBPF_ROLE_END;
		probe.index += m->kind == MARKER_END;
	}
	for (size_t i = 0; !err && i < m->n_sites; i++) {
		probe.offset = m->sites[i].offset;
		err = session_add_probe(r->session, &probe, e);
	}
	if (!err)
		run_say(r, "%s '%s' by coz.h at %zu place%s of '%s'",
		    m->kind == MARKER_PROGRESS ? "progress point"
		    : m->kind == MARKER_BEGIN  ? "begin of latency"
					       : "end of latency",
		    m->name, m->n_sites, m->n_sites == 1 ? "" : "s", object_path(o));
	return err;
}

static int place_markers(struct runner *r, struct object *o, const struct marker *markers, size_t n,
    size_t *placed, struct error *e)
{
	for (size_t i = 0; i < n; i++) {
		if (markers[i].n_lost) {
			run_say(r,
			    "warning: '%s' is left out: the compiler has left nothing that is "
			    "executed once a visit at %zu of its places "
			    "in '%s'; "
			    "compile with cozbpf's coz.h instead of Coz's, or name a place with -P",
			    markers[i].name, markers[i].n_lost, object_path(o));
			continue;
		}
		if (place_marker(r, &markers[i], o, e))
			return -1;
		++*placed;
	}
	return 0;
}

/* Whether places of Coz's own coz.h have asked for their counters in vain: before we came, or in a
 * program that the shim cannot be preloaded to. */
static bool has_given_up(const struct runner *r, const struct object *o)
{
	return r->target.attached || object_is_static(o);
}

int run_place_markers(struct runner *r, struct object *o, struct error *e)
{
	struct marker *markers = NULL;
	size_t n = 0, placed = 0;
	int err = object_find_markers(o, &markers, &n, e);

	if (!err && !n && has_given_up(r, o))
		err = object_find_coz_sites(o, &markers, &n, e);
	if (!err)
		err = place_markers(r, o, markers, n, &placed, e);
	markers_free(markers, n);
	return err ? -1 : !placed;
}

/* Places of the program's look for the function that the shim has. */
static bool wants_counters(const struct runner *r)
{
	return !r->target.attached && r->files.main_object &&
	       !object_is_static(r->files.main_object) &&
	       object_has_text(r->files.main_object, COUNTER_SYMBOL);
}

bool run_watch_counters(struct runner *r)
{
	struct probe_site *site = NULL;
	struct object *shim = NULL;
	struct error e = {0};
	size_t n = 0;
	int err;

	if (!wants_counters(r))
		return false;
	err = object_open(r->target.shim, "", &shim, &e) ||
	      object_find_symbol(shim, COUNTER_PROBE, 0, &site, &n, &e) ||
	      session_watch_counters(r->session, r->target.shim, site->offset, &e);
	if (err)
		run_say(r, "warning: the program's counters for Coz cannot be had: %s", e.cause);
	else
		run_say(r, "progress points as the program's places for Coz are reached");
	free(site);
	object_close(shim);
	return !err;
}

/* The point that a counter's visits belong to. */
static int counter_point(
    struct runner *r, uint32_t kind, const char *name, unsigned *ret, struct error *e)
{
	int err;

	if (kind == COZBPF_COUNTER_THROUGHPUT)
		return run_point_named(r, name, ret, e);
	if (kind != COZBPF_COUNTER_BEGIN && kind != COZBPF_COUNTER_END)
		return error_set(e, EXIT_OTHER, "Coz knows no counter of type %u", kind);
	err = run_pair_named(r, name, ret, e);
	*ret += kind == COZBPF_COUNTER_END;
	return err;
}

void run_on_counter(struct runner *r, const struct cozbpf_counter_event *c)
{
	char name[COZBPF_COUNTER_NAME];
	struct error e = {0};
	unsigned point;
	size_t n = 0;

	while (n < sizeof(name) - 1 && c->name[n]) {
		name[n] = c->name[n];
		if (iscntrl(
			(unsigned char)name[n])) /* it goes into the profile, and to the terminal */
			name[n] = '?';
		n++;
	}
	name[n] = 0;
	if (!c->address) {
		run_say(r,
		    "warning: visits to '%s' in process %u are not counted: there is room for %d "
		    "places of Coz's coz.h",
		    name, c->event.tgid, COZBPF_COUNTERS);
		return;
	}
	if (counter_point(r, c->event.arg, name, &point, &e) ||
	    session_add_counter(r->session, (int)c->event.tgid, c->address, point, &e)) {
		run_say(r, "warning: visits to '%s' in process %u are not counted: %s", name,
		    c->event.tgid, e.cause);
		return;
	}
	r->points.points[point].is_counter = true;
	if (r->o.verbose)
		run_say(r, "progress point '%s' in process %u by Coz's coz.h",
		    r->points.points[point].label, c->event.tgid);
}
