/* SPDX-License-Identifier: BSD-3-Clause */
/* Interned names: equal names have equal ids, numbered from 0 in order of arrival. Names are
 * borrowed, or copied into the table. Pure. */
#ifndef COZBPF_CORE_NAMES_H
#define COZBPF_CORE_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct name_chunk;

struct names {
	const char **items; /* by id; borrowed, except those of names_copy() */
	size_t n;
	/* private */
	uint32_t *slots; /* hash table of ids + 1 */
	size_t n_slots;
	struct name_chunk *chunks; /* copies, newest first */
	size_t bytes;              /* of all that the table has allocated */
};

/* Gets the id of @name, which must stay. Returns 0 or -ENOMEM. */
int names_id(struct names *t, const char *name, uint32_t *ret);

/* The same with a copy of @name, which the table owns. */
int names_copy(struct names *t, const char *name, uint32_t *ret);

/* Id of a name that is already there; else UINT32_MAX. */
uint32_t names_find(const struct names *t, const char *name);

void names_deinit(struct names *t);

#endif
