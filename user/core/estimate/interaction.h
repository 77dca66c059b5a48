/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two units at once: whether they depend on each other (docs/design.md, Two at once). All figures
 * are program speedups, shares of the time per visit that are saved, and so is the interaction:
 * what both gain less what each gains alone.
 */
#ifndef COZBPF_INTERACTION_H
#define COZBPF_INTERACTION_H

#include "core/estimate/estimate.h"

/* A figure and its 95 % interval. */
struct gain {
	double value, lo, hi;
};

enum dependence {
	DEPENDENCE_UNKNOWN, /* the interval holds 0 */
	DEPENDENCE_MORE,    /* both gain more than each alone */
	DEPENDENCE_LESS,
};

/* At a line speedup that was measured with each unit alone and with both. */
struct interaction_point {
	double line_speedup;
	struct gain first, second, both, interaction;
	/* what the second gains after the first, as a multiple of what it gains alone; NaN where it
	 * is not known to gain alone */
	struct gain worth;
	enum dependence dependence;
};

struct interaction {
	const struct estimate_line *first, *second, *both;
	struct interaction_point *points; /* by line speedup; the last one counts */
	size_t n_points;
};

struct interactions {
	struct interaction *items; /* in the order of the estimate's lines */
	size_t n;
};

/* @e must stay. Returns 0 or -ENOMEM. Couples without a common line speedup are left out. */
int interactions_init(struct interactions *x, const struct estimate *e);
void interactions_deinit(struct interactions *x);

/*
 * Two units that are worth measuring both at once: the leading two of the first progress point,
 * where each one's interval holds at least half of what the other gains. False: there are none, or
 * the estimate has a couple already.
 */
bool interaction_offer(const struct estimate *e, const struct estimate_line *ret[2]);

#endif
