/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether two progress points contradict each other: a line is worth making faster by the one, and
 * not by the other. Then one of them is no unit of the program's work. Pure.
 *
 * It is said of a line whose verdict is "optimize" at the one point, and "contention" or "no
 * effect" at the other. The intervals do not overlap, and the difference of the slopes is one that
 * chance does not explain. All such differences of a profile hold together with 95 %, as verdicts
 * of one point do (shares.h). Both slopes are of the same experiments, which makes their errors
 * alike and the difference surer than it is taken to be.
 */
#ifndef COZBPF_CONTRADICTION_H
#define COZBPF_CONTRADICTION_H

#include "core/estimate/estimate.h"

struct contradiction {
	/* One line at two progress points: worth it, not worth it. NULL: there is none. */
	const struct estimate_line *worth, *not_worth;
};

/* The one with the largest difference. Returns 0 or -ENOMEM. */
int estimate_contradiction(const struct estimate *e, struct contradiction *ret);

#endif
