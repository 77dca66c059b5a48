// SPDX-License-Identifier: BSD-3-Clause
/* The fields of a line of a profile: numbers and text, in either spelling, and the writing of them.
 * Records are elsewhere. */
#include "core/profile/private.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const struct field *field_find(const struct line *l, const char *key)
{
	for (size_t i = 0; i < l->n; i++) {
		if (!strcmp(l->fields[i].key, key))
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

/* A value must not hold what separates fields and records; a name that does (a file name with a
 * tab) stays readable and unique enough. */
void profile_write_text(FILE *out, const char *key, const char *value)
{
	fprintf(out, "\t%s=", key);
	for (const char *s = value; *s; s++)
		putc(*s == '\t' || *s == '\n' || *s == '\r' ? ' ' : *s, out);
}

void profile_write_own(FILE *out, const char *key, uint64_t value)
{
	if (value)
		fprintf(out, "\t%s=%" PRIu64, key, value);
}
