/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kind of progress point is a table of operations in a file of its own. To add one: its word and
 * its parser (core/places/spec.h, spec.c), its table (run/point_NAME.c), and its line in
 * POINT_KINDS() below.
 */
#ifndef COZBPF_RUN_POINT_KIND_H
#define COZBPF_RUN_POINT_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "core/places/spec.h"
#include "core/text/errors.h"
#include "run/points.h"
#include "symbols/symbols.h"

struct point_kind;

/* Where the visits of a point are met: a spec that serves the point, or the markers of coz.h. */
struct place {
	struct spec spec;
	const struct point_kind *kind;
	unsigned index, role; /* of the point */
	int arg;              /* that is the key of a latency; -1: the thread is */
	/* of the file that the spec names, as the target sees it; NULL: none is named, or it has
	 * not come yet */
	char *path;
	bool is_placed;   /* somewhere */
	bool is_anywhere; /* names no file, and was not in the main executable: any file in scope
			     that has it will do */
	struct error missing; /* why not, where it is awaited */
	struct place *next;
};

struct point_kind {
	/* Places it where it is in no file: 0, or -1 with @e. NULL: it is in files. */
	int (*place)(struct points *p, struct place *at, struct error *e);
	/* What place() has not found may come with another file in scope. */
	bool comes_later;
	/* Adds probes on all of its sites in the file: 0; 1: the file has none, which is no error;
	 * -1 with @e. */
	int (*place_in)(struct points *p, struct place *at, struct object *o, struct error *e);
	/* Whether a file that a process maps is one to look in, besides MAIN. */
	bool (*matches)(const struct place *at, const char *path, bool in_scope);
	/* Says what has become of it in a file that was mapped: @err as of place_in(), -1 also if
	 * the file cannot be opened. @again: it had a place before. */
	void (*tell)(const struct points *p, const struct place *at, const char *path, int err,
	    bool again, const struct error *e);
	/* How its point is counted: so many are a visit; they are time executed, no visits; what
	 * is done for them in the program is next to nothing. */
	uint64_t unit;
	bool is_sampled, is_free;
};

#define POINT_KINDS(X)                       \
	X(SPEC_LINE, point_line)             \
	X(SPEC_SYMBOL, point_function)       \
	X(SPEC_RETURN, point_return)         \
	X(SPEC_USDT, point_usdt)             \
	X(SPEC_TRACEPOINT, point_tracepoint) \
	X(SPEC_SAMPLED, point_sampled)

#define POINT_KIND_DECLARE(spec, name) extern const struct point_kind name;
POINT_KINDS(POINT_KIND_DECLARE)
#undef POINT_KIND_DECLARE

/* For kinds that are probes in a file. */

/* Looks at the sites of a place before they are probed, see object_check_sites(). */
int point_probe_check(const struct place *at, struct object *o, struct probe_site *sites, size_t n,
    bool move, struct error *e);
/* The same for places that the user names: they may be nops that become calls. Those move by one
 * instruction, or -1 with @e. */
int point_probe_check_named(const struct place *at, struct object *o, struct probe_site *sites,
    size_t n, bool move, struct error *e);
/* Has the file that is open probed at a site that was checked. -1 with @e. */
int point_probe_place(
    struct points *p, const struct object *o, const struct point_probe *probe, struct error *e);
/* The same, and notes the cost of a visit, and says where the probe is. -1 with @e. */
int point_probe_add(struct points *p, const struct place *at, const struct object *o,
    const struct point_probe *probe, const struct probe_site *site, struct error *e);
/* Checks and adds all of @n sites where the place's function or line begins. Takes over @sites. */
int point_probe_sites(struct points *p, const struct place *at, struct object *o,
    struct probe_site *sites, size_t n, struct error *e);
/* Where the key of a latency is: in an argument of a static probe, or (@args NULL) in a register
 * where a function begins. Becomes the `key` of probes. -1 with @e. */
int point_probe_key(struct points *p, const struct place *at, const struct object *o,
    const char *args, unsigned *ret, struct error *e);
/* The file that the spec names; else one in scope, where the main executable had no such place. */
bool point_probe_matches(const struct place *at, const char *path, bool in_scope);
void point_probe_tell(const struct points *p, const struct place *at, const char *path, int err,
    bool again, const struct error *e);

#endif
