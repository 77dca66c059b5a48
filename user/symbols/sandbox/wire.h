/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to user/symbols/: what a reader answers, as bytes. struct out grows in the reader. struct
 * in is read by us, and nothing in it is trusted: each getter checks what it returns.
 */
#ifndef COZBPF_WIRE_H
#define COZBPF_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out {
	uint8_t *data;
	size_t n, cap;
	bool failed; /* memory was short: the rest is left out */
};

void put_bytes(struct out *o, const void *data, size_t n);
void put_u32(struct out *o, uint32_t value);
void put_u64(struct out *o, uint64_t value);
void put_string(struct out *o, const char *s); /* NULL: as "" */
void out_free(struct out *o);

struct in {
	uint8_t *data; /* owned */
	size_t n, at;
	bool bad; /* something was not as it has to be; getters give zeros from then on */
};

/* The next @n bytes, borrowed; NULL: there are fewer. */
const void *get_bytes(struct in *i, size_t n);
uint32_t get_u32(struct in *i);
uint64_t get_u64(struct in *i);
/* A string shorter than @size, borrowed, without zero bytes within; "" when it is bad. */
const char *get_string(struct in *i, size_t size);
/* A copy of one, or NULL with @i bad: memory is short as well. */
char *get_copy(struct in *i, size_t size);
/* A number of elements of at least @size bytes each: never more than there can be. */
size_t get_count(struct in *i, size_t size);
/* Whether all was good and nothing is left. */
bool in_is_whole(const struct in *i);
void in_free(struct in *i);

#endif
