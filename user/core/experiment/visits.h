/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the virtual-time buckets of one progress point to the visits of one experiment: how many
 * fall in the window (V0, V1], how many of them are independent observations, and the stretch
 * between the first and the last of these. No estimation here.
 */
#ifndef COZBPF_VISITS_H
#define COZBPF_VISITS_H

#include <stddef.h>
#include <stdint.h>

#include <cozbpf/abi.h>
#include "core/profile/profile.h"

/*
 * Fills delta, bursts, span_ns and span_delta of @ret, and leaves its other fields alone.
 * @buckets[i] holds the visits whose virtual time since V0 lies in [i << @shift, (i + 1) <<
 * @shift); @duration_ns is V1 - V0. Visits at or after @n << @shift are not in the buckets: choose
 * the shift so that the window fits. Buckets after V1 may hold visits; they are never counted.
 *
 * Of the bucket that V1 cuts only count and mean are known. The visits are taken to lie evenly on
 * the widest interval around their mean that stays within the bucket, and the part of it up to V1
 * counts, rounded to whole visits. A single visit is thus counted exactly when it lies at or before
 * V1; a bucket filled evenly counts in proportion to the part of it that lies before V1.
 *
 * Bursts: a run of one or two occupied buckets between empty ones is one burst (a burst may
 * straddle two buckets); in a longer run visits come at a high rate or bursts cannot be told apart,
 * and each of its buckets is one. A burst counts in `bursts` when one of its visits does in
 * `delta`. A burst happens at the mean virtual time of its visits.
 *
 * Span: only bursts that are known whole take part: of runs of up to two buckets those that touch
 * neither the first bucket (V0 may have cut them), nor the bucket that V1 cuts, nor the last one;
 * of longer runs the buckets that lie wholly before V1. span_ns is the time from the first of these
 * to the last, span_delta the visits of all but the first. With fewer than two of them both are 0:
 * not known.
 *
 * span_ns / span_delta is the period free of the error at the two ends of a window: exact for
 * visits that come regularly, singly or in bursts. Where intervals are random with coefficient of
 * variation c, intervals that fit into a window are the shorter ones, and the period comes out low
 * by about c * c / bursts (Poisson: 10 % with 10 bursts, the same in a baseline as with a speedup);
 * duration / delta has no such bias.
 */
void visits_window(const struct cozbpf_bucket *buckets, size_t n, unsigned shift,
    uint64_t duration_ns, struct point_record *ret);

/* The part of a bucket up to V1: so many visits, at @mean on the average, a virtual time since V0.
 */
struct visits_cut {
	uint64_t n;
	double mean;
};
/* By the rule above; the bucket is @width long from @lo on, and V1 at @duration. */
struct visits_cut visits_cut(
    const struct cozbpf_bucket *b, double lo, double width, double duration);

/*
 * Where what was counted are parts of a visit, @unit to each: delta and span_delta become whole
 * visits, rounded. A part of a visit may have made a burst, yet there are no more observations than
 * visits.
 */
void visits_scale(struct point_record *p, uint64_t unit);

#endif
