/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the profile share: a line taken apart into fields, the writing of fields, and
 * point records. */
#ifndef COZBPF_PROFILE_PRIVATE_H
#define COZBPF_PROFILE_PRIVATE_H

#include "core/profile/profile.h"

/* fields after this many are ignored; the longest record of any known tool has 16 */
#define MAX_FIELDS 32
/* longer than any run; what exceeds it is a difference that went below zero */
#define MAX_NS (100ULL * 366 * 86400 * 1000000000)
#define MAX_COUNT (1ULL << 53) /* of visits and samples; exact as a double */
#define MAX_SUM (1ULL << 62)   /* of times; either sign fits */

struct field {
	const char *key;  /* with '-' for '_' */
	const char *text; /* NULL: a JSON number */
	double number;
};

struct line {
	const char *type;
	struct field fields[MAX_FIELDS];
	size_t n;
};

/* core/profile/fields.c. The getters return false when the field is not there or no good. */
const struct field *field_find(const struct line *l, const char *key);
const char *field_text(const struct line *l, const char *key); /* NULL: not there, or empty */
bool field_u64(const struct line *l, const char *key, uint64_t max, uint64_t *ret);
bool field_s64(
    const struct line *l, const char *key, uint64_t max, int64_t *ret);  /* from -max to max */
bool field_fraction(const struct line *l, const char *key, double *ret); /* 0 to 1 */
/* For a field that may be missing: then @ret stays. */
bool field_own(const struct line *l, const char *key, uint64_t max, uint64_t *ret);
/* A number that ends with @end or, where @end is 0, anywhere that is no digit; *@s goes on after
 * it. */
bool take_u64(const char **s, char end, uint64_t max, uint64_t *ret);

void profile_write_text(FILE *out, const char *key, const char *value);
void profile_write_own(FILE *out, const char *key, uint64_t value); /* nothing for 0 */

/* core/profile/point.c. Reading fills all but the name; false when the line is no good. The record
 * is the caller's to free either way. */
bool point_read(const struct line *l, struct point_record *ret, bool *ret_no_memory);
void point_write(FILE *out, const struct point_record *p);

#endif
