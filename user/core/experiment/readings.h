/* SPDX-License-Identifier: BSD-3-Clause */
/* What the experiments and the kernel side tell each other: readings in one direction, an opening
 * and a snapshot in the other. Data only. */
#ifndef COZBPF_READINGS_H
#define COZBPF_READINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cozbpf/abi.h>
#include <cozbpf/latency.h>

#include "core/places/linemap.h"

/* What the kernel side has counted since the session began, and how the experiment stands that is
 * open or was the last one. */
struct counters {
	uint64_t samples, in_scope;
	/* of the samples, those within the kernel (cozbpf blocks) */
	uint64_t kernel_samples;
	/* of them, those that waits stand for (--off-cpu) */
	uint64_t wait_samples;
	/* probes of calls that were hit (--sync=uprobe), returns included */
	uint64_t sync_calls;
	/* threads of the target: living ones, and all it had */
	int64_t threads;
	uint64_t born;
	/* the answer to the question for a line; 0: not answered yet */
	uint32_t picked_line;
	uint64_t opened_ns, counted_ns, required_ns;
	/* the latest time up to which a thread may still be in a pause */
	uint64_t pause_horizon_ns;
};

/* One progress point. A latency pair is two: its begins, and next to them its ends. */
struct point_reading {
	/* in the profile */
	const char *name;
	/* since the session began: all visits, and those of threads that a periodic timer paces */
	uint64_t visits, paced;
	/* visits that the timer of period @pace_ns feeds, on time or late */
	uint64_t fed, pace_ns;
	/* of a visit: what is counted may be parts of one */
	uint64_t unit;
	/* visits of the experiment by virtual time, COZBPF_BUCKETS of them */
	const struct cozbpf_bucket *buckets;
	/* of a pair's begins; NULL: this point is something else */
	const struct cozbpf_latency *latency;
	/* of a pair, once the experiment is closed: requests begun and not ended at V0 */
	int64_t in_flight;
};

struct readings {
	struct counters counters;
	const struct point_reading *points;
	unsigned n_points;
	/* by line id, 0 unused; @n_lines is one more than the highest id */
	const struct cozbpf_line_count *lines;
	size_t n_lines;
	/* by line id, which function holds a line; NULL: no line is held by one */
	const struct source_line *units;
	/* visits to the end of the command */
	const struct cozbpf_bucket *exit;
};

/* How the next experiment is to be. */
struct opening {
	uint32_t line;
	/* so many ids are selected from there on: the lines of a function follow it */
	uint32_t n_lines;
	/* likewise of a couple's second line; 0: there is none */
	uint32_t other, n_others;
	/* what the experiment is said to be on: @line, or the couple */
	uint32_t unit;
	unsigned speedup_pct;
	/* width of a bucket is 1 << shift ns */
	unsigned shift;
	/* virtual time after the opening in which visits do not count yet */
	uint64_t settle_ns;
	/* factor on the sampling period */
	double period;
};

/* What the target's threads got of the CPUs, and what they waited for while programs outside the
 * target had them. */
struct cpu_use {
	/* pauses included, to within the period of a sample */
	uint64_t executed_ns;
	uint64_t outsiders_ns;
	/* executed in experiments, of virtual time, to within a period on each CPU */
	uint64_t virtual_ns;
	/* that have executed for the target in experiments of this run */
	unsigned cpus;
	/* so long threads spun on their CPUs, as far as probes told */
	uint64_t spun_ns;
	/* wake-ups of its threads: by one of them, by anything else */
	uint64_t edges, other_wakes;
};

/* An experiment that is closed; counters are its own. */
struct snapshot {
	uint64_t opened_ns, counted_ns, closed_ns;
	/* R at the close; virtual duration = closed - counted - required */
	uint64_t required_ns;
	uint64_t selected_samples;
	/* executed by the selected line */
	uint64_t selected_ns;
	/* turns of a fixed loop, one at each sample, and the time that they took */
	uint64_t loop_ns, loops;
	uint64_t samples, deep_debt;
	struct cpu_use use;
	/* nobody watched it for so long that no pause was asked for any more, the machine slept, a
	 * CPU went or came, or a thread of the target stood still: SIGSTOP, a frozen control group
	 */
	bool was_disturbed;
};

#endif
