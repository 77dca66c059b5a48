/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A chance of being wrong, divided among the lines of a progress point, so that what is said of all
 * of them holds together. Of sixty lines without effect three have a 95 % interval that misses 0.
 * Each has a share (Bonferroni) in proportion to its samples, which is how much it can matter: a
 * line with a thousandth of the samples can gain that times the number of CPUs at most, and needs
 * evidence to match. Pure.
 */
#ifndef COZBPF_SHARES_H
#define COZBPF_SHARES_H

#include <stdint.h>

#include "core/text/names.h"

/* Zeroed is empty. */
struct shares {
	struct names points;
	double *all; /* by id of the point: what its lines weigh together */
	size_t room;
};

/* A line more of which something may be said. @progress must stay. 0 or -ENOMEM. */
int shares_add(struct shares *s, const char *progress, uint64_t samples);

/* The chance of being wrong by scatter alone that what is said of a line may have; the line has
 * been added. */
double shares_chance(const struct shares *s, const char *progress, uint64_t samples);

void shares_deinit(struct shares *s);

#endif
