/* SPDX-License-Identifier: BSD-3-Clause */
/* Which lines are sampled in a baseline, so that the baseline can serve all of them. The clock is
 * the caller's. */
#ifndef COZBPF_BASELINE_H
#define COZBPF_BASELINE_H

#include <stddef.h>
#include <stdint.h>

#include "core/experiment/readings.h"
#include "core/profile/profile.h"

/*
 * A baseline serves each line in proportion to how likely a sample would have picked that line. A
 * sample picks a line just before the opening, and the samples nearest to it are those of the
 * opening itself, up to the first visit that counts. Samples of the whole experiment would serve
 * worse: they would give lines of a phase that begins meanwhile a weight that no pick gives them
 * (tests/unit/test_baselines.c says how much).
 */
struct baseline {
	/* lines that get a samples record: ids below this one */
	size_t room;
	/* samples per line id up to the opening */
	uint64_t *before;
	/* `observed` holds the count at the end of the opening until the close */
	struct baseline_line *lines;
	size_t n_lines;
	/* when the opening is over; 0: it is, or nothing is to be recorded */
	uint64_t due_ns;
	/* when it was */
	uint64_t since_ns;
};

/* A baseline opens, whose opening is over at @due_ns. Without memory it serves its own line only.
 */
void baseline_open(struct baseline *b, const struct readings *in, uint64_t due_ns);
/* An experiment opens that is no such baseline. */
void baseline_none(struct baseline *b);
/* due_ns has come; it is 0 from now on. */
void baseline_split(struct baseline *b, const struct readings *in, uint64_t now_ns);
/* Fills lines, n_lines and observed_ns of @x, where there are any. */
void baseline_close(
    struct baseline *b, const struct readings *in, uint64_t closed_ns, struct experiment_record *x);
void baseline_deinit(struct baseline *b);

#endif
