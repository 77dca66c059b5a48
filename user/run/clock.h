/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of a run, which is that of the kernel side. */
#ifndef COZBPF_CLOCK_H
#define COZBPF_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

#endif
