/* SPDX-License-Identifier: BSD-3-Clause */
/* In which system calls the waits of a unit were, as samples records have it: the key `calls`,
 * "fsync:980,openat:20". Pure. */
#ifndef COZBPF_WAIT_CALLS_H
#define COZBPF_WAIT_CALLS_H

#include <stddef.h>
#include <stdint.h>

#define WAIT_CALLS 6        /* that are told apart for one unit: those with most samples */
#define WAIT_CALL_NAME 32   /* bytes, the zero at the end included */
#define WAIT_CALLS_TEXT 512 /* likewise */

struct wait_calls {
	struct wait_call {
		char name[WAIT_CALL_NAME];
		uint64_t samples;
	} v[WAIT_CALLS]; /* most samples first */
	size_t n;
	uint64_t samples; /* of the unit, in calls that are not told apart, too */
};

/* Another call, or more samples of one. A name that is too long is passed over. */
void wait_calls_add(struct wait_calls *w, const char *name, size_t length, uint64_t samples);

/* Adds what @text, of a unit with @samples, has. What is damaged ends it. */
void wait_calls_parse(struct wait_calls *w, const char *text, uint64_t samples);

/* The text of it; empty: there are none. */
void wait_calls_text(const struct wait_calls *w, char ret[WAIT_CALLS_TEXT]);

/* 0 to 1. */
double wait_calls_share(const struct wait_calls *w, size_t i);

#endif
