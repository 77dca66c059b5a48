/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports, made from an estimate alone (the folded one from counts of samples, that of pprof from
 * both). Text for people, JSON as in docs/design.md, Contracts. */
#ifndef COZBPF_REPORT_H
#define COZBPF_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "core/estimate/estimate.h"
#include "core/profile/line_counts.h"
#include "core/profile/wait_stacks.h"

struct text_options {
	int width;        /* columns to use; 0: 100 */
	bool unicode;     /* small curves in block characters, else in ASCII */
	size_t max_lines; /* ranked lines shown; 0: all */
};

/* Each returns 0, or -1 when the stream has failed; those in text also -ENOMEM. */
int report_text(FILE *out, const struct estimate *e, const struct text_options *o);
/* A picture for each progress point, overview.h, and a table of what is in it. */
int report_overview(FILE *out, const struct estimate *e, const struct text_options *o);
int report_json(FILE *out, const struct estimate *e);
/* The curves: a header, then one row for each line, progress point and line speedup. */
int report_csv(FILE *out, const struct estimate *e);
/* The plain samples as flamegraph.pl and speedscope take them. @stacks: by function. */
int report_folded(FILE *out, const struct line_counts *c, const struct unit_stacks *stacks);
/* Samples, CPU time and gains for pprof, speedscope and Pyroscope: profile.proto, compressed. The
 * gains are those for the progress point of the first line in rank order. @stacks: by line.
 * @version: cozbpf's. Also -ENOMEM. */
int report_pprof(FILE *out, const struct profile *p, const struct line_counts *c,
    const struct unit_stacks *stacks, const struct estimate *e, const char *version);

#endif
