/* SPDX-License-Identifier: BSD-3-Clause */
/* An estimate in sentences, for the reports: what a line promises, or what is missing for a
 * promise. */
#ifndef COZBPF_WORDS_H
#define COZBPF_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/estimate/contradiction.h"
#include "core/estimate/estimate.h"
#include "core/profile/counters.h"

/* Bytes of the directories that all lines share, which are not printed. */
size_t common_directories(const struct estimate *e);

/* A unit's name without them, or without any (ALL_DIRECTORIES); functions have none. @room is for
 * the name of a couple, whose two names both lose them; a longer one is cut. */
#define UNIT_ROOM 1024
#define ALL_DIRECTORIES SIZE_MAX
const char *unit_label(const char *unit, size_t prefix, char room[UNIT_ROOM]);

/* The same of a unit that need not be in the ranking, and may lie elsewhere. */
const char *any_label(const struct estimate *e, const char *unit, size_t prefix);

/* How much of the threads' time was on CPUs and off them: "2 % on CPU, 98 % off CPU: lock 90 %, io
 * 8
 * %". */
void waiting_words(const struct waiting *w, char *buf, size_t size);
/* A line's waits: "lock 12.3 %, io 0.1 %" of all waits; empty: it has none. */
void line_waits_words(
    const struct waiting *w, const struct waiting_line *l, char *buf, size_t size);
/* Who ended a unit's waits: "queue.c:40 (82 %), a timer (10 %), 3 others (8 %)"; empty: not known.
 */
void wakers_words(
    const struct estimate *e, const struct waiting_unit *u, size_t prefix, char *buf, size_t size);

/* A point of a curve as one character: one of eight blocks, @share of the highest. Losses have a
 * mark of their own. */
const char *curve_mark(double share, bool unicode);

/* "optimize", "contention", "no effect", "not enough data" */
const char *verdict_words(enum verdict v);

/* What a faster line would do, for lines that gain or lose; empty for others. @label: the line's
 * name in the sentence. */
void effect_words(const struct estimate_line *l, const char *label, char *buf, size_t size);

/* The program speedup that a verdict gives a line which is 25 % faster: as in the sentence above
 * where so much was measured, else by the slope. NaN: no verdict yet. */
double example_gain(const struct estimate_line *l);

/* In which system calls waits are: "LABEL waits in fsync 98 %, openat 2 %"; empty where that is not
 * known. */
void calls_words(const struct estimate_line *l, const char *label, char *buf, size_t size);

/* The statement that a line has no effect; empty for others. */
void flat_words(const struct estimate_line *l, const char *label, char *buf, size_t size);

/* Nodes that differ by more than chance, a sentence a line; nothing where none does. @prefix:
 * common_directories(). */
void machines_words(FILE *out, const struct machines *m, size_t prefix);

/* "1.23 ms"; three figures. "unknown" for NaN. */
void time_words(double ns, char *buf, size_t size);

/* The present latency: "mean 1.23 ms (1.20 to 1.26), p50 1.1 ms, ..." */
void latency_words(const struct latency_figures *f, char *buf, size_t size);

/* The @n-th reason to doubt a latency's figures, in order of weight, as a sentence; empty: no
 * more. */
void latency_warning(const struct estimate_latency *l, unsigned n, char *buf, size_t size);

/* What a share (core/profile/counters.h) that is too large says of the machine; empty: it is not,
 * or
 * @c is no share. */
void counter_warning(
    const struct counter *c, const struct run_record *totals, char *buf, size_t size);

/* That two points contradict each other; empty: they do not. @label: the line's name. */
void contradiction_words(const struct contradiction *c, const char *label, char *buf, size_t size);

/* What is missing: "2 of 5 speedups measured". */
void shortage_words(
    const struct estimate *e, const struct estimate_line *l, char *buf, size_t size);

#endif
