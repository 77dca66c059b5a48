/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the profile share: a line taken apart into fields, and the records as tables of
 * their fields. */
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

/* core/profile/line.c. Takes the line @text apart, which it overwrites, and hands it to @take. It
 * returns what @take does, or false when there is no line to take. @complete: a newline followed.
 */
typedef bool line_reader(const struct line *l, void *arg);
bool line_read(char *text, bool complete, line_reader *take, void *arg);

/* The getters return false when the field is not there or no good. */
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

/* core/profile/fields.c. How a field is read and written, and what is refused as damage. */
enum field_unit {
	FIELD_COUNT,    /* uint64_t, of visits and samples */
	FIELD_NS,       /* uint64_t */
	FIELD_REALTIME, /* uint64_t, ns: any value that is a number */
	FIELD_ID,       /* uint32_t */
	FIELD_SPEEDUPS, /* uint32_t, how many */
	FIELD_FLAG,     /* bool */
	FIELD_BALANCE,  /* int64_t, a count that may be below 0 */
	FIELD_SUM_NS,   /* int64_t */
	FIELD_TEXT,     /* char *, NULL: it is not there; the reader copies it (read.c) */
	FIELD_OTHER,    /* the row's own functions */
};
enum field_presence {
	MUST,       /* a record without it is refused */
	ALWAYS,     /* it may be missing, and is written always */
	UNLESS_0,   /* it may be missing, and is written unless it is 0 */
	WHEN_KNOWN, /* a bool says whether it is there */
	WITH_KNOWN, /* it is there when that bool is set, which is an earlier field's */
};

struct field_row {
	const char *key;
	enum field_unit unit;
	enum field_presence presence;
	size_t at;    /* in the record's struct */
	size_t known; /* of the bool */
	/* FIELD_TEXT: whether it is good; NULL: any is. */
	bool (*is_good)(const char *text);
	/* FIELD_OTHER: see record_read() and record_write(); they get the whole record. */
	bool (*take)(const struct line *l, void *record, bool *ret_no_memory);
	void (*put)(FILE *out, const void *record);
};

struct record_type {
	const char *name;
	const char *name_key; /* of the text that says what it is of, its first field; NULL: none */
	const struct field_row *rows; /* in the order in which they are written */
	size_t n_rows;
	bool (*is_sound)(const void *record); /* whether its numbers go together; NULL: any do */
};

/* Fills all fields of @record but its name, which must be there. False when the line is no good, or
 * with *@ret_no_memory; what the record has allocated is the caller's to free either way. Without
 * rows that allocate @ret_no_memory may be NULL. */
bool record_read(
    const struct line *l, const struct record_type *type, void *record, bool *ret_no_memory);
/* -1 when the stream has failed. */
int record_write(FILE *out, const struct record_type *type, const char *name, const void *record);

/* What separates fields and records does not stand in a text, in either spelling. */
static inline char text_character(char c)
{
	return c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
}

/* A text without that. */
void write_text(FILE *out, const char *key, const char *value);

/* core/profile/records.c. The last two are a struct point_record. */
extern const struct record_type record_startup, record_runtime, record_experiment, record_samples,
    record_throughput, record_latency, record_member, record_node_speed, record_node_line;

#endif
