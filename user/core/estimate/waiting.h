/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the threads' time goes, on CPUs and off them, by line and class of waits; and who ended the
 * waits. Pure. */
#ifndef COZBPF_WAITING_H
#define COZBPF_WAITING_H

#include <cozbpf/abi.h>
#include "core/profile/profile.h"
#include "core/text/names.h"

/* A line with its waits. Names are the owner's own. */
struct waiting_line {
	const char *line;                           /* "(no line)": waits of no line in scope */
	uint64_t on;                                /* samples executed */
	uint64_t classes[COZBPF_WAIT_CLASSES], off; /* of waits, and all of these */
	double on_share, off_share;                 /* of all executed, of all waits; 0 to 1 */
	double larger_share;
};

/* Who ended waits. */
struct waiting_waker {
	const char *line; /* NULL: none in scope, or what `waker` says */
	uint32_t waker;   /* COZBPF_WAKER_*; of a line any other number */
	uint64_t count;
};

/* A unit of waits, "FILE:LINE [io]". */
struct waiting_unit {
	const char *unit;
	uint64_t count;
	const struct waiting_waker *wakers; /* those of most samples first */
	size_t n;
	uint64_t woken; /* samples of waits whose waker is known */
};

/* Zeroed: the profile has no waits. */
struct waiting {
	uint64_t on, off; /* samples of all threads, in scope or not */
	uint64_t classes[COZBPF_WAIT_CLASSES];
	struct waiting_line *lines; /* by the larger one of their shares */
	size_t n;
	struct waiting_unit *units; /* those with most samples first */
	size_t n_units;
	/* private */
	struct names names;
	struct waiting_waker *wakers;
};

/* 0 or -ENOMEM; waiting_deinit() is to be called in both cases. */
int waiting_init(struct waiting *w, const struct profile *p);
void waiting_deinit(struct waiting *w);

/* What reports show: units with their wakers, lines, and shares of a hundredth and more. */
#define WAITING_UNITS 5
#define WAITING_LINES 10
size_t waiting_leading(const struct waiting *w, const struct waiting_unit *ret[WAITING_UNITS]);
/* The first so many lines have such shares; they may be more than WAITING_LINES. */
size_t waiting_lines(const struct waiting *w);

/* The part of @n in @all, 0 to 1. */
double waiting_share(uint64_t n, uint64_t all);

#endif
