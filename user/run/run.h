/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of `cozbpf run` and what they share: set-up, experiments, the processes' mappings, the
 * end. Private to user/cmd/run*.c. */
#ifndef COZBPF_RUN_H
#define COZBPF_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/text/string_list.h"
#include "core/text/errors.h"
#include "core/estimate/estimate.h"
#include "core/experiment/length.h"
#include "core/places/linemap.h"
#include "core/profile/profile.h"
#include "core/experiment/schedule.h"
#include "core/places/scope.h"
#include "kernel/session.h"
#include "symbols/symbols.h"
#include "target/identity.h"
#include "target/inject.h"
#include "target/launch.h"
#include "target/maps.h"
#include "target/quota.h"

/* One virtual-time bucket takes in the whole run: end-to-end needs the sum only (2^42 ns are 73
 * minutes x 1024 buckets). */
#define END_TO_END_SHIFT 42

struct run_options {
	struct string_list progress, latency, sources, binaries, pids;
	const char *cgroup, *output, *fixed_line, *fixed_speedup, *user, *until, *sync;
	uint64_t duration_ns, runs, seed, period_ns, length_ns;
	bool end_to_end, no_follow, quiet, verbose, tui, no_tui, sleep_pauses, sync_uprobe;
	/* derived */
	char **command;
	unsigned *speedups;
	size_t n_speedups;
	double until_width; /* half a width of the leading lines' intervals, a fraction; 0: none was
			       given */
};

struct point {
	char *name; /* in the profile; a pair has it twice: its begins, and next to them its ends */
	char *label; /* in messages */
	unsigned role;
	uint64_t visits_at_open, paced_at_open; /* counters when the experiment opened */
	bool paced;              /* most visits of the last experiment were paced from outside */
	bool is_sampled;         /* its visits are time executed in a line */
	bool is_counter;         /* the program counts them itself */
	enum visit_sort sort;    /* the dearest of its probes */
	uint64_t visits_watched; /* up to the last look at the rates */
	bool is_warned;
	/* Of begins. */
	int64_t
	    in_flight_before; /* when the run began: requests that earlier runs took with them */
	uint64_t doubtful_before;            /* when the run began */
	uint64_t unmatched, abandoned, lost; /* up to the last record */
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

/* What an experiment is dropped for; SPOILT_NO_TIME: the speedup has taken all of the time that was
 * to be counted. */
enum spoilt { SPOILT_NOT, SPOILT_STOP, SPOILT_DEBT, SPOILT_BUSY, SPOILT_NO_TIME, N_SPOILT };

enum phase { PHASE_PICK, PHASE_OPEN, PHASE_COOL, PHASE_IDLE };

/* The lines sampled in the baseline that is open; see run/baseline.c. */
struct baseline {
	uint64_t *before; /* samples per line id up to the opening */
	struct baseline_line
	    *lines; /* `observed` holds the count at the end of the opening until the close */
	size_t n_lines;
	uint64_t due_ns;   /* when the opening is over; 0: it is, or nothing is to be recorded */
	uint64_t since_ns; /* when it was */
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

/* The experiments of one run. */
struct experiments {
	struct schedule schedule;
	struct length length;
	enum phase phase;
	uint64_t deadline_ns; /* of the phase */
	uint64_t visits_at_open, visits_at_deadline;
	uint64_t latency_ns;  /* mean latency of late, of the slowest pair; 0: none */
	uint64_t extended_ns; /* until when an experiment is drawn out that has no window yet */
	bool closing; /* its length is over: it closes with the next visit, at give_up_ns at the
			 latest */
	uint64_t give_up_ns;
	enum spoilt spoilt;     /* why the open experiment does not count, as far as is known yet */
	unsigned n_points_open; /* points that were there when the experiment opened */
	uint32_t line;
	unsigned speedup_pct;
	unsigned shift;
	uint64_t planned_ns;
	bool is_paused; /* no experiments, by a key */
	struct baseline baseline;
	double busy_sum; /* shares of the CPU time wanted that outsiders had, over busy_n */
	unsigned busy_n;
	unsigned stretched; /* experiments, to fit the CPUs */
	uint64_t dropped;
	uint64_t spoilt_by[N_SPOILT]; /* experiments of all runs */
	uint64_t delayed_ns;          /* time in experiments with s > 0 */
	size_t n_baselines;
};

/* The profile file, and the counters before this run. */
struct recorder {
	FILE *out;
	struct profile profile;   /* what this invocation has measured */
	uint64_t started_ns;      /* monotonic start of this run */
	struct run_record before; /* the session's counters up to the end of the run before */
	uint64_t *counts_before, *free_before; /* per line id, as far as counts_room goes */
	size_t counts_room;
	uint64_t throttled_ns; /* by CPU quotas, in all runs that have ended */
	uint32_t run;
	uint32_t *experiment_lines; /* the line of each experiment in `profile` */
};

/* The answer so far, and what is wanted yet; run/estimate.c. */
struct answering {
	bool settled; /* --until has come true */
	uint64_t settled_at_ns;
	size_t settled_experiments; /* when that was last looked at */
	struct wanted *wanted;      /* lines that have been experimented on */
	size_t n_wanted;
	unsigned refused; /* lines picked in a row that were not wanted */
	uint64_t leader_at_ns;
	char leader[160];
};

struct console {
	struct view *view; /* run/view.c; NULL: there is none */
	bool progress_shown;
	uint64_t progress_at_ns;
};

struct loop {
	bool profiling;
	bool interrupted;
	bool quit; /* profiling is to end, by a key; the command goes on */
	sigset_t old_mask;
	bool is_masked; /* old_mask is not in force */
	int signal_fd;
};

struct runner {
	struct run_options o;
	struct session *session;
	struct target target;
	struct files files;
	struct points points;
	struct experiments experiments;
	struct recorder recorder;
	struct answering answer;
	struct console console;
	struct loop loop;
};

/* The answer so far: an estimate, and the profile that it borrows from. */
struct answer {
	struct profile profile;
	struct estimate estimate;
	size_t n_before; /* samples that are the runner's; those of this run follow */
	bool is_own;     /* samples and runs are a copy */
};

/* When run_inject_due() has something to look at; UINT64_MAX: nothing. */
uint64_t run_inject_next(const struct runner *r);
uint64_t monotonic_ns(void);
void run_say(const struct runner *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* run/setup.c: lines in scope, progress points. */
int run_setup(struct runner *r, struct error *e);
void run_teardown(struct runner *r);

/* run/output.c: the profile file, which is appended to: what is there already, and what a run
 * begins with. */
int run_open_output(
    struct runner *r, struct error *e); /* warns when runs of another build are there */
int run_write_startup(struct runner *r, const struct run_record *start, struct error *e);

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

/* run/experiments.c: the experiments of one run. run_step() does what is due and returns when to
 * call it again. */
void run_begin(struct runner *r, uint64_t now);
uint64_t run_step(struct runner *r, uint64_t now);
void run_end(struct runner *r, uint64_t now, bool target_ended);
/* No experiments for a while: what is under way is void, the target runs without delays. Not
 * end-to-end, where a run is an experiment. */
void run_pause(struct runner *r);
void run_resume(struct runner *r, uint64_t now);

/* run/latency.c: what latency pairs add to an experiment. */
void run_latency_begin(struct runner *r); /* of a run */
uint64_t run_latency_settle_ns(const struct runner *r, uint64_t least);
uint64_t run_latency_length_ns(const struct runner *r, uint64_t least);
void run_latency_record(
    struct runner *r, unsigned index, uint64_t duration_ns, struct point_record *ret);

/* run/baseline.c: which lines are sampled in a baseline. Opened with the experiment, split when
 * due_ns has come; closed, it fills @x. */
void run_baseline_open(struct runner *r, uint64_t due_ns);
void run_baseline_split(struct runner *r);
void run_baseline_close(struct runner *r, uint64_t closed_ns, struct experiment_record *x);
void run_baseline_deinit(struct runner *r);

/* run/sync.c: --sync=uprobe. Probes the calls of a process once its libraries are mapped: true when
 * that is done. */
bool run_sync_process(struct runner *r, int pid, const struct map_entry *maps, size_t n);
void run_sync_warn(const struct runner *r);
void run_sync_deinit(struct runner *r);

/* run/unwind.c: adds a file's slice of the unwind table to its mapping, as far as it has been made;
 * asks for it to be made. */
void run_unwind_slice(struct runner *r, const struct map_entry *m, struct cozbpf_mapping *ret);
bool run_unwind_waits(const struct runner *r); /* whether some are being made */
bool run_unwind_collect(
    struct runner *r); /* whether there are new ones, so that mappings are to be set again */
void run_unwind_deinit(struct runner *r);

/* run/estimate.c: the answer so far. */
bool run_line_samples(const struct runner *r, size_t line,
    struct samples_record *ret); /* of this run; false: none. ret->location is the caller's */
void run_look(struct runner *r,
    uint64_t now); /* every few seconds: the leader, and where experiments are wanted */
void run_free_answer(struct answer *a);
bool run_wants(
    struct runner *r, uint32_t line); /* whether to experiment on a line that was picked */
bool run_wants_baseline(const struct runner *r);
void run_estimate_deinit(struct runner *r);
bool run_settled(
    struct runner *r, uint64_t now); /* whether --until has come true; looks every few seconds, and
					only when there are new experiments */

/* run/loop.c: one run of the command, from fork to exit. 0, or -1 with @e. And its parts. */
int run_once(struct runner *r, struct error *e);
int run_open_signals(struct runner *r, struct error *e);
void run_close_signals(struct runner *r);
int run_start(struct runner *r, struct error *e); /* the record of the run's beginning */
bool run_watch(struct runner *r); /* profiles; whether the target has ended by itself, rather than
				     its time of being profiled */

/* run/attach.c: processes that run already. */
int run_attach_resolve(struct runner *r, struct error *e);
int run_attach_lines(struct runner *r, struct error *e);
int run_attach_object(const struct runner *r, const char *path, struct object **ret,
    struct error *e); /* a file that the target sees */
int run_attach(struct runner *r, struct error *e);
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

/* run/finish.c: records at the end of a run; ranked answer, or the reason why there is none.
 * Returns the tool's exit status. */
void run_write_totals(struct runner *r, uint64_t now);
int run_finish(struct runner *r);
void run_progress_line(struct runner *r, uint64_t now);
void run_progress_clear(const struct runner *r);

/* run/view.c: the live view in full screen, where there may be one. */
int run_view_plan(struct runner *r,
    struct error *e); /* decides; -1 with @e where --tui asks for what cannot be */
void run_view_open(struct runner *r);
void run_view_close(
    struct runner *r); /* the terminal is as it was, and what was said meanwhile is printed */
void run_view_deinit(struct runner *r);
bool run_view_shown(const struct runner *r);
void run_view_take(struct runner *r, struct answer *a); /* a new answer, which it takes over */
enum sort_key run_view_sort(const struct runner *r);    /* that the next answer is to have */
void run_view_step(struct runner *r, uint64_t now,
    uint64_t due); /* keys, and a new picture unless something is due */
uint64_t run_view_next(
    const struct runner *r); /* when to call it again; UINT64_MAX: after the next tick */
int run_view_fd(const struct runner *r); /* readable when keys wait; -1: none will come */
void run_view_lost(struct runner *r);    /* the terminal has gone */
void run_view_changed(struct runner *r); /* its size */
void run_view_stop(struct runner *r,
    int sig); /* we are to stop: gives the terminal back, stops by @sig, goes on */
bool run_view_keeps(
    const struct runner *r, const char *message); /* a message; false: it is to be printed now */
FILE *run_view_report(const struct runner *r,
    int *ret_width); /* where else the report is to be shown; NULL: nowhere */

#endif
