// SPDX-License-Identifier: BSD-3-Clause
/* Progress points found by themselves; see point_choice.h. */
#include "run/point_choice.h"

#include <stdio.h>
#include <string.h>

#include "run/console.h"
#include "run/options.h"
#include "run/places.h"
#include "run/point_watch.h"
#include "run/points.h"
#include "run/target.h"
#include "target/procfs.h"

static void tell(
    const struct points *p, const struct candidate *c, const char *what, const char *then)
{
	console_say(p->console, "%s: %s of %s, %.0f/s, %s%s", what, c->name, p->target->name,
	    c->rate, candidate_steadiness(c), then);
}

static int add(struct points *p, const struct candidate *c, const char *what, const char *then,
    struct error *e)
{
	tell(p, c, what, then);
	return places_add_throughput(p, c->spec, e);
}

/* Those that -P could name, in their order. Returns how many. */
static size_t keep_named(struct candidate *all, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (all[i].spec && kept++ != i)
			all[kept - 1] = all[i];
	return kept;
}

int point_choice_make(struct points *p, struct error *e)
{
	struct point_watch *w = p->watch;
	size_t n = keep_named(w->all, w->good), other;

	if (!n)
		return 1;
	other = candidates_other(w->all, n, &w->figures);
	if (add(p, &w->all[0], "progress point chosen", "; -P to choose another", e))
		return -1;
	if (other && add(p, &w->all[other], "progress point chosen, to be held against it", "", e))
		return -1;
	for (size_t i = 1; p->o->verbose && i < n; i++)
		if (i != other)
			tell(p, &w->all[i], "not chosen", "");
	return 0;
}

/* Children of the processes attached to, which are none of these: "-p 12 -p 13". */
struct children {
	const struct claims *of;
	char words[128];
};

static void add_child(int pid, void *arg)
{
	struct children *c = arg;
	size_t used = strlen(c->words);

	if (!claims_have(c->of, pid) && claims_have(c->of, procfs_parent(pid)) &&
	    used + 16 < sizeof(c->words))
		snprintf(c->words + used, sizeof(c->words) - used, " -p %d", pid);
}

int point_choice_fail(const struct points *p, struct error *e)
{
	struct children children = {.of = &p->target->attached};

	error_set(e, EXIT_USAGE,
	    "no progress point given (-P), and none is found: the process neither writes, sends "
	    "nor reads %.0f times a second, and no function is seen to be called so often",
	    CANDIDATE_RATE_MIN);
	procfs_processes(add_child, &children);
	if (*children.words)
		return error_hint(
		    e, "is the work done by its child processes? name them:%s", children.words);
	return error_hint(e,
	    "is there load? else name a function or line that is passed once per unit of work: "
	    "-P FUNCTION, or -P FILE:LINE; 'cozbpf suggest -p PID' shows what was looked at");
}
