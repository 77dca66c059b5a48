/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the plain samples of many runs, and the stacks, wakers and system calls of their waits.
 */
#ifndef COZBPF_SUM_SAMPLES_H
#define COZBPF_SUM_SAMPLES_H

#include "core/profile/profile.h"

/* Appends to @q, whose runs are there and whose names own all of its strings, the samples of @p.
 * @kinds, by run of @p: its run of @q. 0 or -ENOMEM. */
int sum_samples(const struct profile *p, const uint32_t *kinds, struct profile *q);

#endif
