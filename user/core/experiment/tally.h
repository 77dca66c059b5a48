/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress points of an experiment: from the readings at its opening and its close to its
 * records. Length and settling time follow the latencies seen. */
#ifndef COZBPF_TALLY_H
#define COZBPF_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/experiment/readings.h"
#include "core/profile/profile.h"

/* What is known of a point from before. */
struct tally_point {
	uint64_t visits_at_open, paced_at_open, fed_at_open;
	/* most visits of the last experiment were paced from outside */
	bool is_paced;
	/* period of the timer that fed them; 0: none did */
	uint64_t pace_ns;
	/* Of begins, as a run began that is not the first: earlier runs took these with them. */
	int64_t in_flight_before;
	int64_t doubtful_before;
	/* of begins, up to the last record */
	uint64_t unmatched, abandoned, lost;
};

struct tally {
	struct tally_point points[COZBPF_POINTS];
	/* points that were there when the experiment opened */
	unsigned n_open;
	/* mean latency of late, of the slowest pair; 0: none */
	uint64_t latency_ns;
	unsigned runs; /* that have begun */
};

/* A run begins. */
void tally_begin(struct tally *t, const struct readings *in);
/* An experiment opens. */
void tally_open(struct tally *t, const struct readings *in);

/* Visits to the most visited point since the session began. */
uint64_t tally_most_visits(const struct readings *in);

/* How long an experiment has to settle, and to last, where latencies are as of late: no less than
 * @least. */
uint64_t tally_settle_ns(const struct tally *t, uint64_t least);
uint64_t tally_length_ns(const struct tally *t, uint64_t least);

/* A window in virtual time, from V0 on. */
struct tally_window {
	uint64_t duration_ns;
	/* in real time, from the opening on: visits that are paced count in it */
	uint64_t real_ns;
	/* width of a bucket is 1 << shift ns */
	unsigned shift;
};
/* Fills points and n_points of @x, one record for a pair. Without memory there are none. */
void tally_close(struct tally *t, const struct readings *in, const struct tally_window *window,
    struct experiment_record *x);
/* Likewise of an experiment that is a whole run: the run is the visit. */
void tally_whole(struct experiment_record *x);

#endif
