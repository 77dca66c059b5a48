/* SPDX-License-Identifier: BSD-3-Clause */
/* The profile in the middle of a run: the records so far, and what the run's end will add to them.
 * Pure. */
#ifndef COZBPF_SO_FAR_H
#define COZBPF_SO_FAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cozbpf/abi.h>
#include "core/places/linemap.h"
#include "core/profile/profile.h"

/* What a run under way has measured that is not in a record yet. All pointers are borrowed. */
struct run_so_far {
	uint32_t run; /* index of its startup record */
	/* by line id, from 1 to n_lines - 1 */
	const struct source_line *lines;
	const struct cozbpf_line_count *counts;      /* since the session began */
	const uint64_t *counts_before, *free_before; /* of earlier runs */
	size_t n_lines;
	bool has_ids;               /* baselines or waits of the run refer to lines by ids */
	uint64_t samples, in_scope; /* of this run */
	uint64_t runtime_ns;
	uint64_t delayed_ns; /* of it: in experiments with a speedup */
};

/* The samples record of a line. The caller frees its names. False: the line has no samples, or
 * memory is short. */
bool so_far_line(const struct run_so_far *s, size_t line, struct samples_record *ret);
/* The same of a line that may have none. */
bool so_far_any_line(const struct run_so_far *s, size_t line, struct samples_record *ret);

/* Fills the times of the run: all of it, and what of it passed without delays. */
void so_far_times(const struct run_so_far *s, struct run_record *ret);

/*
 * A profile to make one estimate of. It owns its arrays of samples and of runs. The experiments and
 * the strings of earlier records are those of the profile that it was made of, so it must be given
 * up before that profile changes.
 */
struct so_far {
	struct profile profile;
	size_t n_before; /* samples records of earlier runs; their strings are borrowed */
};

/* @now NULL: no run is under way. 0 or -ENOMEM; so_far_deinit() is to be called in both cases. */
int so_far_init(struct so_far *s, const struct profile *before, const struct run_so_far *now);
void so_far_deinit(struct so_far *s);

#endif
