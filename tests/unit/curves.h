/* SPDX-License-Identifier: BSD-3-Clause */
/* Curves made by hand, for what draws them: one that levels off, one that falls and one that is flat. */
#ifndef COZBPF_CURVES_H
#define COZBPF_CURVES_H

#include "core/estimate.h"

static struct estimate_point saturating[] = {
    {0.25, 0.2, 0.25, 0.18, 0.22, 6, 600},
    {0.5, 0.3, 0.375, 0.28, 0.32, 6, 640},
    {0.75, 0.3, 0.375, 0.27, 0.33, 6, 655},
    {1, 0.299, 0.374, 0.27, 0.325, 6, 701},
};
static struct estimate_point falling[] = {{0.25, -0.05, -0.05, -0.09, -0.01, 6, 600}, {0.5, -0.12, -0.12, -0.16, -0.08, 6, 600},
    {0.75, -0.2, -0.2, -0.24, -0.16, 6, 600}, {1, -0.31, -0.31, -0.36, -0.27, 6, 600}};
static struct estimate_point flat[] = {{0.25, 0, 0, -0.01, 0.01, 6, 600}, {0.5, 0.001, 0.001, -0.01, 0.012, 6, 600},
    {0.75, -0.002, -0.002, -0.02, 0.01, 6, 600}, {1, 0.003, 0.003, -0.01, 0.02, 6, 600}};

#endif
