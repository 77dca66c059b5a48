/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The off-line phase of `cozbpf blocks`: which blocks matter and vary (papers/002, algorithm 2), in
 * which runs they were slow, and what else differed in these. Pure. Times are ns of CPU time; what
 * is not known is NaN.
 */
#ifndef COZBPF_BLOCKS_ANALYSE_H
#define COZBPF_BLOCKS_ANALYSE_H

#include "core/blocks/blockread.h"

enum block_range {
	BLOCK_RANGE_RUN,  /* frequency x (maximum - minimum): what a run could vary by */
	BLOCK_RANGE_ONCE, /* maximum - minimum of one execution, as the paper has it */
};

struct block_analysis_options {
	double threshold_pct; /* of a run's CPU time */
	enum block_range range;
	bool failed; /* runs that failed count as well */
	uint64_t seed;
};

struct block_interval {
	double lo, hi;
};

/* A block in a run that counts. Runs of one command whose frequencies agree have one in common. */
struct block_in_run {
	uint32_t run;  /* index in block_analysis.runs */
	bool is_known; /* its frequency, by any run of the command: BLOCK_UNKNOWN */
	bool is_own;   /* its frequency does not agree with that of most runs */
	uint64_t timed;
	double frequency, frequency_se, share;
	double told;                   /* the frequency, as the run itself told it */
	double min_ns, avg_ns, max_ns; /* NaN where it was not timed */
	double time_ns;                /* in the run, by what it told; NaN likewise */
	bool is_sampled;               /* avg_ns is what samples tell: BLOCK_CERTAIN_NS */
};

enum block_feature {
	FEATURE_BLOCKED,
	FEATURE_RUNNABLE,
	FEATURE_SWITCHES,
	FEATURE_PREEMPTIONS,
	FEATURE_MIGRATIONS,
	FEATURE_MINOR_FAULTS,
	FEATURE_MAJOR_FAULTS,
	N_RUN_FEATURES,
	FEATURE_BLOCK = N_RUN_FEATURES, /* how often another block was executed */
};

/* What was otherwise in the slow runs, beyond chance. */
struct block_difference {
	enum block_feature feature;
	const struct block_place *other; /* FEATURE_BLOCK */
	double slow, usual;              /* medians of the slow runs, and of all others */
	double distance;                 /* in robust standard deviations of a run */
	double chance;                   /* that labels at random would show as much anywhere */
};

/* A command line, and how many of its runs were slow. */
struct block_input {
	const char *command;
	uint32_t slow, runs;
};

struct block_slow {
	uint32_t *runs; /* indices in block_analysis.runs, slowest first */
	size_t n;
	struct block_difference *differences; /* most distant first */
	size_t n_differences;
	struct block_input *inputs; /* of the slow runs, where not all runs had the same */
	size_t n_inputs;
	bool too_few; /* runs to tell a difference from chance */
};

#define BLOCK_QUANTILES 5 /* 5, 25, 50, 75 and 95 % */

struct block_result {
	const struct block_place *place;
	const struct block_in_run *in; /* runs that executed it, in their order */
	uint32_t n_in;
	bool is_known;   /* the frequency, in a run; else executed at least so often */
	bool is_counted; /* all the time, in each run: its frequency is no estimate */
	bool is_sampled; /* in a run: its average is the samples', its median is not told */
	uint64_t timed;
	double share; /* of a run's samples, mean */
	/* Algorithm 2: greatest, least, greatest, greatest of all runs. */
	double frequency, min_ns, avg_ns, max_ns;
	double significance_ns, range_ns;
	struct block_interval significance, range; /* 95 %, by resampling runs */
	bool is_reported;                          /* both reach the threshold */
	/* Of one execution: mean and median over all executions of all runs. */
	double mean_ns, typical_ns, quantiles[BLOCK_QUANTILES];
	double run_ns;  /* mean time in a run */
	double cost_ns; /* mean of frequency x (average - typical) in a run; 0 or more */
	struct block_slow slow;
};

struct block_analysis {
	const struct block_logs *logs;
	const struct block_read_run **runs; /* that count */
	size_t n_runs;
	const struct block_read_run **failed; /* that do not */
	size_t n_failed;
	bool has_cut;       /* no run succeeded, so those that were cut off count */
	size_t n_commands;  /* different ones, of the runs that count */
	uint32_t *commands; /* by run: which one it had */
	double cpu_ns;      /* mean of a run */
	double threshold_ns;
	struct block_analysis_options options;
	/* Reported ones first, then the others; by significance, and last those never timed. */
	struct block_result *results;
	size_t n_results, n_reported, n_timed;
	const struct block_result *nearest; /* to the thresholds, where none is reported */
	struct block_in_run *in_runs;       /* private */
};

/* Blocks that get intervals, and of these those whose slow runs are looked at. */
#define BLOCK_INTERVALS 200
#define BLOCK_DETAILED 30

/* 0 or -ENOMEM. @l has to stay. */
int block_analyse(
    const struct block_logs *l, const struct block_analysis_options *o, struct block_analysis *a);
void block_analysis_deinit(struct block_analysis *a);

/* Why the analysis has nothing to tell: 0: it has. -1 with @e (EXIT_NO_RESULT). That no block
 * reaches the threshold is an answer. */
int block_analysis_reason(const struct block_analysis *a, struct error *e);

/* Two probes take some 1.6 us, give or take a tenth. So the average of shorter executions is taken
 * from the block's share of the samples, which probes do not disturb. */
#define BLOCK_CERTAIN_NS 2000

/* How near a block is to being reported: 1 is there. */
double block_nearness(const struct block_analysis *a, const struct block_result *r);

/* Values of a figure over the runs, each with the number of runs that had it (paper, figure 3), by
 * value. Estimates and times are rounded to two digits, so that they meet. */
enum block_figure { FIGURE_FREQUENCY, FIGURE_MIN, FIGURE_AVERAGE, FIGURE_MAX, N_FIGURES };
struct block_value {
	double value;
	uint32_t runs;
};
/* @ret: room for n_in. Returns how many. */
size_t block_values(
    const struct block_result *r, enum block_figure figure, struct block_value *ret);

/* Reported blocks for experiments: what would be gained if each execution took the typical time? */
struct block_leader {
	const struct block_place *place;
	double mean_ns, typical_ns; /* of an execution */
	double cost_ns;             /* in a run */
	bool is_elsewhere;          /* not in the program itself, as a library's */
};
/* The first @n reported ones that would gain 5 % and more. Returns how many. */
size_t blocks_leading(const struct block_analysis *a, struct block_leader *ret, size_t n);

#endif
