/* SPDX-License-Identifier: BSD-3-Clause */
/* "Did you mean": the names nearest to an unknown word, for hints about symbols, files and
 * options. */
#ifndef COZBPF_SUGGEST_H
#define COZBPF_SUGGEST_H

#include <stddef.h>

#define SUGGEST_MAX 3
#define SUGGEST_NAME 128 /* longer candidates are never offered: nobody mistypes them */

/* Keep on the stack; needs no deinit. */
struct suggest {
	const char *word; /* borrowed */
	size_t word_len;
	size_t n;
	struct {
		unsigned distance;
		char name[SUGGEST_NAME];
	} best[SUGGEST_MAX]; /* nearest first; among equals the first one added */
};

void suggest_init(struct suggest *s, const char *word);

/* Offers a candidate, which is copied when it is among the nearest. Names that are too far off are
 * ignored. */
void suggest_add(struct suggest *s, const char *name);

/* Writes "'a'", "'a' or 'b'", "'a', 'b' or 'c'" or "" into @buf, and returns @buf. */
const char *suggest_list(const struct suggest *s, char *buf, size_t size);

/* Edits (insert, delete, replace, swap neighbours) between @a and @b; anything above @limit counts
 * as @limit + 1. */
unsigned suggest_distance(const char *a, const char *b, unsigned limit);

#endif
