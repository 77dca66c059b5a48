// SPDX-License-Identifier: BSD-3-Clause
/* See jsontext.h. */
#include "report/jsontext.h"

#include <stdlib.h>
#include <string.h>

#include "core/text/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

cJSON *json_text(const char *s)
{
	size_t n = strlen(s), used = 0, length;
	char *text = malloc(n * strlen(REPLACEMENT) + 1);
	cJSON *ret;
	uint32_t c;

	if (!text)
		return NULL;
	for (size_t i = 0; i < n; i += length) {
		const char *from = s + i;
		size_t size = length = utf8_character(from, n - i, &c);

		if (!length) {
			from = REPLACEMENT;
			size = strlen(REPLACEMENT);
			length = 1;
		}
		memcpy(text + used, from, size);
		used += size;
	}
	text[used] = 0;
	ret = cJSON_CreateString(text);
	free(text);
	return ret;
}
