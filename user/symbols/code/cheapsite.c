// SPDX-License-Identifier: BSD-3-Clause
/*
 * Moves a probe to an instruction that the kernel emulates. From the given instruction on, code is
 * followed as long as it goes straight ahead: what stands there is executed once for each time the
 * first one is, unless something else jumps in between. So all that could is looked for:
 *   - short branches (one byte, 128 bytes far): the function is decoded, and its neighbours as far
 * as such branches reach;
 *   - long ones (four bytes) and calls, of the function's cold part or of anybody: any byte of the
 * section that could begin one is taken for one;
 *   - computed jumps, whose targets are not known. Where the function has any, only the saving of a
 * register of the caller in the function's first stretch is taken: code that came back to it, or to
 * before it, would save the register once more, on a stack that grows with each turn. No compiler
 *     puts that into a loop. The same holds for functions that cannot be decoded to their end.
 * Exceptions and longjmp come back behind a call, and calls end the stretch. Entries of assembler
 * code that have a symbol end it as well.
 */
#include "symbols/code/cheapsite.h"

#include "symbols/code/decode.h"

#define MAX_FUNCTION 65536         /* bytes; larger functions keep their site */
#define MAX_STRETCH 64             /* instructions; compilers' stretches have 5 to 10 */
#define SHORT_REACH 130            /* bytes: a short branch and its own length */
#define MAX_SECTION (512ULL << 20) /* bytes searched for long branches: a quarter of a second */

struct search {
	struct object *o;
	struct decoder d;
	uint64_t from;        /* the instruction that is to be probed */
	uint64_t start, end;  /* of its function */
	uint64_t site;        /* the best one found */
	bool saves;           /* that one saves a register of the caller */
	bool unknown_targets; /* something in the function may jump anywhere */
};

/* rbx, rbp, r12 to r15: they belong to the caller. */
#define CALLERS_REGISTERS 0xf028U

/* Adds the registers that the instruction changes; returns whether it saves one that nothing has
 * changed so far. */
static bool note_registers(const struct decoder *d, uint32_t *changed)
{
	const cs_x86 *x = &d->insn->detail->x86;
	bool flags, saves = false;

	if (d->insn->id == X86_INS_PUSH && x->op_count == 1 && x->operands[0].type == X86_OP_REG) {
		int number = register_number(x->operands[0].reg);

		saves = number >= 0 && (CALLERS_REGISTERS & ~*changed & 1U << number);
	}
	*changed |= decoder_writes(d, &flags);
	return saves;
}

/* Goes straight ahead to the first instruction that is emulated; a nop of several bytes is second
 * choice, since older kernels step it. */
static void walk(struct search *s)
{
	struct bytes code = decoder_code(&s->d, s->o, s->from);
	uint64_t addr = s->from, nop = 0;
	uint32_t changed = 0;

	for (int i = 0; i < MAX_STRETCH && decoder_next(&s->d, &code, &addr) && addr <= s->end;
	     i++) {
		const cs_insn *insn = s->d.insn;
		bool saves = note_registers(&s->d, &changed);

		if (insn->address != s->from &&
		    object_function_begins(s->o, s->from, insn->address))
			break;
		if (is_emulated(insn->bytes, insn->size)) {
			s->site = insn->address;
			s->saves = saves;
			return;
		}
		if (!nop && is_long_nop(insn->bytes, insn->size))
			nop = insn->address;
		if (decoder_leaves(&s->d))
			break;
	}
	if (nop)
		s->site = nop;
}

/* Whether @target lies behind the probed instruction and not behind the new site: what goes there
 * is not counted alike by both. */
static bool is_between(const struct search *s, uint64_t target)
{
	return target > s->from && target <= s->site;
}

/* Decodes [@lo, @hi). False: a branch leads in between. */
static bool check_branches(struct search *s, uint64_t lo, uint64_t hi, bool own)
{
	struct bytes code = decoder_code(&s->d, s->o, lo);
	uint64_t addr = lo, target;

	while (addr < hi && decoder_next(&s->d, &code, &addr)) {
		if (decoder_target(&s->d, &target) && is_between(s, target))
			return false;
		if (own && decoder_jumps_anywhere(&s->d))
			s->unknown_targets = true;
	}
	if (own && addr < hi)
		s->unknown_targets = true;
	return true;
}

/* The functions before this one from which a short branch may come. */
static bool check_before(struct search *s)
{
	uint64_t lo = s->start;

	while (lo > 0 && s->start - lo < SHORT_REACH) {
		const struct symbol *symbol = object_symbol_at(s->o, lo - 1);

		if (!symbol || s->start - symbol->addr > MAX_FUNCTION)
			break;
		lo = symbol->addr;
	}
	return lo == s->start || check_branches(s, lo, s->start, false);
}

/* Every byte that could begin a long branch or a call. False: one leads in between, or seems to;
 * that is as rare as it is harmless. */
static bool check_long_branches(const struct search *s)
{
	uint64_t lo = object_code_start(s->o, s->from);
	struct bytes code = decoder_code(&s->d, s->o, lo);

	if (!code.data || code.size > MAX_SECTION)
		return false;
	for (size_t i = 0; i + 5 <= code.size; i++) {
		uint8_t b = code.data[i];
		int32_t distance;

		/* The two bytes of a conditional branch begin with 0f; its second byte stands where
		 * a jump has its first. */
		if (b != 0xe8 && b != 0xe9 &&
		    ((b & 0xf0) != 0x80 || !i || code.data[i - 1] != 0x0f))
			continue;
		memcpy(&distance, code.data + i + 1, sizeof(distance));
		if (is_between(s, lo + i + 5 + (uint64_t)(int64_t)distance))
			return false;
	}
	return true;
}

static bool is_certain(struct search *s)
{
	if (!check_branches(s, s->start, s->end, true) ||
	    !check_branches(s, s->end, s->end + SHORT_REACH, false) || !check_before(s))
		return false;
	if (s->unknown_targets && (s->from != s->start || !s->saves))
		return false;
	return check_long_branches(s);
}

int object_cheap_site(struct object *o, uint64_t offset, uint64_t *ret)
{
	struct search s = {.o = o};
	uint64_t moved;

	*ret = offset;
	if (!object_address(o, offset, &s.from) || !object_is_code(o, s.from))
		return -1;
	s.site = s.from;
	if (!decoder_init(&s.d, o) && !object_site_is_cheap(o, offset) &&
	    object_function_bounds(o, s.from, &s.start, &s.end) &&
	    s.end - s.start <= MAX_FUNCTION) {
		walk(&s);
		if (s.site != s.from && is_certain(&s) && object_offset(o, s.site, &moved))
			*ret = moved;
	}
	decoder_deinit(&s.d);
	return 0;
}

bool object_site_is_cheap(struct object *o, uint64_t offset)
{
	struct decoder d;
	struct bytes code;
	uint64_t addr;
	bool cheap = false;

	if (!decoder_init(&d, o) && object_address(o, offset, &addr)) {
		code = decoder_code(&d, o, addr);
		cheap =
		    decoder_next(&d, &code, &addr) && (is_emulated(d.insn->bytes, d.insn->size) ||
							  is_long_nop(d.insn->bytes, d.insn->size));
	}
	decoder_deinit(&d);
	return cheap;
}
