// SPDX-License-Identifier: BSD-3-Clause
/* Decodes an object's functions, and tells where their blocks are; see blockmap.h. Targets of
 * computed jumps are found in jumptables.c. */
#include "symbols/code/blockmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of code: 15 s. */
#define MAX_CODE (512ULL << 20)
#define LOCK_PREFIX 0xf0

bool block_range_of(const struct block_map *b, uint64_t offset, size_t *ret)
{
	return line_map_range_at(&b->functions, 0, offset, ret);
}

/* What a scan of one range knows. */
struct scan {
	struct block_map *b;
	struct line_range *range;
	uint64_t addr; /* of the range */
	size_t index;
	bool is_filled; /* what fills space stands before the instruction */
};

/* Calls lead to functions, and into the middle of one in assembler code only. */
static void note_target(struct scan *s, uint64_t target)
{
	uint64_t offset, size = s->range->hi - s->range->lo;

	if (target - s->addr < size)
		s->b->flags[s->range->lo + (target - s->addr)] |= BLOCK_TARGET;
	else if (image_offset(s->b->o, target, &offset) && offset < s->b->reader.d.file.size)
		s->b->flags[offset] |= BLOCK_JOINED;
}

static int note_reference(struct scan *s, uint64_t addr)
{
	struct block_map *b = s->b;

	if (b->n_refs == b->refs_cap) {
		size_t cap = b->refs_cap ? 2 * b->refs_cap : 256;
		struct code_ref *grown = reallocarray(b->refs, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		b->refs = grown;
		b->refs_cap = cap;
	}
	b->refs[b->n_refs++] = (struct code_ref){s->index, addr};
	return 0;
}

/* Behind what fills space is a label, or space would not be filled. */
static bool is_aligned(struct scan *s, const struct block_insn *insn, bool stopped)
{
	bool is_idle = insn->kinds & INSN_IDLE, ret = s->is_filled && !is_idle;

	s->is_filled = is_idle && (stopped || s->is_filled);
	return ret;
}

/* @stopped: execution does not get there from what is before it. */
static int note(struct scan *s, const struct block_insn *insn, bool stopped)
{
	uint8_t *flags = &s->b->flags[s->range->lo + (insn->addr - s->addr)];

	*flags |= BLOCK_BEGINS;
	if (is_aligned(s, insn, stopped))
		*flags |= BLOCK_JOINED;
	if (insn->kinds & INSN_ENDS)
		*flags |= BLOCK_ENDS;
	if (insn->kinds & INSN_STOPS)
		*flags |= BLOCK_STOPS;
	if (insn->kinds & INSN_IDLE)
		*flags |= BLOCK_IDLE;
	if (insn->kinds & INSN_ENTERED)
		*flags |= BLOCK_JOINED;
	if (insn->kinds & INSN_COMPUTES)
		s->b->computes[s->index] = true;
	if (insn->target)
		note_target(s, insn->target);
	return insn->refers ? note_reference(s, insn->refers) : 0;
}

/* Old code of the C library jumps over the prefix of an instruction. */
static bool skips_lock(struct scan *s, uint64_t offset)
{
	uint8_t *flags = s->b->flags;
	uint64_t next = offset;

	if (s->b->reader.is_arm64 || offset == s->range->lo ||
	    !(flags[offset - 1] & BLOCK_BEGINS) ||
	    s->b->reader.d.file.data[offset - 1] != LOCK_PREFIX)
		return false;
	while (next < s->range->hi && !(flags[next] & BLOCK_BEGINS))
		next++;
	flags[offset - 1] |= BLOCK_TARGET;
	if (next < s->range->hi)
		flags[next] |= BLOCK_TARGET;
	return true;
}

/* Whether all branches within the range lead to instructions. */
static bool branches_are_good(struct scan *s)
{
	const uint8_t *flags = s->b->flags;

	for (uint64_t at = s->range->lo; at < s->range->hi; at++)
		if ((flags[at] & (BLOCK_TARGET | BLOCK_BEGINS)) == BLOCK_TARGET &&
		    !skips_lock(s, at))
			return false;
	return true;
}

static bool is_zeros(struct bytes code)
{
	return code.size < 2 ? !code.data[0] : !code.data[0] && !code.data[1];
}

/* Zeros may follow the last instruction of a function whose end is not known: the function ends
 * where execution does. */
static bool decode(struct scan *s, struct bytes code, int *err)
{
	uint64_t addr = s->addr, end = s->addr + code.size;
	struct block_insn insn = {0};

	while (!*err && addr < end) {
		bool stopped = insn.kinds & INSN_STOPS;

		if (!(stopped && is_zeros(code)) && insn_next(&s->b->reader, &code, &addr, &insn)) {
			*err = note(s, &insn, stopped);
			continue;
		}
		s->range->hi = s->range->lo + (addr - s->addr);
		return stopped && !(s->b->flags[s->range->hi] & BLOCK_TARGET);
	}
	return true;
}

/* 0 or -errno. */
static int scan_range(struct block_map *b, size_t index)
{
	struct scan s = {.b = b, .range = &b->functions.ranges[index], .index = index};
	size_t n_refs = b->n_refs;
	struct bytes code;
	int err = 0;

	if (!image_address(b->o, s.range->lo, &s.addr))
		return 0;
	code = decoder_code(&b->reader.d, b->o, s.addr);
	if (code.size > s.range->hi - s.range->lo)
		code.size = s.range->hi - s.range->lo;
	b->is_bad[index] = code.size < s.range->hi - s.range->lo || !decode(&s, code, &err) ||
			   !branches_are_good(&s);
	if (b->is_bad[index] || !b->computes[index])
		b->n_refs = n_refs;
	return err;
}

static int scan(struct block_map *b)
{
	const struct line_map *m = &b->functions;
	uint64_t bytes = 0;
	int err = 0;

	b->flags = calloc(b->reader.d.file.size + 1, sizeof(*b->flags));
	b->first = calloc(m->n_lines + 1, sizeof(*b->first));
	b->computes = calloc(m->n_ranges + 1, sizeof(*b->computes));
	b->is_bad = calloc(m->n_ranges + 1, sizeof(*b->is_bad));
	if (!b->flags || !b->first || !b->computes || !b->is_bad)
		return -ENOMEM;
	for (size_t i = m->n_ranges; i-- > 0;) {
		bytes += m->ranges[i].hi - m->ranges[i].lo;
		b->first[m->ranges[i].line] = m->ranges[i].lo;
	}
	if (bytes > MAX_CODE)
		return -E2BIG;
	for (size_t i = 0; !err && i < m->n_ranges; i++)
		err = scan_range(b, i);
	return err;
}

int block_map_init(struct block_map *b, struct image *o, struct error *e)
{
	int err;

	*b = (struct block_map){.o = o};
	if (line_map_init(&b->functions))
		return error_set(e, EXIT_OTHER, "out of memory");
	if (insn_reader_init(&b->reader, o, e) || image_add_each_function(o, &b->functions, e))
		return -1;
	err = scan(b);
	if (err == -E2BIG) {
		error_set(e, EXIT_NO_RESULT, "'%s' has too much code for blocks", image_path(o));
		return error_hint(e, "give --granularity function");
	}
	if (err)
		return error_set(e, EXIT_OTHER, "out of memory");
	block_map_resolve(b);
	return image_check(o, e);
}

void block_map_deinit(struct block_map *b)
{
	insn_reader_deinit(&b->reader);
	line_map_deinit(&b->functions);
	free(b->flags);
	free(b->first);
	free(b->computes);
	free(b->is_bad);
	free(b->refs);
}

/* The instruction before @at, in the range from @lo on; false: there is none. */
static bool insn_before(const struct block_map *b, uint64_t lo, uint64_t at, uint64_t *ret)
{
	while (at > lo)
		if (b->flags[--at] & BLOCK_BEGINS) {
			*ret = at;
			return true;
		}
	return false;
}

/* Whether a block begins with the instruction at @at. */
static bool leads(const struct block_map *b, const struct line_range *r, uint64_t at)
{
	uint64_t before;

	return b->flags[at] & (BLOCK_TARGET | BLOCK_JOINED) ||
	       !insn_before(b, r->lo, at, &before) || b->flags[before] & BLOCK_ENDS;
}

/* Where the block that begins at @lo ends; *@fills: it only fills space. */
static uint64_t end_of(
    const struct block_map *b, const struct line_range *r, uint64_t lo, bool *fills)
{
	uint64_t at = lo, before;
	bool ended = false;

	*fills = !(b->flags[lo] & (BLOCK_TARGET | BLOCK_JOINED)) &&
		 (!insn_before(b, r->lo, lo, &before) || b->flags[before] & BLOCK_STOPS) &&
		 b->first[r->line] != lo;
	for (; at < r->hi; at++) {
		uint8_t flags = b->flags[at];

		if (!(flags & BLOCK_BEGINS))
			continue;
		if (ended || (at > lo && flags & (BLOCK_TARGET | BLOCK_JOINED)))
			return at;
		ended = flags & BLOCK_ENDS;
		*fills &= (flags & BLOCK_IDLE) != 0;
	}
	return at;
}

bool block_next(const struct block_map *b, size_t range, uint64_t offset, struct block *ret)
{
	const struct line_range *r = &b->functions.ranges[range];
	uint64_t at = offset > r->lo ? offset : r->lo;
	bool fills;

	for (; !b->is_bad[range] && at < r->hi; at++) {
		if (!(b->flags[at] & BLOCK_BEGINS) || !leads(b, r, at))
			continue;
		*ret = (struct block){at, end_of(b, r, at, &fills), range};
		if (!fills)
			return true;
		at = ret->hi - 1;
	}
	return false;
}

bool block_at(const struct block_map *b, uint64_t offset, struct block *ret)
{
	size_t range;

	return block_range_of(b, offset, &range) && block_next(b, range, offset, ret) &&
	       ret->lo == offset;
}
