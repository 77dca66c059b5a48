/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * Perturbation: random pauses at random samples, which bring about rare schedules. What is drawn
 * follows from a seed, the number of the thread and that of its sample, so it can be repeated as
 * far as these can. Pure.
 */
#ifndef COZBPF_PERTURB_H
#define COZBPF_PERTURB_H

#include <linux/types.h>

#define COZBPF_PERTURB_ONE 65536 /* the share that is all samples */
#define COZBPF_PERTURB_LEAST_NS 10000ULL
#define COZBPF_PERTURB_MOST_NS 1000000ULL
#define COZBPF_PERTURB_OCTAVES 435412ULL /* log2(MOST / LEAST), in 1/65536 */

/* By which the state of splitmix64 grows. */
#define PERTURB_STEP 0x9e3779b97f4a7c15ULL

/* The finalizer of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
 * 2014). */
static inline __attribute__((always_inline)) __u64 perturb_mix(__u64 v)
{
	v += PERTURB_STEP;
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ULL;
	v = (v ^ v >> 27) * 0x94d049bb133111ebULL;
	return v ^ v >> 31;
}

/* The pause that the @sample-th sample of the @thread-th thread owes, where @share of the samples
 * owe one: ns, log-uniform but for the octaves, which are even within. 0: none. */
static inline __attribute__((always_inline, unused)) __u64 perturb_pause(
    __u64 seed, __u32 thread, __u32 sample, __u32 share)
{
	__u64 drawn = perturb_mix(perturb_mix(seed ^ thread) ^ sample), log, ns;

	if ((drawn & (COZBPF_PERTURB_ONE - 1)) >= share)
		return 0;
	log = (drawn >> 16 & 0xffff) * COZBPF_PERTURB_OCTAVES >> 16;
	ns = (0x10000 + (log & 0xffff)) * COZBPF_PERTURB_LEAST_NS >> 16 << (log >> 16 & 63);
	return ns < COZBPF_PERTURB_MOST_NS ? ns : COZBPF_PERTURB_MOST_NS;
}

#endif
