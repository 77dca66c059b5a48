/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of estimation share: experiments as observations, cells of equal speedup, groups
 * of one line and one progress point. */
#ifndef COZBPF_ESTIMATE_PRIVATE_H
#define COZBPF_ESTIMATE_PRIVATE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/estimate/estimate.h"
#include "core/estimate/machine_tally.h"
#include "core/text/names.h"
#include "core/experiment/rng.h"

/* visits that a cell needs over all its experiments, as Coz's viewer and the paper ask */
#define MIN_VISITS 5
/* an interval near 0 that is wider, or reaches farther, says: more experiments are needed */
#define NO_EFFECT_WIDTH 0.10
/* of a run, or a machine, at a point; the variance of its period is then known to a half */
#define MIN_BASELINES 8
#define MIN_RUN_VISITS 40
#define MIN_RUNS_OF_RATE 2 /* a visit is a whole run, end-to-end; each of them counts */
/*
 * By so much of the gain the method itself errs (docs/accuracy.md, *What is in an interval*). The
 * causes are delays that come a little late, what a pause costs besides its time, and shares that
 * move. It is proportional to the gain, so no gain's sign hangs on it.
 */
#define METHOD_ERROR 0.13

/* Where threads wait beside an idle CPU the kernel decides how fast the program is. Both figures
 * are of two CPUs (docs/accuracy.md, *What is in an interval*). */
#define MISPLACED_TIMES 10
#define MISPLACED_MOST 0.3

/* Of the share of the CPU time that outsiders had: the thread whose visits count may wait for
 * outsiders twice as long as threads do on the average. */
#define OUTSIDERS_TIMES 2
/* So much of the gain at most: predictions erred by no more where outsiders had half of the time.
 */
#define OUTSIDERS_MOST 0.25

/* One progress point in one experiment. A latency point makes two of them: its ends, which are
 * visits like others, and its latency. */
struct observation {
	/* line: id of a name; point: twice the id of its name, plus 1 for a latency */
	uint32_t line, point;
	uint32_t permille;   /* line speedup */
	uint32_t run, index; /* index: of the experiment in the profile */
	uint32_t piece;      /* those of a piece are of the same experiments */
	bool fixed, is_sum;
	double experiments, own; /* 1, or those in the sum (sums.h); own: of the line */
	double duration, delta;  /* as recorded */
	double span, span_delta; /* 0 where unknown */
	double visits;           /* bursts where known */
	double samples;          /* of the group's line */
	double line_time;        /* executed by the line while visits counted; below 0: unknown */
	double loop;             /* mean time of the fixed loop; below 0: unknown */
	double beside;    /* by which factor experiments beside it were slower; below 0: unknown */
	double outsiders; /* share of the time that they took, over 1 on many CPUs; below 0: unknown
			   */
	double sampled;   /* time in which samples were counted */
	/* what the period is made of: duration and delta, span and span_delta, or requests in
	 * flight x time and arrivals */
	double time, count;
	/* the variance of time - period x count is in proportion to it: time; for a latency the
	 * duration */
	double exposure;
	double in_flight; /* requests in flight x duration */
	double weight;    /* in its cell; 1 except for baselines that several lines share */
	double raw_time;  /* time before observations_control() */
	double widen;     /* factor for its residual, for what observations_control() fitted */
	const struct point_record *record;
};

struct observations {
	struct observation *items; /* sorted by line, point, fixed, permille, index */
	size_t n;
	struct names lines, points;
};

/* How periods follow the time that the line has per visit; all 0 where they do not. */
struct control {
	double x, x_error; /* the mean of that time, and its standard error */
	double b0, b1;     /* a period has b0 + b1 s for each unit of that time, at the speedup s */
};

/* One line speedup of a group. */
struct cell {
	const struct observation *obs;
	size_t n;
	double speedup;               /* fraction */
	double time, count, exposure; /* weighted sums */
	double visits, experiments;   /* unweighted */
	double period;                /* time / count */
	double raw_period;            /* period before observations_control() */
	bool is_weighted;             /* not all weights are 1 */
	/* The number and the time of unweighted observations with the same scatter. Without weights
	 * they are n and time. */
	double effective_n, effective_time;
};

/* One line and one progress point. cells[0] is the baseline when has_baseline is set. Only cells
 * with enough visits are there. */
struct group {
	const char *line, *progress;
	uint32_t line_id;
	bool end_to_end, is_latency;
	bool is_fixed; /* the user named the line */
	/* those used: the baselines that serve the line, then its own experiments at other
	 * speedups */
	struct observation *obs;
	size_t n;
	uint64_t experiments; /* the line's own */
	struct cell *cells;
	size_t n_cells;
	bool has_baseline;
	double visits;      /* in the line's own experiments */
	uint64_t baselines; /* observations of speedup 0, enough visits or not */
	uint64_t served;    /* experiments of these */
	struct control control;
	double doubtful;  /* share of the time, by observations_trust() */
	double outsiders; /* their share of the CPU time wanted, in all runs */
	double misplaced; /* the share of it for which threads waited beside an idle CPU */
	double phase;     /* factor as applied */
	/* For the bootstrap of the factor, when there is one. */
	bool has_phase;
	const bool *phase_runs; /* by run: its baselines are in the factor; borrowed */
	size_t phase_baselines; /* so many */
	double phase_rate;      /* the line's samples per ns in its baselines */
	double phase_unclamped; /* the factor before it was limited to 1 */
};

/* How far runs differ: a sum of squares until it is known, then a variance, relative to the mean of
 * those that should be equal. */
struct spread {
	double variance, df;
};

/* Experiments that are whole runs of the command; see core/estimate/whole_runs.c. */
struct whole_runs {
	struct cell baseline; /* those without a speedup, on any line; n 0: there are none */
	struct spread baselines, speedups;
	bool is_shared; /* both spreads are one estimate */
};

/* Samples and delay-free time per line over all runs, for phase correction. */
struct phase_totals {
	const bool *run_counts;     /* by run: whether it recorded delay-free time */
	const double *free_samples; /* by line id */
	double free_time;           /* ns */
};

/* How much of a baseline's opening a line has. */
struct served_baseline {
	uint32_t line, index; /* index: of the experiment in the profile */
	double weight, samples, sampled;
};

/* A line that a run's baselines refer to by id. */
struct named {
	uint32_t run, id, line;
};

/* Baselines that lines share; see core/estimate/baselines.c. */
struct baselines {
	const struct profile *p;
	struct served_baseline *shares; /* by line, then index */
	size_t n_shares;
	size_t *first;       /* by line: into shares, where the line has any */
	struct named *names; /* by run, then line */
	size_t n_names;
	const struct observation **at_points; /* the shared ones, by point, then index */
	size_t n_at_points;
	bool *runs; /* scratch, by run: whether the line has experiments in it */
};

/* Speedups are compared as whole permille: 0.35 is written with two decimals, or as 0.34999999 in
 * JSON. */
static inline uint32_t speedup_permille(double speedup)
{
	return speedup > 0 ? speedup < 1 ? (uint32_t)(speedup * 1000 + 0.5) : 1000 : 0;
}

#define MOST 3e18 /* of a time or count that is written; what is more is damage */

static inline uint64_t whole(double v)
{
	return v > 0 ? (uint64_t)llround(fmin(v, MOST)) : 0;
}

static inline bool is_latency_point(uint32_t point)
{
	return point & 1;
}

/* What levels and machines make an observation's period of: duration and delta, never spans. */
static inline double observation_time(const struct observation *o)
{
	return is_latency_point(o->point) ? o->in_flight : o->duration;
}

int observations_init(struct observations *o, const struct profile *p);
void observations_deinit(struct observations *o);
/* for qsort() of struct observation: by point, then in the order of time */
int observations_by_point(const void *a, const void *b);
/* levels.c. Brings the times of runs that differ in speed to one level, for ratios between them.
 * Before, their machines' speeds are added to @machines, unless it is NULL. Returns 0 or -ENOMEM.
 */
int observations_level_runs(struct observations *o, size_t n_runs, struct machine_tally *machines);
/*
 * Numbers the pieces of the @n baselines of one point, in the order of time: sums of a piece
 * (sums.c) share their experiments, and there is one of each line at most. Any other experiment is
 * a piece. @n_lines: of the profile. Returns 0 or -ENOMEM.
 */
int observations_number_pieces(struct observation *obs, size_t n, size_t n_lines);
/* Fills time, raw_time, count and exposure of the @n observations of one point, ordered by speedup.
 * All get the same kind of period. Returns whether it is of spans. */
bool observations_choose_period(struct observation *obs, size_t n, enum estimate_period period);

/* trust.c. Lowers the weights of those of the @n observations, ordered by speedup, that lie far off
 * their cell's others. @ret_doubtful: the share of the time of those that may have been the
 * program's doing. Returns 0 or -ENOMEM. */
int observations_trust(struct observation *obs, size_t n, double *ret_doubtful);

/*
 * control.c. Takes out of the times of the @n observations, ordered by speedup, what comes from the
 * line running more, CPUs being slower, outsiders taking more, or experiments beside being slower
 * in some experiments than in others. Changes time and exposure, sets widen. @ret: how periods
 * follow the line's running.
 */
void observations_control(struct observation *obs, size_t n, struct control *ret);
double control_slope(const struct control *c, double speedup);

/* functions.c. Sets the holders of ranked lines, and puts lines below their functions. Returns 0 or
 * -ENOMEM. */
int estimate_group_lines(struct estimate *e);

/* @o and @p must stay. Returns 0 or -ENOMEM. */
int baselines_init(struct baselines *b, const struct observations *o, const struct profile *p);
void baselines_deinit(struct baselines *b);

/* What belongs to a line at a point: the baselines that serve it, then its own experiments at other
 * speedups. @obs is the owner's to free. */
struct collected {
	struct observation *obs;
	size_t n, baselines;
};
/* @own: the line's @n own observations at the point, ordered by speedup, all of the user's choice
 * or none. @b: NULL for whole runs, whose baselines are not copied. Returns 0 or -ENOMEM. */
int baselines_collect(
    const struct baselines *b, const struct observation *own, size_t n, struct collected *ret);

/* Where baselines come from: those that lines share, and those that are whole runs. And where
 * groups are added up by machine; NULL: nowhere. */
struct shared {
	struct baselines baselines;
	struct whole_runs runs;
	struct machine_tally *machines;
};

/* Forms the group of the @n observations from @first on, which share line and point. Returns 0 or
 * -ENOMEM. */
int group_init(struct group *g, const struct observations *o, const struct shared *s, size_t first,
    size_t n, enum estimate_period period);
void group_deinit(struct group *g);

/* latency.c. Fills line->latencies, whose points are there. Returns 0 or -ENOMEM. */
int latency_fill_line(const struct group *g, struct estimate_line *line);
/* Fills e->latencies. Returns 0 or -ENOMEM. */
int latency_fill_all(const struct observations *o, struct estimate *e);

/* noise.c. Fills scatter and wider. Returns 0 or -ENOMEM. */
int group_noise(const struct group *g, struct estimate_line *line);

/* phase.c. Sets g->phase. */
void group_phase(struct group *g, const struct phase_totals *t);

/* By which part of the gain the method errs, besides scatter and what outsiders had. */
double method_error(const struct group *g);

/* Regression through 0. @weights come from regression_weights(), @y are the program speedups of
 * cells 1 to n_cells - 1. */
void regression_weights(const struct group *g, enum sort_key key, double *weights);
double regression_slope(const struct group *g, const double *weights, const double *y);
double curve_maximum(
    const struct group *g, const double *weights, const struct estimate_point *points);

/* Intervals of everything in @line and of line->rank_keys, by bootstrap. The points of @line hold
 * values already. Returns 0 or -ENOMEM. */
int bootstrap_line(
    const struct group *g, const struct estimate_options *o, struct estimate_line *line);

void whole_runs_init(struct whole_runs *w, const struct observations *o);
/* The same as bootstrap_line(), for a line whose experiments are whole runs. */
void whole_runs_line(const struct group *g, const struct whole_runs *w,
    const struct estimate_options *o, struct estimate_line *line);

#endif
