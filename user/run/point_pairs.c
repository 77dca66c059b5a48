// SPDX-License-Identifier: BSD-3-Clause
/* Latencies as two points each, their begins and their ends; see point_pairs.h. */
#include "run/point_pairs.h"

#include <stdio.h>
#include <string.h>

#include "core/places/pair.h"
#include "run/places.h"
#include "run/points.h"

int point_pairs_named(struct points *p, const char *name, unsigned *ret, struct error *e)
{
	char other[POINT_NAME], begin[POINT_NAME], end[POINT_NAME];

	snprintf(other, sizeof(other), "%s (latency)", name);
	snprintf(begin, sizeof(begin), "%s (begin)", name);
	snprintf(end, sizeof(end), "%s (end)", name);
	for (*ret = 0; *ret < p->n_points; ++*ret)
		if (p->points[*ret].role == COZBPF_ROLE_BEGIN &&
		    !strcmp(p->points[*ret].label, begin))
			return 0;
	if (p->n_points + 2 > COZBPF_POINT_EXIT)
		return error_set(e, EXIT_USAGE,
		    "more than %d progress points, of which a latency takes two",
		    COZBPF_POINT_EXIT);
	if (!points_have(p, name))
		snprintf(other, sizeof(other), "%s", name);
	return points_add(p, other, begin, COZBPF_ROLE_BEGIN, e) ||
		       points_add(p, other, end, COZBPF_ROLE_END, e)
		   ? -1
		   : 0;
}

/* A pair counts its own throughput, under its name. */
static int check_name(const struct points *p, const char *name, struct error *e)
{
	if (!points_have(p, name))
		return 0;
	error_set(
	    e, EXIT_USAGE, "there is a progress point '%s' already, besides the latency", name);
	return error_hint(e, "a latency counts its own throughput: give one of them another name, "
			     "or leave the progress point out");
}

int point_pairs_add(struct points *p, const char *text, struct error *e)
{
	struct pair pair;
	unsigned at;
	int err, arg;

	if (pair_parse(text, &pair, e))
		return -1;
	arg = pair.by_arg ? (int)pair.arg : -1;
	err = check_name(p, pair.name, e) || point_pairs_named(p, pair.name, &at, e) ||
	      places_add(p, &pair.begin, at, arg, e) || places_add(p, &pair.end, at + 1, arg, e);
	pair_deinit(&pair);
	return err ? -1 : 0;
}

bool point_pairs_any(const struct points *p)
{
	for (unsigned i = 0; i < p->n_points; i++)
		if (p->points[i].role == COZBPF_ROLE_BEGIN)
			return true;
	return false;
}
