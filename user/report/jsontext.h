/* SPDX-License-Identifier: BSD-3-Clause */
/* What the reports in JSON share: strings and figures for cJSON, and objects that are complete. */
#ifndef COZBPF_JSONTEXT_H
#define COZBPF_JSONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

/* A string with U+FFFD for each byte that is no UTF-8: names come from other people's files, and
 * JSON is UTF-8 (RFC 8259, section 8.1). NULL: out of memory. The caller owns the string. */
cJSON *json_text(const char *s);

/* Six decimals: more are noise, and print differently from machine to machine. What is not known is
 * null. NULL: out of memory. The caller owns the item. */
cJSON *json_figure(double v);

/* Exact, beyond 2^53 too. NULL: out of memory. The caller owns the item. */
cJSON *json_integer(uint64_t v);

/* Adds @item, which may be NULL for want of memory, to an object, or for no @key to an array.
 * False: it was not added, and is freed. */
bool json_add(cJSON *object, const char *key, cJSON *item);
/* @object where it is complete, else NULL: it is freed. */
cJSON *json_whole(cJSON *object, bool complete);

#endif
