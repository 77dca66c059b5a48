/* SPDX-License-Identifier: BSD-3-Clause */
/* A seeded random source (splitmix64): the only one in user/core/. The caller owns the state; equal
 * seeds give equal runs. */
#ifndef COZBPF_RNG_H
#define COZBPF_RNG_H

#include <stdint.h>

#include <cozbpf/perturb.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t ret = perturb_mix(r->state);

	r->state += PERTURB_STEP;
	return ret;
}

/* Uniform in [0, n); n > 0. The bias of the multiplication is below 2^-32 for n < 2^32. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)rng_next(r) * n) >> 64);
}

#endif
