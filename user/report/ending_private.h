/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two files of the ending share: messages, and the reason why there is no answer. */
#ifndef COZBPF_ENDING_PRIVATE_H
#define COZBPF_ENDING_PRIVATE_H

#include "report/ending.h"

/* Adds a message; without memory there is none. */
void ending_say(struct ending *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Progress points without a visit. */
size_t ending_unvisited(const struct ending_facts *f);

/* ending_reason.c: 0, or -1 with @e: why there is no answer. */
int ending_reason(const struct ending_facts *f, struct error *e);

/* ending_again.c: "20 runs take about 30 s: " and the command line for them. @before and @after
 * stand around the number. */
void ending_runs_words(const struct ending_facts *f, uint64_t runs, uint64_t ns, const char *before,
    const char *after, char *buf, size_t size);

#endif
