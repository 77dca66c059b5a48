/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The progress points of a run: what they are called, how they are counted, what visits to them
 * cost. Where they are is in places.h; who names them is in point_sources.h. Points are added while
 * the target runs, too, and none goes.
 */
#ifndef COZBPF_RUN_POINTS_H
#define COZBPF_RUN_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text/errors.h"
#include "kernel/session.h"

struct console;
struct files;
struct place;
struct point_watch;
struct run_options;
struct target;

/* of a latency or a marker; longer ones are cut */
#define POINT_NAME 512

struct point {
	char *name; /* in the profile; a pair has it twice: its begins, and next to them its ends */
	char *label; /* in messages */
	unsigned role;
	/* How it is counted: of its kind (point_kind.h). */
	uint64_t unit;   /* so many counted are a visit */
	bool is_sampled; /* its visits are time executed in a line */
	bool is_free;    /* they cost the program next to nothing */
	/* the dearest of its probes */
	enum visit_sort sort;
	/* up to the last look at the rates */
	uint64_t visits_watched;
	bool is_warned;
};

struct points {
	/* Borrowed. */
	struct run_options *o;
	const struct console *console;
	struct session *session;
	struct files *files;
	struct target *target;
	/* to be read by all */
	struct point points[COZBPF_POINTS];
	unsigned n_points;
	bool has_counters;         /* the command is given counters for Coz's places */
	bool is_open;              /* nobody names one: it is to be chosen while the target runs */
	struct point_watch *watch; /* by which it is; NULL: there is none */
	/* places.c */
	struct place *places;
	/* what a visit costs, by its sort, and a bit set of those that were measured */
	uint64_t visit_cost_ns[VISIT_SORTS];
	unsigned visit_costs_known;
	/* when the points' rates were looked at; CPU time up to then */
	uint64_t watched_ns, executed_watched_ns;
};

/* Adds a point. In messages it goes by @label, in the profile by @name. -1 with @e. */
int points_add(
    struct points *p, const char *name, const char *label, unsigned role, struct error *e);
bool points_have(const struct points *p, const char *name);
/* The index of a point whose label is @name; it is made where there is none. -1 with @e. */
int points_named(struct points *p, const char *name, unsigned *ret, struct error *e);

/* Every second: tells of points that are visited too often. */
void points_watch(struct points *p, uint64_t now);
/* After places_deinit(). */
void points_deinit(struct points *p);

#endif
