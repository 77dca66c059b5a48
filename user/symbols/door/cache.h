/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to user/symbols/door/: bytes by key, kept from run to run below $XDG_CACHE_HOME/cozbpf or
 * ~/.cache/cozbpf. The directory and its files have to be the effective user's, and nobody else may
 * write to them. Otherwise, and on any error, there is no cache: nothing is found, nothing is kept.
 */
#ifndef COZBPF_CACHE_H
#define COZBPF_CACHE_H

#include "symbols/sandbox/wire.h"

/* Bytes: of one answer with its key, and of all, of which the least recently used go first. */
#define CACHE_MAX_ENTRY (64L << 20)
#define CACHE_MAX_BYTES (256L << 20)

/* True with what was kept for @key, the caller's to in_free(). */
bool cache_get(const struct out *key, struct in *ret);

/* Keeps the answer for @key, in place of an older one. */
void cache_put(const struct out *key, const struct in *answer);

#endif
