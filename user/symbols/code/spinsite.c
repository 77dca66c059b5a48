// SPDX-License-Identifier: BSD-3-Clause
/* Where code waits by trying again: its PAUSE instructions; see object_spin_sites(). */
#include "symbols/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/code/decode.h"

/* bytes; 0.3 s */
#define MAX_DECODED (16U << 20)

struct search {
	struct image *image;
	struct decoder d;
	/* Where decoding has got to, in the function that begins at start. */
	uint64_t start, at;
	struct bytes code;
	size_t decoded;
	uint64_t *found;
	size_t n, room, max;
};

/* The two bytes can also be the middle of an instruction. That is told by decoding from the start
 * of the function, so code whose functions are not known is left out. */
static bool begins_instruction(struct search *s, uint64_t addr)
{
	uint64_t start, from;

	if (!image_own_start(s->image, addr, &start))
		return false;
	if (start != s->start || s->at > addr) {
		s->start = s->at = start;
		s->code = decoder_code(&s->d, s->image, start);
	}
	while (s->at < addr && s->decoded < MAX_DECODED) {
		from = s->at;
		if (!decoder_next(&s->d, &s->code, &s->at))
			return false;
		s->decoded += s->at - from;
	}
	return s->at == addr;
}

static int add(struct search *s, uint64_t offset)
{
	uint64_t *bigger;

	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		bigger = realloc(s->found, s->room * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		s->found = bigger;
	}
	s->found[s->n++] = offset;
	return 0;
}

static int search_code(struct search *s, const struct segment *section)
{
	static const uint8_t pause[] = {0xf3, 0x90};
	struct bytes code = decoder_code(&s->d, s->image, section->lo);
	const uint8_t *p = code.data, *end;
	int err = 0;

	if (!p)
		return 0;
	end = p + code.size;
	while (!err && s->n < s->max && (p = memmem(p, (size_t)(end - p), pause, 2))) {
		uint64_t addr = section->lo + (uint64_t)(p - code.data), offset;

		if (begins_instruction(s, addr) && image_offset(s->image, addr, &offset))
			err = add(s, offset);
		p += sizeof(pause);
	}
	return err;
}

static int offset_cmp(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Sections may lie in another order in the file, or over each other. */
static void sort(struct search *s)
{
	size_t n = 0;

	if (s->n)
		qsort(s->found, s->n, sizeof(*s->found), offset_cmp);
	for (size_t i = 0; i < s->n; i++)
		if (!n || s->found[i] != s->found[n - 1])
			s->found[n++] = s->found[i];
	s->n = n;
}

int image_spin_sites(struct image *o, size_t max, uint64_t **ret, size_t *n)
{
	struct search s = {.image = o, .max = max};
	struct error changed;
	int err = 0;

	*ret = NULL;
	*n = 0;
	if (!decoder_init(&s.d, o))
		for (size_t i = 0; !err && i < o->n_code; i++)
			err = search_code(&s, &o->code[i]);
	decoder_deinit(&s.d);
	if (err || image_check(o, &changed)) {
		free(s.found);
		return err;
	}
	sort(&s);
	*ret = s.found;
	*n = s.n;
	return 0;
}
