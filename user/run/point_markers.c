// SPDX-License-Identifier: BSD-3-Clause
/* Progress points that a program's own source names by markers of coz.h; see point_markers.h. */
#include "run/point_markers.h"

#include <stdlib.h>

#include "kernel/nops.h"
#include "run/console.h"
#include "run/files.h"
#include "run/places.h"
#include "run/point_kind.h"
#include "run/point_pairs.h"
#include "run/target.h"
#include "symbols/symbols.h"

void point_markers_cheapen(struct marker *markers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < markers[i].n_sites; k++) {
			struct probe_site *site = &markers[i].sites[k];

			if (site->long_nop && nop_long_is_best())
				site->offset = site->long_nop;
		}
}

static int place_marker(
    struct points *p, const struct marker *m, const struct object *o, struct error *e)
{
	struct point_probe probe = {0};
	int err;

	if (m->kind == MARKER_PROGRESS) {
		err = points_named(p, m->name, &probe.index, e);
	} else {
		err = point_pairs_named(p, m->name, &probe.index, e);
		probe.role = m->kind == MARKER_BEGIN ? COZBPF_ROLE_BEGIN : COZBPF_ROLE_END;
		probe.index += m->kind == MARKER_END;
	}
	for (size_t i = 0; !err && i < m->n_sites; i++) {
		probe.offset = m->sites[i].offset;
		err = point_probe_place(p, o, &probe, e);
	}
	if (!err)
		console_say(p->console, "%s '%s' by coz.h at %zu place%s of '%s'",
		    m->kind == MARKER_PROGRESS ? "progress point"
		    : m->kind == MARKER_BEGIN  ? "begin of latency"
					       : "end of latency",
		    m->name, m->n_sites, m->n_sites == 1 ? "" : "s", object_path(o));
	return err;
}

/* The sites of all markers at once: each question to a reader is a fork. */
static int check_sites(const struct place *at, struct object *o, const struct marker *markers,
    size_t n, struct error *e)
{
	struct probe_site *all;
	size_t n_all = 0;
	int err;

	for (size_t i = 0; i < n; i++)
		n_all += markers[i].n_sites;
	all = calloc(n_all + 1, sizeof(*all));
	if (!all)
		return error_set(e, EXIT_OTHER, "out of memory");
	n_all = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; !markers[i].n_lost && k < markers[i].n_sites; k++)
			all[n_all++] = markers[i].sites[k];
	err = point_probe_check(at, o, all, n_all, false, e);
	free(all);
	return err;
}

static int place_markers(struct points *p, const struct place *at, struct object *o,
    const struct marker *markers, size_t n, size_t *placed, struct error *e)
{
	if (check_sites(at, o, markers, n, e))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (markers[i].n_lost) {
			console_say(p->console,
			    "warning: '%s' is left out: the compiler has left nothing that is "
			    "executed once a visit at %zu of its places "
			    "in '%s'; "
			    "compile with cozbpf's coz.h instead of Coz's, or name a place with -P",
			    markers[i].name, markers[i].n_lost, object_path(o));
			continue;
		}
		if (place_marker(p, &markers[i], o, e))
			return -1;
		++*placed;
	}
	return 0;
}

/* Whether places of Coz's own coz.h have asked for their counters in vain: before we came, or in a
 * program that the shim cannot be preloaded to. */
static bool has_given_up(const struct points *p, const struct object *o)
{
	return !target_preloads(p->target) || object_is_static(o);
}

static int place_in(struct points *p, struct place *at, struct object *o, struct error *e)
{
	struct marker *markers = NULL;
	size_t n = 0, placed = 0;
	int err = object_find_markers(o, &markers, &n, e);

	if (!err && !n && has_given_up(p, o)) {
		markers_free(markers, n);
		err = object_find_coz_sites(o, &markers, &n, e);
	}
	if (!err) {
		point_markers_cheapen(markers, n);
		err = place_markers(p, at, o, markers, n, &placed, e);
	}
	markers_free(markers, n);
	return err ? -1 : !placed;
}

/* Whether there are points is not known: the user may name some. */
static void tell(const struct points *p, const struct place *at, const char *path, int err,
    bool again, const struct error *e)
{
	(void)at;
	(void)again;
	if (err < 0)
		console_say(p->console, "warning: progress points of coz.h in '%s': %s%s%s", path,
		    e->cause, *e->hint ? "; " : "", e->hint);
}

static const struct point_kind point_markers = {
    .place_in = place_in,
    .matches = point_probe_matches,
    .tell = tell,
    .unit = 1,
};

int point_markers_add(struct points *p, struct error *e)
{
	struct place *at = places_new(p, &point_markers);
	struct object *o = p->files->main_object;
	struct file *file = files_main(p->files);
	int err;

	if (!at)
		return error_set(e, EXIT_OTHER, "out of memory");
	at->is_anywhere = true;
	err = o ? places_try(p, at, file, o, e) : 1;
	at->is_placed = true; /* nothing is missed where there are none */
	if (err < 0 && e->status != EXIT_NO_RESULT)
		return -1;
	if (o)
		tell(p, at, object_path(o), err, false, e);
	/* not again when it is mapped */
	return err && o && files_add_place(p->files, file, at, e) ? -1 : err != 0;
}
