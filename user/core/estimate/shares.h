/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A chance of being wrong, divided among the lines of a progress point, so that all statements
 * about them hold together. Of sixty lines without effect three have a 95 % interval that misses 0.
 * Each line's share (Bonferroni) is in proportion to its samples, which is how much it can matter.
 * A line with a thousandth of the samples can gain that times the number of CPUs at most, and needs
 * evidence to match. Pure.
 */
#ifndef COZBPF_SHARES_H
#define COZBPF_SHARES_H

#include <stdint.h>

#include "core/text/names.h"

/* Zeroed is empty. */
struct shares {
	struct names points;
	double *all; /* by id of the point: sum of its lines' weights */
	size_t room;
};

/* Adds a line about which something may be said. @progress must stay. Returns 0 or -ENOMEM. */
int shares_add(struct shares *s, const char *progress, uint64_t samples);

/* The chance that a statement about a line, added before, may be wrong by scatter alone. */
double shares_chance(const struct shares *s, const char *progress, uint64_t samples);

void shares_deinit(struct shares *s);

#endif
