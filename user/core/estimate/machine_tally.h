/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is left of each machine's experiments for holding machines against each other: a few sums
 * for each progress point, and for each line there. They are the same of experiments one by one and
 * of those that were added up (sums.h), where they are records of the profile. Pure.
 */
#ifndef COZBPF_MACHINE_TALLY_H
#define COZBPF_MACHINE_TALLY_H

#include "core/profile/profile.h"
#include "core/text/names.h"

struct observation;
struct observations;

#define NO_LINE UINT32_MAX

struct machine_entry {
	/* Ids below. NO_LINE: its speed. point: twice the id of its name, plus 1 for a latency. */
	uint32_t line, point, machine;
	uint32_t kind; /* the sum that it goes to */
	union {
		struct node_speed speed;
		struct node_gain gain;
	};
};

/* Names are borrowed from profiles. */
struct machine_table {
	struct names machines, points, lines;
	struct machine_entry *entries;
	size_t n;
};

/* A run of a machine, and a machine, at the progress point or line that is looked at. */
struct machine_run;
struct machine_sum;

/* Where observations are added. */
struct machine_tally {
	struct machine_table table;
	const struct profile *p;
	struct names members; /* machines, each once for each kind */
	uint32_t *by_run;     /* the member; UINT32_MAX: not known, or a sum */
	uint32_t *of_member, *kind_of_member;
	size_t *first; /* by run, and one more: of its experiments */
	struct machine_run *runs;
	struct machine_sum *sums;
	uint32_t *there; /* runs, or members, that have something in it */
};

/* @kinds: by run of @p, the sum that it goes to; NULL: all are one. Takes over what @p has of sums.
 * Returns 0 or -ENOMEM; machine_tally_deinit() is to be called in both cases. */
int machine_tally_init(struct machine_tally *t, const struct profile *p, const uint32_t *kinds);
void machine_tally_deinit(struct machine_tally *t);

/* Adds the baselines among the @n observations of one point, as they were measured. */
int machine_tally_speeds(struct machine_tally *t, const struct observations *o,
    struct observation *const *at_point, size_t n);
/* Adds the @n observations of one line and point, whose periods are chosen. */
int machine_tally_line(
    struct machine_tally *t, const struct observations *o, const struct observation *obs, size_t n);

/* Adds up what is of one machine, line, point and kind, in this order of line, point and kind. */
void machine_table_settle(struct machine_table *t);

/* Puts them, settled, into @p, as records. Where they are more than @most, the lines with fewest
 * experiments are left out. Returns 0 or -ENOMEM. */
int machine_table_put(const struct machine_table *t, size_t most, struct profile *p);

#endif
