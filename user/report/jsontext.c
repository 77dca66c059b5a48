// SPDX-License-Identifier: BSD-3-Clause
/* See jsontext.h. */
#include "report/jsontext.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/text/utf8.h"

cJSON *json_text(const char *s)
{
	char *text = utf8_repaired(s);
	cJSON *ret = text ? cJSON_CreateString(text) : NULL;

	free(text);
	return ret;
}

cJSON *json_figure(double v)
{
	return isfinite(v) ? cJSON_CreateNumber(round(v * 1e6) / 1e6) : cJSON_CreateNull();
}

cJSON *json_integer(uint64_t v)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	return cJSON_CreateRaw(text);
}

/* cJSON's adders accept NULL and then return false. */
bool json_add(cJSON *object, const char *key, cJSON *item)
{
	if (item &&
	    (key ? cJSON_AddItemToObject(object, key, item) : cJSON_AddItemToArray(object, item)))
		return true;
	cJSON_Delete(item);
	return false;
}

cJSON *json_whole(cJSON *object, bool complete)
{
	if (complete)
		return object;
	cJSON_Delete(object);
	return NULL;
}
