/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimation: from a profile's records to program speedups, slopes, intervals and a ranking
 * (docs/design.md, The answer; paper 3.2, 3.4). Pure: the bootstrap's random numbers come from a
 * seed that the caller gives.
 */
#ifndef COZBPF_ESTIMATE_H
#define COZBPF_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/estimate/machines.h"
#include "core/estimate/waiting.h"
#include "core/text/errors.h"
#include "core/profile/profile.h"
#include "core/profile/wait_calls.h"

enum verdict { VERDICT_OPTIMIZE, VERDICT_CONTENTION, VERDICT_NO_EFFECT, VERDICT_NOT_ENOUGH_DATA };
/* Why a line has not enough data, or SHORT_NONE. */
enum shortage {
	SHORT_NONE,
	SHORT_BASELINE,    /* no baseline with enough visits */
	SHORT_VISITS,      /* no speedup with enough visits */
	SHORT_SPEEDUPS,    /* fewer speedups than need_speedups */
	SHORT_EXPERIMENTS, /* too few experiments to know their scatter: values, but no intervals */
	SHORT_INTERVAL,    /* the interval is too wide to say anything */
};
enum sort_key { SORT_SLOPE, SORT_MAX, SORT_PAYBACK, SORT_IMPACT };
#define N_SORT_KEYS 4

/* How a period is estimated; see cells.c. */
enum estimate_period { PERIOD_AUTO, PERIOD_DURATION, PERIOD_SPAN };

/* Of all reports of a profile, those at the end of its runs as well: they agree to the last digit.
 */
#define ESTIMATE_SEED 1

struct estimate_options {
	uint64_t seed;
	int replicates; /* of the bootstrap; 0: default */
	enum sort_key sort;
	/* speedups a line needs to be ranked; 0: 5, or as many as the run's fixed list has */
	int min_speedups;
	enum estimate_period period; /* PERIOD_AUTO but for tests and comparison */
	bool scatter_only;           /* for tests: intervals without the method's own error */
	bool waiting;                /* fill estimate.waiting, which only reports show */
	bool machines;               /* likewise estimate.machines */
};

/* One cell: one line, one progress point, one line speedup. Speedups are fractions. NaN where there
 * is no estimate. */
struct estimate_point {
	double line_speedup;
	/* phase-corrected (paper 3.4.4); for a named line: at the common share of the line
	 * (control.c) */
	double program_speedup;
	double raw_program_speedup; /* 1 - p_s / p_0, as measured */
	double ci_lo, ci_hi;        /* 95 % of program_speedup */
	uint64_t experiments, visits;
};

/* A figure and its 95 % interval; NaN where unknown. */
struct latency_figure {
	double value, lo, hi;
};

/* Latencies at one line speedup, ns of virtual time. */
struct latency_figures {
	struct latency_figure mean;          /* by Little's law */
	struct latency_figure p50, p90, p99; /* of the requests whose begin and end were matched */
	double pairs_mean;                   /* mean of the same requests; NaN: none */
	uint64_t pairs;
};

/* A latency point as the program is now, and whether its figures can be trusted. */
struct estimate_latency {
	const char *name; /* borrowed */
	struct latency_figures now;
	uint64_t experiments, arrivals, departures, pairs; /* in all experiments, of any speedup */
	/* ends without a begin, begins without an end, begins that we lost */
	uint64_t unmatched, abandoned, lost;
	double in_flight; /* mean number now */
	/* arrivals per departure less 1, when arrivals outrun departures for certain; else 0 */
	double growth;
	/* requests that were in flight before we looked, at least; from the smallest number in
	 * flight */
	int64_t missing;
};

/* times as wide; from there on reports say so */
#define NOISE_MANY 1.5

/* of the ends; with fewer matched, quantiles stand for only a part of the requests */
#define LATENCY_PAIRS_FEW 0.95

struct estimate_line {
	const char *line; /* file:line, or a function; borrowed from the profile */
	/* the function that holds the line, a unit of the profile, too; NULL: none is known */
	const char *function;
	bool is_function; /* it holds lines that were sampled */
	/* it is two other units of the profile at once (interaction.h); its samples are theirs */
	bool is_couple;
	struct wait_calls *calls; /* of waits; NULL: not known */
	/* the estimate of that function at this point, a line of the same array; NULL: none */
	const struct estimate_line *holder;
	const char *progress; /* borrowed */
	double slope, slope_lo,
	    /* weighted regression through 0, and its 95 % interval; NaN without an estimate */
	    slope_hi;
	/* that a line of slope 0 shows one as far from 0, by scatter alone; NaN without an
	 * estimate */
	double chance;
	/* degrees of freedom of its scatter; INFINITY: it has none; NaN without an estimate */
	double df;
	/* the largest gain on the fitted curve within the measured speedups; never below 0 */
	double max_speedup;
	double phase_factor; /* (t_obs / s_obs)(s / T); 1 when not applied */
	/* How far its experiments' periods at one line speedup differ, as a standard deviation
	 * relative to the period; how many times as wide intervals are by what is left of that as
	 * those of a steady program on a quiet machine (noise.c), 1 or more. NaN: not known. */
	double scatter, wider;
	enum verdict verdict;
	enum shortage shortage;
	bool is_latency; /* program speedup is then the saved share of the mean latency */
	/* of the baseline, then of each point; NULL: throughput */
	struct latency_figures *latencies;
	/* by line_speedup, without the baseline and without cells of too few visits */
	struct estimate_point *points;
	size_t n_points;
	/* its experiments at any speedup; its samples in the whole run */
	uint64_t experiments, samples;
	uint64_t baselines; /* experiments of speedup 0, on it or on others, that serve it */
	uint64_t visits;    /* in all experiments */
	/* by sort_key: lower end of the interval of the sorted figure; NaN without an estimate */
	double rank_keys[N_SORT_KEYS];
	double rank_key; /* for the chosen order */
};

struct estimate {
	/* in rank order, lines below the function that holds them; without enough data last */
	struct estimate_line *lines;
	size_t n_lines;
	size_t need_speedups; /* speedups above 0 that a line needed */
	/* lines (x points) left out of the ranking: no baseline or too few speedups */
	size_t n_dropped;
	uint64_t experiments, samples;
	struct run_record totals; /* the counters of all runs */
	/* builds: different ones; runs that do not name theirs count as none */
	size_t runs, builds;
	double runtime_s;
	struct estimate_latency *latencies; /* in the order of the profile */
	size_t n_latencies;
	struct waiting waiting;
	/* borrows names from the profile: no estimate that outlives its profile has it */
	struct machines machines;
	struct names names; /* private; its own copies of the strings: estimate_own_names() */
};

/* Returns 0 or -ENOMEM. @ret borrows strings from @p. */
int estimate_profile(
    const struct profile *p, const struct estimate_options *o, struct estimate *ret);
void estimate_deinit(struct estimate *e);

/* Copies all borrowed strings into @e, so that @e may outlive its profile. Returns 0 or -ENOMEM:
 * then @e still needs its profile. */
int estimate_own_names(struct estimate *e);

/* What its lines are, for sentences: "line", also where there is none yet or no estimate (NULL);
 * "function" where none of them is a line; or "unit". */
const char *estimate_unit(const struct estimate *e);

/* Returns 0 when at least one line has an estimate. Otherwise returns -1, and @err (EXIT_NO_RESULT)
 * says why and what to do. */
int estimate_reason(const struct profile *p, const struct estimate *e, struct error *err);

/* How many times as many experiments would tell, for a line of a known interval. Intervals narrow
 * with the root of their number. 1 or more. */
double estimate_times(const struct estimate_line *l);

/* Where whole runs are experiments, and no line of theirs has a verdict: how many more runs would
 * tell about the line with most samples. 0: there is a verdict, or nothing of the sort. */
uint64_t estimate_more_runs(const struct estimate *e);

/*
 * Whether an answer is there. A line could still lead its progress point if its interval reaches
 * above the highest lower end. The slope of every such line has to be known to within @half_width,
 * a fraction of program speedup. No line with a twentieth of the samples may lack data. Only the
 * width is looked at: stopping when a gain looks significant would bias the value.
 */
bool estimate_settled(const struct estimate *e, double half_width);

/*
 * Fills @ret, by line, with how much another experiment on it is wanted: WANTED_MIN to 1. Lines
 * whose function is not known to matter do not count.
 * - While lines with a twentieth of the samples lack data: these 1, all others WANTED_MIN.
 * - A line without a verdict: 1.
 * - A line that could still lead: as the square of its interval's width, which is the number of
 *   experiments that would make all widths equal.
 * - A line that is known not to lead: WANTED_MIN.
 * Returns 0 or -ENOMEM.
 */
#define WANTED_MIN 0.1
int estimate_wanted(const struct estimate *e, double *ret);

static inline bool estimate_same_point(const struct estimate_line *a, const struct estimate_line *b)
{
	return a->is_latency == b->is_latency && !strcmp(a->progress, b->progress);
}

/* Whether there is a verdict. */
bool estimate_is_decided(const struct estimate_line *l);
/* Whether the verdict is that a faster unit changes something. */
bool estimate_matters(const struct estimate_line *l);
/* Whether the line stands below its function in a ranking: the function has a verdict. */
bool estimate_is_below(const struct estimate_line *l);
/* Whether the line's function is known to have no effect, so nothing more is asked of the line. */
bool estimate_is_done_with(const struct estimate_line *l);
/* Samples of a line that has a verdict. Those of a line below its function are the function's. 0 of
 * a couple, and of a function that counts with what it calls: its samples are others', too. */
uint64_t estimate_decided_samples(const struct estimate_line *l);
/* Share of all samples that are in code with a verdict at the point of @first, of its own or of the
 * function's. */
double estimate_decided_share(const struct estimate *e, const struct estimate_line *first);

/* "optimize", "contention", "no-effect", "not-enough-data" */
const char *verdict_name(enum verdict v);
const char *sort_name(enum sort_key key); /* "slope", "max", "payback", "impact" */

#endif
