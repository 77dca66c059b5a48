/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of `cozbpf suggest`: what could be a progress point, best first. */
#ifndef COZBPF_SUGGESTIONS_H
#define COZBPF_SUGGESTIONS_H

#include <stddef.h>
#include <stdio.h>

#include "core/places/candidates.h"

struct suggestions {
	const char *program; /* its name */
	const struct candidate_watch *watch;
	const struct candidate *all; /* ranked; the first @good can serve */
	size_t n, good;
	size_t stacks; /* that functions were told from */
};

/* A table for people, or one JSON object. Candidates without visits are left out. 0 or -1. */
int report_suggestions(FILE *to, const struct suggestions *s);
int report_suggestions_json(FILE *out, const struct suggestions *s);

/* Writes @text as one word of a shell, in quotes where it needs them. */
void shell_word(FILE *out, const char *text);

#endif
