// SPDX-License-Identifier: BSD-3-Clause
/* See jsontext.h. */
#include "report/jsontext.h"

#include <stdlib.h>

#include "core/text/utf8.h"

cJSON *json_text(const char *s)
{
	char *text = utf8_repaired(s);
	cJSON *ret = text ? cJSON_CreateString(text) : NULL;

	free(text);
	return ret;
}
