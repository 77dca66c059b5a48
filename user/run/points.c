// SPDX-License-Identifier: BSD-3-Clause
/* Progress points: those that the user names, those of the program's own source, or else the whole
 * run; and what their visits cost. */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

#include "core/places/pair.h"
#include "core/places/spec.h"

#define SPEC_NAME 512        /* of a latency or a marker; longer ones are cut */
#define MANY_VISITS 100000.0 /* a second */
#define COST_SHARE 0.05      /* of the program's CPU time */
/* a second: at 17 us, the most that a probe costs, 3 % of a CPU; what one costs is not looked at
 * below */
#define SOME_VISITS 2000.0
#define WATCH_NS 1000000000ULL /* between two looks at the rates */

static bool is_taken(const struct runner *r, const char *name)
{
	for (unsigned i = 0; i < r->points.n_points; i++)
		if (!strcmp(r->points.points[i].name, name))
			return true;
	return false;
}

/* In messages it goes by @label, in the profile by @name. */
static int new_point(
    struct runner *r, const char *name, const char *label, unsigned role, struct error *e)
{
	struct point *p = &r->points.points[r->points.n_points];

	if (r->points.n_points >= COZBPF_POINT_EXIT)
		return error_set(e, EXIT_USAGE, "more than %d progress points", COZBPF_POINT_EXIT);
	p->role = role;
	p->name = strdup(name);
	p->label = strdup(label);
	r->points.n_points++;
	return p->name && p->label ? 0 : error_set(e, EXIT_OTHER, "out of memory");
}

/* coz.h keeps throughput and latency apart, and a latency has a throughput of its own: what comes
 * second of one name gets a longer one. */
int run_point_named(struct runner *r, const char *name, unsigned *ret, struct error *e)
{
	char other[SPEC_NAME];

	for (*ret = 0; *ret < r->points.n_points; ++*ret)
		if (r->points.points[*ret].role == COZBPF_ROLE_VISIT &&
		    !strcmp(r->points.points[*ret].label, name))
			return 0;
	snprintf(other, sizeof(other), "%s (visits)", name);
	return new_point(r, is_taken(r, name) ? other : name, name, COZBPF_ROLE_VISIT, e);
}

int run_pair_named(struct runner *r, const char *name, unsigned *ret, struct error *e)
{
	char other[SPEC_NAME], begin[SPEC_NAME], end[SPEC_NAME];

	snprintf(other, sizeof(other), "%s (latency)", name);
	snprintf(begin, sizeof(begin), "%s (begin)", name);
	snprintf(end, sizeof(end), "%s (end)", name);
	for (*ret = 0; *ret < r->points.n_points; ++*ret)
		if (r->points.points[*ret].role == COZBPF_ROLE_BEGIN &&
		    !strcmp(r->points.points[*ret].label, begin))
			return 0;
	if (r->points.n_points + 2 > COZBPF_POINT_EXIT)
		return error_set(e, EXIT_USAGE,
		    "more than %d progress points, of which a latency takes two",
		    COZBPF_POINT_EXIT);
	if (!is_taken(r, name))
		snprintf(other, sizeof(other), "%s", name);
	return new_point(r, other, begin, COZBPF_ROLE_BEGIN, e) ||
		       new_point(r, other, end, COZBPF_ROLE_END, e)
		   ? -1
		   : 0;
}

static int add_throughput(struct runner *r, const char *text, struct error *e)
{
	struct spec spec = {0};
	int err;

	if (spec_parse(text, &spec, e))
		return -1;
	err = new_point(r, spec.name, spec.name, COZBPF_ROLE_VISIT, e);
	if (!err)
		err = run_add_place(r, &spec, r->points.n_points - 1, -1, e);
	spec_deinit(&spec);
	return err;
}

/* A pair counts its own throughput, under its name. */
static int check_name(const struct runner *r, const char *name, struct error *e)
{
	if (!is_taken(r, name))
		return 0;
	error_set(
	    e, EXIT_USAGE, "there is a progress point '%s' already, besides the latency", name);
	return error_hint(e, "a latency counts its own throughput: give one of them another name, "
			     "or leave the progress point out");
}

static int add_latency(struct runner *r, const char *text, struct error *e)
{
	struct pair pair;
	unsigned at;
	int err, arg;

	if (pair_parse(text, &pair, e))
		return -1;
	arg = pair.by_arg ? (int)pair.arg : -1;
	err = check_name(r, pair.name, e) || run_pair_named(r, pair.name, &at, e) ||
	      run_add_place(r, &pair.begin, at, arg, e) ||
	      run_add_place(r, &pair.end, at + 1, arg, e);
	pair_deinit(&pair);
	return err ? -1 : 0;
}

/* Without a point of the user's or the program's the whole run is one unit of progress, where a run
 * has a beginning. */
static int add_default(struct runner *r, struct error *e)
{
	if (r->target.attached) {
		error_set(e, EXIT_USAGE,
		    "no progress point given (-P), and the program has no markers of coz.h");
		return error_hint(e, "attached to a running process, visits to a point are the "
				     "only progress there is: -P FUNCTION, or -P FILE:LINE");
	}
	if (!r->o.end_to_end)
		run_say(r, "no progress point given (-P): the whole run is one unit of progress, "
			   "as with --end-to-end");
	r->o.end_to_end = true;
	if (r->o.runs == 1)
		run_say(r, "end-to-end needs several runs of the command, for example -n 40: one "
			   "run answers nothing");
	return 0;
}

int run_add_points(struct runner *r, struct error *e)
{
	int err = 0;

	for (size_t i = 0; i < r->o.progress.n; i++)
		if (add_throughput(r, r->o.progress.items[i], e))
			return -1;
	for (size_t i = 0; i < r->o.latency.n; i++)
		if (add_latency(r, r->o.latency.items[i], e))
			return -1;
	if (r->points.n_points || (!r->o.end_to_end && (err = run_add_markers(r, e)) <= 0))
		return err;
	return add_default(r, e);
}

/* Measured once: that takes a while. */
static uint64_t visit_cost(struct runner *r, enum visit_sort sort)
{
	if (!(r->points.visit_costs_known >> sort & 1))
		r->points.visit_cost_ns[sort] = session_visit_cost_ns(r->session, sort);
	r->points.visit_costs_known |= 1U << sort;
	return r->points.visit_cost_ns[sort];
}

/* A point that is visited so often that its probe is a good part of the program's time is told of,
 * once. */
static void check_rate(struct runner *r, struct point *p, double rate, double executed)
{
	uint64_t cost = visit_cost(r, p->sort);
	double share = executed > 0 ? rate * (double)cost / executed : 0;

	if (rate < MANY_VISITS && share < COST_SHARE)
		return;
	run_say(r,
	    "warning: '%s' is visited %.0f times a second; at %llu ns a visit or more that is %.0f "
	    "%% of the program's CPU time. Cheaper "
	    "are a place that is passed less often, %sand sampled:FILE:LINE, which costs nothing",
	    p->name, rate, (unsigned long long)cost, share < 1 ? 100 * share : 100,
	    p->sort == VISIT_STEPPED ? "a marker of coz.h "
	    : p->sort == VISIT_CHEAP ? ""
				     : "the function's entry ");
	p->is_warned = true;
}

void run_points_watch(struct runner *r, uint64_t now)
{
	double seconds = (double)(now - r->points.watched_ns) / 1e9, executed;
	struct cpu_use use;

	if (now - r->points.watched_ns < WATCH_NS)
		return;
	session_cpu_use(r->session, &use);
	executed = (double)(use.executed_ns - r->points.executed_watched_ns) / seconds;
	for (unsigned i = 0; i < r->points.n_points; i++) {
		struct point *p = &r->points.points[i];
		uint64_t visits = session_visits(r->session, i);
		double rate = (double)(visits - p->visits_watched) / seconds;

		if (r->points.watched_ns && rate > SOME_VISITS && !p->is_sampled &&
		    !p->is_counter && !p->is_warned)
			check_rate(r, p, rate, executed);
		p->visits_watched = visits;
	}
	r->points.executed_watched_ns = use.executed_ns;
	r->points.watched_ns = now;
}

bool run_has_pairs(const struct runner *r)
{
	for (unsigned i = 0; i < r->points.n_points; i++)
		if (r->points.points[i].role == COZBPF_ROLE_BEGIN)
			return true;
	return false;
}

void run_points_deinit(struct runner *r)
{
	run_places_deinit(r);
	for (unsigned i = 0; i < r->points.n_points; i++) {
		free(r->points.points[i].name);
		free(r->points.points[i].label);
	}
}
