/* SPDX-License-Identifier: BSD-3-Clause */
/* What a watch is made of; private to point_watch*.c. */
#ifndef COZBPF_RUN_POINT_WATCH_PRIVATE_H
#define COZBPF_RUN_POINT_WATCH_PRIVATE_H

#include "run/point_watch.h"

#include <cozbpf/abi.h>
#include "core/places/stacks.h"
#include "kernel/watch.h"
#include "symbols/symbols.h"

struct file;

/* Probes of one file, which come and go together: the kernel removes them by the link. */
struct watch_group {
	struct file *file;
	uint64_t offsets[COZBPF_CANDIDATES], semaphores[COZBPF_CANDIDATES],
	    numbers[COZBPF_CANDIDATES];
	size_t n;
	int fd; /* -1: none is there */
	struct watch_group *next;
};

struct watch {
	struct point_watch shown; /* first: points have a pointer to it */
	struct watcher *watcher;
	unsigned slices;
	/* when it is looked what else to count, and what does the work itself; 0: never */
	unsigned look_at, innermost_at;
	/* visits up to the slice that runs, and when that one began */
	uint64_t *before;
	uint64_t cpu_before, slice_ns;
	unsigned late; /* slices that took too long, and were taken again */
	struct stack_list stacks;
	/* visits up to the last look at the probes' rates, by their numbers */
	uint64_t checked[COZBPF_CANDIDATES];
	uint64_t checked_ns, check_ns, check_step_ns;
	unsigned n_probes;
	struct watch_group *groups;
	char **texts; /* names and specs, to be freed */
	size_t n_texts, texts_room;
};

/* Adds a candidate that is probed; NULL: there is no room. Takes @name and @spec over. */
struct candidate *watch_add(struct watch *w, enum candidate_kind kind, char *name, char *spec);
/* Adds places of the candidate in the group's file. False: there is no room for all. */
bool watch_add_sites(struct watch_group *g, const struct candidate *c,
    const struct probe_site *sites, size_t n, uint64_t semaphore);

/* What is to be known of a function before it is probed. */
struct watch_function {
	const char *name;   /* in the ranking */
	const char *symbol; /* "": it has none, and is at @addr */
	uint64_t addr;
	double share, weight; /* see struct candidate */
	bool is_innermost;
	const char *what;
};

/* True: it is one more candidate. */
bool watch_add_function(const struct points *p, struct watch *w, struct watch_group *g,
    struct object *o, const struct watch_function *f);

/* point_watch_go.c: whether a function is of Go's runtime, which is above everything, or of the
 * standard library, whose functions serve more than requests. */
bool watch_is_go_library(const char *symbol);
/* Adds the places of a Go program where a server has done or begins a request. */
void watch_add_requests(
    const struct points *p, struct watch *w, struct watch_group *g, struct object *o);

/* Adds what the files that are mapped have: markers, static probes, functions that the stacks show
 * above work. @innermost: those that do the work themselves, instead. */
void watch_look(struct points *p, struct watch *w, bool innermost);

#endif
