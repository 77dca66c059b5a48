// SPDX-License-Identifier: BSD-3-Clause
/* A line of a profile: taken apart in either spelling, Coz's legacy one or JSON, and its fields as
 * numbers and text. Which fields a record has is in core/profile/records.c. */
#include "core/profile/private.h"

#include <math.h>
#include <string.h>

#include <cjson/cJSON.h>

const struct field *field_find(const struct line *l, const char *key)
{
	for (size_t i = 0; i < l->n; i++) {
		const char *k = l->fields[i].key;

		/* Most keys differ in their first letter, and this is done for each field. */
		if (k[0] == key[0] && !strcmp(k, key))
			return &l->fields[i];
	}
	return NULL;
}

const char *field_text(const struct line *l, const char *key)
{
	const struct field *f = field_find(l, key);

	return f && f->text && f->text[0] ? f->text : NULL;
}

bool take_u64(const char **s, char end, uint64_t max, uint64_t *ret)
{
	const char *p = *s;
	uint64_t v = 0;

	for (; *p >= '0' && *p <= '9'; p++) {
		if (v > max / 10)
			return false;
		v = v * 10 + (uint64_t)(*p - '0');
	}
	if (p == *s || v > max || (end && *p != end))
		return false;
	*s = p + (end != 0);
	*ret = v;
	return true;
}

static bool parse_u64(const char *s, uint64_t max, uint64_t *ret)
{
	return take_u64(&s, 0, max, ret) && !*s;
}

bool field_u64(const struct line *l, const char *key, uint64_t max, uint64_t *ret)
{
	const struct field *f = field_find(l, key);

	if (!f)
		return false;
	if (f->text)
		return parse_u64(f->text, max, ret);
	/* Written so that NaN is refused; max is below 2^63, so the conversion is defined. */
	if (!(f->number >= 0 && f->number <= (double)max))
		return false;
	*ret = (uint64_t)f->number;
	return true;
}

bool field_own(const struct line *l, const char *key, uint64_t max, uint64_t *ret)
{
	return !field_find(l, key) || field_u64(l, key, max, ret);
}

bool field_s64(const struct line *l, const char *key, uint64_t max, int64_t *ret)
{
	const struct field *f = field_find(l, key);
	uint64_t v;

	if (!f)
		return false;
	if (f->text) {
		bool minus = f->text[0] == '-';

		if (!parse_u64(f->text + minus, max, &v))
			return false;
		*ret = minus ? -(int64_t)v : (int64_t)v;
		return true;
	}
	if (!(fabs(f->number) <= (double)max))
		return false;
	*ret = (int64_t)f->number;
	return true;
}

/* Not through strtod, whose decimal sign follows the locale. */
bool field_fraction(const struct line *l, const char *key, double *ret)
{
	const struct field *f = field_find(l, key);
	double v = 0, scale = 1;
	bool digits = false, point = false;

	if (!f)
		return false;
	if (!f->text) {
		*ret = f->number;
		return f->number >= 0 && f->number <= 1;
	}
	for (const char *s = f->text; *s; s++) {
		if (*s == '.' && !point) {
			point = true;
			continue;
		}
		if (*s < '0' || *s > '9')
			return false;
		digits = true;
		if (point && scale < 1e9)
			v += (*s - '0') / (scale *= 10);
		else if (!point)
			v = v * 10 + (*s - '0');
	}
	*ret = v;
	return digits && v <= 1;
}

/* Spellings */

static void unify(char *key)
{
	for (; *key; key++) {
		if (*key == '_')
			*key = '-';
	}
}

/* A name with a newline would forge lines of reports. */
static void flatten(char *text)
{
	for (; text && *text; text++)
		*text = text_character(*text);
}

static bool read_json(char *text, line_reader *take, void *arg)
{
	cJSON *object = cJSON_Parse(text);
	struct line l = {0};
	bool ok;

	for (cJSON *item = object ? object->child : NULL; item && l.n < MAX_FIELDS;
	     item = item->next) {
		if (!item->string)
			continue;
		unify(item->string);
		if (!strcmp(item->string, "type") && cJSON_IsString(item)) {
			unify(item->valuestring);
			l.type = item->valuestring;
		} else if (cJSON_IsString(item) || cJSON_IsNumber(item)) {
			flatten(item->valuestring);
			l.fields[l.n++] =
			    (struct field){item->string, item->valuestring, item->valuedouble};
		}
	}
	ok = l.type && take(&l, arg);
	cJSON_Delete(object);
	return ok;
}

static bool read_legacy(char *text, line_reader *take, void *arg)
{
	struct line l = {.type = text};
	char *next = text + strcspn(text, "\t");

	while (*next) {
		char *field = next + 1, *equals;

		*next = 0;
		next = field + strcspn(field, "\t");
		equals = memchr(field, '=', (size_t)(next - field));
		if (!equals || l.n == MAX_FIELDS)
			continue;
		*equals = 0;
		unify(field);
		l.fields[l.n++] = (struct field){field, equals + 1, 0};
	}
	unify(text);
	return take(&l, arg);
}

bool line_read(char *text, bool complete, line_reader *take, void *arg)
{
	/* A JSON line ends with its brace; of any other the last number may lack digits when the
	 * newline is missing. */
	if (text[0] == '{')
		return read_json(text, take, arg);
	return complete && read_legacy(text, take, arg);
}
