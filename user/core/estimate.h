/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimation: from a profile's records to program speedups, slopes, intervals and a ranking (design.md section 7; paper sections 3.2, 3.4).
 * Pure: the bootstrap's random source comes in as a seed.
 */
#ifndef COZBPF_ESTIMATE_H
#define COZBPF_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"

enum verdict { VERDICT_OPTIMIZE, VERDICT_CONTENTION, VERDICT_NO_EFFECT, VERDICT_NOT_ENOUGH_DATA };
enum sort_key { SORT_SLOPE, SORT_MAX, SORT_PAYBACK, SORT_IMPACT };

struct estimate_options {
	uint64_t seed;
	int replicates;	       /* of the bootstrap; 0: default */
	enum sort_key sort;
	int min_speedups;      /* speedups a line needs to be ranked; 0: 5, or as many as there are when the run used a fixed list */
};

/* One cell: one line, one progress point, one line speedup. Speedups are fractions. */
struct estimate_point {
	double line_speedup;
	double program_speedup;	    /* phase-corrected (3.4.4) */
	double raw_program_speedup; /* 1 - p_s / p_0 */
	double ci_lo, ci_hi;	    /* 95 % of program_speedup */
	uint64_t experiments, visits;
};

struct estimate_line {
	const char *line;     /* file:line, borrowed from the profile */
	const char *progress; /* borrowed */
	double slope, slope_lo, slope_hi; /* weighted regression through 0; 95 % */
	double max_speedup;		  /* the largest gain on the fitted curve within the speedups measured; never below 0 */
	double phase_factor;		  /* (t_obs / s_obs)(s / T), 1 when not applied */
	enum verdict verdict;
	struct estimate_point *points; /* by line_speedup; without the baseline */
	size_t n_points;
	uint64_t experiments, baselines, samples;
};

struct estimate {
	struct estimate_line *lines; /* in rank order; lines with not enough data last */
	size_t n_lines;
	size_t n_dropped; /* lines (x points) left out of the ranking: no baseline or too few speedups */
	uint64_t experiments, samples, lost, dropped_experiments;
	double runtime_s;
};

/* 0 or -ENOMEM. @ret borrows strings from @p. */
int estimate_profile(const struct profile *p, const struct estimate_options *o, struct estimate *ret);
void estimate_deinit(struct estimate *e);
const char *verdict_name(enum verdict v); /* "optimize", "contention", "no-effect", "not-enough-data" */

#endif
