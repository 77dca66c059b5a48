// SPDX-License-Identifier: BSD-3-Clause
/* JSON to a stream; see jsonout.h. */
#include "report/jsonout.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void separate(struct json *j)
{
	if (j->comma)
		putc(',', j->out);
	j->comma = true;
}

void json_open(struct json *j, char bracket)
{
	separate(j);
	putc(bracket, j->out);
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	putc(bracket, j->out);
	j->comma = true;
}

void json_key(struct json *j, const char *key)
{
	separate(j);
	fprintf(j->out, "\"%s\":", key);
	j->comma = false;
}

/* Bytes of the UTF-8 character at @s, of which @n are there, and its code point; 0 where there is none: overlong, a surrogate, cut off. */
static size_t utf8_character(const unsigned char *s, size_t n, uint32_t *ret)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = s[0] < 0x80 ? 1 : s[0] >= 0xf0 && s[0] < 0xf8 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc0 ? 2 : 0;
	uint32_t c;

	if (!length || length > n || s[0] >= 0xf8)
		return 0;
	c = length == 1 ? s[0] : s[0] & (0x7f >> length);
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000) || c < least[length])
		return 0;
	*ret = c;
	return length;
}

void json_string_n(struct json *j, const char *s, size_t n)
{
	size_t length;
	uint32_t c;

	separate(j);
	putc('"', j->out);
	for (size_t i = 0; i < n; i += length) {
		length = utf8_character((const unsigned char *)s + i, n - i, &c);
		if (!length) {
			fputs("\\ufffd", j->out);
			length = 1;
		} else if (c < 0x20 || c == 0x7f || c == 0x2028 || c == 0x2029 || (c < 0x80 && strchr("\"\\<>&", (int)c))) {
			fprintf(j->out, "\\u%04x", c);
		} else {
			fwrite(s + i, 1, length, j->out);
		}
	}
	putc('"', j->out);
}

void json_string(struct json *j, const char *s)
{
	if (s) {
		json_string_n(j, s, strlen(s));
		return;
	}
	separate(j);
	fputs("null", j->out);
}

void json_number(struct json *j, double v)
{
	separate(j);
	if (isfinite(v))
		fprintf(j->out, "%.6g", v);
	else
		fputs("null", j->out);
}

void json_count(struct json *j, uint64_t v)
{
	separate(j);
	fprintf(j->out, "%" PRIu64, v);
}

void json_bool(struct json *j, bool v)
{
	separate(j);
	fputs(v ? "true" : "false", j->out);
}
