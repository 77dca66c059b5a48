// SPDX-License-Identifier: BSD-3-Clause
/* Reading and writing of a record by the table of its fields, in Coz's legacy spelling. The tables
 * are in core/profile/records.c. */
#include "core/profile/private.h"

#include <inttypes.h>
#include <string.h>

enum number { U64, U32, FLAG, S64 };

static const struct {
	enum number as;
	uint64_t max;
} units[] = {
    [FIELD_COUNT] = {U64, MAX_COUNT},
    [FIELD_NS] = {U64, MAX_NS},
    [FIELD_REALTIME] = {U64, INT64_MAX},
    [FIELD_ID] = {U32, UINT32_MAX},
    [FIELD_SPEEDUPS] = {U32, 1000},
    [FIELD_FLAG] = {FLAG, 1},
    [FIELD_BALANCE] = {S64, MAX_COUNT},
    [FIELD_SUM_NS] = {S64, MAX_SUM},
};

/* A field's value in its record; numbers of either sign have the same bits in 64. */
static uint64_t get(const struct field_row *f, const char *record)
{
	const void *at = record + f->at;

	switch (units[f->unit].as) {
	case U32:
		return *(const uint32_t *)at;
	case FLAG:
		return *(const bool *)at;
	default:
		return *(const uint64_t *)at;
	}
}

static void set(const struct field_row *f, char *record, uint64_t value)
{
	void *at = record + f->at;

	switch (units[f->unit].as) {
	case U32:
		*(uint32_t *)at = (uint32_t)value;
		break;
	case FLAG:
		*(bool *)at = value;
		break;
	default:
		*(uint64_t *)at = value;
	}
}

static bool read_number(const struct line *l, const struct field_row *f, uint64_t *ret)
{
	uint64_t max = units[f->unit].max;

	return units[f->unit].as == S64 ? field_s64(l, f->key, max, (int64_t *)ret)
					: field_u64(l, f->key, max, ret);
}

static bool read_field(const struct line *l, const struct field_row *f, char *record)
{
	bool *known = (bool *)(record + f->known), wanted = field_find(l, f->key);
	uint64_t value = 0;

	if (f->presence == WHEN_KNOWN)
		*known = wanted;
	else if (f->presence == WITH_KNOWN)
		wanted = *known;
	if ((wanted || f->presence == MUST) && !read_number(l, f, &value))
		return false;
	set(f, record, value);
	return true;
}

/* What is good, or is not there; of a kind of text that nobody judges, anything. */
static bool is_text_good(const struct line *l, const struct field_row *f)
{
	const char *text = field_text(l, f->key);

	return !f->is_good || (text ? f->is_good(text) : !field_find(l, f->key));
}

static bool take_field(
    const struct line *l, const struct field_row *f, void *record, bool *ret_no_memory)
{
	if (f->unit == FIELD_TEXT)
		return is_text_good(l, f);
	return f->unit == FIELD_OTHER ? f->take(l, record, ret_no_memory)
				      : read_field(l, f, record);
}

bool record_read(
    const struct line *l, const struct record_type *type, void *record, bool *ret_no_memory)
{
	if (type->name_key && !field_text(l, type->name_key))
		return false;
	for (size_t i = 0; i < type->n_rows; i++)
		if (!take_field(l, &type->rows[i], record, ret_no_memory))
			return false;
	return !type->is_sound || type->is_sound(record);
}

/* A value must not hold what separates fields and records; a name that does (a file name with a
 * tab) stays readable and unique enough. */
void write_text(FILE *out, const char *key, const char *value)
{
	fprintf(out, "\t%s=", key);
	for (const char *s = value; *s; s++)
		putc(text_character(*s), out);
}

static bool is_written(const struct field_row *f, const char *record)
{
	if (f->presence == WHEN_KNOWN || f->presence == WITH_KNOWN)
		return *(const bool *)(record + f->known);
	return f->presence != UNLESS_0 || get(f, record);
}

static void write_field(FILE *out, const struct field_row *f, const char *record)
{
	if (f->unit == FIELD_OTHER) {
		f->put(out, record);
		return;
	}
	if (f->unit == FIELD_TEXT) {
		const char *text = *(char *const *)(record + f->at);

		if (text)
			write_text(out, f->key, text);
		return;
	}
	if (!is_written(f, record))
		return;
	if (units[f->unit].as == S64)
		fprintf(out, "\t%s=%" PRId64, f->key, (int64_t)get(f, record));
	else
		fprintf(out, "\t%s=%" PRIu64, f->key, get(f, record));
}

int record_write(FILE *out, const struct record_type *type, const char *name, const void *record)
{
	fputs(type->name, out);
	if (type->name_key)
		write_text(out, type->name_key, name);
	for (size_t i = 0; i < type->n_rows; i++)
		write_field(out, &type->rows[i], record);
	putc('\n', out);
	return ferror(out) ? -1 : 0;
}
