/* SPDX-License-Identifier: BSD-3-Clause */
/* The language of latency pairs: NAME=BEGIN..END[,key=argN|tid] (docs/points.md). Parsing
 * only: other files look up what a SPEC names. */
#ifndef COZBPF_PAIR_H
#define COZBPF_PAIR_H

#include <stdbool.h>

#include "core/places/spec.h"
#include "core/text/string_list.h"

#define PAIR_ARGS 12 /* as many as a USDT probe can have */

struct pair {
	char *name;             /* what the profile calls it */
	struct spec begin, end; /* as written */
	bool by_arg;            /* else by thread */
	unsigned arg;           /* from 0 */
};

/*
 * Returns 0, or -1 with @e (EXIT_USAGE). BEGIN ends at the first ".." that is not part of a path
 * ("../lib") and not inside parentheses ("f(int, ...)"). A key that a kind of SPEC cannot have is
 * refused: arguments are known at a function's beginning and at USDT probes.
 */
int pair_parse(const char *text, struct pair *ret, struct error *e);
void pair_deinit(struct pair *p);

/* How points and pairs are written can be told before anything is loaded. -1 with @e (EXIT_USAGE):
 * one of @specs, or of @pairs (NULL: there are none), is written wrong, or two of @specs have one
 * name. */
int specs_check(const struct string_list *specs, const struct string_list *pairs, struct error *e);

#endif
