/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading of untrusted bytes: a cursor that never passes its end. A read beyond the end makes the
 * cursor `bad`: it then stands at its end and yields zeros. */
#ifndef COZBPF_READER_H
#define COZBPF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const uint8_t *data; /* NULL: there is no such section */
	size_t size;
};

struct reader {
	const uint8_t *p, *end;
	bool bad;
};

static inline struct reader reader_at(struct bytes b, uint64_t offset, uint64_t size)
{
	struct reader r = {b.data, b.data, true};

	if (!b.data || offset > b.size || size > b.size - offset)
		return r;
	return (struct reader){b.data + offset, b.data + offset + size, false};
}

static inline size_t reader_left(const struct reader *r)
{
	return (size_t)(r->end - r->p);
}

static inline void reader_fail(struct reader *r)
{
	r->bad = true;
	r->p = r->end;
}

static inline void read_skip(struct reader *r, uint64_t n)
{
	if (n > reader_left(r))
		reader_fail(r);
	else
		r->p += n;
}

#define READER_FIXED(name, type)                  \
	static inline type name(struct reader *r) \
	{                                         \
		type v;                           \
                                                  \
		if (reader_left(r) < sizeof(v)) { \
			reader_fail(r);           \
			return 0;                 \
		}                                 \
		memcpy(&v, r->p, sizeof(v));      \
		r->p += sizeof(v);                \
		return v;                         \
	}

READER_FIXED(read_u8, uint8_t)
READER_FIXED(read_u16, uint16_t)
READER_FIXED(read_u32, uint32_t)
READER_FIXED(read_u64, uint64_t)

/* @size bytes: 1 to 4 or 8. */
static inline uint64_t read_uint(struct reader *r, unsigned size)
{
	uint64_t low;

	switch (size) {
	case 1:
		return read_u8(r);
	case 2:
		return read_u16(r);
	case 3:
		low = read_u16(r);
		return low | (uint64_t)read_u8(r) << 16;
	case 4:
		return read_u32(r);
	case 8:
		return read_u64(r);
	default:
		reader_fail(r);
		return 0;
	}
}

static inline uint64_t read_uleb(struct reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; r->p < r->end; shift += 7) {
		uint8_t b = *r->p++;

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	reader_fail(r);
	return 0;
}

static inline int64_t read_sleb(struct reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; r->p < r->end;) {
		uint8_t b = *r->p++;

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
		if (b & 0x80)
			continue;
		if ((b & 0x40) && shift < 64)
			v |= ~0ULL << shift;
		return (int64_t)v;
	}
	reader_fail(r);
	return 0;
}

/* A string that ends within the bytes; "" (and bad) when it does not. */
static inline const char *read_string(struct reader *r)
{
	const uint8_t *start = r->p, *nul = reader_left(r) ? memchr(r->p, 0, reader_left(r)) : NULL;

	if (!nul) {
		reader_fail(r);
		return "";
	}
	r->p = nul + 1;
	return (const char *)start;
}

/* Names are paths and functions. In a damaged file all of them can be the ends of one long text. */
#define STRING_MAX 4096

/* The string at @offset of a string section; NULL when there is none, and for one of STRING_MAX
 * bytes and more. */
static inline const char *string_at(struct bytes b, uint64_t offset)
{
	size_t left = offset < b.size ? b.size - offset : 0;

	if (!left || !memchr(b.data + offset, 0, left < STRING_MAX ? left : STRING_MAX))
		return NULL;
	return (const char *)b.data + offset;
}

#endif
