/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * Latency pairs: what BPF and user code share. Histograms are log-linear. Values below
 * COZBPF_LATENCY_SUB ns have a cell each. Every octave above has COZBPF_LATENCY_SUB cells of equal
 * width, so a cell is between 1/64 and 1/128 of its value wide. Pure index functions; latencies are
 * ns of virtual time.
 */
#ifndef COZBPF_LATENCY_H
#define COZBPF_LATENCY_H

#include <linux/types.h>

#define COZBPF_LATENCY_SUB_BITS 6
#define COZBPF_LATENCY_SUB (1 << COZBPF_LATENCY_SUB_BITS)
/* 2^42 ns are 73 minutes; the last cell counts longer latencies as well */
#define COZBPF_LATENCY_BITS 42
#define COZBPF_LATENCY_CELLS \
	((COZBPF_LATENCY_BITS - COZBPF_LATENCY_SUB_BITS + 1) * COZBPF_LATENCY_SUB)
/* known requests in flight; the longest open ones make room for more */
#define COZBPF_LATENCY_OPEN 65536

/* A begin that waits for its end. */
struct cozbpf_latency_key {
	__u64 key; /* the thread's id and its order, since ids come again; or the argument's value
		    */
	/* an argument has a meaning in one process only; 0 with threads, whose ids the system
	 * gives */
	__u32 tgid;
	__u32 point; /* index of the pair's begins */
};

/*
 * Say ends know their begins this many times as often as not. Then a begin that another begin of
 * its key overwrites is a request that was given up, and an end without a begin is one that began
 * before the probes were there. Elsewhere both may be the same request, as where requests change
 * threads without a key.
 */
#define COZBPF_LATENCY_KNOWN 8

/* What one pair has seen. */
struct cozbpf_latency {
	/* Of the whole session. */
	__u64 matched;   /* ends whose begin was known */
	__u64 unmatched; /* ends whose begin is unknown */
	__u64 abandoned; /* begins that another begin of the same key overwrote */
	/* In flight by mistake if ends know their begins: abandoned and lost begins less unmatched
	 * ends, of the time before latency_is_known(). */
	__s64 doubtful;
	__u64 lost; /* begins for which there was no memory */
	/* Of the experiment's window: pairs that ended in it, wherever they began. */
	__s64 sum;
	__u64 cells[COZBPF_LATENCY_CELLS];
};

/* Whether ends know their begins. */
static inline __attribute__((always_inline)) int latency_is_known(const struct cozbpf_latency *l)
{
	return l->matched > COZBPF_LATENCY_KNOWN * l->unmatched;
}

/* Place of the highest set bit; @v is not 0. Without a builtin, since BPF has no such
 * instruction. */
static inline __attribute__((always_inline)) __u32 latency_log2(__u64 v)
{
	__u32 ret = 0;

	for (__u32 step = 32; step; step /= 2) {
		if (v >> step) {
			v >>= step;
			ret += step;
		}
	}
	return ret;
}

static inline __attribute__((always_inline)) __u32 latency_index(__u64 ns)
{
	__u32 octave;

	if (ns < COZBPF_LATENCY_SUB)
		return (__u32)ns;
	if (ns >> COZBPF_LATENCY_BITS)
		return COZBPF_LATENCY_CELLS - 1;
	octave = latency_log2(ns) - COZBPF_LATENCY_SUB_BITS;
	return octave * COZBPF_LATENCY_SUB + (__u32)(ns >> octave);
}

/* The values of cell @i are [latency_lowest(i), latency_lowest(i) + latency_width(i)). */
static inline __u64 latency_width(__u32 i)
{
	return i < COZBPF_LATENCY_SUB ? 1 : 1ULL << (i / COZBPF_LATENCY_SUB - 1);
}

static inline __u64 latency_lowest(__u32 i)
{
	return i < COZBPF_LATENCY_SUB ? i
				      : (__u64)(COZBPF_LATENCY_SUB + i % COZBPF_LATENCY_SUB)
					    << (i / COZBPF_LATENCY_SUB - 1);
}

_Static_assert(COZBPF_LATENCY_SUB >= 34, "a cell is at most 3 % of its value wide");
_Static_assert(sizeof(struct cozbpf_latency_key) == 16, "no padding in a hash key");

#endif
