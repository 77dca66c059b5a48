// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which lines are sampled in a baseline, so that it can serve all of them (design.md section 6):
 * each in proportion to how likely it would have been the one picked. A line is picked by a sample
 * just before the opening, and the samples nearest to that are those of the opening itself, up to
 * the first visit that counts. Those of the whole experiment would serve worse: lines of a phase
 * that begins while it is open would get weight that no pick gives them
 * (tests/unit/test_baselines.c says how much that is).
 */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

/* with more the record might not fit into the megabyte that core/profile/read.c takes for a line */
#define MOST_LINES 32768

/* One more than the highest id of those that get a samples record. */
static size_t counted_lines(const struct runner *r)
{
	return r->files.lines.n_lines < r->recorder.counts_room ? r->files.lines.n_lines
								: r->recorder.counts_room;
}

void run_baseline_open(struct runner *r, uint64_t due_ns)
{
	const struct cozbpf_line_count *counts = session_line_counts(r->session);
	struct baseline *b = &r->experiments.baseline;

	b->due_ns = 0;
	b->n_lines = 0;
	if (r->experiments.speedup_pct || r->files.fixed_line || r->o.end_to_end)
		return;
	if (!b->before)
		b->before = calloc(r->recorder.counts_room, sizeof(*b->before));
	if (!b->before)
		return; /* a baseline that serves its own line only */
	/* Lines that are added later have no sample yet. */
	for (size_t i = 1; i < counted_lines(r); i++)
		b->before[i] = counts[i].all;
	b->due_ns = due_ns;
}

void run_baseline_split(struct runner *r)
{
	const struct cozbpf_line_count *counts = session_line_counts(r->session);
	struct baseline *b = &r->experiments.baseline;
	size_t n = 0, max = counted_lines(r);

	b->due_ns = 0;
	for (size_t i = 1; i < max; i++)
		n += counts[i].all != b->before[i];
	if (!n || n > MOST_LINES)
		return;
	free(b->lines);
	b->lines = calloc(n, sizeof(*b->lines));
	b->since_ns = monotonic_ns();
	for (size_t i = 1; b->lines && b->n_lines < n && i < max; i++) {
		uint64_t all = counts[i].all;

		if (all != b->before[i])
			b->lines[b->n_lines++] =
			    (struct baseline_line){(uint32_t)i, all - b->before[i], all};
	}
}

void run_baseline_close(struct runner *r, uint64_t closed_ns, struct experiment_record *x)
{
	const struct cozbpf_line_count *counts = session_line_counts(r->session);
	struct baseline *b = &r->experiments.baseline;

	if (!b->n_lines || closed_ns <= b->since_ns)
		return;
	for (size_t i = 0; i < b->n_lines; i++)
		b->lines[i].observed = counts[b->lines[i].id].all - b->lines[i].observed;
	x->lines = b->lines;
	x->n_lines = b->n_lines;
	x->observed_ns = closed_ns - b->since_ns;
	b->lines = NULL;
	b->n_lines = 0;
}

void run_baseline_deinit(struct runner *r)
{
	free(r->experiments.baseline.before);
	free(r->experiments.baseline.lines);
	memset(&r->experiments.baseline, 0, sizeof(r->experiments.baseline));
}
