/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel side of `cozbpf blocks`: how often blocks are entered, and the CPU time from entry to
 * exit. Probes stand in a block for a window of time only. Times are ns; those of threads are
 * without pauses, without preemption, and without our probes, as far as calibrated.
 */
#ifndef COZBPF_KERNEL_BLOCKS_H
#define COZBPF_KERNEL_BLOCKS_H

#include <cozbpf/abi_blocks.h> /* COZBPF_BLOCK_SLOTS, COZBPF_BLOCK_CELLS */
#include "kernel/session.h"

/* Where a block is probed: file offsets. entry == exit: it is only counted. */
struct block_probe {
	const char *path;
	uint64_t entry, exit;
	bool entry_is_cheap, exit_is_cheap;
	unsigned slot; /* where it counts, below COZBPF_BLOCK_SLOTS */
};

/* Since the slot was cleared. */
struct block_reading {
	uint64_t entries; /* all of them */
	uint64_t timed; /* of these, with an exit: not nested in itself, nor left by an exception */
	uint64_t sum_ns, min_ns, max_ns, wall_ns;
	uint64_t probe_ns; /* what its probes have taken from the program, as calibrated */
	uint64_t cells[COZBPF_BLOCK_CELLS];
};

/*
 * Measures on code of our own what probes take from a program, and how much of that lies between
 * the two clock readings of an empty block. -1 with @e: probes are not to be had. Some 0.3 s. From
 * the first thread, before session_attach() lest samples come in between, and before any other use
 * of blocks: without it nothing is subtracted.
 */
int session_calibrate_blocks(struct session *s, struct error *e);
/* So much the probes of a block take from the program, each time that it is executed. */
uint64_t session_block_cost_ns(const struct session *s, const struct block_probe *p);
/* And so much of that lies between the two readings of the clock, which no time has. */
uint64_t session_block_bias_ns(const struct session *s, const struct block_probe *p);

/* Puts probes into @n blocks, of all processes of the target. Returns a window, which counts from
 * then on, or -1 with @e. Blocks that the kernel refuses a probe in are left out where it takes
 * others: they count nothing. */
int session_open_blocks(
    struct session *s, const struct block_probe *probes, size_t n, struct error *e);
bool session_block_is_refused(const struct session *s, unsigned slot); /* by the last one of it */
/* From now on they count no more, and threads of ours take them out. What threads have entered and
 * not left is forgotten, and not timed. */
void session_close_blocks(struct session *s, int window);

void session_clear_block(struct session *s, unsigned slot); /* in no window */
void session_read_block(const struct session *s, unsigned slot, struct block_reading *ret);

/* CPU time that the target's threads have executed since the session began, pauses left out; what
 * probes took is included. */
uint64_t session_executed_ns(struct session *s);
/* What all probes of blocks have taken from the target since the session began, those included that
 * were hit before their window counted or after. */
uint64_t session_probes_ns(const struct session *s);

/* Pauses of session_config.perturb that have begun. In mode `quanta` each lasts a quantum or more.
 */
struct perturbation {
	uint64_t pauses, paused_ns;
};
struct perturbation session_perturbation(const struct session *s);

#endif
