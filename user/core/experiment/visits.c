/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits, bursts and span of an experiment from virtual-time buckets; what each means is said in
 * the header. */
#include <math.h>
#include <stdbool.h>

#include "core/experiment/visits.h"

/* What is known of the window while walking over it. */
struct window {
	const struct cozbpf_bucket *buckets;
	size_t n;
	unsigned shift;
	size_t cut; /* index of the bucket that V1 cuts; those before it lie wholly inside */
	bool begun; /* a whole burst has been seen */
	double first_at;
	struct point_record *ret;
};

/* Mean virtual time since V0 of the visits in bucket @i, which has some. A snapshot may catch a
 * count without its sum, hence the bounds. */
static double bucket_mean(const struct window *w, size_t i)
{
	double width = (double)(1ULL << w->shift), lo = (double)i * width;
	double mean = (double)w->buckets[i].sum / (double)w->buckets[i].count;

	if (mean < lo)
		return lo;
	return mean > lo + width ? lo + width : mean;
}

struct visits_cut visits_cut(
    const struct cozbpf_bucket *b, double lo, double width, double duration)
{
	struct visits_cut ret = {0};
	double at, reach, from, to;

	if (!b->count)
		return ret;
	at = fmin(fmax((double)b->sum / (double)b->count, lo), lo + width);
	/* of a single one the place is known */
	reach = b->count > 1 ? fmin(at - lo, lo + width - at) : 0;
	from = at - reach;
	to = fmin(at + reach, duration);
	ret.mean = reach < 0.5 ? at : (from + to) / 2;
	if (reach < 0.5) /* all visits at one place */
		ret.n = at <= duration ? b->count : 0;
	else if (to > from)
		ret.n = (uint64_t)((double)b->count * (to - from) / (2 * reach) + 0.5);
	return ret;
}

/* The whole burst of buckets [@from, @to] takes part in the span. */
static void span_add(struct window *w, size_t from, size_t to)
{
	double at = 0;
	uint64_t count = 0;

	for (size_t i = from; i <= to; i++) {
		at += bucket_mean(w, i) * (double)w->buckets[i].count;
		count += w->buckets[i].count;
	}
	at /= (double)count;
	if (!w->begun) {
		w->begun = true;
		w->first_at = at;
		return;
	}
	w->ret->span_delta += count;
	w->ret->span_ns = (uint64_t)(at - w->first_at + 0.5);
}

/* A run of occupied buckets [@from, @to], bounded by empty ones or the ends of the array.
 * @cut_counted: visits of the cut bucket counted. */
static void run_add(struct window *w, size_t from, size_t to, uint64_t cut_counted)
{
	if (to - from < 2) {
		w->ret->bursts += from < w->cut || cut_counted;
		if (from > 0 && to < w->cut && to + 1 < w->n)
			span_add(w, from, to);
		return;
	}
	for (size_t i = from; i <= to && i <= w->cut; i++) {
		w->ret->bursts += i < w->cut || cut_counted;
		if (i < w->cut)
			span_add(w, i, i);
	}
}

void visits_window(const struct cozbpf_bucket *buckets, size_t n, unsigned shift,
    uint64_t duration_ns, struct point_record *ret)
{
	struct window w = {
	    .buckets = buckets, .n = n, .shift = shift, .cut = duration_ns >> shift, .ret = ret};
	double width = (double)(1ULL << shift);
	uint64_t cut_counted = 0;

	if (w.cut < n)
		cut_counted =
		    visits_cut(&buckets[w.cut], (double)w.cut * width, width, (double)duration_ns)
			.n;
	ret->delta = cut_counted;
	ret->bursts = 0;
	ret->span_ns = 0;
	ret->span_delta = 0;
	for (size_t i = 0; i < n && i < w.cut; i++)
		ret->delta += buckets[i].count;
	for (size_t from = 0; from < n && from <= w.cut;) {
		size_t to = from;

		if (!buckets[from].count) {
			from++;
			continue;
		}
		while (to + 1 < n && buckets[to + 1].count)
			to++;
		run_add(&w, from, to, cut_counted);
		from = to + 1;
	}
}

void visits_scale(struct point_record *p, uint64_t unit)
{
	p->delta = (p->delta + unit / 2) / unit;
	p->span_delta = (p->span_delta + unit / 2) / unit;
	if (p->bursts > p->delta)
		p->bursts = p->delta;
}
