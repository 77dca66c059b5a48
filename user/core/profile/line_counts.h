/* SPDX-License-Identifier: BSD-3-Clause */
/* The plain samples of a profile: how often each line was sampled, over all runs. */
#ifndef COZBPF_LINE_COUNTS_H
#define COZBPF_LINE_COUNTS_H

#include "core/profile/profile.h"

struct line_count {
	const char *line; /* file:line, borrowed from the profile */
	uint64_t count;   /* above 0 */
	uint64_t cpu_ns;  /* the sampling periods that they stand for */
};

struct line_counts {
	struct line_count *lines; /* by name */
	size_t n;
	/* samples of the target that fell in no line in scope, where runs say so */
	uint64_t outside, outside_cpu_ns;
	bool has_cpu_ns; /* every run with samples knows its period; else cpu_ns is too small */
};

/* 0 or -ENOMEM. */
int line_counts_init(struct line_counts *c, const struct profile *p);
uint64_t line_counts_find(const struct line_counts *c, const char *line);
void line_counts_deinit(struct line_counts *c);

#endif
