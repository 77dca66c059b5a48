/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of an analysis of blocks: text for people, JSON (schema cozbpf-blocks/1) for programs,
 * and a page. */
#ifndef COZBPF_REPORT_BLOCKS_H
#define COZBPF_REPORT_BLOCKS_H

#include <stdio.h>

#include "core/blocks/analyse.h"
#include "report/report.h"

struct blocks_report {
	const struct block_analysis *analysis;
	size_t top; /* blocks shown; 0: all that are reported */
	bool all;   /* those below the threshold as well */
};

/* Each returns 0, -1 when the stream has failed, or -ENOMEM. */
int blocks_text(FILE *out, const struct blocks_report *r, const struct text_options *o);
int blocks_json(FILE *out, const struct blocks_report *r);
int blocks_html(FILE *out, const struct blocks_report *r);

/* How many of the analysis' results are shown. */
size_t blocks_shown(const struct blocks_report *r);

/* For the three of them. A block's lines, or "FUNCTION+0xOFFSET" where these are not known. */
void block_place_words(const struct block_place *p, char *buf, size_t size);
/* "FUNCTION+0xOFFSET in OBJECT, with what it calls" */
void block_function_words(const struct block_place *p, char *buf, size_t size);
/* "7472", "12.3 M" */
void block_count_words(double n, char *buf, size_t size);
/* Of a run's CPU time: "12.3 %"; from ten times of it on "12 x". */
void block_share_words(double share, char *buf, size_t size);
/* "blocked 1.20 s, usually 10.0 ms" */
void block_difference_words(const struct block_difference *d, char *buf, size_t size);
/* "run 7", with several logs "b.log:7" */
void block_run_words(
    const struct block_analysis *a, const struct block_read_run *r, char *buf, size_t size);
/* That no block reaches the threshold, and how near the nearest one came; empty: one does. */
void blocks_nearest_words(const struct block_analysis *a, char *buf, size_t size);
/* The @n-th reason to doubt, or what was left out; empty: no more. */
void blocks_warning(const struct block_analysis *a, unsigned n, char *buf, size_t size);
/* "20 runs of pbzip2, 1.02 s of CPU time each; 2 failed" */
void blocks_summary_words(const struct block_analysis *a, char *buf, size_t size);
/* Time in the block in a run; NaN: not known. */
double block_time_in(const struct block_result *r, uint32_t run);

#endif
