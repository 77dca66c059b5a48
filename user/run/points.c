// SPDX-License-Identifier: BSD-3-Clause
/* The list of points, their names, and the rates at which they are visited; see points.h. */
#include "run/points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/console.h"

/* a second */
#define MANY_VISITS 100000.0
/* of the program's CPU time */
#define COST_SHARE 0.05
/* a second: at 17 us, the most that a probe costs, 3 % of a CPU; what one costs is not looked at
 * below */
#define SOME_VISITS 2000.0
/* between two looks at the rates */
#define WATCH_NS 1000000000ULL

bool points_have(const struct points *p, const char *name)
{
	for (unsigned i = 0; i < p->n_points; i++)
		if (!strcmp(p->points[i].name, name))
			return true;
	return false;
}

int points_add(
    struct points *p, const char *name, const char *label, unsigned role, struct error *e)
{
	struct point *point = &p->points[p->n_points];

	if (p->n_points >= COZBPF_POINT_EXIT)
		return error_set(e, EXIT_USAGE, "more than %d progress points", COZBPF_POINT_EXIT);
	point->role = role;
	point->unit = 1;
	point->name = strdup(name);
	point->label = strdup(label);
	p->n_points++;
	return point->name && point->label ? 0 : error_set(e, EXIT_OTHER, "out of memory");
}

/* coz.h keeps throughput and latency apart, and a latency has a throughput of its own: what comes
 * second of one name gets a longer one. */
int points_named(struct points *p, const char *name, unsigned *ret, struct error *e)
{
	char other[POINT_NAME];

	for (*ret = 0; *ret < p->n_points; ++*ret)
		if (p->points[*ret].role == COZBPF_ROLE_VISIT &&
		    !strcmp(p->points[*ret].label, name))
			return 0;
	snprintf(other, sizeof(other), "%s (visits)", name);
	return points_add(p, points_have(p, name) ? other : name, name, COZBPF_ROLE_VISIT, e);
}

/* Measured once: that takes a while. */
static uint64_t visit_cost(struct points *p, enum visit_sort sort)
{
	if (!(p->visit_costs_known >> sort & 1))
		p->visit_cost_ns[sort] = session_visit_cost_ns(p->session, sort);
	p->visit_costs_known |= 1U << sort;
	return p->visit_cost_ns[sort];
}

/* A point that is visited so often that its probe is a good part of the program's time is told of,
 * once. */
static void check_rate(struct points *p, struct point *point, double rate, double executed)
{
	uint64_t cost = visit_cost(p, point->sort);
	double share = executed > 0 ? rate * (double)cost / executed : 0;

	if (rate < MANY_VISITS && share < COST_SHARE)
		return;
	console_say(p->console,
	    "warning: '%s' is visited %.0f times a second; at %llu ns a visit or more that is %.0f "
	    "%% of the program's CPU time. Cheaper "
	    "are a place that is passed less often, %sand sampled:FILE:LINE, which costs nothing",
	    point->name, rate, (unsigned long long)cost, share < 1 ? 100 * share : 100,
	    point->sort == VISIT_STEPPED ? "a marker of coz.h "
	    : point->sort == VISIT_CHEAP ? ""
					 : "the function's entry ");
	point->is_warned = true;
}

void points_watch(struct points *p, uint64_t now)
{
	double seconds = (double)(now - p->watched_ns) / 1e9, executed;
	struct cpu_use use;

	if (now - p->watched_ns < WATCH_NS)
		return;
	session_cpu_use(p->session, &use);
	executed = (double)(use.executed_ns - p->executed_watched_ns) / seconds;
	for (unsigned i = 0; i < p->n_points; i++) {
		struct point *point = &p->points[i];
		uint64_t visits = session_visits(p->session, i);
		double rate = (double)(visits - point->visits_watched) / seconds;

		if (p->watched_ns && rate > SOME_VISITS && !point->is_free && !point->is_warned)
			check_rate(p, point, rate, executed);
		point->visits_watched = visits;
	}
	p->executed_watched_ns = use.executed_ns;
	p->watched_ns = now;
}

void points_deinit(struct points *p)
{
	for (unsigned i = 0; i < p->n_points; i++) {
		free(p->points[i].name);
		free(p->points[i].label);
	}
}
