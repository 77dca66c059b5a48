/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of a file that turn with loops which wait, as they become known. */
#ifndef COZBPF_RUN_SPIN_PLACES_H
#define COZBPF_RUN_SPIN_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/errors.h"

struct file;
struct object;

/* Functions that are known by name, beside the COZBPF_SPINS_* that samples find. */
#define SPINS_NAMED 0x100

struct spin_places {
	uint64_t *offsets, *cookies; /* @n of each, in the order of being found */
	size_t n;
	int fd; /* of the file, for the kernel: opening an object anew takes a reader; -1: none */
	unsigned sought; /* of COZBPF_SPINS_PAUSE and SPINS_NAMED */
	/* idle.c: pieces of the file in which idle loops were sought; refused: it cannot be read */
	uint64_t *asked;
	size_t n_asked;
	bool is_refused;
};

/* The record of a file; NULL: out of memory. */
struct spin_places *spin_places(struct file *file);
void spin_places_free(struct file *file);
/* Adds a place, unless it is there. -1 with @e. */
int spin_places_add(struct spin_places *p, uint64_t offset, uint64_t cookie, struct error *e);
void spin_places_remove(struct spin_places *p, uint64_t offset);
/* Keeps the open file for the kernel. */
void spin_places_hold(struct spin_places *p, const struct object *o);

/* Whether @found of @samples are enough. Some code tries again now and then without waiting for
 * long, and what watches sched_yield() costs each system call of the machine a little. So it takes
 * so many samples, and one of so many. */
#define SPIN_SAMPLES 5
#define SPIN_RARE 256
bool spin_is_found(uint64_t found, uint64_t samples);

#endif
