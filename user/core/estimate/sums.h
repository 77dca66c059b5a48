/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums: what many runs are brought to when there are more experiments than memory is for. A sum is
 * an experiment record like others, of many experiments of one line, progress point and line
 * speedup. Periods are ratios of sums over experiments, so they stay what they are.
 */
#ifndef COZBPF_SUMS_H
#define COZBPF_SUMS_H

#include "core/profile/profile.h"

/* Sums of one cell: how far they differ tells its scatter. The quantile of Student's t that goes
 * with so many is 4 % above the normal one. */
#define SUM_PIECES 32

/*
 * Adds up all runs of @p, which was read; sums that it holds are added up further. One run is left
 * of each build and way of sampling. Returns 0, -ENOMEM, or -E2BIG where these are too many; then
 * @p is as it was.
 */
int profile_sum(struct profile *p);

#endif
