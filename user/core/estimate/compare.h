/* SPDX-License-Identifier: BSD-3-Clause */
/* Two profiles of a program, before and after a change. Tells what the change did to the progress
 * rate and to the ranking, and whether a line's curve had predicted it. Pure. */
#ifndef COZBPF_COMPARE_H
#define COZBPF_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/estimate/estimate.h"

/* A figure and its 95 % interval; NaN where unknown. */
struct compare_figure {
	double value, lo, hi;
};

/* A progress point in the baselines of one profile. */
struct compare_rate {
	double period; /* ns of a visit; for a latency point the mean latency */
	/* of the period's logarithm, from the scatter of experiments or of runs, whichever is more;
	 * NaN: unknown */
	double variance, df;
	uint64_t experiments, visits, runs;
};

struct compare_point {
	const char *progress; /* borrowed */
	bool is_latency;
	struct compare_rate before, after;
	struct compare_figure speedup; /* 1 - after / before, like program speedups */
};

/* "For certain": in one comparison of twenty, scatter alone explains any such statement at one
 * progress point (shares.h). */
enum compare_move {
	MOVE_NONE, /* no difference for certain */
	MOVE_ROSE, /* the slope is larger for certain */
	MOVE_FELL,
	MOVE_APPEARED, /* ranked now, and no experiment before */
	MOVE_VANISHED,
	MOVE_UNKNOWN, /* not enough data in one of them */
};

/* A line that is ranked in at least one of the two. */
struct compare_line {
	const struct estimate_line *before, *after; /* NULL: no experiment */
	size_t rank_before, rank_after; /* at its progress point, from 1; 0: not ranked */
	struct compare_figure slope;    /* after - before; the line's own interval */
	double chance; /* that scatter alone brings such a difference; NaN where unknown */
	enum compare_move move;
};

enum compare_source {
	CURVE_UNKNOWN, /* no curve there */
	CURVE_POINT,   /* a measured speedup */
	CURVE_BETWEEN, /* between two measured ones, or 0 and the first */
	CURVE_SLOPE,   /* beyond the last one: by the regression */
};

enum compare_agreement {
	AGREE_UNKNOWN,
	AGREE_YES,
	AGREE_MORE,
	AGREE_LESS
	/* More: the gain was larger than predicted, for certain. Unknown: the interval is so wide
	 * that no gain at all would agree as well. */
};

/* How the prediction for a line held, at one progress point. */
struct compare_prediction {
	const struct estimate_line *line;  /* in the profile before */
	const struct compare_point *point; /* NULL: not in both */
	/* how much faster the line became; lo, hi: NaN when the user has said it */
	struct compare_figure at;
	enum compare_source source;
	struct compare_figure predicted, by_slope; /* program speedups */
	struct compare_figure difference;          /* measured less predicted */
	enum compare_agreement agreement;
};

struct comparison {
	struct compare_point *points; /* those in both profiles, by name */
	size_t n_points;
	struct compare_line *lines; /* by progress point, then rank after, then rank before */
	size_t n_lines;
	struct compare_prediction *predictions; /* by progress point */
	size_t n_predictions;
};

struct compare_side {
	const struct profile *profile;
	const struct estimate *estimate;
};

/* Fills points and lines. Returns 0 or -ENOMEM. @ret borrows from both sides. */
int compare_profiles(
    const struct compare_side *before, const struct compare_side *after, struct comparison *ret);

/*
 * Fills the predictions for the line that @line names: all of file:line, or its end from a '/' on.
 * @by: how much faster the line became, a fraction; NaN: take it from the line's samples per visit.
 * Returns 0, -ENOENT (no experiments before), -EEXIST (several lines have that name) or -ENOMEM.
 */
int compare_predict(struct comparison *c, const struct compare_side *before,
    const struct compare_side *after, const char *line, double by);

void comparison_deinit(struct comparison *c);

/* Compares two struct compare_point, for qsort() and bsearch(). */
int compare_point_names(const void *a, const void *b);

const char *compare_move_name(enum compare_move m); /* "none", "rose", ... */
/* "unknown", "agrees", "more", "less" */
const char *compare_agreement_name(enum compare_agreement a);

#endif
