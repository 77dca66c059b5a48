/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machines that ran one program, held against each other: which is slower or faster at a progress
 * point, and on which a line that gains elsewhere does not matter. Only what is beyond chance.
 * A machine is what profiles call a node. Nodes among which one program is spread (--peers) are
 * another thing: there one profile stands for all. Pure.
 */
#ifndef COZBPF_MACHINES_H
#define COZBPF_MACHINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A machine at a progress point. */
struct machine_speed {
	uint32_t machine;     /* into machines.names */
	const char *progress; /* borrowed from the profile */
	bool is_latency;
	uint64_t baselines; /* experiments */
	/* Its time per visit by that of the median machine, less 1, and the 95 % interval of that.
	 * NaN: too few baselines to tell. */
	double slower, lo, hi;
	/* Of only two that are known, the other one is the reference; else UINT32_MAX. */
	uint32_t other;
	bool differs; /* beyond chance, and by enough to matter */
};

/* A machine at a line that gains in all of them together. */
struct machine_line {
	uint32_t machine;
	const char *line, *progress; /* borrowed from the profile */
	bool is_latency;
	double slope, lo, hi; /* there, with its 95 % interval */
	double others;        /* slope of all others together */
	/* Beyond chance it is less than that of the others, and 0 is in its interval or not far. */
	bool no_effect;
};

/* Zeroed is empty. */
struct machines {
	const char **names; /* borrowed from the profile */
	size_t n;           /* fewer than 2: nothing else is there */
	/* by progress point, then the slowest first; those that are not known last */
	struct machine_speed *speeds;
	size_t n_speeds;
	/* by line and progress point; machines with too few experiments on it are not there */
	struct machine_line *lines;
	size_t n_lines;
};

struct estimate;
struct machine_table;

/* Fills @ret from @t, with the lines of @e that gain. Returns 0 or -ENOMEM. */
int machines_init(struct machines *ret, const struct machine_table *t, const struct estimate *e);
void machines_deinit(struct machines *m);

#endif
