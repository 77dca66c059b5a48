/* SPDX-License-Identifier: BSD-3-Clause */
/* Curves made by hand, for the code that draws them: one levels off, one falls, one is flat; and
 * latencies. */
#ifndef COZBPF_CURVES_H
#define COZBPF_CURVES_H

#include <math.h>

#include "core/estimate/estimate.h"

static struct estimate_point saturating[] = {
    {0.25, 0.2, 0.25, 0.18, 0.22, 6, 600},
    {0.5, 0.3, 0.375, 0.28, 0.32, 6, 640},
    {0.75, 0.3, 0.375, 0.27, 0.33, 6, 655},
    {1, 0.299, 0.374, 0.27, 0.325, 6, 701},
};
static struct estimate_point falling[] = {{0.25, -0.05, -0.05, -0.09, -0.01, 6, 600},
    {0.5, -0.12, -0.12, -0.16, -0.08, 6, 600}, {0.75, -0.2, -0.2, -0.24, -0.16, 6, 600},
    {1, -0.31, -0.31, -0.36, -0.27, 6, 600}};
static struct estimate_point flat[] = {{0.25, 0, 0, -0.01, 0.01, 6, 600},
    {0.5, 0.001, 0.001, -0.01, 0.012, 6, 600}, {0.75, -0.002, -0.002, -0.02, 0.01, 6, 600},
    {1, 0.003, 0.003, -0.01, 0.02, 6, 600}};

/* Of a pair: at s = 0, and as its requests become shorter. */
static struct latency_figures queueing[] = {
    {{1.234e6, 1.2e6, 1.27e6}, {1.1e6, 1.05e6, 1.15e6}, {2.2e6, 2.1e6, 2.3e6},
	{9.99e6, 9e6, 11.2e6}, 1.24e6, 4000},
    {{1.08592e6, 1.05e6, 1.12e6}, {1e6, 0.95e6, 1.05e6}, {2e6, 1.9e6, 2.1e6}, {8e6, NAN, NAN},
	1.09e6, 4100},
    {{0.9e6, 0.88e6, 0.92e6}, {0.8e6, 0.78e6, 0.82e6}, {1.6e6, 1.5e6, 1.7e6}, {5e6, 4e6, 6e6},
	0.9e6, 4200},
    {{0.75e6, 0.7e6, 0.8e6}, {0.65e6, 0.6e6, 0.7e6}, {1.2e6, 1.1e6, 1.3e6}, {3e6, 2e6, 4e6}, 0.75e6,
	4300},
    {{0.6e6, 0.55e6, 0.65e6}, {0.5e6, 0.45e6, 0.55e6}, {0.9e6, 0.8e6, 1e6}, {1.5e6, 1e6, 2e6},
	0.6e6, 4400},
};

#endif
