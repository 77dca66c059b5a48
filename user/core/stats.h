/* SPDX-License-Identifier: BSD-3-Clause */
/* The little statistics that estimation needs: quantiles of Student's distribution and of samples. Pure. */
#ifndef COZBPF_STATS_H
#define COZBPF_STATS_H

#include <stddef.h>

#define NORMAL_975 1.959963984540054 /* 97.5 % quantile of the normal distribution */

/* 97.5 % quantile of Student's t with @df degrees of freedom, which need not be whole; below 1 they count as 1. */
double student_975(double df);

/* The @k-th smallest (from 0) of @n values, which are reordered. */
double select_kth(double *values, size_t n, size_t k);

#endif
