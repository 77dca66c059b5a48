// SPDX-License-Identifier: BSD-3-Clause
/*
 * Progress points: where their specs lead, in files that are there at the start and in files that the target maps later (dlopen, exec, a file
 * that was replaced). A point has a place for each of its specs, and a place as many probes as the spec has sites in as many files.
 */
#include "cmd/run.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/pair.h"
#include "core/paths.h"
#include "core/probe_args.h"
#include "symbols/cheapsite.h"
#include "symbols/symbols.h"

#define MANY_VISITS 100000.0   /* a second */
#define COST_SHARE 0.05        /* of the program's CPU time */
#define SOME_VISITS 2000.0     /* a second: at 17 us, the most that a probe costs, 3 % of a CPU; what one costs is not looked at below */
#define WATCH_NS 1000000000ULL /* between two looks at the rates */

/* A file as stat() knows it: what is in maps differs from that on some file systems. */
struct file_id {
	dev_t dev;
	ino_t ino;
};

/* A spec that serves a point, or the markers of coz.h, which make points of their own. */
struct place {
	struct spec spec;
	bool is_markers;
	unsigned index, role;  /* of the point */
	int arg;               /* that is the key of a latency; -1: the thread is */
	char *path;            /* of the file that the spec names, as the target sees it; NULL: none is named, or it has not come yet */
	struct file_id *files; /* that its probes are in */
	size_t n_files;
	bool is_placed;       /* somewhere */
	bool is_anywhere;     /* names no file, and was not in the main executable: any file in scope that has it will do */
	struct error missing; /* why not, where it is awaited */
	struct place *next;
};

static bool is_taken(const struct runner *r, const char *name)
{
	for (unsigned i = 0; i < r->n_points; i++)
		if (!strcmp(r->points[i].name, name))
			return true;
	return false;
}

/* In the profile it is called @name and @more. */
static int new_point(struct runner *r, const char *name, const char *more, unsigned role, struct error *e)
{
	static const char *const roles[] = {"", " (begin)", " (end)"};
	struct point *p = &r->points[r->n_points];

	if (r->n_points >= COZBPF_POINT_EXIT)
		return error_set(e, EXIT_USAGE, "more than %d progress points", COZBPF_POINT_EXIT);
	*p = (struct point){.role = role};
	if (asprintf(&p->name, "%s%s", name, more) < 0)
		p->name = NULL;
	if (asprintf(&p->label, "%s%s", name, roles[role]) < 0)
		p->label = NULL;
	r->n_points++;
	return p->name && p->label ? 0 : error_set(e, EXIT_OTHER, "out of memory");
}

/* A latency's begins, and next to them its ends. */
static int new_pair(struct runner *r, const char *name, const char *more, struct error *e)
{
	if (r->n_points + 2 > COZBPF_POINT_EXIT)
		return error_set(e, EXIT_USAGE, "more than %d progress points, of which a latency takes two", COZBPF_POINT_EXIT);
	return new_point(r, name, more, COZBPF_ROLE_BEGIN, e) || new_point(r, name, more, COZBPF_ROLE_END, e) ? -1 : 0;
}

int run_point_named(struct runner *r, const char *name, unsigned *ret, struct error *e)
{
	for (*ret = 0; *ret < r->n_points; ++*ret)
		if (r->points[*ret].role == COZBPF_ROLE_VISIT && !strcmp(r->points[*ret].label, name))
			return 0;
	return new_point(r, name, is_taken(r, name) ? " (visits)" : "", COZBPF_ROLE_VISIT, e);
}

int run_pair_named(struct runner *r, const char *name, unsigned *ret, struct error *e)
{
	size_t n = strlen(name);

	for (*ret = 0; *ret < r->n_points; ++*ret) {
		const struct point *p = &r->points[*ret];

		if (p->role == COZBPF_ROLE_BEGIN && !strncmp(p->label, name, n) && !strcmp(p->label + n, " (begin)"))
			return 0;
	}
	return new_pair(r, name, is_taken(r, name) ? " (latency)" : "", e);
}

static bool file_identify(const char *file, struct file_id *ret)
{
	struct stat st;

	if (stat(file, &st))
		return false;
	*ret = (struct file_id){st.st_dev, st.st_ino};
	return true;
}

static bool has_file(const struct place *p, struct file_id id)
{
	for (size_t i = 0; i < p->n_files; i++)
		if (p->files[i].dev == id.dev && p->files[i].ino == id.ino)
			return true;
	return false;
}

static int remember_file(struct place *p, const char *file, struct error *e)
{
	struct file_id *bigger = realloc(p->files, (p->n_files + 1) * sizeof(*bigger)), id;

	if (!bigger)
		return error_set(e, EXIT_OTHER, "out of memory");
	p->files = bigger;
	if (file_identify(file, &id))
		bigger[p->n_files++] = id;
	return 0;
}

static int find_sites(struct object *o, const struct spec *spec, struct probe_site **sites, size_t *n, struct error *e)
{
	switch (spec->kind) {
	case SPEC_LINE:
		return object_find_line(o, spec->file, spec->line, sites, n, e);
	case SPEC_RETURN:
		if (object_is_go(o)) {
			error_set(
			    e, EXIT_USAGE, "'%s' is a Go program: its stacks move, so a probe at a return would crash it", object_path(o));
			return error_hint(e, "probe the function's entry, or a line before its return: -P FILE:LINE");
		}
		return object_find_symbol(o, spec->symbol, 0, sites, n, e);
	default:
		return object_find_symbol(o, spec->symbol, spec->offset, sites, n, e);
	}
}

/* Where the key of a latency is: in a register, where a function begins. */
static int find_key(struct runner *r, const struct place *p, const struct object *o, unsigned *ret, struct error *e)
{
	struct cozbpf_arg arg;

	*ret = 0;
	if (p->arg < 0)
		return 0;
	if (object_is_go(o)) {
		error_set(e, EXIT_USAGE, "no key at '%s': Go has a calling convention of its own", p->spec.name);
		return error_hint(e, "without a key the mean is still known, by Little's law");
	}
	return probe_arg_function(PROBE_ARCH_HOST, (unsigned)p->arg, &arg, e) ? -1 : session_add_key(r->session, &arg, ret, e);
}

/* The same at a static probe, whose note says where it has its arguments. */
static int find_usdt_key(struct runner *r, const struct place *p, const struct sdt_probe *probe, unsigned *ret, struct error *e)
{
	struct cozbpf_arg arg;

	*ret = 0;
	if (p->arg < 0)
		return 0;
	return probe_arg_parse(PROBE_ARCH_HOST, probe->args, (unsigned)p->arg, &arg, e) ? -1 : session_add_key(r->session, &arg, ret, e);
}

/* The dearest of a point's probes is what its visits are taken to cost. */
static void note_cost(struct runner *r, const struct place *p, struct object *o, const struct point_probe *probe)
{
	struct point *point = &r->points[p->index];
	bool cheap = object_site_is_cheap(o, probe->offset);
	enum visit_sort sort = probe->at_return ? cheap ? VISIT_RETURN : VISIT_RETURN_STEPPED : cheap ? VISIT_CHEAP : VISIT_STEPPED;

	point->sort = sort > point->sort ? sort : point->sort;
}

static int place_usdt(struct runner *r, const struct place *p, struct object *o, struct error *e)
{
	struct point_probe probe = {.index = p->index, .role = p->role, .path = object_file(o)};
	struct sdt_probe *probes = NULL;
	size_t n = 0;
	int err = object_find_usdt(o, p->spec.group, p->spec.event, &probes, &n, e);

	for (size_t i = 0; !err && i < n; i++) {
		probe.offset = probes[i].addr_offset;
		probe.semaphore = probes[i].semaphore_offset;
		err = find_usdt_key(r, p, &probes[i], &probe.key, e) || session_add_probe(r->session, &probe, e) ? -1 : 0;
		if (!err && r->o.verbose)
			run_say(r, "progress point '%s' at 0x%llx of '%s'", p->spec.name, (unsigned long long)probe.offset, object_path(o));
	}
	sdt_probes_free(probes, n);
	return err;
}

static int place_sites(struct runner *r, const struct place *p, struct object *o, struct error *e)
{
	struct point_probe probe = {.index = p->index, .role = p->role, .path = object_file(o), .at_return = p->spec.kind == SPEC_RETURN};
	struct probe_site *sites = NULL;
	size_t n = 0;
	int err = find_sites(o, &p->spec, &sites, &n, e) || find_key(r, p, o, &probe.key, e) ? -1 : 0;

	for (size_t i = 0; !err && i < n; i++) {
		probe.offset = sites[i].offset;
		/* Who gives an offset wants that very instruction; and arguments are in their registers at the first one only. */
		if (!probe.at_return && !p->spec.offset && p->arg < 0)
			object_cheap_site(o, sites[i].offset, &probe.offset);
		note_cost(r, p, o, &probe);
		err = session_add_probe(r->session, &probe, e);
		if (!err && r->o.verbose)
			run_say(r, "progress point '%s' at 0x%llx of '%s' in %s", p->spec.name, (unsigned long long)probe.offset,
			    object_path(o), sites[i].function);
	}
	free(sites);
	return err;
}

/* Probes all sites of the place in the file. */
static int place_in_object(struct runner *r, struct place *p, struct object *o, struct error *e)
{
	int err = p->is_markers ? run_place_markers(r, o, e) : p->spec.kind == SPEC_USDT ? place_usdt(r, p, o, e) : place_sites(r, p, o, e);

	if (err)
		return -1;
	p->is_placed = true;
	return remember_file(p, object_file(o), e);
}

/* Opens the file that a spec names. 1: it is the name of a library that is nowhere to be seen yet. */
static int open_named(struct runner *r, struct place *p, struct object **ret, struct error *e)
{
	char path[PATH_MAX];
	int err;

	if (r->attached) {
		err = run_attach_object(r, p->spec.path, ret, e);
	} else if (realpath(p->spec.path, path)) {
		err = object_open(path, "", ret, e);
	} else {
		error_set(e, EXIT_USAGE, "cannot open '%s' of progress point '%s': %s", p->spec.path, p->spec.name, strerror(errno));
		err = error_hint(e, "PATH is that of the binary which holds the symbol");
	}
	if (!err) {
		p->path = strdup(object_path(*ret));
		return p->path ? 0 : error_set(e, EXIT_OTHER, "out of memory");
	}
	return !strchr(p->spec.path, '/') && strstr(p->spec.path, ".so") ? 1 : err;
}

/* What no file at hand has may come with another one in scope, where there can be others. */
static int await(struct runner *r, struct place *p, const struct error *why)
{
	p->missing = *why;
	run_say(r, "progress point '%s' is awaited: %s", p->spec.name, why->cause);
	return 0;
}

static int find_sampled(struct runner *r, struct place *p, struct error *e)
{
	uint32_t line = line_map_find(&r->lines, p->spec.file, p->spec.line, e);

	if (!line)
		return -1;
	session_add_sampled(r->session, p->index, line);
	p->is_placed = r->points[p->index].is_sampled = true;
	return 0;
}

static int place_sampled(struct runner *r, struct place *p, struct error *e)
{
	if (!find_sampled(r, p, e))
		return 0;
	return r->scope.n_binaries ? await(r, p, e) : -1;
}

static int place_tracepoint(struct runner *r, struct place *p, struct error *e)
{
	const struct point_probe probe = {.index = p->index, .role = p->role, .category = p->spec.group, .name = p->spec.event};

	p->is_placed = true;
	return session_add_probe(r->session, &probe, e);
}

static int place_in_main(struct runner *r, struct place *p, struct error *e)
{
	if (!r->main_object)
		error_set(e, EXIT_USAGE, "it names no binary, and the command is a script");
	else if (!place_in_object(r, p, r->main_object, e))
		return 0;
	p->is_anywhere = r->scope.n_binaries && e->status == EXIT_USAGE;
	return p->is_anywhere ? await(r, p, e) : -1;
}

static int place_at_start(struct runner *r, struct place *p, struct error *e)
{
	struct object *o = NULL;
	int err;

	if (p->spec.kind == SPEC_TRACEPOINT)
		return place_tracepoint(r, p, e);
	if (p->spec.kind == SPEC_SAMPLED)
		return place_sampled(r, p, e);
	if (!p->spec.path)
		return place_in_main(r, p, e);
	err = open_named(r, p, &o, e);
	if (err == 1)
		return await(r, p, e);
	if (!err)
		err = place_in_object(r, p, o, e);
	object_close(o);
	return err;
}

/* Takes over what is in @spec. */
static int add_place(struct runner *r, struct spec *spec, unsigned index, int arg, struct error *e)
{
	struct place *p = calloc(1, sizeof(*p));

	if (!p)
		return error_set(e, EXIT_OTHER, "out of memory");
	*p = (struct place){.spec = *spec, .index = index, .role = r->points[index].role, .arg = arg, .next = r->places};
	r->places = p;
	*spec = (struct spec){0};
	return place_at_start(r, p, e);
}

static int add_throughput(struct runner *r, const char *text, struct error *e)
{
	struct spec spec = {0};
	int err;

	if (spec_parse(text, &spec, e))
		return -1;
	err = new_point(r, spec.name, "", COZBPF_ROLE_VISIT, e);
	if (!err)
		err = add_place(r, &spec, r->n_points - 1, -1, e);
	spec_deinit(&spec);
	return err;
}

/* A pair counts its own throughput, under its name. */
static int check_name(const struct runner *r, const char *name, struct error *e)
{
	if (!is_taken(r, name))
		return 0;
	error_set(e, EXIT_USAGE, "there is a progress point '%s' already, besides the latency", name);
	return error_hint(e, "a latency counts its own throughput: give one of them another name, or leave the progress point out");
}

static int add_latency(struct runner *r, const char *text, struct error *e)
{
	struct pair pair;
	unsigned at = r->n_points;
	int err, arg;

	if (pair_parse(text, &pair, e))
		return -1;
	arg = pair.by_arg ? (int)pair.arg : -1;
	err = check_name(r, pair.name, e) || new_pair(r, pair.name, "", e) || add_place(r, &pair.begin, at, arg, e) ||
	      add_place(r, &pair.end, at + 1, arg, e);
	pair_deinit(&pair);
	return err ? -1 : 0;
}

/* Markers in the program, without being asked for. 1: it has none. */
static int add_markers(struct runner *r, struct error *e)
{
	struct place *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return error_set(e, EXIT_OTHER, "out of memory");
	*p = (struct place){.is_markers = true, .is_anywhere = true, .arg = -1, .next = r->places};
	r->places = p;
	err = r->main_object ? place_in_object(r, p, r->main_object, e) : 1;
	p->is_placed = true; /* nothing is missed where there are none */
	if (err && r->main_object && e->status != EXIT_NO_RESULT)
		return -1;
	return !err || run_watch_counters(r) ? 0 : 1;
}

/* Without a point of the user's or the program's the whole run is one unit of progress, where a run has a beginning. */
static int add_default(struct runner *r, struct error *e)
{
	if (r->attached) {
		error_set(e, EXIT_USAGE, "no progress point given (-P), and the program has no markers of coz.h");
		return error_hint(
		    e, "attached to a running process, visits to a point are the only progress there is: -P FUNCTION, or -P FILE:LINE");
	}
	if (!r->o.end_to_end)
		run_say(r, "no progress point given (-P): the whole run is one unit of progress, as with --end-to-end");
	r->o.end_to_end = true;
	if (r->o.runs == 1)
		run_say(r, "end-to-end needs several runs of the command, for example -n 40: one run answers nothing");
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
	if (r->n_points || (!r->o.end_to_end && (err = add_markers(r, e)) <= 0))
		return err;
	return add_default(r, e);
}

/* Whether the file that a process maps is one for the place. */
static bool is_for(const struct runner *r, const struct place *p, const struct map_entry *m, bool in_scope)
{
	if (p->spec.path)
		return p->path ? !strcmp(m->path, p->path) : path_is_library(m->path, p->spec.path);
	return (in_scope && (p->is_anywhere || p->spec.kind == SPEC_LINE)) || !strcmp(m->path, r->path);
}

static void place_in_mapped(struct runner *r, struct place *p, int pid, const struct map_entry *m)
{
	char root[64];
	struct object_place at = {m->file, m->path, root, m->ino};
	bool was_placed = p->is_placed;
	struct object *o = NULL;
	struct error e = {0};
	int err;

	maps_root(pid, root, sizeof(root));
	err = object_open_at(&at, &o, &e);
	if (!err)
		err = place_in_object(r, p, o, &e);
	if (err)
		remember_file(p, m->file, &e); /* not again */
	if (!err && p->spec.path && !p->path)
		p->path = strdup(m->path);
	object_close(o);
	if (p->is_markers)
		return;
	if (!err)
		run_say(r, "progress point '%s' is in '%s'%s", p->spec.name, m->path, was_placed ? ", too" : "");
	else if (p->spec.path)
		run_say(r, "warning: progress point '%s': %s", p->spec.name, e.cause);
}

void run_points_mapped(struct runner *r, int pid, const struct map_entry *m, bool in_scope)
{
	struct file_id id;

	for (struct place *p = r->places; p; p = p->next) {
		struct error e = {0};

		if (p->spec.kind == SPEC_SAMPLED && !p->is_placed && in_scope)
			find_sampled(r, p, &e);
		if (p->spec.kind == SPEC_SAMPLED || p->spec.kind == SPEC_TRACEPOINT || !is_for(r, p, m, in_scope))
			continue;
		if (file_identify(m->file, &id) && !has_file(p, id))
			place_in_mapped(r, p, pid, m);
	}
}

bool run_points_awaited(const struct runner *r)
{
	for (const struct place *p = r->places; p; p = p->next)
		if (!p->is_placed)
			return true;
	return false;
}

const struct error *run_point_missing(const struct runner *r, unsigned index)
{
	for (const struct place *p = r->places; p; p = p->next)
		if (p->index == index && !p->is_placed)
			return &p->missing;
	return NULL;
}

/* A point that is visited so often that its probe is a good part of the program's time is told of, once. */
static void check_rate(struct runner *r, struct point *p, double rate, double executed)
{
	uint64_t cost = session_visit_cost_ns(r->session, p->sort);
	double share = executed > 0 ? rate * (double)cost / executed : 0;

	if (rate < MANY_VISITS && share < COST_SHARE)
		return;
	run_say(r,
	    "warning: '%s' is visited %.0f times a second; at %llu ns a visit that is %.0f %% of the program's CPU time. Cheaper are a "
	    "place that is "
	    "passed less often, %sand sampled:FILE:LINE, which costs nothing",
	    p->label, rate, (unsigned long long)cost, share < 1 ? 100 * share : 100,
	    p->sort == VISIT_STEPPED ? "a marker of coz.h "
	    : p->sort == VISIT_CHEAP ? ""
				     : "the function's entry ");
	p->is_warned = true;
}

void run_points_watch(struct runner *r, uint64_t now)
{
	double seconds = (double)(now - r->watched_ns) / 1e9, executed;
	struct cpu_use use;

	if (now - r->watched_ns < WATCH_NS)
		return;
	session_cpu_use(r->session, &use);
	executed = (double)(use.executed_ns - r->executed_watched_ns) / seconds;
	for (unsigned i = 0; i < r->n_points; i++) {
		struct point *p = &r->points[i];
		uint64_t visits = session_point(r->session, i)->visits;
		double rate = (double)(visits - p->visits_watched) / seconds;

		if (r->watched_ns && rate > SOME_VISITS && !p->is_sampled && !p->is_counter && !p->is_warned)
			check_rate(r, p, rate, executed);
		p->visits_watched = visits;
	}
	r->executed_watched_ns = use.executed_ns;
	r->watched_ns = now;
}

void run_points_deinit(struct runner *r)
{
	while (r->places) {
		struct place *next = r->places->next;

		spec_deinit(&r->places->spec);
		free(r->places->path);
		free(r->places->files);
		free(r->places);
		r->places = next;
	}
	for (unsigned i = 0; i < r->n_points; i++) {
		free(r->points[i].name);
		free(r->points[i].label);
	}
}
