/* SPDX-License-Identifier: BSD-3-Clause */
/* Characters of text that may be anything: names come from other people's files. */
#ifndef COZBPF_UTF8_H
#define COZBPF_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character at @text, of which @n are there, and its code point; 0 where there
 * is none: overlong, a surrogate, cut off. */
size_t utf8_character(const char *text, size_t n, uint32_t *ret);

#endif
