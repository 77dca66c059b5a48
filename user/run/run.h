/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of `cozbpf run` and what they share: set-up, experiments, the processes' mappings, the
 * end. Private to user/cmd/run*.c. */
#ifndef COZBPF_RUN_H
#define COZBPF_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/text/errors.h"
#include "core/estimate/estimate.h"
#include "core/experiment/length.h"
#include "core/places/linemap.h"
#include "core/profile/profile.h"
#include "core/experiment/schedule.h"
#include "core/places/scope.h"
#include "kernel/session.h"
#include "run/clock.h"
#include "run/console.h"
#include "run/files.h"
#include "run/options.h"
#include "run/points.h"
#include "run/target.h"

/* One virtual-time bucket takes in the whole run: end-to-end needs the sum only (2^42 ns are 73
 * minutes x 1024 buckets). */
#define END_TO_END_SHIFT 42

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
	struct profile profile; /* what this invocation has measured */
	uint64_t started_ns;    /* monotonic start of this run */
	uint64_t samples_before, in_scope_before, lost_before; /* counters at the start of it */
	uint64_t *counts_before, *free_before; /* per line id, as far as counts_room goes */
	size_t counts_room;
	uint64_t throttled_ns;     /* by CPU quotas, in all runs that have ended */
	struct cpu_use use_before; /* up to the end of the run before */
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

#define run_say(r, ...) console_say(&(r)->console, __VA_ARGS__)

/* run/setup.c: the rooms, and how they are joined. */
int run_setup(struct runner *r, struct error *e);
void run_teardown(struct runner *r);
void run_on_event(const struct cozbpf_event *event, void *runner);

/* run/output.c: the profile file, which is appended to: what is there already, and what a run
 * begins with. */
int run_open_output(
    struct runner *r, struct error *e); /* warns when runs of another build are there */
int run_write_startup(struct runner *r, const struct run_record *start, struct error *e);

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
void run_close_signals(struct runner *r);

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
