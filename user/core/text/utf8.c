// SPDX-License-Identifier: BSD-3-Clause
/* Characters of arbitrary text; see utf8.h. */
#include "core/text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

size_t utf8_character(const char *text, size_t n, uint32_t *ret)
{
	const unsigned char *s = (const unsigned char *)text;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = !n                            ? 0
			: s[0] < 0x80                 ? 1
			: s[0] >= 0xf0 && s[0] < 0xf8 ? 4
			: s[0] >= 0xe0                ? 3
			: s[0] >= 0xc0                ? 2
						      : 0;
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

char *utf8_repaired(const char *text)
{
	size_t n = strlen(text), used = 0, length;
	char *ret = malloc(n * strlen(REPLACEMENT) + 1);
	uint32_t c;

	for (size_t i = 0; ret && i < n; i += length) {
		const char *from = text + i;
		size_t size = length = utf8_character(from, n - i, &c);

		if (!length) {
			from = REPLACEMENT;
			size = strlen(REPLACEMENT);
			length = 1;
		}
		memcpy(ret + used, from, size);
		used += size;
	}
	if (ret)
		ret[used] = 0;
	return ret;
}

size_t utf8_encode(uint32_t c, char ret[5])
{
	static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	ret[length] = 0;
	for (size_t i = length - 1; i > 0; i--, c >>= 6)
		ret[i] = (char)(0x80 | (c & 0x3f));
	ret[0] = (char)(lead[length] | c);
	return length;
}
