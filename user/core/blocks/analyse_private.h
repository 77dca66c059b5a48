/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by analyse.c, pool.c, resample.c and slow.c. */
#ifndef COZBPF_BLOCKS_ANALYSE_PRIVATE_H
#define COZBPF_BLOCKS_ANALYSE_PRIVATE_H

#include "core/blocks/analyse.h"

/* Fewer runs tell neither an interval nor who is slow. */
#define LEAST_RUNS 3
#define LEAST_RUNS_SLOW 5

/* pool.c: the frequencies of a block in runs. 0 or -ENOMEM. */
int block_pool_runs(const struct block_analysis *a, struct block_in_run *in, uint32_t n);

/* resample.c: the intervals of a block. 0 or -ENOMEM. */
int block_resample(const struct block_analysis *a, struct block_result *r);

/* slow.c: the slow runs of a block, and what else differed. 0 or -ENOMEM. */
int block_find_slow(const struct block_analysis *a, struct block_result *r);

/* analyse.c */
double block_range_ns(enum block_range kind, double frequency, double min_ns, double max_ns);

#endif
