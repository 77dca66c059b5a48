/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of a run as a table (counters.def): how they add up, and how reports show them. */
#ifndef COZBPF_COUNTERS_H
#define COZBPF_COUNTERS_H

#include "core/profile/profile.h"

/*
 * CPU time that other programs take from the target hardly shortens its predictions: by 0.8 points
 * of 45 where they take a tenth (tests/unit/test_delay_sim.c). With more, the machine is too busy
 * to be trusted.
 */
#define OUTSIDERS_MANY 0.1

/* Of the CPU time wanted. From there on a fifth of the gain and more is added to intervals
 * (MISPLACED_TIMES in core/estimate/private.h). */
#define MISPLACED_MANY 0.02

enum counter_shown { COUNTER_UNSHOWN, COUNTER_LOSS, COUNTER_SHARE };

/* A row of counters.def, as reports need it. */
struct counter {
	size_t at; /* in struct run_record */
	enum counter_shown shown;
	const char *json; /* key in the JSON report; NULL: none */
	/* Of a loss. */
	bool always;            /* shown when it is 0, too */
	const char *one, *many; /* what follows the number */
	/* Of a share. */
	size_t rest; /* in struct run_record: what makes the whole, together with the counter */
	double most; /* from here on reports warn */
	const char *before, *after; /* of the share, in the warning */
};

extern const struct counter run_counters[];
extern const size_t n_run_counters;

uint64_t counter_value(const struct counter *c, const struct run_record *r);
/* Of the whole, 0 to 1; 0 where the counter is 0. */
double counter_share(const struct counter *c, const struct run_record *r);

/* Fills the counters of @ret with those of @now less those of @before, 0 where that is more. The
 * other members stay. */
void counters_since(
    const struct run_record *now, const struct run_record *before, struct run_record *ret);

/* Adds the counters and the time of @r. */
void run_add(struct run_record *to, const struct run_record *r);

/* Merges all runs: adds up counters and times. What a run began with is left 0, but for
 * fixed_speedups, of which it is the most. */
void runs_total(const struct profile *p, struct run_record *ret);

#endif
