/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes JSON straight to a stream, in bounded memory, for a script element of a page. Strings come
 * out as valid UTF-8, whatever they were, and contain nothing that ends the element. The report's
 * own JSON is small, and json.c builds it with cJSON.
 */
#ifndef COZBPF_JSONOUT_H
#define COZBPF_JSONOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool comma; /* before the next value or key */
};

/* @bracket: '{' or '[', and '}' or ']'. */
void json_open(struct json *j, char bracket);
void json_close(struct json *j, char bracket);

/* Keys are our own and are written as they are. */
void json_key(struct json *j, const char *key);

/* NULL is null. */
void json_string(struct json *j, const char *s);
void json_string_n(struct json *j, const char *s, size_t n);

/* Six digits; NaN and infinity are null. */
void json_number(struct json *j, double v);
void json_count(struct json *j, uint64_t v);
void json_bool(struct json *j, bool v);

/* The same with their key. */
void json_key_string(struct json *j, const char *key, const char *s);
void json_key_number(struct json *j, const char *key, double v);
void json_key_count(struct json *j, const char *key, uint64_t v);
void json_numbers(struct json *j, const double *v, size_t n); /* a list */

#endif
