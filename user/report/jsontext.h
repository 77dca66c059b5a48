/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings for cJSON, which writes the bytes that it is given. */
#ifndef COZBPF_JSONTEXT_H
#define COZBPF_JSONTEXT_H

#include <cjson/cJSON.h>

/* A string with U+FFFD for each byte that is no UTF-8: names come from other people's files, and
 * JSON is UTF-8 (RFC 8259, section 8.1). NULL: out of memory. The caller owns the string. */
cJSON *json_text(const char *s);

#endif
