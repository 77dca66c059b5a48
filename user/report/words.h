/* SPDX-License-Identifier: BSD-3-Clause */
/* An estimate in sentences, for the text report: what a line promises, and what is missing where it promises nothing yet. */
#ifndef COZBPF_WORDS_H
#define COZBPF_WORDS_H

#include <stddef.h>

#include "core/estimate.h"

/* "optimize", "contention", "no effect", "not enough data" */
const char *verdict_words(enum verdict v);

/* What making the line faster would do, for lines that gain or lose; @label is the line as it is to be called. The sentence is empty
 * for others. */
void effect_words(const struct estimate_line *l, const char *label, char *buf, size_t size);

/* What is missing: "2 of 5 speedups measured". */
void shortage_words(const struct estimate *e, const struct estimate_line *l, char *buf, size_t size);

#endif
