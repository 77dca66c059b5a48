/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of run/blocks.h share: candidates, slots, windows. */
#ifndef COZBPF_RUN_BLOCKS_PRIVATE_H
#define COZBPF_RUN_BLOCKS_PRIVATE_H

#include "core/blocks/blocklog.h"
#include "core/blocks/windows.h"
#include "kernel/blocks.h"
#include "run/blocks.h"
#include "symbols/symbols.h"
#include "target/thread_times.h"

#define NO_SLOT (-1)
#define NO_PLACE UINT32_MAX
/* rather many windows that are never closed: one for each time that blocks have come */
#define MAX_WINDOWS 64
/* blocks that others are compared with */
#define OTHERS 4

/* A file with blocks that are watched. */
struct block_object {
	size_t index; /* of the line map's objects */
	int fd;       /* of the file, to be probed; -1: it cannot be */
	char probe_path[32];
	char *path;
	char build_id[41];
};

enum candidate_state {
	CANDIDATE_WAITS,   /* for a slot */
	CANDIDATE_NEW,     /* nobody knows what its probes cost */
	CANDIDATE_SAMPLED, /* in random windows */
	CANDIDATE_CHEAP,   /* to be watched all the time, from the next moment on */
	CANDIDATE_ALWAYS,  /* is */
	CANDIDATE_REFUSED, /* the kernel takes no probe there */
};

/* A block that is watched, or is to be. */
struct candidate {
	enum candidate_state state;
	uint32_t unit; /* of the line map */
	size_t object;
	struct block_site site;
	uint32_t place; /* in the log; NO_PLACE: it is not there yet */
	int slot;
	uint64_t samples;      /* of the unit, in all runs */
	uint64_t runs_watched; /* had a slot in so many */
	/* what its probes take while they are there, and of how much: the latest windows weigh most
	 */
	double probed_ns, executed_ns;
	struct window_turn turn;
	/* of the slot, as read last */
	uint64_t entries, probe_ns;
	/* of this run; trial: of windows that tell little */
	struct window_sums sums, trial, by_other[OTHERS];
	struct block_reading reading; /* of the slots that it had */
	uint64_t run_samples;         /* of its unit */
	uint64_t window_samples;      /* in random windows: probes are in these, too */
	bool was_watched;
	bool got_hot; /* it was watched all the time until then */
};

/* Blocks whose probes are there, from one moment to another. */
struct open_window {
	int id;
	bool is_always, is_hot;          /* hot: probes in there take much of its time */
	uint64_t executed_ns, probed_ns; /* of all, when it was opened */
	uint64_t other_entries[OTHERS];  /* of b->others, likewise */
	uint64_t samples, in_kernel;     /* of all, likewise */
	struct window_member {
		size_t candidate;
		uint64_t entries, samples, since_probe_ns, since_executed_ns;
		uint32_t every; /* 0: always, or a first one */
		bool is_trial;
	} members[COZBPF_BLOCK_SLOTS];
	size_t n;
};

struct blocks {
	struct blocks_rooms rooms;
	struct block_log *log;
	struct rng rng;
	/* by id of the line map: samples before this run; whether candidates were made of it */
	uint64_t *samples_before;
	bool *is_taken;
	size_t n_units;
	uint64_t all_before; /* samples of all, before this run */
	struct block_object *objects;
	size_t n_objects;
	struct candidate *candidates;
	size_t n, room;
	/* which candidate has it; SIZE_MAX: none */
	size_t slots[COZBPF_BLOCK_SLOTS];
	struct open_window windows[MAX_WINDOWS];
	size_t n_windows;
	/* Blocks that are watched in all windows, cost little, and are executed most of these: what
	 * they are executed in a window tells what the target has done there. SIZE_MAX: no more. */
	size_t others[OTHERS];
	/* What is left of --cost, since probes take time after their window, too. */
	double thrift;
	uint64_t thrift_executed_ns, thrift_probed_ns;
	/* the random window of this cycle */
	struct window_cycle cycle;
	bool has_opened;
	uint64_t look_ns, look_after_ns, rotate_ns;
	/* What the probes of all runs so far have taken, in random windows and elsewhere. */
	struct probe_time in_windows, elsewhere;
	struct probe_cost cost;
	/* of this run */
	struct {
		uint64_t began_ns, started_ns, wall_ns; /* started: CLOCK_REALTIME */
		uint64_t executed_from, probed_from, paused_from, executed_ns, probed_ns, paused_ns;
		uint64_t samples, kernel_from;
		struct probe_time windows; /* random ones */
		bool ended;
		struct fault_counts faults_from, faults;
	} run;
	struct thread_times threads;
	/* what the log has been told of */
	struct block_place *places;
	size_t n_places;
	/* of all runs */
	uint64_t n_runs, n_failed, n_not_started;
	double executed_ns, probed_ns;
	bool said_refused;
};

/* blocks_candidates.c: what samples have found so far. It reads files: no random window is to be
 * open. */
void candidates_begin(struct blocks *b);
void candidates_look(struct blocks *b);
void candidates_free(struct blocks *b);
/* Samples of its unit in this run. */
uint64_t candidate_samples(const struct blocks *b, const struct candidate *c);

/* blocks_slots.c */
void slots_init(struct blocks *b);
/* Gives slots to those that wait, the most significant first. @rotates: some give theirs to others.
 */
void slots_assign(struct blocks *b, bool rotates);
void slots_free(struct blocks *b); /* what they have counted is kept */

/* blocks_windows.c */
void windows_plan(struct blocks *b); /* for how much of the time each is watched */
/* Opens and closes what is due. *@due: when the next thing is. True: a random window is open. */
bool windows_step(struct blocks *b, uint64_t now, uint64_t *due);
void windows_begin(struct blocks *b, uint64_t now); /* of a run */
void windows_close(struct blocks *b);               /* all */
struct block_probe candidate_probe(const struct blocks *b, const struct candidate *c);
/* Takes one candidate out of all windows that are open. */
void windows_leave(struct blocks *b, size_t candidate);

#endif
