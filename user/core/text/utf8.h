/* SPDX-License-Identifier: BSD-3-Clause */
/* Characters of arbitrary text: names come from other people's files. */
#ifndef COZBPF_UTF8_H
#define COZBPF_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character at @text, of which @n bytes are there, and its code point. Returns 0
 * for an overlong form, a surrogate or a truncated character. */
size_t utf8_character(const char *text, size_t n, uint32_t *ret);

/* A copy of @text with U+FFFD for each byte that is no UTF-8, which the caller frees. NULL: out of
 * memory. */
char *utf8_repaired(const char *text);

/* Writes a code point as UTF-8, with a NUL after it. Returns its bytes. */
size_t utf8_encode(uint32_t c, char ret[5]);

#endif
