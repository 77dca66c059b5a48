// SPDX-License-Identifier: BSD-3-Clause
/* See printable.h. */
#include "core/text/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/utf8.h"

#define ESCAPE 4 /* \xNN */

static bool is_harmless(uint32_t c)
{
	return c >= ' ' && !(c >= 0x7f && c < 0xa0) && c != 0x61c && c != 0x200e && c != 0x200f &&
	       !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069);
}

/* @ret has room for ESCAPE bytes for each of @n; returns the bytes used. @kept: control characters
 * that stay. */
static size_t escape(const unsigned char *s, size_t n, const char *kept, char *ret)
{
	static const char digits[] = "0123456789abcdef";
	size_t used = 0, length;

	for (size_t i = 0; i < n; i += length) {
		uint32_t c = 0;

		length = utf8_character((const char *)s + i, n - i, &c);
		if (length && (is_harmless(c) || (c && c < ' ' && strchr(kept, (int)c)))) {
			memcpy(ret + used, s + i, length);
			used += length;
			continue;
		}
		length += !length;
		for (size_t j = i; j < i + length; j++) {
			ret[used++] = '\\';
			ret[used++] = 'x';
			ret[used++] = digits[s[j] >> 4];
			ret[used++] = digits[s[j] & 15];
		}
	}
	return used;
}

char *printable_text(const char *text)
{
	size_t n = strlen(text);
	char *ret = malloc(ESCAPE * n + 1);

	if (ret)
		ret[escape((const unsigned char *)text, n, "", ret)] = 0;
	return ret;
}

/* The stream's buffer. write_lines() gets whole lines, so no character is cut in two. */
struct lines {
	FILE *to;
	char *text;
	size_t n;
};

static bool write_lines(struct lines *l, size_t n)
{
	char *out = malloc(ESCAPE * n + 1);
	size_t used;
	bool done;

	if (!out)
		return false;
	used = escape((const unsigned char *)l->text, n, "\t\n", out);
	done = fwrite(out, 1, used, l->to) == used;
	free(out);
	memmove(l->text, l->text + n, l->n - n);
	l->n -= n;
	return done;
}

static ssize_t take(void *cookie, const char *text, size_t n)
{
	struct lines *l = cookie;
	char *grown = realloc(l->text, l->n + n);
	const char *last;

	if (!grown)
		return 0;
	l->text = grown;
	memcpy(grown + l->n, text, n);
	l->n += n;
	last = memrchr(grown, '\n', l->n);
	return !last || write_lines(l, (size_t)(last - grown) + 1) ? (ssize_t)n : 0;
}

static int end(void *cookie)
{
	struct lines *l = cookie;
	bool done = !l->n || write_lines(l, l->n);

	free(l->text);
	free(l);
	return done ? 0 : EOF;
}

FILE *printable_open(FILE *to)
{
	struct lines *l = calloc(1, sizeof(*l));
	FILE *ret;

	if (!l)
		return to;
	l->to = to;
	ret = fopencookie(l, "w", (cookie_io_functions_t){.write = take, .close = end});
	if (ret)
		return ret;
	free(l);
	return to;
}

void printable_close(FILE *stream, FILE *to)
{
	if (stream != to)
		fclose(stream);
}
