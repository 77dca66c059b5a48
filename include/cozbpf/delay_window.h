/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * The window of an account's last samples, from which its share f is taken: how a sample enters it,
 * what a sample corrects, and the window that new accounts begin with. Part of delay.h.
 */
#ifndef COZBPF_DELAY_WINDOW_H
#define COZBPF_DELAY_WINDOW_H

#include <cozbpf/delay_share.h>

/* Changes the weight of one sample of the window, and the sums with it. */
DELAY_INLINE void delay_window_weigh(
    struct cozbpf_account *a, const struct cozbpf_control *x, __u32 at, __u32 weight)
{
	struct cozbpf_ring_entry *e = &a->ring[at & (COZBPF_RING - 1)];
	__u32 k = a->ring_segment[at & (COZBPF_RING - 1)] & (COZBPF_SEGMENTS - 1);
	__u64 grown = (__u64)weight - e->weight_ns; /* modulo 2^64 when it shrinks */

	a->ring_weight += grown;
	a->segment_weight[k] += grown;
	if (delay_is_selected(x, e->line)) {
		a->ring_hits += grown;
		a->segment_hits[k] += grown;
	}
	e->weight_ns = weight;
}

/* The line of the sample before; of an account that has one. */
DELAY_INLINE __u32 delay_line_before(const struct cozbpf_account *a)
{
	return a->ring[(a->ring_next - 1) & (COZBPF_RING - 1)].line;
}

/* HALF_WEIGHT: the sample gets half of the time executed since the one before, and that one the
 * other half. */
DELAY_INLINE void delay_window_push(
    struct cozbpf_account *a, const struct cozbpf_control *x, __u32 line)
{
	__u32 at = a->ring_next & (COZBPF_RING - 1), before = (at - 1) & (COZBPF_RING - 1);
	__u32 half = a->unsampled > 0xffffffffULL ? 0x7fffffffU : (__u32)(a->unsampled / 2);
	__u32 earlier = DELAY_RULE(HALF_WEIGHT) ? half : 0;

	a->unsampled = 0;
	if (a->ring_used && earlier < 0xffffffffU - a->ring[before].weight_ns)
		delay_window_weigh(a, x, before, a->ring[before].weight_ns + earlier);
	delay_window_weigh(a, x, at, 0);
	a->ring[at].line = line;
	a->ring_segment[at] = a->segment & (COZBPF_SEGMENTS - 1);
	a->hit_bits = a->hit_bits << 1 | delay_is_selected(x, line);
	a->edge_bits = a->edge_bits << 1 | !a->last_valid;
	delay_window_weigh(a, x, at, DELAY_RULE(HALF_WEIGHT) ? half : 2 * half);
	a->share_known = 0;
	a->ring_next++;
	if (a->ring_used < COZBPF_RING)
		a->ring_used++;
	a->persistence = (__u16)delay_persistence(a);
	a->last_hit = (__u8)delay_is_selected(x, line);
	a->last_valid = 1;
	delay_forecast(a);
}

/* L held too little, or too much, credit for executed time. */
DELAY_INLINE void delay_put_right(
    struct cozbpf_account *a, struct cozbpf_control *x, __u32 hit, __u64 by)
{
	if (hit)
		delay_give(a, x, by);
	else
		delay_take_back(a, by);
}

/*
 * CORRECT: the time since the sample before was credited with the guess made there. The two ends
 * together tell what is half way between them: L moves by s x executed x r x (h1 - h0) / 2.
 */
DELAY_INLINE void delay_correct(struct cozbpf_account *a, struct cozbpf_control *x, __u32 line)
{
	__u32 hit = delay_is_selected(x, line);

	if (!DELAY_RULE(CORRECT) || !a->last_valid || hit == a->last_hit || !DELAY_READ(x->active))
		return;
	delay_put_right(
	    a, x, hit, a->unsampled * a->persistence / COZBPF_SHARE_ONE * x->speedup_pct / 200);
}

/*
 * CORRECT_FIRST: the account was born with its elders' share p, and was credited with p. Its first
 * sample h tells about the time since the birth: f was p + r (h - p).
 */
DELAY_INLINE void delay_correct_first(
    struct cozbpf_account *a, struct cozbpf_control *x, __u32 line, __u64 now)
{
	__u64 since = now > x->opened_ns ? now - x->opened_ns : 0,
	      executed = a->unsampled < since ? a->unsampled : since;
	__u32 hit = delay_is_selected(x, line), off = hit ? COZBPF_SHARE_ONE - a->share : a->share;

	if (!DELAY_RULE(CORRECT_FIRST) || a->ring_used || !a->ring_weight || !a->persistence ||
	    a->share > COZBPF_SHARE_ONE || !DELAY_READ(x->active))
		return;
	delay_put_right(a, x, hit,
	    executed * a->persistence / COZBPF_SHARE_ONE * off / COZBPF_SHARE_ONE * x->speedup_pct /
		100);
}

DELAY_INLINE void delay_young_push(struct cozbpf_young *y, const struct cozbpf_young_entry *e)
{
	y->ring[y->next++ & (COZBPF_RING - 1)] = *e;
}

/*
 * YOUNG_WINDOW: an account is young until its own window is full. Its samples enter the window that
 * later ones begin with; fewer of them would tell only how a short life begins. A sample weighs the
 * time executed since the one before; YOUNG_FIRST: the first one a whole period at least. Two CPUs
 * may take the same place: then one sample is lost.
 */
DELAY_INLINE void delay_teach_young(
    const struct cozbpf_account *a, struct cozbpf_control *x, __u32 line)
{
	__u64 executed = a->unsampled;
	struct cozbpf_young_entry e;

	if (a->ring_used >= COZBPF_RING)
		return;
	if (DELAY_RULE(YOUNG_FIRST) && !a->ring_used && executed < x->period_ns)
		executed = x->period_ns;
	e.line = line;
	e.weight_ns = executed > 0xffffffffULL ? 0xffffffffU : (__u32)executed;
	e.before = a->ring_used && a->last_valid ? delay_line_before(a) : COZBPF_NO_SAMPLE;
	e.pad = 0;
	delay_young_push(&x->young[0], &e);
	if (a->kind)
		delay_young_push(&x->young[a->kind & (COZBPF_KINDS - 1)], &e);
}

/* YOUNG_WINDOW: a new account begins with the samples of those that were young before it. */
DELAY_OUTLINE int delay_inherit(struct cozbpf_account *a, struct cozbpf_control *x)
{
	__u64 all = 0, hits = 0;
	const struct cozbpf_young *young;

	if (!DELAY_RULE(YOUNG_WINDOW) || !a || !x)
		return 0;
	young = delay_young(x, a->kind);
	for (int i = 0; i < COZBPF_RING; i++) {
		__u32 line = young->ring[i].line, weight = young->ring[i].weight_ns;

		a->ring[i].line = line;
		a->ring[i].weight_ns = weight;
		all += weight;
		hits += weight & -(__u64)delay_is_selected(x, line);
	}
	a->ring_weight = all;
	a->ring_hits = hits;
	a->segment_weight[0] = all;
	a->segment_hits[0] = hits;
	a->share_known = 0;
	a->persistence = (__u16)delay_young_persistence(x, a->kind);
	a->share = delay_share(a);
	return 0;
}

/* The window as it is for the line of the experiment that has opened. */
DELAY_INLINE void delay_window_reopen(struct cozbpf_account *a, const struct cozbpf_control *x)
{
	__u64 hits = 0;

	for (int k = 0; k < COZBPF_SEGMENTS; k++)
		a->segment_hits[k] = 0;
	a->hit_bits = 0;
	for (__u32 i = 0; i < COZBPF_RING; i++) {
		__u32 at = (a->ring_next - 1 - i) & (COZBPF_RING - 1);
		__u64 selected = delay_is_selected(x, a->ring[at].line),
		      hit = a->ring[at].weight_ns & -selected;

		hits += hit;
		a->hit_bits |= (__u32)selected << i;
		a->segment_hits[a->ring_segment[at] & (COZBPF_SEGMENTS - 1)] += hit;
	}
	a->ring_hits = hits;
	a->share_known = 0;
	a->last_valid = 0;
	if (a->ring_used < COZBPF_RING)
		a->persistence = (__u16)delay_young_persistence(x, a->kind);
	a->persistence = (__u16)delay_persistence(a);
	a->share = delay_share(a);
}

#endif
