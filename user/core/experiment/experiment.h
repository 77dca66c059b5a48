/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The experiments of a session as a state machine: a sample picks a line, an experiment on it
 * opens, closes and makes a record, and the target cools off. The machine knows no clock and no
 * kernel: it is told the time and the readings, and answers what is to be done and when to ask
 * again.
 */
#ifndef COZBPF_EXPERIMENT_H
#define COZBPF_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/experiment/baseline.h"
#include "core/experiment/choice.h"
#include "core/experiment/length.h"
#include "core/experiment/readings.h"
#include "core/experiment/tally.h"
#include "core/experiment/verdict.h"
#include "core/profile/profile.h"

struct experiment_options {
	uint64_t seed;
	/* CPU time between samples */
	uint64_t period_ns;
	/* the user's length of an experiment; 0: none was given */
	uint64_t length_ns;
	/* the user's; NULL: none were given */
	const unsigned *speedups_pct;
	size_t n_speedups;
	/* the user's line; 0: lines come from samples */
	uint32_t fixed_line;
	/* a second one, and the unit that both are; 0: there is none */
	uint32_t fixed_other, couple;
	/* a run is one experiment, and so many are to come */
	bool end_to_end;
	uint64_t runs;
	/* lines that get a samples record: ids below this one */
	size_t lines_room;
};

/* What the caller is to do. */
enum experiment_action {
	EXPERIMENT_NONE,
	/* ask the kernel side for a line */
	EXPERIMENT_ASK,
	/* open one as `opening` says */
	EXPERIMENT_OPEN,
	/* read the lines once more: experiment_split() */
	EXPERIMENT_SPLIT,
	/* close it: experiment_close() */
	EXPERIMENT_CLOSE,
	/* the target has cooled off: no thread is in a pause until the next opening */
	EXPERIMENT_COOLED,
};

enum experiment_phase { PHASE_IDLE, PHASE_ASK, PHASE_PICK, PHASE_OPEN, PHASE_COOL };

/* Private but for what is said to be read. */
struct experiment {
	struct choice choice;
	struct length length;
	struct tally tally;
	struct baseline baseline;
	/* to be read */
	struct verdicts verdicts;
	uint64_t period_ns;
	enum experiment_phase phase;
	/* of the phase; read while an experiment is open */
	uint64_t deadline_ns;
	/* of the experiment that is open or was the last one; to be read */
	struct opening opening;
	uint64_t planned_ns;
	uint64_t visits_at_open, visits_at_deadline;
	/* until when an experiment is drawn out that has no window yet */
	uint64_t extended_ns;
	/* its length is over: it closes with the next visit, at give_up_ns at the latest */
	bool is_closing;
	uint64_t give_up_ns;
	/* why the open experiment does not count, as far as is known yet */
	enum spoilt spoilt;
	/* it is closed by a pause or by the end: nothing was wrong, yet it does not count */
	bool is_cut;
	/* no experiments for a while; to be read */
	bool is_paused;
	/* when the run began; how long the runs before it took, with what lies between them */
	uint64_t started_ns, ran_ns;
	/* Of the run, to be read: experiments that were spoilt, time in experiments with a speedup.
	 */
	uint64_t dropped, delayed_ns;
};

/* 0, or -EINVAL for a list of speedups that schedule_init() refuses. */
int experiment_init(struct experiment *x, const struct experiment_options *o);
void experiment_deinit(struct experiment *x);

/* A run begins. End-to-end its experiment opens at once, where there is a line. */
enum experiment_action experiment_begin(
    struct experiment *x, const struct readings *in, uint64_t now);

/*
 * What is to be done at @now. When that is done, the caller asks again with new readings: at once
 * while *@ret_due is not above @now, else at *@ret_due.
 */
enum experiment_action experiment_step(
    struct experiment *x, const struct readings *in, uint64_t now, uint64_t *ret_due);

/* After EXPERIMENT_SPLIT; @now is when the lines were read. */
void experiment_split(struct experiment *x, const struct readings *in, uint64_t now);

/*
 * After EXPERIMENT_CLOSE, with readings of after the close. Whether the experiment counts: then
 * @ret is filled but for its line and its run, and the caller owns what is in it.
 */
bool experiment_close(struct experiment *x, const struct snapshot *snap, const struct readings *in,
    struct experiment_record *ret);

/* The run ends. An experiment that is open does not count: its last visits may belong to the
 * program's winding up. End-to-end it counts if the target has ended by itself. */
enum experiment_action experiment_end(struct experiment *x, bool target_ended);

/* No experiments for a while: the target runs without delays. Not end-to-end. */
enum experiment_action experiment_pause(struct experiment *x);
void experiment_resume(struct experiment *x, uint64_t now);

/* The experiment that is open will not count: something outside has disturbed it. */
void experiment_spoil(struct experiment *x, enum spoilt why);

/* An experiment of another node has been closed here: what it was is that node's to know. */
void experiment_followed(struct experiment *x, const struct snapshot *snap, unsigned speedup_pct);

/* Which lines the estimate so far wants experiments on. Takes @wanted over, which is from
 * malloc(). */
void experiment_want(struct experiment *x, struct wanted *wanted, size_t n);

static inline bool experiment_is_open(const struct experiment *x)
{
	return x->phase == PHASE_OPEN;
}

/* Whether most visits of a point were paced from outside, in the last experiment. */
bool experiment_is_paced(const struct experiment *x, unsigned point);
/* Period of the timer that fed them then; 0: none did. */
uint64_t experiment_pace_ns(const struct experiment *x, unsigned point);

#endif
