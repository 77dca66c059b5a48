/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of core/blocks/: lines of a log, taken apart. */
#ifndef COZBPF_BLOCKS_PRIVATE_H
#define COZBPF_BLOCKS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line of keys and values. */
#define BLOCK_FIELDS 32
struct block_line {
	char *items[BLOCK_FIELDS]; /* "key=value" */
	unsigned n;
	char *text; /* the struct's own copy */
	size_t room;
};

/* Copies the line of @n bytes and takes it apart. 0 or -ENOMEM. */
int block_line_split(struct block_line *l, const char *line, size_t n);
void block_line_deinit(struct block_line *l);

/* The getters: NULL or false where the field is not there, or no good. */
const char *block_line_text(const struct block_line *l, const char *key);
bool block_line_u64(const struct block_line *l, const char *key, uint64_t *ret);
bool block_line_hex(const struct block_line *l, const char *key, uint64_t *ret);

/* Whether a line ends with the sum of what is before it. */
bool block_line_is_sound(const char *line, size_t n);

/* Take a number off *@p, whose text ends with something that is none. */
bool block_take_u64(const char **p, uint64_t *ret);
bool block_take_number(const char **p, double *ret);

/* Room for one more in an array that doubles; NULL: out of memory, @items stays. */
void *block_grow(void *items, size_t *room, size_t n, size_t size);

#endif
