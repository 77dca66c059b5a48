/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of `cozbpf run` and what they share: set-up, experiments, the processes' mappings, the
 * end. Private to user/run/. */
#ifndef COZBPF_RUN_H
#define COZBPF_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/text/errors.h"
#include "core/estimate/answer.h"
#include "core/places/linemap.h"
#include "core/places/scope.h"
#include "core/profile/so_far.h"
#include "kernel/session.h"
#include "run/clock.h"
#include "run/console.h"
#include "run/experiments.h"
#include "run/options.h"
#include "run/recorder.h"
#include "symbols/symbols.h"
#include "target/identity.h"
#include "target/inject.h"
#include "target/launch.h"
#include "target/maps.h"
#include "target/quota.h"

struct point {
	char *name; /* in the profile; a pair has it twice: its begins, and next to them its ends */
	char *label; /* in messages */
	unsigned role;
	bool is_sampled;         /* its visits are time executed in a line */
	bool is_counter;         /* the program counts them itself */
	enum visit_sort sort;    /* the dearest of its probes */
	uint64_t visits_watched; /* up to the last look at the rates */
	bool is_warned;
};

/* A process of the target, as far as its mappings go. */
struct process {
	int pid;
	uint64_t rescan_ns; /* when to look again */
	uint64_t interval_ns;
	bool probed; /* its calls, for --sync=uprobe */
	bool injected;
	struct injection injection; /* when it is */
	uint64_t blocked; /* pauses that could not be asked for since the signal was blocked, at the
			     last look */
	uint64_t shim_ns; /* when to look whether it has a pause handler; 0: not any more */
	struct process *next;
};

/* A running process that was named with -p, or is of the control group named. */
struct attached {
	int pid, pidfd, claim_fd;
};

/* The processes: those launched, those attached to, and what is done to them. */
struct target {
	struct identity identity;
	char path[4096], shim[4096]; /* of the command and of the shim */
	struct launch launch;
	struct attached *attached; /* none when a command is launched */
	unsigned n_attached;
	int claim_fd;        /* of the command (owner.h) */
	char cgroup[4096];   /* directory of the control group attached to; empty: none */
	uint64_t join_ns;    /* when to look for its new members */
	int signal;          /* number of the pause signal */
	uint64_t unblock_ns; /* when to look who blocks it */
	struct process *processes;
	int exit_status;    /* of the command */
	struct quota quota; /* of the target's control groups, in this run */
	uint64_t quota_ns;  /* when to read on */
};

/* What the target maps: lines in scope, probed calls, unwind tables. */
struct files {
	struct scope scope;
	struct line_map lines;
	struct object *main_object;
	uint32_t fixed_line;
	struct sync_sites *sync;   /* run/sync.c */
	struct unwinder *unwinder; /* run/unwind.c */
	struct seen_file *seen;    /* files looked at */
	size_t n_seen;
};

struct points {
	struct point points[COZBPF_POINTS];
	struct place *places; /* run/points.c */
	unsigned n_points;
	uint64_t probe_cost_ns;
	uint64_t visit_cost_ns[VISIT_SORTS];
	unsigned visit_costs_known; /* bit set */
	bool has_counters;          /* the command is given counters for Coz's places */
	/* When the points' rates were looked at; CPU time up to then. */
	uint64_t watched_ns, executed_watched_ns;
};

struct runner {
	struct run_options o;
	struct session *session;
	struct target target;
	struct files files;
	struct points points;
	struct experiments experiments;
	struct recorder recorder;
	struct answer answer;
	struct console console;
};

#define run_say(r, ...) console_say(&(r)->console, __VA_ARGS__)

/* When run_inject_due() has something to look at; UINT64_MAX: nothing. */
uint64_t run_inject_next(const struct runner *r);

/* run/setup.c: lines in scope, progress points. */
int run_setup(struct runner *r, struct error *e);
void run_teardown(struct runner *r);

/* run/objects.c: which processes map what; objects that come later. */
void run_on_event(const struct cozbpf_event *event, void *arg);
void run_map_process(struct runner *r, int pid);
void run_warn_build(const struct runner *r, int pid,
    const char *path); /* before a file is added: where another at this path was added */
struct process *run_add_process(
    struct runner *r, int pid, uint64_t interval_ns); /* NULL: out of memory */
bool run_has_process(struct runner *r, int pid);
/* dlopen may come at any time: one read of /proc/PID/maps, some 50 us */
#define RUN_RESCAN_LAST_NS 500000000ULL
void run_rescan(struct runner *r, uint64_t now);
void run_forget_processes(struct runner *r);

/* run/points.c: progress points. */
int run_add_points(struct runner *r, struct error *e);
int run_pair_named(struct runner *r, const char *name, unsigned *ret,
    struct error *e); /* the index of its begins; its ends follow */

/* run/places.c: where they are, at the start and in what the target maps later. */
struct spec;
/* Takes over what is in @spec. @arg: number of the argument that is the key of a latency; -1: the
 * thread is. */
int run_add_place(struct runner *r, struct spec *spec, unsigned index, int arg, struct error *e);
int run_add_markers(struct runner *r, struct error *e); /* of the program itself; 1: it has none */
void run_places_deinit(struct runner *r);
void run_points_mapped(struct runner *r, int pid, const struct map_entry *m, bool in_scope);
bool run_points_awaited(const struct runner *r); /* whether one has no place yet */
const struct error *run_point_missing(
    const struct runner *r, unsigned index); /* why it has none; NULL: it has */
int run_point_named(struct runner *r, const char *name, unsigned *ret,
    struct error *e);                       /* its index; it is made where there is none */
bool run_has_pairs(const struct runner *r); /* latencies */
void run_points_watch(
    struct runner *r, uint64_t now); /* every second: points that are visited too often */
void run_points_deinit(struct runner *r);

/* run/markers.c: points that the program's source names. */
int run_place_markers(
    struct runner *r, struct object *o, struct error *e); /* 1: the file has none */
bool run_watch_counters(struct runner *r); /* Coz's coz.h; false: the program does not have it */
void run_on_counter(struct runner *r, const struct cozbpf_counter_event *c);

/* run/sync.c: --sync=uprobe. Probes the calls of a process once its libraries are mapped: true when
 * that is done. */
bool run_sync_process(struct runner *r, int pid, const struct map_entry *maps, size_t n);
void run_sync_deinit(struct runner *r);

/* run/unwind.c: adds a file's slice of the unwind table to its mapping, as far as it has been made;
 * asks for it to be made. */
void run_unwind_slice(struct runner *r, const struct map_entry *m, struct cozbpf_mapping *ret);
bool run_unwind_waits(const struct runner *r); /* whether some are being made */
bool run_unwind_collect(
    struct runner *r); /* whether there are new ones, so that mappings are to be set again */
void run_unwind_deinit(struct runner *r);

/* run/attach.c: processes that run already. */
int run_attach_resolve(struct runner *r, struct error *e);
int run_attach_lines(struct runner *r, struct error *e);
int run_attach_object(const struct runner *r, const char *path, struct object **ret,
    struct error *e);                                    /* a file that the target sees */
int run_attach_begin(struct runner *r, struct error *e); /* they are the target from now on */
bool run_attach_ended(const struct runner *r);
void run_attach_join(struct runner *r, uint64_t now);
void run_attach_deinit(struct runner *r);

/* run/inject.c: the pause handler in processes that have not been given it by the preloaded shim;
 * and out of them. */
void run_inject_forget(struct process *p);
void run_inject_after_exec(struct runner *r, struct process *p);
void run_inject_after_fork(struct process *child, const struct process *parent);
void run_inject_due(struct runner *r, struct process *p, uint64_t now);
int run_inject_now(struct runner *r, struct process *p, struct error *e);
void run_inject_unblock(struct runner *r, uint64_t now); /* while no thread is in a pause */
void run_inject_undo(struct runner *r);                  /* after session_detach() */
void run_inject_settle(
    struct runner *r); /* before we end: threads that have been held too long are let go */

/* run/ending.c: warnings, then the ranked answer, or the reason why there is none. Returns the
 * tool's exit status. */
int run_finish(struct runner *r);

#endif
