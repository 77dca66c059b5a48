/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fields `stacks`, `wakers` and `calls` of a samples record of waits: from what the kernel side
 * has counted to text, and back. Lines are the ids of samples records of the same run.
 *
 *   stacks=COUNT:CALLER/CALLER,...   the innermost caller first; what is not there has no caller in
 *                                    scope
 *   wakers=COUNT:WAKER,...           a line, or 0: a thread of the program, in no line in scope; or
 *                                    the name of what is no line (waker_name())
 *   calls=NAME:COUNT,...             see wait_calls.h
 */
#ifndef COZBPF_WAIT_FIELDS_H
#define COZBPF_WAIT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cozbpf/abi.h>

/* Samples of waits, by stack, by waker and by system call. */
struct stack_count {
	struct cozbpf_wait_stack stack;
	uint64_t count;
};
struct waker_count {
	struct cozbpf_waker waker;
	uint64_t count;
};
struct call_count {
	struct cozbpf_wait_call call;
	uint64_t count;
};

/* All that were counted, by unit, and those with most samples first. */
struct wait_counts {
	struct stack_count *stacks;
	size_t n_stacks;
	struct waker_count *wakers;
	size_t n_wakers;
	struct call_count *calls;
	size_t n_calls;
};
void wait_counts_sort(struct wait_counts *c);
void wait_counts_deinit(struct wait_counts *c);

/* The text of a unit's stacks, wakers and calls (wait_calls.h), the caller's to free. NULL: it has
 * none, or memory is short. */
char *wait_stacks_text(const struct wait_counts *c, uint32_t unit);
char *wait_wakers_text(const struct wait_counts *c, uint32_t unit);
char *wait_calls_field(const struct wait_counts *c, uint32_t unit);

/* Takes the next one from *@text. False: there is none, or, where *@text is not at its end, what
 * is there is no good. Units are 0. */
bool wait_stack_next(const char **text, struct stack_count *ret);
bool wait_waker_next(const char **text, struct waker_count *ret);
/* Whether all of it is good. */
bool wait_stacks_sound(const char *text);
bool wait_wakers_sound(const char *text);

/* Of COZBPF_WAKER_TIMER and the like, a word of small letters; NULL: it is a line, or NO_LINE. */
const char *waker_name(uint32_t waker);

#endif
