/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimation: from a profile's records to program speedups, slopes, intervals and a ranking
 * (design.md section 7; paper sections 3.2, 3.4). Pure: the bootstrap's random source comes in as a
 * seed.
 */
#ifndef COZBPF_ESTIMATE_H
#define COZBPF_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/text/errors.h"
#include "core/profile/profile.h"

enum verdict { VERDICT_OPTIMIZE, VERDICT_CONTENTION, VERDICT_NO_EFFECT, VERDICT_NOT_ENOUGH_DATA };
/* Why a line has not enough data, or SHORT_NONE. */
enum shortage {
	SHORT_NONE,
	SHORT_BASELINE,    /* no baseline with enough visits */
	SHORT_VISITS,      /* no speedup with enough visits */
	SHORT_SPEEDUPS,    /* fewer speedups than need_speedups */
	SHORT_EXPERIMENTS, /* too few experiments to know how far they scatter: values, but no
			      intervals */
	SHORT_INTERVAL,    /* an interval that is too wide to say anything */
};
enum sort_key { SORT_SLOPE, SORT_MAX, SORT_PAYBACK, SORT_IMPACT };
#define N_SORT_KEYS 4

/* How a period is estimated; see user/core/estimate/cells.c. */
enum estimate_period { PERIOD_AUTO, PERIOD_DURATION, PERIOD_SPAN };

struct estimate_options {
	uint64_t seed;
	int replicates; /* of the bootstrap; 0: default */
	enum sort_key sort;
	int min_speedups; /* speedups a line needs to be ranked; 0: 5, or as many as there are when
			     the run used a fixed list */
	enum estimate_period period; /* for tests and comparison; PERIOD_AUTO otherwise */
	bool scatter_only;           /* for tests: intervals without the method's own error */
};

/* One cell: one line, one progress point, one line speedup. Speedups are fractions. What could not
 * be estimated is NaN. */
struct estimate_point {
	double line_speedup;
	double program_speedup; /* phase-corrected (3.4.4); of a line that was named: at the common
				   share of the line (core/estimate/control.c) */
	double raw_program_speedup; /* 1 - p_s / p_0, of what was measured */
	double ci_lo, ci_hi;        /* 95 % of program_speedup */
	uint64_t experiments, visits;
};

/* A figure and its 95 % interval; NaN where it is not known. */
struct latency_figure {
	double value, lo, hi;
};

/* Latencies of one line speedup, ns of virtual time. */
struct latency_figures {
	struct latency_figure mean;          /* by Little's law */
	struct latency_figure p50, p90, p99; /* of the requests whose begin and end were matched */
	double pairs_mean;                   /* likewise; NaN: none */
	uint64_t pairs;
};

/* A latency point as the program is now, and whether its figures are to be trusted. */
struct estimate_latency {
	const char *name; /* borrowed */
	struct latency_figures now;
	uint64_t experiments, arrivals, departures, pairs; /* in all experiments, of any speedup */
	uint64_t unmatched, abandoned,
	    lost;         /* ends without a begin, begins without an end, begins lost to us */
	double in_flight; /* now, mean number */
	double growth;    /* arrivals per departure less 1, when arrivals outrun departures for
			     certain; else 0 */
	int64_t missing;  /* requests in flight before we looked, at least: taken from the smallest
			     number in flight */
};

/* of the ends: with fewer matched, quantiles stand for a part of the requests only */
#define LATENCY_PAIRS_FEW 0.95

struct estimate_line {
	const char *line;     /* file:line, borrowed from the profile */
	const char *progress; /* borrowed */
	double slope, slope_lo,
	    slope_hi;  /* weighted regression through 0; 95 %; NaN where not estimated */
	double chance; /* that a line of slope 0 shows one as far from 0, by scatter alone; NaN
			  where not estimated */
	double df; /* degrees of freedom by which its scatter is known; INFINITY: it has none; NaN
		      where not estimated */
	double max_speedup;  /* the largest gain on the fitted curve within the speedups measured;
				never below 0 */
	double phase_factor; /* (t_obs / s_obs)(s / T), 1 when not applied */
	enum verdict verdict;
	enum shortage shortage;
	bool is_latency; /* program speedup is then the share of the mean latency that is saved */
	struct latency_figures
	    *latencies; /* of the baseline, then of each point; NULL: throughput */
	struct estimate_point
	    *points; /* by line_speedup; without the baseline and without cells of too few visits */
	size_t n_points;
	uint64_t experiments,
	    samples;        /* its experiments of all speedups; samples of the whole run */
	uint64_t baselines; /* experiments of speedup 0, on it or on others, that tell about it */
	uint64_t visits;    /* in all experiments */
	double rank_keys[N_SORT_KEYS]; /* by sort_key: lower end of the interval of what is sorted
					  by; NaN where not estimated */
	double rank_key;               /* that of the order asked for */
};

struct estimate {
	struct estimate_line *lines; /* in rank order; lines with not enough data last */
	size_t n_lines;
	size_t need_speedups; /* speedups above 0 that a line had to have */
	size_t n_dropped;     /* lines (x points) left out of the ranking: no baseline or too few
				 speedups */
	uint64_t experiments, samples;
	struct run_record totals; /* the counters of all runs */
	size_t runs, builds;      /* builds: different ones; of runs that do not say theirs, none */
	double runtime_s;
	struct estimate_latency *latencies; /* in the order of the profile */
	size_t n_latencies;
};

/* 0 or -ENOMEM. @ret borrows strings from @p. */
int estimate_profile(
    const struct profile *p, const struct estimate_options *o, struct estimate *ret);
void estimate_deinit(struct estimate *e);

/* 0 when at least one line could be estimated, else -1 and @err (EXIT_NO_RESULT) says why not and
 * what to do. */
int estimate_reason(const struct profile *p, const struct estimate *e, struct error *err);

/*
 * Whether an answer is there: of every line that could still be the leading one of its progress
 * point (its interval reaches above the highest lower end) the slope is known to within
 * @half_width, a fraction of program speedup, and no line with a twentieth of the samples lacks
 * data. The width is looked at, never the value, so that stopping here leans to no value (a run
 * that stops when a gain looks significant does).
 */
bool estimate_settled(const struct estimate *e, double half_width);

/*
 * Fills @ret, by line, with how much another experiment on it is wanted, from WANTED_MIN to 1: in
 * full where it lacks data; among the lines that could still be the leading one as the square of
 * the interval's width (the number of experiments that would make all of them equally wide); least
 * where it is known not to lead. As long as lines with a twentieth of the samples lack data the
 * others get a quarter of that. 0 or -ENOMEM.
 */
#define WANTED_MIN 0.1
int estimate_wanted(const struct estimate *e, double *ret);

static inline bool estimate_same_point(const struct estimate_line *a, const struct estimate_line *b)
{
	return a->is_latency == b->is_latency && !strcmp(a->progress, b->progress);
}

const char *verdict_name(
    enum verdict v); /* "optimize", "contention", "no-effect", "not-enough-data" */
const char *sort_name(enum sort_key key); /* "slope", "max", "payback", "impact" */

#endif
