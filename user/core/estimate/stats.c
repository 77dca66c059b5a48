// SPDX-License-Identifier: BSD-3-Clause
/* The little statistics that estimation needs; see stats.h. */
#include "core/estimate/stats.h"

#include <math.h>

/* Hill's expansion (CACM algorithm 396) for a two-sided probability of 5 %: within 0.1 % from 3
 * degrees of freedom on. */
static double hill_975(double df)
{
	const double p = 0.05;
	double a = 1 / (df - 0.5), b = 48 / (a * a);
	double c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
	double d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * M_PI_2) * df;
	double x = d * p, y = pow(x, 2 / df);

	if (y > 0.05 + a) {
		x = -NORMAL_975;
		y = x * x;
		if (df < 5)
			c += 0.3 * (df - 4.5) * (x + 0.6);
		c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c;
		y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
		y = a * y * y;
		y = y > 0.002 ? expm1(y) : 0.5 * y * y + y;
	} else {
		y = ((1 / (((df + 6) / (df * y) - 0.089 * d - 0.822) * (df + 2) * 3) +
			 0.5 / (df + 4)) *
			    y -
			1) *
			(df + 1) / (df + 2) +
		    1 / y;
	}
	return sqrt(df * y);
}

double student_975(double df)
{
	/* Exact at 1 and 2, where the expansion is poor; linear in 1/df between them. */
	static const double exact[] = {12.706204736, 4.302652730, 3.182446305};

	if (!(df > 1))
		return exact[0];
	if (isinf(df))
		return NORMAL_975;
	if (df >= 3)
		return hill_975(df);
	if (df >= 2)
		return exact[2] + (exact[1] - exact[2]) * (1 / df - 1.0 / 3) / (1.0 / 2 - 1.0 / 3);
	return exact[1] + (exact[0] - exact[1]) * (1 / df - 1.0 / 2) / (1.0 / 2);
}

static double wallace(double t, double df)
{
	return isinf(df) ? t : (8 * df + 1) / (8 * df + 3) * sqrt(df * log1p(t * t / df));
}

double student_chance(double t, double df)
{
	t = fabs(t);
	df = fmax(df, 1);
	return erfc(M_SQRT1_2 * NORMAL_975 * wallace(t, df) / wallace(student_975(df), df));
}

double select_kth(double *v, size_t n, size_t k)
{
	size_t lo = 0, hi = n - 1;

	/* Hoare's selection. The middle as pivot keeps sorted input fast. */
	while (lo < hi) {
		double pivot = v[lo + (hi - lo) / 2];
		size_t i = lo, j = hi;

		for (;;) {
			while (v[i] < pivot)
				i++;
			while (pivot < v[j])
				j--;
			if (i >= j)
				break;
			double t = v[i];

			v[i++] = v[j];
			v[j--] = t;
		}
		/* Everything up to j is <= pivot, everything after it >= pivot. */
		if (k <= j)
			hi = j;
		else
			lo = j + 1;
	}
	return v[lo];
}

double median(double *values, size_t n)
{
	double upper = select_kth(values, n, n / 2);

	return n % 2 ? upper : (upper + select_kth(values, n, n / 2 - 1)) / 2;
}
