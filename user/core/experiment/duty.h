/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When experiments may be made that are to take a small share of the time (--duty). Time is cut
 * into stretches, each of which has one series of experiments, at a random moment. The clock, and
 * what guards say, are the caller's. Times are ns of one clock that never goes back.
 */
#ifndef COZBPF_DUTY_H
#define COZBPF_DUTY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/experiment/rng.h"

/* A series has some ten experiments, so baselines are close to what is compared with them: */
#define DUTY_SERIES_NS 5000000000ULL
/* so many lengths of an experiment at least, each with its pick and its cooling off */
#define DUTY_EXPERIMENTS 12
/* with a larger share there is hardly a rest, and every reason to profile all the time */
#define DUTY_SHARE_MOST 0.5
/* one series in 139 hours */
#define DUTY_SHARE_LEAST 0.00001
/* after a guard's no, until it is asked again */
#define DUTY_RETRY_NS 1000000000ULL

enum duty_guard {
	DUTY_GUARD_OPEN, /* it has not answered yet */
	DUTY_GUARD_YES,
	DUTY_GUARD_NO,
};

enum duty_phase {
	DUTY_RESTS,
	/* the guard is to be asked */
	DUTY_ASKS,
	/* experiments are made, and the guard is asked again and again */
	DUTY_WORKS,
	/* the series is to end: the caller does that, and says duty_ended() */
	DUTY_ENDS,
};

struct duty {
	/* to be read */
	enum duty_phase phase;
	/* when the series begins, while it rests; when it ends, while it works */
	uint64_t due_ns;
	/* DUTY_ENDS: by the guard, so at once; else an experiment that is open may come to its end
	 */
	bool is_refused;
	/* series so far; the guard's noes; how long series took */
	uint64_t series, refusals, spent_ns;
	/* private */
	double share;
	struct rng rng;
	uint64_t from_ns, to_ns; /* the stretch */
	uint64_t began_ns, series_ns;
	uint64_t wanted_ns; /* length of the next series */
};

/* @share: of the time, DUTY_SHARE_LEAST to DUTY_SHARE_MOST. The first stretch begins at @now. */
void duty_init(struct duty *d, double share, uint64_t seed, uint64_t now);

/* Experiments last so long: the series of later stretches are long enough for some. */
void duty_plan(struct duty *d, uint64_t experiment_ns);

/*
 * What is to be at @now. @guard: what it says now, which counts in DUTY_ASKS and DUTY_WORKS alone.
 * *@ret_due: when to ask again, at the latest; UINT64_MAX: when the guard has answered. A series
 * that cannot be made in its stretch any more is left out.
 */
enum duty_phase duty_step(struct duty *d, enum duty_guard guard, uint64_t now, uint64_t *ret_due);

/* The series is over. One that took longer than planned makes its stretch longer, so that in every
 * stretch the share is kept. */
void duty_ended(struct duty *d, uint64_t now);

#endif
