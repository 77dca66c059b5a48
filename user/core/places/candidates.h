/* SPDX-License-Identifier: BSD-3-Clause */
/* Which place to take for a progress point where the user names none. Arithmetic and words only:
 * which places there are, and who counts them, is in run/point_watch.c. */
#ifndef COZBPF_CANDIDATES_H
#define COZBPF_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* the visits are counted each CANDIDATE_SLICE_NS; so many times in a run, */
#define CANDIDATE_SLICES 20
/* and in a watch that the user asks for, at most */
#define CANDIDATE_SLICES_MAX 600
#define CANDIDATE_SLICE_NS 100000000ULL
/* with fewer slices steadiness is not known */
#define CANDIDATE_SLICES_MIN 5
/* a second: with fewer an experiment sees hardly any */
#define CANDIDATE_RATE_MIN 20.0
/* a second: calls, whose visits are cheap; places that have to be probed */
#define CANDIDATE_CALLS_MAX 500000.0
#define CANDIDATE_VISITS_MAX 20000.0
/* The target's CPU time is looked at in stretches of so many slices, an experiment's length. With
 * visits in a smaller share of that time most experiments would see none. */
#define CANDIDATE_STRETCH 5
#define CANDIDATE_COVERED_MIN 0.75
/* of the target's CPU time: with more the cost of the visits counts */
#define CANDIDATE_COST_MAX 0.02
/* What a visit costs, ns (docs/points.md): measured beside a loop without a probe. */
#define CANDIDATE_COST_CALL 25
#define CANDIDATE_COST_NOP 475
#define CANDIDATE_COST_FUNCTION 640
#define CANDIDATE_COST_STEPPED 27000 /* of a function without a cheap place */
/* of the samples: a function that fewer stacks show above work has little of it */
#define CANDIDATE_SHARE_MIN 0.05

enum candidate_kind { CANDIDATE_MARKER, CANDIDATE_USDT, CANDIDATE_CALL, CANDIDATE_FUNCTION };

/* Why a candidate cannot serve. */
enum candidate_fault {
	CANDIDATE_SERVES,
	CANDIDATE_NEVER, /* it was not visited */
	CANDIDATE_RARE,
	CANDIDATE_OFTEN,
	CANDIDATE_PARTIAL, /* too little of the CPU time is in stretches with visits */
	CANDIDATE_DEAR,    /* its visits would cost more than CANDIDATE_COST_MAX */
};

/* What was watched. */
struct candidate_watch {
	unsigned n;                            /* slices */
	uint64_t cpu_ns[CANDIDATE_SLICES_MAX]; /* that the target executed in each */
};

struct candidate {
	enum candidate_kind kind;
	unsigned number; /* of the system call, of the probe */
	/* Borrowed: its name, what -P takes, and what a visit is, in words. */
	const char *name, *spec, *what;
	/* How likely it is the end of a unit of work, from 0 to 1; more where the source says so.
	 * What leaves the program (sent, written) is likelier than what comes in. */
	double weight;
	double cost_ns; /* of a visit */
	/* of a function: of the samples whose stacks show it above work, or innermost; else 0 */
	double share;
	bool is_innermost; /* of a function: it does the work itself */
	unsigned from;     /* the slice from which on it was counted */
	/* a second: visited so often that its probe was removed; 0: it was not */
	double removed_at;
	uint64_t slices[CANDIDATE_SLICES_MAX]; /* visits in each */
	/* Set by candidates_rank(). */
	double rate; /* a second */
	/* standard deviation of the slices, as a share of their mean: by time, and by the CPU time
	 * in them; the smaller one, without what chance alone makes of so few */
	double spread, cpu_spread, excess;
	double covered;    /* share of the CPU time that is in stretches with visits */
	double cost_share; /* of the CPU time, for visits at that rate */
	double score;      /* 0: it cannot serve */
	enum candidate_fault fault;
};

/* Computes the figures and sorts by score, best first. Returns how many can serve. */
size_t candidates_rank(struct candidate *all, size_t n, const struct candidate_watch *w);

/* Whether one of them can serve as far as is known. */
bool candidates_serve(const struct candidate *all, size_t n, const struct candidate_watch *w);

/* Which probes cost too much at the rates of the last @seconds: those above CANDIDATE_VISITS_MAX,
 * and the dearest as long as all together cost too large a share of the CPU time. @since: visits in
 * these seconds, by the candidates' numbers. Sets @remove, by number too, and removed_at. True:
 * there are some. */
bool candidates_remove(struct candidate *all, size_t n, const uint64_t *since, double seconds,
    const struct candidate_watch *w, bool *remove);

/* How many visits to @b there are for one to @a, where both keep that ratio over the slices, as
 * those of one unit of work do (two writes a request). 0: they do not. */
double candidates_ratio(
    const struct candidate *a, const struct candidate *b, const struct candidate_watch *w);

/* The second point to count: the best one that keeps no ratio with the first, of those that are
 * about as good. No function: each unit of work passes some. @good: how many can serve. 0: there is
 * none. */
size_t candidates_other(const struct candidate *all, size_t good, const struct candidate_watch *w);

/* "steady", "varying", "in bursts" */
const char *candidate_steadiness(const struct candidate *c);
/* Why it is a good point, or is none, in words. @best: the first of the ranking, which may be @c.
 */
void candidate_why(const struct candidate *c, const struct candidate *best,
    const struct candidate_watch *w, char *ret, size_t size);

#endif
