// SPDX-License-Identifier: BSD-3-Clause
/* See probe_cost.h. */
#include "core/blocks/probe_cost.h"

#include <math.h>

/* The program itself is in the kernel for less than that part of its time, or nothing is told. */
#define MOST_IN_KERNEL 0.5
#define LEAST_FACTOR 0.3
#define MOST_FACTOR 3

static double square(double x)
{
	return x * x;
}

/*
 * Of the program's own time the part a is in the kernel, and all that probes take, f times what was
 * measured. So the time in the kernel is a x (executed - f x probed) + f x probed, in windows and
 * elsewhere: two equations for a and q = f x (1 - a). Samples are Poisson's at worst.
 */
struct probe_cost probe_cost_estimate(
    const struct probe_time *windows, const struct probe_time *elsewhere)
{
	struct probe_cost known = {1, PROBE_COST_ERROR};
	const struct probe_time *w = windows, *o = elsewhere;
	double samples = w->samples + o->samples,
	       period = samples > 0 ? (w->executed + o->executed) / samples : 0,
	       det = w->probed * o->executed - o->probed * w->executed, a, q, f, error, weight;

	if (det <= 0 || period <= 0)
		return known;
	q = period * (w->in_kernel * o->executed - o->in_kernel * w->executed) / det;
	a = period * (o->in_kernel * w->probed - w->in_kernel * o->probed) / det;
	if (a < 0)
		a = 0;
	if (a > MOST_IN_KERNEL)
		return known;
	f = fmin(fmax(q / (1 - a), LEAST_FACTOR), MOST_FACTOR);
	error = period *
		sqrt((w->in_kernel + 1) * square(o->executed) +
		     (o->in_kernel + 1) * square(w->executed)) /
		det / (1 - a);
	weight = square(PROBE_COST_ERROR) / (square(PROBE_COST_ERROR) + square(error));
	return (struct probe_cost){1 + weight * (f - 1), sqrt(weight) * error};
}
