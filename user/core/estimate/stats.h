/* SPDX-License-Identifier: BSD-3-Clause */
/* The little statistics that estimation needs: quantiles and tails of Student's distribution,
 * quantiles of samples. Pure. */
#ifndef COZBPF_STATS_H
#define COZBPF_STATS_H

#include <stddef.h>

#define NORMAL_975 1.959963984540054 /* 97.5 % quantile of the normal distribution */

/* 97.5 % quantile of Student's t with @df degrees of freedom, which need not be whole; below 1 they
 * count as 1; INFINITY: normal. */
double student_975(double df);

/* The probability that Student's t with @df degrees of freedom (1 or more, INFINITY: normal) is as
 * far from 0 as @t, on either side. By Wallace's approximation, scaled to be 5 % at student_975():
 * far out, and with few degrees, it is too high rather than too low. */
double student_chance(double t, double df);

/* The @k-th smallest (from 0) of @n values, which are reordered. */
double select_kth(double *values, size_t n, size_t k);

#endif
