/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * The share f of a thread's time that it spends in the selected line, per kind of
 * segment and from the last sample; part of delay.h, under the same rules.
 */
#ifndef COZBPF_DELAY_SHARE_H
#define COZBPF_DELAY_SHARE_H

#include <cozbpf/delay_account.h>

/* Works out the share of the segment that the thread is in. */
DELAY_OUTLINE int delay_share_anew(struct cozbpf_account *a)
{
	__u64 weight, hits, share;
	__u32 k;

	if (!a || !a->ring_weight)
		return 0;
	k = a->segment & (COZBPF_SEGMENTS - 1);
	weight = a->segment_weight[k];
	hits = a->segment_hits[k];
	if (!weight) { /* none of its own: the share of all */
		weight = a->ring_weight;
		hits = a->ring_hits;
	}
	share = hits * COZBPF_SHARE_ONE / weight;
	if (share > COZBPF_SHARE_ONE)
		share = COZBPF_SHARE_ONE; /* whatever races do to the sums */
	a->segment_share[k] = (__u32)share;
	a->share_known |= 1U << k;
	return (int)share;
}

/* The share of the segment that the thread is in. Kept until the next sample: some programs wake
 * others far more often. */
DELAY_INLINE __u32 delay_share(struct cozbpf_account *a)
{
	__u32 k = a->segment & (COZBPF_SEGMENTS - 1);

	return a->share_known >> k & 1 ? a->segment_share[k] : (__u32)delay_share_anew(a);
}

/* The best linear guess from the last sample h: f = p + r (h - p), where p is the share of the
 * segment. Right on average whatever r is. FORECAST_EDGE: after an edge that sample tells nothing.
 */
DELAY_INLINE void delay_forecast(struct cozbpf_account *a)
{
	__u64 p = delay_share(a), h = a->last_hit ? COZBPF_SHARE_ONE : 0,
	      r = a->last_valid ? a->persistence : 0;

	a->share = (__u32)((p * (COZBPF_SHARE_ONE - r) + h * r) / COZBPF_SHARE_ONE);
}

/*
 * The thread begins a segment of kind `id`: what it executes from one edge with other threads to
 * the next. Credit has to be right at the edges, where L is compared, and a share of all the
 * thread's time is not, where it executes the line always before or always after an edge (a lock
 * held in the line, say). `id` tells edges apart: the object waited for, and which side of it. The
 * caller has credited the thread. A waker leaves the share, which costs the rest of an account to
 * fetch from another CPU, to delay_switch_in().
 */
DELAY_INLINE void delay_segment_ahead(struct cozbpf_account *a, __u32 id)
{
	a->segment = DELAY_RULE(SEGMENTS) ? id & (COZBPF_SEGMENTS - 1) : 0;
	if (DELAY_RULE(FORECAST_EDGE))
		a->last_valid = 0;
	a->share_due = 1;
}

DELAY_INLINE void delay_share_look_up(struct cozbpf_account *a)
{
	if (!a->share_due)
		return;
	a->share_due = 0;
	delay_forecast(a);
}

/* The same for the thread that executes. */
DELAY_INLINE void delay_segment(struct cozbpf_account *a, __u32 id)
{
	delay_segment_ahead(a, id);
	delay_share_look_up(a);
}

/* 1 where they are equal, without a branch: the verifier follows both sides of each one, 2^32 ways
 * through a window. */
DELAY_INLINE __u64 delay_equal(__u32 a, __u32 b)
{
	__u64 differ = a ^ b;

	__asm__("" : "+r"(differ)); /* or the compiler makes a branch of it again */
	return (differ - 1) >> 63;
}

DELAY_INLINE __u32 delay_count_bits(__u32 v)
{
	v -= v >> 1 & 0x55555555;
	v = (v & 0x33333333) + (v >> 2 & 0x33333333);
	return ((v + (v >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

/*
 * How much one sample tells about the next: the lag-1 correlation r of "falls in the line" over 32
 * samples, of which `hits` are in the line; of `pairs` that follow each other in a thread without
 * an edge in between, `same` agree.
 */
DELAY_INLINE __u32 delay_correlation(__u32 hits, __u32 pairs, __u32 same)
{
	__u32 chance, agree;

	_Static_assert(COZBPF_RING == 32, "hit_bits has one bit for each sample of the window");
	if (!DELAY_RULE(FORECAST) || !pairs || !hits || hits == COZBPF_RING)
		return 0;
	/* Independent samples agree with probability p^2 + q^2. */
	chance = (hits * hits + (COZBPF_RING - hits) * (COZBPF_RING - hits)) *
		 (COZBPF_SHARE_ONE / (COZBPF_RING * COZBPF_RING));
	agree = same * COZBPF_SHARE_ONE / pairs;
	if (agree <= chance)
		return 0;
	agree = (__u32)((__u64)(agree - chance) * COZBPF_SHARE_ONE / (COZBPF_SHARE_ONE - chance));
	return agree < COZBPF_SHARE_ONE ? agree : COZBPF_SHARE_ONE - 1;
}

/* YOUNG_KINDS: the window of the young threads of that kind, of all while that is not full. */
DELAY_INLINE const struct cozbpf_young *delay_young(const struct cozbpf_control *x, __u32 kind)
{
	const struct cozbpf_young *y = &x->young[kind & (COZBPF_KINDS - 1)];

	return DELAY_RULE(YOUNG_KINDS) && y->next >= COZBPF_RING ? y : &x->young[0];
}

/* Bit 63 is 1 where @line is one of the @n ids from @first on. */
DELAY_INLINE __u64 delay_is_within(__u32 line, __u32 first, __u32 n)
{
	return (__u64)(__u32)(line - first) - n;
}

/* 1 where the experiment is on @line, on the function that holds @line, or on a couple with one of
 * these; without a jump, too. */
DELAY_INLINE __u32 delay_is_selected(const struct cozbpf_control *x, __u32 line)
{
	__u64 within = delay_is_within(line, x->line, x->n_lines) |
		       delay_is_within(line, x->other, x->n_others);

	__asm__("" : "+r"(within));
	return (__u32)(within >> 63);
}

/*
 * The same for a thread that has few samples yet, from those of the threads that were young before
 * it. Near 1 too where some of these executed nothing but the line and others never did: then a
 * thread's first samples tell which kind it is.
 */
DELAY_OUTLINE int delay_young_persistence(const struct cozbpf_control *x, __u32 kind)
{
	__u32 hits = 0, befores = 0, none = 0, usable;
	const struct cozbpf_young *young;

	if (!x)
		return 0;
	young = delay_young(x, kind);
	for (int i = 0; i < COZBPF_RING; i++) {
		__u32 before = young->ring[i].before;

		hits |= delay_is_selected(x, young->ring[i].line) << i;
		befores |= delay_is_selected(x, before) << i;
		none |= (__u32)delay_equal(before, COZBPF_NO_SAMPLE) << i;
	}
	usable = ~none;
	if (!DELAY_RULE(YOUNG_FORECAST) || young->next < COZBPF_RING)
		return 0;
	return (int)delay_correlation(delay_count_bits(hits), delay_count_bits(usable),
	    delay_count_bits(~(hits ^ befores) & usable));
}

/*
 * Of the thread's own window. Near 0 where the program passes through the line more often than it
 * is sampled, near 1 where it stays in or out of it for many samples. Until the window is full what
 * the thread was born with holds.
 */
DELAY_INLINE __u32 delay_persistence(const struct cozbpf_account *a)
{
	__u32 usable = ~a->edge_bits & 0x7fffffff; /* the oldest has nothing before it */

	if (a->ring_used < COZBPF_RING)
		return a->persistence;
	return delay_correlation(delay_count_bits(a->hit_bits), delay_count_bits(usable),
	    delay_count_bits(~(a->hit_bits ^ a->hit_bits >> 1) & usable));
}

#endif
