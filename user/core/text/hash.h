/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hashes for tables whose keys come from files. Whoever makes a file must not be able to choose
 * keys that all meet in a few slots: the reading would take the square of the time. So each table
 * seeds its hash with its own address, which differs from run to run. No result depends on it.
 */
#ifndef COZBPF_HASH_H
#define COZBPF_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t hash_mix(uint64_t h)
{
	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15ULL;
	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ULL;
	return h ^ h >> 32;
}

/* @table: where the slots are. */
static inline uint64_t hash_number(const void *table, uint64_t key)
{
	return hash_mix(key ^ hash_mix((uintptr_t)table));
}

static inline uint64_t hash_text(const void *table, const char *s)
{
	uint64_t h = hash_mix((uintptr_t)table);

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ULL;
	return hash_mix(h);
}

/* Of bytes, not of a table: the same in each run. @h: of what comes before, or 0. */
static inline uint64_t hash_bytes(uint64_t h, const void *data, size_t n)
{
	const char *bytes = data;
	uint64_t word;

	h = hash_mix(h ^ n);
	for (; n >= sizeof(word); n -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		h = hash_mix(h ^ word);
	}
	word = 0;
	if (n)
		memcpy(&word, bytes, n);
	return hash_mix(h ^ word);
}

#endif
