/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * SipHash-2-4, a keyed hash of short messages (Aumasson and Bernstein, INDOCRYPT 2012), for loader
 * and kernel side. Words are the message's bytes, the first one lowest. The last word has the rest
 * of the bytes, and the length's low byte on top.
 */
#ifndef COZBPF_SIPHASH_H
#define COZBPF_SIPHASH_H

#include <cozbpf/delay_account.h>

struct siphash {
	__u64 v0, v1, v2, v3;
};

#define SIPHASH_LEFT(x, by) ((x) << (by) | (x) >> (64 - (by)))

DELAY_INLINE void siphash_round(struct siphash *h)
{
	h->v0 += h->v1;
	h->v1 = SIPHASH_LEFT(h->v1, 13) ^ h->v0;
	h->v0 = SIPHASH_LEFT(h->v0, 32);
	h->v2 += h->v3;
	h->v3 = SIPHASH_LEFT(h->v3, 16) ^ h->v2;
	h->v0 += h->v3;
	h->v3 = SIPHASH_LEFT(h->v3, 21) ^ h->v0;
	h->v2 += h->v1;
	h->v1 = SIPHASH_LEFT(h->v1, 17) ^ h->v2;
	h->v2 = SIPHASH_LEFT(h->v2, 32);
}

DELAY_INLINE void siphash_begin(struct siphash *h, const __u64 key[2])
{
	h->v0 = key[0] ^ 0x736f6d6570736575ULL;
	h->v1 = key[1] ^ 0x646f72616e646f6dULL;
	h->v2 = key[0] ^ 0x6c7967656e657261ULL;
	h->v3 = key[1] ^ 0x7465646279746573ULL;
}

DELAY_INLINE void siphash_word(struct siphash *h, __u64 word)
{
	h->v3 ^= word;
	siphash_round(h);
	siphash_round(h);
	h->v0 ^= word;
}

DELAY_INLINE __u64 siphash_end(struct siphash *h, __u64 last)
{
	siphash_word(h, last);
	h->v2 ^= 0xff;
	siphash_round(h);
	siphash_round(h);
	siphash_round(h);
	siphash_round(h);
	return h->v0 ^ h->v1 ^ h->v2 ^ h->v3;
}

#endif
