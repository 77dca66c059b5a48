// SPDX-License-Identifier: BSD-3-Clause
/* Lines of a log of blocks: fields and numbers. Logs are of up to some 100 MB, mostly numbers, so
 * these are read without libc. */
#include "core/blocks/private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/blocks/blockformat.h"

#define SUM_BYTES 21 /* "\tsum=" and 16 digits */

int block_line_split(struct block_line *l, const char *line, size_t n)
{
	char *at, *end;

	if (n + 1 > l->room) {
		char *larger = realloc(l->text, n + 1);

		if (!larger)
			return -ENOMEM;
		l->text = larger;
		l->room = n + 1;
	}
	memcpy(l->text, line, n);
	l->text[n] = 0;
	l->n = 0;
	end = l->text + n;
	for (at = l->text; at < end && l->n < BLOCK_FIELDS; at++) {
		char *tab = memchr(at, '\t', (size_t)(end - at));

		l->items[l->n++] = at;
		at = tab ? tab : end;
		*at = 0;
	}
	return 0;
}

void block_line_deinit(struct block_line *l)
{
	free(l->text);
}

const char *block_line_text(const struct block_line *l, const char *key)
{
	size_t n = strlen(key);

	for (unsigned i = 0; i < l->n; i++)
		if (!strncmp(l->items[i], key, n) && l->items[i][n] == '=')
			return l->items[i] + n + 1;
	return NULL;
}

bool block_line_u64(const struct block_line *l, const char *key, uint64_t *ret)
{
	const char *text = block_line_text(l, key);

	return text && block_take_u64(&text, ret) && !*text;
}

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_hex(const char *text, uint64_t *ret)
{
	*ret = 0;
	for (unsigned i = 0; i < 16; i++) {
		int digit = digit_of(text[i]);

		if (digit < 0)
			return false;
		*ret = *ret << 4 | (unsigned)digit;
	}
	return true;
}

bool block_line_hex(const struct block_line *l, const char *key, uint64_t *ret)
{
	const char *text = block_line_text(l, key);

	return text && strlen(text) == 16 && take_hex(text, ret);
}

bool block_line_is_sound(const char *line, size_t n)
{
	uint64_t sum;

	return n > SUM_BYTES && !memcmp(line + n - SUM_BYTES, "\tsum=", 5) &&
	       take_hex(line + n - 16, &sum) && sum == block_format_sum(line, n - SUM_BYTES);
}

bool block_take_u64(const char **p, uint64_t *ret)
{
	const char *s = *p;
	uint64_t v = 0;

	for (; (unsigned char)(*s - '0') < 10; s++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return false;
	}
	*ret = v;
	if (s == *p)
		return false;
	*p = s;
	return true;
}

static double scaled(uint64_t digits, int exponent)
{
	static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

	if (exponent >= 0)
		return exponent <= 22 ? (double)digits * powers[exponent]
				      : (double)digits * pow(10, exponent);
	return exponent >= -22 ? (double)digits / powers[-exponent]
			       : (double)digits * pow(10, exponent);
}

/* Digits beyond the 18th change nothing that matters. */
static const char *take_digits(const char *s, uint64_t *digits, int *exponent, int of_each)
{
	for (; (unsigned char)(*s - '0') < 10; s++) {
		if (*digits < 100000000000000000ULL) {
			*digits = *digits * 10 + (uint64_t)(*s - '0');
			*exponent += of_each;
		} else {
			*exponent += 1 + of_each;
		}
	}
	return s;
}

bool block_take_number(const char **p, double *ret)
{
	const char *s = *p, *begin = s;
	uint64_t digits = 0, power = 0;
	int exponent = 0;
	bool is_below;

	s = take_digits(s, &digits, &exponent, 0);
	if (s == begin)
		return false;
	if (*s == '.')
		s = take_digits(s + 1, &digits, &exponent, -1);
	if (*s == 'e') {
		is_below = s[1] == '-';
		s += s[1] == '-' || s[1] == '+' ? 2 : 1;
		if (!block_take_u64(&s, &power) || power > 300)
			return false;
		exponent += is_below ? -(int)power : (int)power;
	}
	*ret = scaled(digits, exponent);
	*p = s;
	return isfinite(*ret);
}

void *block_grow(void *items, size_t *room, size_t n, size_t size)
{
	size_t larger = *room ? *room * 2 : 64;
	void *ret;

	if (n < *room)
		return items;
	ret = realloc(items, larger * size);
	if (ret)
		*room = larger;
	return ret;
}
