/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * Blocks: what the kernel side and the loader share of `cozbpf blocks`. What a visit to a block's
 * probe does is in block_visit.h. Times are ns; those of a thread are as in block_executed(). Part
 * of abi.h.
 */
#ifndef COZBPF_ABI_BLOCKS_H
#define COZBPF_ABI_BLOCKS_H

#include <linux/types.h>

#include <cozbpf/latency.h>

#define COZBPF_BLOCK_SLOTS 128 /* blocks that are watched at a time; a power of two */
/* Of a histogram of times: below 4 ns one for each ns, then 4 for each power of two. The last one
 * counts all from 32 minutes on. */
#define COZBPF_BLOCK_CELLS 160
#define COZBPF_BLOCK_SUB_BITS 2
#define COZBPF_BLOCK_SUB (1 << COZBPF_BLOCK_SUB_BITS)
/* of the longest time that has a cell of its own */
#define COZBPF_BLOCK_BITS (COZBPF_BLOCK_CELLS / COZBPF_BLOCK_SUB + COZBPF_BLOCK_SUB_BITS - 1)

/* The cell of a time. */
static inline __attribute__((always_inline, unused)) __u32 cozbpf_block_cell(__u64 ns)
{
	__u32 octave;

	if (ns < COZBPF_BLOCK_SUB)
		return (__u32)ns;
	if (ns >> COZBPF_BLOCK_BITS)
		return COZBPF_BLOCK_CELLS - 1;
	octave = latency_log2(ns) - COZBPF_BLOCK_SUB_BITS;
	return octave * COZBPF_BLOCK_SUB + (__u32)(ns >> octave);
}

/* Cell @i holds times from here on, up to where the next one begins. */
static inline __attribute__((unused)) __u64 cozbpf_block_cell_ns(__u32 i)
{
	return i < COZBPF_BLOCK_SUB
		   ? i
		   : (__u64)(COZBPF_BLOCK_SUB + i % COZBPF_BLOCK_SUB) << (i / COZBPF_BLOCK_SUB - 1);
}

/*
 * Cookie of a block's probe: the window that it belongs to, by its generation, never 0; the slot;
 * what a visit means; whether the kernel steps the instruction there singly, and that at the
 * block's entry.
 */
#define COZBPF_BLOCK_COOKIE(generation, slot, role, stepped, entry_stepped)                  \
	((__u64)(generation) << 32 | (__u64)(entry_stepped) << 11 | (__u64)(stepped) << 10 | \
	    (__u64)(role) << 8 | (slot))
#define COZBPF_BLOCK_GENERATION(cookie) ((__u32)((cookie) >> 32))
#define COZBPF_BLOCK_SLOT(cookie) ((__u32)(cookie) & (COZBPF_BLOCK_SLOTS - 1))
#define COZBPF_BLOCK_ROLE(cookie) ((__u32)((cookie) >> 8) & 3)
#define COZBPF_BLOCK_ENTRY 0
#define COZBPF_BLOCK_EXIT 1
#define COZBPF_BLOCK_COUNTED 2 /* an entry of a block that is not timed */

/* Sorts of visits, by what they cost. */
#define COZBPF_BLOCK_SORTS 4
#define COZBPF_BLOCK_SORT_OF(role, stepped) (2 * ((role) == COZBPF_BLOCK_COUNTED) + !!(stepped))
#define COZBPF_BLOCK_SORT(cookie) \
	COZBPF_BLOCK_SORT_OF(COZBPF_BLOCK_ROLE(cookie), (cookie) >> 10 & 1)
/* Sorts of pairs of an entry and an exit: an index, of an exit's cookie. */
#define COZBPF_BLOCK_PAIRS 4
#define COZBPF_BLOCK_PAIR_OF(entry_stepped, exit_stepped) (2 * !!(entry_stepped) + !!(exit_stepped))
#define COZBPF_BLOCK_PAIR(cookie) COZBPF_BLOCK_PAIR_OF((cookie) >> 11 & 1, (cookie) >> 10 & 1)

/* Of all blocks, in .bss. */
struct cozbpf_blocks {
	/* the loader's */
	__u32 generation[COZBPF_BLOCK_SLOTS]; /* of the window that is open; 0: none is */
	__u64 cost_ns[COZBPF_BLOCK_SORTS];    /* what a visit takes from the program */
	__u64 bias_ns[COZBPF_BLOCK_PAIRS];    /* between both readings of an empty block */
	/* the kernel side's: visits while the window is not open, as probes come and go */
	__u64 stale[COZBPF_BLOCK_SORTS];
};

/* What a slot has seen on one CPU, since the loader cleared it. */
struct cozbpf_block_stats {
	__u64 entries, exits; /* visits */
	__u64 sum_ns, wall_ns;
	__u64 max_ns, not_min_ns; /* not_min: ~ of the least time, so that 0 means none yet */
	__u64 cells[COZBPF_BLOCK_CELLS];
};

/* A block that a thread has entered and not left. */
struct cozbpf_block_open {
	__u64 cpu_ns, wall_ns; /* at the entry, less probed_ns */
	__u64 sp;              /* stack pointer there */
	__u32 generation;      /* of the window; another one than its slot's: not entered */
	__u32 depth;           /* so often it has been entered again within itself */
};

/* Value of the task storage of a thread that has visited a block. */
struct cozbpf_block_thread {
	__u64 probed_ns; /* what visits have taken from the thread */
	struct cozbpf_block_open open[COZBPF_BLOCK_SLOTS];
};

_Static_assert((COZBPF_BLOCK_SLOTS & (COZBPF_BLOCK_SLOTS - 1)) == 0, "slots are masked");
_Static_assert(COZBPF_BLOCK_SLOTS <= 256, "a slot has 8 bits of the cookie");
_Static_assert(sizeof(struct cozbpf_block_open) == 32, "explicit padding");
/* Linux 7.0 gives a task's storage no more (KMALLOC_MAX_CACHE_SIZE), less its own part. */
_Static_assert(sizeof(struct cozbpf_block_thread) < 8192 - 256, "fits a slab");

#endif
