// SPDX-License-Identifier: BSD-3-Clause
/* Answers of readers as bytes; see wire.h. */
#include "symbols/sandbox/wire.h"

#include <stdlib.h>
#include <string.h>

void put_bytes(struct out *o, const void *data, size_t n)
{
	size_t cap = o->cap ? o->cap : 4096;
	uint8_t *grown;

	while (cap - o->n < n && cap <= SIZE_MAX / 2)
		cap *= 2;
	if (!o->failed && cap != o->cap) {
		grown = realloc(o->data, cap);
		o->failed = !grown;
		o->data = grown ? grown : o->data;
		o->cap = grown ? cap : o->cap;
	}
	if (o->failed || !n)
		return;
	memcpy(o->data + o->n, data, n);
	o->n += n;
}

void put_u32(struct out *o, uint32_t value)
{
	put_bytes(o, &value, sizeof(value));
}

void put_u64(struct out *o, uint64_t value)
{
	put_bytes(o, &value, sizeof(value));
}

void put_string(struct out *o, const char *s)
{
	uint32_t n = s ? (uint32_t)strlen(s) : 0;

	put_u32(o, n);
	put_bytes(o, s ? s : "", (size_t)n + 1);
}

void out_free(struct out *o)
{
	free(o->data);
	*o = (struct out){0};
}

const void *get_bytes(struct in *i, size_t n)
{
	const void *ret = i->data + i->at;

	if (i->bad || n > i->n - i->at) {
		i->bad = true;
		return NULL;
	}
	i->at += n;
	return ret;
}

uint32_t get_u32(struct in *i)
{
	const void *p = get_bytes(i, sizeof(uint32_t));
	uint32_t ret = 0;

	if (p)
		memcpy(&ret, p, sizeof(ret));
	return ret;
}

uint64_t get_u64(struct in *i)
{
	const void *p = get_bytes(i, sizeof(uint64_t));
	uint64_t ret = 0;

	if (p)
		memcpy(&ret, p, sizeof(ret));
	return ret;
}

const char *get_string(struct in *i, size_t size)
{
	uint32_t n = get_u32(i);
	const char *s = n < size ? get_bytes(i, (size_t)n + 1) : NULL;

	if (s && strnlen(s, (size_t)n + 1) == n)
		return s;
	i->bad = true;
	return "";
}

char *get_copy(struct in *i, size_t size)
{
	const char *s = get_string(i, size);
	char *copy = i->bad ? NULL : strdup(s);

	i->bad |= !copy;
	return copy;
}

size_t get_count(struct in *i, size_t size)
{
	uint64_t n = get_u64(i);

	if (n <= (i->n - i->at) / size)
		return (size_t)n;
	i->bad = true;
	return 0;
}

bool in_is_whole(const struct in *i)
{
	return !i->bad && i->at == i->n;
}

void in_free(struct in *i)
{
	free(i->data);
	*i = (struct in){0};
}
