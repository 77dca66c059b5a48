// SPDX-License-Identifier: BSD-3-Clause
/* What kinds of points that are probes in a file have in common; see point_kind.h. */
#include "run/point_kind.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/places/probe_args.h"
#include "core/text/paths.h"
#include "kernel/nops.h"
#include "run/console.h"
#include "run/options.h"
#include "symbols/symbols.h"

/* The dearest of a point's probes is what its visits are taken to cost. */
static void note_cost(
    struct points *p, const struct place *at, const struct point_probe *probe, bool cheap)
{
	struct point *point = &p->points[at->index];
	enum visit_sort sort = probe->at_return ? cheap ? VISIT_RETURN : VISIT_RETURN_STEPPED
			       : cheap          ? VISIT_CHEAP
						: VISIT_STEPPED;

	point->sort = sort > point->sort ? sort : point->sort;
}

int point_probe_check(const struct place *at, struct object *o, struct probe_site *sites, size_t n,
    bool move, struct error *e)
{
	/* Who is not root has no right to risk other programs that map the file. */
	return object_check_sites(o, sites, n, move, at->spec.offset || geteuid(), e);
}

/* Where the kernel would make a call of a nop, the next instruction is probed instead. */
static int avoid_call(const struct object *o, struct probe_site *site, struct error *e)
{
	if (!site->may_clobber || !nop_long_clobbers())
		return 0;
	if (site->next) {
		site->offset = site->next;
		site->is_cheap = false; /* hardly ever, and that is not known */
		return 0;
	}
	error_set(e, EXIT_USAGE,
	    "offset 0x%llx of '%s' is a nop of five bytes: where one is probed, this kernel "
	    "overwrites what its function has below the stack pointer",
	    (unsigned long long)site->offset, object_path(o));
	return error_hint(e, "name another line, or the instruction before or behind it, which "
			     "`objdump -d` shows: -P [PATH:]SYMBOL+OFFSET");
}

int point_probe_check_named(const struct place *at, struct object *o, struct probe_site *sites,
    size_t n, bool move, struct error *e)
{
	int err = point_probe_check(at, o, sites, n, move, e);

	for (size_t i = 0; !err && i < n; i++)
		err = avoid_call(o, &sites[i], e);
	return err;
}

int point_probe_place(
    struct points *p, const struct object *o, const struct point_probe *probe, struct error *e)
{
	struct point_probe in_file = *probe;

	in_file.path = object_probe_path(o);
	in_file.file = object_path(o);
	return session_add_probe(p->session, &in_file, e);
}

int point_probe_add(struct points *p, const struct place *at, const struct object *o,
    const struct point_probe *probe, const struct probe_site *site, struct error *e)
{
	const char *function = site->function;

	note_cost(p, at, probe, site->is_cheap);
	if (point_probe_place(p, o, probe, e))
		return -1;
	if (p->o->verbose)
		console_say(p->console, "progress point '%s' at 0x%llx of '%s'%s%s", at->spec.name,
		    (unsigned long long)probe->offset, object_path(o), *function ? " in " : "",
		    function);
	return 0;
}

int point_probe_sites(struct points *p, const struct place *at, struct object *o,
    struct probe_site *sites, size_t n, struct error *e)
{
	struct point_probe probe = {
	    .index = at->index, .role = at->role, .at_return = at->spec.kind == SPEC_RETURN};
	/* Who gives an offset wants that very instruction; an argument is in its register at the
	 * first. */
	bool move = !probe.at_return && !at->spec.offset && at->arg < 0;
	int err = point_probe_key(p, at, o, NULL, &probe.key, e) ||
			  point_probe_check_named(at, o, sites, n, move, e)
		      ? -1
		      : 0;

	for (size_t i = 0; !err && i < n; i++) {
		probe.offset = sites[i].offset;
		err = point_probe_add(p, at, o, &probe, &sites[i], e);
	}
	free(sites);
	return err;
}

int point_probe_key(struct points *p, const struct place *at, const struct object *o,
    const char *args, unsigned *ret, struct error *e)
{
	unsigned n = (unsigned)at->arg;
	struct cozbpf_arg arg;

	*ret = 0;
	if (at->arg < 0)
		return 0;
	if (args ? probe_arg_parse(PROBE_ARCH_HOST, args, n, &arg, e)
		 : probe_arg_function(PROBE_ARCH_HOST, object_is_go(o), n, &arg, e))
		return -1;
	return session_add_key(p->session, &arg, ret, e);
}

bool point_probe_matches(const struct place *at, const char *path, bool in_scope)
{
	if (!at->spec.path)
		return in_scope && at->is_anywhere;
	return at->path ? !strcmp(path, at->path) : path_is_library(path, at->spec.path);
}

void point_probe_tell(const struct points *p, const struct place *at, const char *path, int err,
    bool again, const struct error *e)
{
	if (!err)
		console_say(p->console, "progress point '%s' is in '%s'%s", at->spec.name, path,
		    again ? ", too" : "");
	else if (at->spec.path)
		console_say(
		    p->console, "warning: progress point '%s': %s", at->spec.name, e->cause);
}
