// SPDX-License-Identifier: BSD-3-Clause
/* Where code waits by trying again: its PAUSE instructions and its idle loops (idleloop.h); see
 * object_spin_sites(). */
#include "symbols/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/code/decode.h"
#include "symbols/code/idleloop.h"

/* bytes; 0.3 s */
#define MAX_DECODED (16U << 20)

struct search {
	struct image *image;
	const struct spin_question *q;
	struct decoder d;
	/* Where decoding has got to, in the function that begins at start. */
	uint64_t start, at;
	struct bytes code;
	size_t decoded;
	struct spin_site *found;
	size_t n, room;
};

/* The bytes can also be the middle of an instruction. That is told by decoding from the start of
 * the function, so code whose functions are not known is left out. */
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

/* Adds a site whose places are addresses, if an instruction begins there. 0 or -errno. */
static int add(struct search *s, const struct spin_site *site)
{
	struct spin_site *bigger;
	uint64_t offset;

	if (!begins_instruction(s, site->offset) || !image_offset(s->image, site->offset, &offset))
		return 0;
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		bigger = realloc(s->found, s->room * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		s->found = bigger;
	}
	s->found[s->n] = *site;
	s->found[s->n].offset = offset;
	s->found[s->n].from += offset - site->offset;
	s->found[s->n++].to += offset - site->offset;
	return 0;
}

static int search_pauses(struct search *s, const struct segment *section)
{
	static const uint8_t pause[] = {0xf3, 0x90};
	struct bytes code = decoder_code(&s->d, s->image, section->lo);
	const uint8_t *p = code.data, *end;
	int err = 0;

	if (!p)
		return 0;
	end = p + code.size;
	while (!err && s->n < s->q->max && (p = memmem(p, (size_t)(end - p), pause, 2))) {
		uint64_t addr = section->lo + (uint64_t)(p - code.data);
		const struct spin_site site = {
		    addr, addr, addr + sizeof(pause), COZBPF_SPINS_PAUSE, 0};

		err = add(s, &site);
		p += sizeof(pause);
	}
	return err;
}

/* The idle loop whose branch back is at @at within @code, which begins at address @lo. */
static bool loop_at(
    struct search *s, struct bytes code, uint64_t lo, size_t at, struct spin_site *ret)
{
	struct near_branch branch;
	size_t end, size;

	if (!near_branch_at(code.data + at, code.size - at, &branch) || branch.distance >= 0)
		return false;
	end = at + branch.size;
	size = (size_t) - (int64_t)branch.distance;
	if (size <= branch.size || size > IDLE_LOOP_BYTES || size > end ||
	    !is_idle_loop(&s->d, code.data + end - size, size, lo + end - size, lo + end))
		return false;
	*ret = (struct spin_site){
	    lo + at, lo + end - size, lo + end, COZBPF_SPINS_IDLE, branch.condition};
	return true;
}

/* Idle loops that have code in [@from, @to), an address of one section each. */
static int search_loops(struct search *s, uint64_t from, uint64_t to)
{
	uint64_t lo = image_code_start(s->image, from);
	struct bytes code = decoder_code(&s->d, s->image, lo);
	size_t first = from - lo > IDLE_LOOP_BYTES ? from - lo - IDLE_LOOP_BYTES : 0;
	size_t last = to - lo + IDLE_LOOP_BYTES;
	struct spin_site site;
	int err = 0;

	for (size_t i = first; !err && i < code.size && i < last && s->n < s->q->max; i++)
		if (loop_at(s, code, lo, i, &site) && site.from < to && site.to > from)
			err = add(s, &site);
	return err;
}

/* Idle loops around one file offset. */
static int search_around(struct search *s, uint64_t offset)
{
	uint64_t addr, start;

	if (!image_address(s->image, offset, &addr) || !image_is_code(s->image, addr))
		return 0;
	start = addr - addr % IDLE_LOOP_BYTES;
	if (start < image_code_start(s->image, addr))
		start = image_code_start(s->image, addr);
	return search_loops(s, start, addr - addr % IDLE_LOOP_BYTES + IDLE_LOOP_BYTES);
}

static int search(struct search *s)
{
	const struct image *o = s->image;
	int err = 0;

	for (size_t i = 0; !err && s->q->kinds & COZBPF_SPINS_PAUSE && i < o->n_code; i++)
		err = search_pauses(s, &o->code[i]);
	if (!(s->q->kinds & COZBPF_SPINS_IDLE))
		return err;
	for (size_t i = 0; !err && i < s->q->n_around; i++)
		err = search_around(s, s->q->around[i]);
	for (size_t i = 0; !err && !s->q->around && i < o->n_code; i++)
		err = search_loops(s, o->code[i].lo, o->code[i].hi);
	return err;
}

static int site_cmp(const void *a, const void *b)
{
	const struct spin_site *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Sections may lie in another order in the file, or over each other. */
static void sort(struct search *s)
{
	size_t n = 0;

	if (s->n)
		qsort(s->found, s->n, sizeof(*s->found), site_cmp);
	for (size_t i = 0; i < s->n; i++)
		if (!n || s->found[i].offset != s->found[n - 1].offset)
			s->found[n++] = s->found[i];
	s->n = n;
}

int image_spin_sites(
    struct image *o, const struct spin_question *q, struct spin_site **ret, size_t *n)
{
	struct search s = {.image = o, .q = q};
	struct error changed;
	int err = 0;

	*ret = NULL;
	*n = 0;
	if (!decoder_init(&s.d, o))
		err = search(&s);
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
