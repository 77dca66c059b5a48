/* SPDX-License-Identifier: BSD-3-Clause */
/* The statistics that estimation needs: quantiles and tails of Student's distribution, quantiles of
 * samples. Pure. */
#ifndef COZBPF_STATS_H
#define COZBPF_STATS_H

#include <stddef.h>

#define NORMAL_975 1.959963984540054 /* 97.5 % quantile of the normal distribution */

/* 97.5 % quantile of Student's t with @df degrees of freedom, whole or not. Below 1 they count as
 * 1; INFINITY is the normal distribution. */
double student_975(double df);

/* The probability that Student's t is as far from 0 as @t, on either side. @df: 1 or more, or
 * INFINITY for normal. Wallace's approximation, scaled to be 5 % at student_975(). Far out, and
 * with few degrees, it is too high rather than too low. */
double student_chance(double t, double df);

/* The @k-th smallest (from 0) of @n values, which are reordered. */
double select_kth(double *values, size_t n, size_t k);
/* Of @n values, 1 or more, which are reordered. */
double median(double *values, size_t n);

#endif
