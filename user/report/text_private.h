/* SPDX-License-Identifier: BSD-3-Clause */
/* What the reports in text share: text.c and overview_text.c. */
#ifndef COZBPF_TEXT_PRIVATE_H
#define COZBPF_TEXT_PRIVATE_H

#include "report/report.h"

/* The lines of a progress point, in rank order, and its latency: NULL, where it has none. */
struct text_point {
	const struct estimate_line **lines;
	size_t n;
	const struct estimate_latency *latency;
};

/* The points in the order of their best lines. Profiles may have as many points as lines, so no
 * point looks at the lines of another. */
struct text_points {
	struct text_point *items;
	size_t n;
	const struct estimate_line **lines;
};

/* Returns 0 or -ENOMEM; text_points_deinit() is to be called in both cases. */
int text_points_init(struct text_points *p, const struct estimate *e);
void text_points_deinit(struct text_points *p);

/* Experiments, samples and losses, and what of it is a warning. */
void text_summary(FILE *out, const struct estimate *e);

/* Where the time of all threads goes, and who ends the leading waits; nothing without waits.
 * @prefix: common_directories(). */
void text_waiting(FILE *out, const struct estimate *e, size_t prefix);

/* Units that were measured both at once, and what they gain together; or the offer to measure two.
 * @prefix: bytes of directories that are not printed. 0 or -ENOMEM. */
int text_couples(FILE *out, const struct estimate *e, size_t prefix);

#endif
