/* SPDX-License-Identifier: BSD-3-Clause */
/* An estimate in sentences, for the reports: what a line promises, and what is missing where it
 * promises nothing yet. */
#ifndef COZBPF_WORDS_H
#define COZBPF_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/estimate/estimate.h"
#include "core/profile/counters.h"

/* Bytes of the directories that all lines share: they are not printed. */
size_t common_directories(const struct estimate *e);

/* A point of a curve as one character: a block of one of eight heights, @share of the highest;
 * losses have a mark of their own. */
const char *curve_mark(double share, bool unicode);

/* "optimize", "contention", "no effect", "not enough data" */
const char *verdict_words(enum verdict v);

/* What making the line faster would do, for lines that gain or lose; @label is the line as it is to
 * be called. The sentence is empty for others. */
void effect_words(const struct estimate_line *l, const char *label, char *buf, size_t size);

/* That a line has no effect; empty for others. */
void flat_words(const struct estimate_line *l, const char *label, char *buf, size_t size);

/* "1.23 ms"; three figures. "unknown" for NaN. */
void time_words(double ns, char *buf, size_t size);

/* A latency as it is now: "mean 1.23 ms (1.20 to 1.26), p50 1.1 ms, ..." */
void latency_words(const struct latency_figures *f, char *buf, size_t size);

/* What makes a latency's figures doubtful, one sentence for each reason, in order of weight: the
 * @n-th; empty: there are no more. */
void latency_warning(const struct estimate_latency *l, unsigned n, char *buf, size_t size);

/* What a share (core/profile/counters.h) that is too large says of the machine; empty: it is not,
 * or
 * @c is no share. */
void counter_warning(
    const struct counter *c, const struct run_record *totals, char *buf, size_t size);

/* What is missing: "2 of 5 speedups measured". */
void shortage_words(
    const struct estimate *e, const struct estimate_line *l, char *buf, size_t size);

#endif
