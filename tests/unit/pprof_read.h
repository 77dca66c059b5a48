/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests and fuzzers: what `report --pprof` writes, decompressed and unpacked by protobuf-c, and
 * whether its parts refer to each other as the format demands. */
#ifndef COZBPF_PPROF_READ_H
#define COZBPF_PPROF_READ_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "profile.pb-c.h"

#include "core/text/utf8.h"

typedef Perftools__Profiles__Profile pb_profile;

/* NULL: it is no whole gzip file, or holds no profile.proto. To be freed by
 * perftools__profiles__profile__free_unpacked(). */
static inline pb_profile *pprof_read(const void *data, size_t size)
{
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)data, .avail_in = (unsigned)size};
	unsigned char block[16384], *text = NULL;
	pb_profile *ret = NULL;
	size_t n = 0;
	int rc = inflateInit2(&z, 15 + 16); /* gzip only */
	FILE *out = open_memstream((char **)&text, &n);

	while (rc == Z_OK) {
		z.next_out = block;
		z.avail_out = sizeof(block);
		rc = inflate(&z, Z_NO_FLUSH);
		fwrite(block, 1, sizeof(block) - z.avail_out, out);
	}
	inflateEnd(&z);
	fclose(out);
	if (rc == Z_STREAM_END && !z.avail_in)
		ret = perftools__profiles__profile__unpack(NULL, n, text);
	free(text);
	return ret;
}

static inline const char *pprof_text(const pb_profile *p, int64_t id)
{
	return id >= 0 && (size_t)id < p->n_string_table ? p->string_table[id] : NULL;
}

static inline bool pprof_is_utf8(const char *text)
{
	size_t n = strlen(text), length = 1;
	uint32_t c;

	for (size_t i = 0; length && i < n; i += length)
		length = utf8_character(text + i, n - i, &c);
	return length;
}

static inline bool pprof_texts_are_sound(const pb_profile *p)
{
	bool ret =
	    p->n_string_table && !p->string_table[0][0] && pprof_text(p, p->default_sample_type);

	for (size_t i = 0; i < p->n_string_table; i++)
		ret &= pprof_is_utf8(p->string_table[i]);
	for (size_t i = 0; i < p->n_sample_type; i++)
		ret &= pprof_text(p, p->sample_type[i]->type) &&
		       pprof_text(p, p->sample_type[i]->unit);
	for (size_t i = 0; i < p->n_comment; i++)
		ret &= pprof_text(p, p->comment[i]) != NULL;
	return ret;
}

/* Numbers begin at 1, without gaps: so they are unique. */
static inline bool pprof_is_sound(const pb_profile *p)
{
	bool ret = pprof_texts_are_sound(p);

	for (size_t i = 0; i < p->n_mapping; i++)
		ret &= p->mapping[i]->id == i + 1 && pprof_text(p, p->mapping[i]->filename) &&
		       pprof_text(p, p->mapping[i]->build_id);
	for (size_t i = 0; i < p->n_function; i++)
		ret &= p->function[i]->id == i + 1 && pprof_text(p, p->function[i]->name) &&
		       pprof_text(p, p->function[i]->filename);
	for (size_t i = 0; i < p->n_location; i++) {
		const Perftools__Profiles__Location *l = p->location[i];

		ret &= l->id == i + 1 && l->mapping_id <= p->n_mapping && l->n_line == 1 &&
		       l->line[0]->function_id && l->line[0]->function_id <= p->n_function;
	}
	for (size_t i = 0; i < p->n_sample; i++) {
		const Perftools__Profiles__Sample *s = p->sample[i];

		ret &= s->n_value == p->n_sample_type && s->n_location_id > 0;
		for (size_t j = 0; j < s->n_location_id; j++)
			ret &= s->location_id[j] && s->location_id[j] <= p->n_location;
	}
	return ret;
}

#endif
