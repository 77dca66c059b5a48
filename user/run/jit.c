// SPDX-License-Identifier: BSD-3-Clause
/* Code made at run time, on its way to the kernel side; see jit.h. */
#include "run/jit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/places/perfmap.h"
#include "kernel/session.h"
#include "run/clock.h"
#include "run/console.h"
#include "run/files.h"
#include "run/options.h"
#include "symbols/elf/openfile.h"
#include "target/procfs.h"

/* A map is read again after so long, and after so many times what reading it took. */
#define REREAD_NS 1000000000ULL
#define REREAD_FACTOR 50
/* Names of all processes; libraries that come need some too. */
#define MAX_NAMES 32768
#define LEFT_NAMES 8192
/* Bytes: the kernel's table has no longer ranges. */
#define MAX_AREA (1ULL << 31)
#define LEAST_ROOM 1024 /* ranges */

/* A stretch of the kernel's line table. */
struct slot {
	uint32_t first;
	size_t room;
};

struct jit_process {
	int pid;
	uint64_t due_ns; /* when the map may be read again */
	struct stat map; /* as it was read; st_ino 0: it was not */
	char path[64];   /* of the map, as the process sees it */
	bool is_told;    /* why the map is not read */
	struct map_area *areas;
	size_t n_areas;
	struct line_range *functions; /* addresses, disjoint, with our ids */
	size_t n_functions;
	/* What the kernel side searches, and what is written next: a sample may come at any time.
	 */
	struct slot now, next;
	size_t n_ranges;
	struct jit_process *next_process;
};

struct jit {
	struct jit_process *processes;
	struct slot *left; /* by processes that have ended */
	size_t n_left;
	uint32_t module; /* id of code without a name */
	size_t n_names;
	bool is_full; /* told that there is no room */
	struct jit_unnamed unnamed;
};

static bool is_wanted(const struct files *f)
{
	return !scope_has_lines(&f->scope, false) &&
	       scope_has_binary(&f->scope, PERF_MAP_MODULE, false);
}

static struct jit *state(struct files *f)
{
	if (!f->jit)
		f->jit = calloc(1, sizeof(*f->jit));
	return f->jit;
}

/* NULL: out of memory. */
static struct jit_process *process(struct files *f, int pid)
{
	struct jit_process **at = state(f) ? &f->jit->processes : NULL;

	while (at && *at && (*at)->pid != pid)
		at = &(*at)->next_process;
	if (at && !*at && (*at = calloc(1, sizeof(**at))))
		(*at)->pid = pid;
	return at ? *at : NULL;
}

/* Once functions are selected. */
static uint32_t module_id(struct files *f)
{
	if (!f->jit->module)
		f->jit->module = line_map_line(&f->lines, PERF_MAP_MODULE, 0);
	return f->jit->module;
}

/* A map of that name may be left from another process that had the number. */
static bool is_older(const struct stat *map, int pid)
{
	uint64_t age_s = (procfs_now() - procfs_start(pid)) / (uint64_t)sysconf(_SC_CLK_TCK);

	return map->st_mtime + 1 < time(NULL) - (time_t)age_s - 1;
}

/* A descriptor; -1: there is none, or none that may be read (said once). */
static int open_map(const struct files *f, struct jit_process *p)
{
	char root[64], path[PATH_MAX], why[256] = "nobody knows whose it may be";
	int thread = procfs_live_thread(p->pid), fd;
	struct stat st;
	uid_t user;

	snprintf(root, sizeof(root), "/proc/%d/root", thread);
	snprintf(p->path, sizeof(p->path), "/tmp/perf-%d.map", procfs_inner(thread));
	snprintf(path, sizeof(path), "%s%s", root, p->path);
	fd = file_find(root, path);
	if (fd < 0)
		return -1;
	close(fd);
	fd = procfs_user(thread, &user) ? file_open_owned(root, path, user, why, sizeof(why)) : -1;
	if (fd >= 0 && !fstat(fd, &st) && is_older(&st, p->pid)) {
		snprintf(why, sizeof(why), "it is older than the process");
		close(fd);
		fd = -1;
	}
	if (fd < 0 && !p->is_told)
		console_say(f->console, "warning: '%s' of process %d is not read: %s", p->path,
		    p->pid, why);
	p->is_told |= fd < 0;
	return fd;
}

static bool has_changed(const struct stat *a, const struct stat *b)
{
	return a->st_ino != b->st_ino || a->st_dev != b->st_dev || a->st_size != b->st_size ||
	       a->st_mtim.tv_sec != b->st_mtim.tv_sec || a->st_mtim.tv_nsec != b->st_mtim.tv_nsec;
}

/* Our id of a function; that of code without a name where there is no room for more names. */
static uint32_t id_of(struct files *f, const char *name)
{
	struct jit *j = f->jit;
	size_t before = f->lines.n_lines;
	uint32_t id = 0;

	if (j->n_names < MAX_NAMES &&
	    (!f->session || session_spare_lines(f->session, &f->lines) > LEFT_NAMES))
		id = line_map_line(&f->lines, name, 0);
	j->n_names += f->lines.n_lines - before;
	return id ? id : module_id(f);
}

/* The functions of a map, with our ids. */
static int take_functions(struct files *f, struct jit_process *p, const struct line_map *map)
{
	struct line_range *functions = calloc(map->n_ranges + 1, sizeof(*functions));
	uint32_t *ids = calloc(map->n_lines, sizeof(*ids));

	for (size_t i = 0; functions && ids && i < map->n_ranges; i++) {
		const struct line_range *r = &map->ranges[i];

		if (!ids[r->line])
			ids[r->line] = id_of(f, map->lines[r->line].file);
		functions[i] = (struct line_range){r->lo, r->hi, ids[r->line]};
	}
	if (!functions || !ids) {
		free(functions);
		free(ids);
		return -1;
	}
	free(ids);
	free(p->functions);
	p->functions = functions;
	p->n_functions = map->n_ranges;
	return 0;
}

static void read_functions(struct files *f, struct jit_process *p, int fd)
{
	struct error e = {0};
	struct line_map map;

	if (line_map_init(&map))
		return;
	if (perf_map_read(fd, (uint64_t)p->map.st_size, p->path, &map, &e) ||
	    take_functions(f, p, &map))
		console_say(f->console, "warning: '%s' of process %d is not read: %s", p->path,
		    p->pid, *e.cause ? e.cause : "out of memory");
	else if (f->o->verbose)
		console_say(f->console, "'%s' of process %d: %zu functions", p->path, p->pid,
		    map.n_lines - 1);
	line_map_deinit(&map);
}

/* Whether the functions are others than before. */
static bool read_map(struct files *f, struct jit_process *p, uint64_t now)
{
	int fd = open_map(f, p);
	struct stat st;
	bool changed = fd >= 0 && !fstat(fd, &st) && has_changed(&p->map, &st);

	p->due_ns = now + REREAD_NS;
	if (changed) {
		p->map = st;
		read_functions(f, p, fd);
		p->due_ns += REREAD_FACTOR * (monotonic_ns() - now);
	}
	if (fd >= 0)
		close(fd);
	return changed;
}

static void leave(struct jit *j, struct slot s)
{
	struct slot *bigger = s.room ? realloc(j->left, (j->n_left + 1) * sizeof(*bigger)) : NULL;

	if (!bigger)
		return;
	j->left = bigger;
	j->left[j->n_left++] = s;
}

/* Room for @n ranges in @ret, which may have it. */
static int make_room(struct files *f, struct slot *ret, size_t n)
{
	struct jit *j = f->jit;
	struct slot s = {.room = LEAST_ROOM};

	if (ret->room >= n)
		return 0;
	for (size_t i = 0; i < j->n_left; i++) {
		if (j->left[i].room < n)
			continue;
		s = *ret;
		*ret = j->left[i];
		j->left[i] = s;
		return 0;
	}
	while (s.room < n)
		s.room *= 2;
	if (session_reserve_ranges(f->session, s.room, &s.first))
		return -1;
	leave(j, *ret);
	*ret = s;
	return 0;
}

/* Functions lie over the areas of code; what is between them has no name. */
static int find_ranges(struct files *f, const struct jit_process *p, struct line_map *ret)
{
	const struct line_object object = {.path = (char *)PERF_MAP_MODULE};
	size_t n = p->n_areas + p->n_functions;
	struct line_range *all = calloc(n + 1, sizeof(*all));
	int err;

	if (!all)
		return -1;
	for (size_t i = 0; i < p->n_areas; i++) {
		const struct map_area *a = &p->areas[i];
		uint64_t size = a->end - a->start;

		all[i] = (struct line_range){
		    a->start, a->start + (size < MAX_AREA ? size : MAX_AREA), module_id(f)};
	}
	if (p->n_functions)
		memcpy(all + p->n_areas, p->functions, p->n_functions * sizeof(*all));
	err = line_map_add_object(ret, &object, all, n);
	free(all);
	return err;
}

static void tell_kernel(struct files *f, struct jit_process *p)
{
	struct line_map map;

	if (line_map_init(&map))
		return;
	if (find_ranges(f, p, &map) || make_room(f, &p->next, map.n_ranges)) {
		if (!f->jit->is_full)
			console_say(f->console,
			    "warning: there is no room for all functions that process %d has "
			    "made",
			    p->pid);
		f->jit->is_full = true;
	} else {
		struct slot used = p->now;

		session_set_ranges(f->session, p->next.first, map.ranges, map.n_ranges);
		p->now = p->next;
		p->next = used;
		p->n_ranges = map.n_ranges;
	}
	line_map_deinit(&map);
}

/* Takes @areas over. Whether they are others than before. */
static bool take_areas(struct jit_process *p, struct map_area *areas, size_t n)
{
	bool same = n == p->n_areas && (!n || !memcmp(areas, p->areas, n * sizeof(*areas)));

	free(p->areas);
	p->areas = areas;
	p->n_areas = n;
	return !same;
}

static bool has_file_between(const struct map_entry *files, size_t n, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < n; i++)
		if (files[i].start >= start && files[i].start < end)
			return true;
	return false;
}

/* A mapping may have gaps in which nothing is executed: runtimes have many areas. */
static size_t list(const struct jit_process *p, const struct map_entry *files, size_t n_files,
    struct cozbpf_mapping *ret, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_areas; i++) {
		const struct map_area *a = &p->areas[i];

		if (n && !has_file_between(files, n_files, ret[n - 1].end, a->start))
			ret[n - 1].end = a->end;
		else if (n < room)
			ret[n++] = (struct cozbpf_mapping){.start = a->start,
			    .end = a->end,
			    .offset = a->start,
			    .first = p->now.first,
			    .count = (uint32_t)p->n_ranges};
	}
	return n;
}

static void note_unnamed(struct jit *j, const struct jit_process *p)
{
	struct jit_unnamed *u = &j->unnamed;
	uint64_t bytes = 0;

	for (size_t i = 0; i < p->n_areas; i++)
		bytes += p->areas[i].end - p->areas[i].start;
	if (p->map.st_ino && u->pid == p->pid)
		*u = (struct jit_unnamed){0};
	if (p->map.st_ino || bytes <= u->bytes)
		return;
	u->pid = p->pid;
	u->bytes = bytes;
	procfs_comm(p->pid, u->comm, sizeof(u->comm));
	memcpy(u->path, p->path, sizeof(u->path));
}

size_t jit_mappings(struct files *f, int pid, const struct map_entry *files, size_t n_files,
    struct cozbpf_mapping *ret, size_t room)
{
	uint64_t now = monotonic_ns();
	struct map_area *areas = NULL;
	struct jit_process *p;
	size_t n;
	bool changed;

	if (maps_read_areas(pid, &areas, &n))
		return 0;
	p = n ? process(f, pid) : NULL;
	if (!p) {
		free(areas);
		return 0;
	}
	changed = take_areas(p, areas, n);
	if (is_wanted(f)) {
		if (now >= p->due_ns)
			changed |= read_map(f, p, now);
		if (changed)
			tell_kernel(f, p);
		note_unnamed(f->jit, p);
	}
	return list(p, files, n_files, ret, room);
}

bool jit_has_map(struct files *f, int pid)
{
	struct jit_process *p = process(f, pid);
	int fd = p ? open_map(f, p) : -1;

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void jit_read_names(struct files *f, int pid)
{
	struct jit_process *p = is_wanted(f) ? process(f, pid) : NULL;

	if (p)
		read_map(f, p, monotonic_ns());
}

static void free_process(struct jit_process *p)
{
	free(p->areas);
	free(p->functions);
	free(p);
}

void jit_forget(struct files *f, int pid)
{
	struct jit_process **at = f->jit ? &f->jit->processes : NULL, *gone;

	while (at && *at && (*at)->pid != pid)
		at = &(*at)->next_process;
	if (!at || !*at)
		return;
	gone = *at;
	*at = gone->next_process;
	leave(f->jit, gone->now);
	leave(f->jit, gone->next);
	free_process(gone);
}

void jit_unnamed(const struct files *f, struct jit_unnamed *ret)
{
	uint32_t module = f->jit ? f->jit->module : 0;

	*ret = f->jit ? f->jit->unnamed : (struct jit_unnamed){0};
	if (ret->pid && module && module < session_lines(f->session, &f->lines))
		ret->samples = session_line_counts(f->session)[module].all;
}

void jit_deinit(struct files *f)
{
	while (f->jit && f->jit->processes) {
		struct jit_process *next = f->jit->processes->next_process;

		free_process(f->jit->processes);
		f->jit->processes = next;
	}
	if (f->jit)
		free(f->jit->left);
	free(f->jit);
	f->jit = NULL;
}
