/* SPDX-License-Identifier: BSD-3-Clause */
/* What is measured goes through here: into the profile file, and into the profile in memory that
 * answers are made of. Counters of the kernel side go on from run to run, a record has those of one
 * run. */
#ifndef COZBPF_RECORDER_H
#define COZBPF_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/experiment/readings.h"
#include "core/places/linemap.h"
#include "core/profile/profile.h"
#include "core/profile/so_far.h"
#include "core/text/errors.h"

struct identity;
struct object;
struct session;

struct recorder {
	/* to be read: what this invocation has measured, and the line id of each experiment in it
	 */
	struct profile profile;
	uint32_t *experiment_lines;
	/* to be read: index of the run, and its monotonic start */
	uint32_t run;
	uint64_t started_ns;
	/* to be read: a run is under way, whose totals are not in a record yet */
	bool is_running;
	/* to be read: experiments so far, those included that were forgotten */
	uint64_t n_added;
	/* to be read: how long CPU quotas held the target back, in all runs that have ended */
	uint64_t throttled_ns;
	/* Private. */
	FILE *out;
	const char *path;
	/* why records did not reach the file, an errno; 0: all did */
	int failed;
	bool is_lost; /* they do not, until the file is opened again */
	/* where the last whole record ends; -1: not a regular file */
	off_t whole;
	char build_id[41];
	const struct session *session;
	const struct line_map *lines;
	/* baselines, or stacks of waits, refer to lines by their ids */
	bool has_ids;
	/* what has been counted up to the beginning of the run; lines by id */
	struct run_record before;
	uint64_t *counts_before, *free_before;
};

/* Another build whose runs are in the file already; empty: there is none. */
struct other_build {
	char theirs[41], ours[41];
};

/*
 * Opens the file, which is appended to, with the rights of @identity. @main is the command's main
 * executable, or NULL. @path lives as long as the recorder. -1 with @e.
 */
int recorder_open(struct recorder *w, const struct identity *identity, const char *path,
    const struct object *main, struct other_build *ret, struct error *e);

/* The file has another name now: later runs go to another one at its place, or, -1 with @e, to the
 * same as before. */
int recorder_reopen(struct recorder *w, const struct identity *identity, struct error *e);
/* Bytes of the file's whole records; 0: it is not a regular file. */
uint64_t recorder_size(const struct recorder *w);
/* Between runs: the first @n_runs of those in memory are of no interest any more. One stays. */
void recorder_forget(struct recorder *w, size_t n_runs);

/* What recorder_count() needs. Both are borrowed. */
struct recorder_sources {
	const struct session *session;
	const struct line_map *lines;
	/* the most that session_lines() will be */
	size_t lines_room;
	bool has_ids;
};
/* Counters are read from now on. -1 with @e. */
int recorder_count(struct recorder *w, const struct recorder_sources *from, struct error *e);

/* What has been counted up to now belongs to no run. */
void recorder_skip(struct recorder *w);

/* Writes where a run begins. @node, @fixed_speedups: see run_record; @node lives as long as the
 * recorder. -1 with @e. */
int recorder_write_startup(
    struct recorder *w, char *node, uint32_t fixed_speedups, struct error *e);
/* It is profiled from now on. */
void recorder_begin(struct recorder *w, uint64_t now);

/* An experiment on line id @line of the run under way: takes over what is in @x. */
void recorder_add(struct recorder *w, struct experiment_record *x, uint32_t line);

/* What the run under way has measured that is in no record yet. @delayed_ns: time in experiments
 * with a speedup. */
void recorder_so_far(
    const struct recorder *w, uint64_t now, uint64_t delayed_ns, struct run_so_far *ret);

/* Of a run that has been profiled, as far as others count it. */
struct run_totals {
	uint64_t delayed_ns;
	/* experiments that were spoilt */
	uint64_t dropped;
	/* by CPU quotas */
	uint64_t throttled_ns;
};
/* Writes the samples and the totals of the run. */
void recorder_end(struct recorder *w, uint64_t now, const struct run_totals *totals);

/* Build id of the command's main executable; empty: it has none. */
const char *recorder_build(const struct recorder *w);

/* Whether all that was written has reached the file. -1 with @e. */
int recorder_finish(const struct recorder *w, struct error *e);
void recorder_deinit(struct recorder *w);

#endif
