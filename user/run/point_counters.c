// SPDX-License-Identifier: BSD-3-Clause
/* Progress points by counters of Coz's coz.h; see point_counters.h. */
#include "run/point_counters.h"

#include <ctype.h>
#include <stdlib.h>

#include "run/console.h"
#include "run/files.h"
#include "run/options.h"
#include "run/point_pairs.h"
#include "run/points.h"
#include "run/target.h"

#define COUNTER_SYMBOL "_coz_get_counter"
/* user/shim/counters.c */
#define COUNTER_PROBE "_cozbpf_counter"

/* Places of the program's look for the function that the shim has. */
static bool wants_counters(const struct points *p)
{
	return target_preloads(p->target) && p->files->main_object &&
	       !object_is_static(p->files->main_object) &&
	       object_has_text(p->files->main_object, COUNTER_SYMBOL);
}

bool point_counters_watch(struct points *p)
{
	struct probe_site *site = NULL;
	struct object *shim = NULL;
	struct error e = {0};
	size_t n = 0;
	int err;

	if (!wants_counters(p))
		return false;
	err = object_open(p->target->shim, "", &shim, &e) ||
	      object_find_symbol(shim, COUNTER_PROBE, 0, &site, &n, &e) ||
	      session_watch_counters(p->session, p->target->shim, site->offset, &e);
	if (err)
		console_say(p->console, "warning: the program's counters for Coz cannot be had: %s",
		    e.cause);
	else
		console_say(
		    p->console, "progress points as the program's places for Coz are reached");
	free(site);
	object_close(shim);
	return !err;
}

/* The point that a counter's visits belong to. */
static int counter_point(
    struct points *p, uint32_t kind, const char *name, unsigned *ret, struct error *e)
{
	int err;

	if (kind == COZBPF_COUNTER_THROUGHPUT)
		return points_named(p, name, ret, e);
	if (kind != COZBPF_COUNTER_BEGIN && kind != COZBPF_COUNTER_END)
		return error_set(e, EXIT_OTHER, "Coz knows no counter of type %u", kind);
	err = point_pairs_named(p, name, ret, e);
	*ret += kind == COZBPF_COUNTER_END;
	return err;
}

void point_counters_on_event(struct points *p, const struct cozbpf_counter_event *c)
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
		console_say(p->console,
		    "warning: visits to '%s' in process %u are not counted: there is room for %d "
		    "places of Coz's coz.h",
		    name, c->event.tgid, COZBPF_COUNTERS);
		return;
	}
	if (counter_point(p, c->event.arg, name, &point, &e) ||
	    session_add_counter(p->session, (int)c->event.tgid, c->address, point, &e)) {
		console_say(p->console, "warning: visits to '%s' in process %u are not counted: %s",
		    name, c->event.tgid, e.cause);
		return;
	}
	p->points[point].is_free = true;
	if (p->o->verbose)
		console_say(p->console, "progress point '%s' in process %u by Coz's coz.h",
		    p->points[point].label, c->event.tgid);
}
