// SPDX-License-Identifier: BSD-3-Clause
/* JSON to a stream; see jsonout.h. */
#include "report/jsonout.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/text/utf8.h"

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

void json_string_n(struct json *j, const char *s, size_t n)
{
	size_t length;
	uint32_t c;

	separate(j);
	putc('"', j->out);
	for (size_t i = 0; i < n; i += length) {
		length = utf8_character(s + i, n - i, &c);
		if (!length) {
			fputs("\\ufffd", j->out);
			length = 1;
		} else if (c < 0x20 || c == 0x7f || c == 0x2028 || c == 0x2029 ||
			   (c < 0x80 && strchr("\"\\<>&", (int)c))) {
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

void json_key_string(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_string(j, s);
}

void json_key_number(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_number(j, v);
}

void json_key_count(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_count(j, v);
}

void json_numbers(struct json *j, const double *v, size_t n)
{
	json_open(j, '[');
	for (size_t i = 0; i < n; i++)
		json_number(j, v[i]);
	json_close(j, ']');
}
