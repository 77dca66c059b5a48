// SPDX-License-Identifier: BSD-3-Clause
/*
 * Moves a probe to an instruction that the kernel emulates. From the given instruction on, code is
 * followed as long as it goes straight ahead. Each instruction there is executed exactly as often,
 * unless something jumps in between. So all possible jumps are looked for:
 *   - Short branches (one byte, 128 bytes far). The function is decoded, and its neighbours as
 *     far as such branches reach.
 *   - Long branches (four bytes) and calls, from the function's cold part or from anywhere. Any
 *     byte of the section that could begin one is taken for one.
 *   - Computed jumps, whose targets are not known. In a function with such a jump, or one that
 *     cannot be decoded to its end, only the saving of a caller's register in the function's
 *     first stretch counts. No compiler puts that into a loop, since the stack would grow.
 * Exceptions and longjmp return behind a call, and a call ends the stretch. So does an entry of
 * assembler code that has a symbol.
 *
 * How functions of Go begin is known (goentry.h), and nothing needs to be looked for.
 */
#include "symbols/reading.h"

#include "symbols/code/goentry.h"

#define MAX_FUNCTION 65536         /* bytes; larger functions keep their site */
#define MAX_STRETCH 64             /* instructions; compilers' stretches have 5 to 10 */
#define SHORT_REACH 130            /* bytes: a short branch and its own length */
#define MAX_SECTION (512ULL << 20) /* bytes searched for long branches: a quarter of a second */
/* The same for all sites of an object. Damaged notes can name a million sites. */
#define MAX_SEARCHED (4ULL << 30)

struct search {
	struct image *o;
	struct decoder d;
	uint64_t from;        /* the instruction to be probed */
	uint64_t start, end;  /* of its function */
	uint64_t site;        /* the best one found */
	bool saves;           /* the site saves a register of the caller */
	bool unknown_targets; /* something in the function may jump anywhere */
};

/* rbx, rbp, r12 to r15 belong to the caller. */
#define CALLERS_REGISTERS 0xf028U

/* Adds the registers that the instruction changes. Returns whether it saves a register that nothing
 * has changed so far. */
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

/* Goes straight ahead to the first emulated instruction. Long nops are second choice, since older
 * kernels execute them singly. */
static void walk(struct search *s)
{
	struct bytes code = decoder_code(&s->d, s->o, s->from);
	uint64_t addr = s->from, nop = 0;
	uint32_t changed = 0;

	for (int i = 0; i < MAX_STRETCH && decoder_next(&s->d, &code, &addr) && addr <= s->end;
	     i++) {
		const cs_insn *insn = s->d.insn;
		bool saves = note_registers(&s->d, &changed);

		if (insn->address != s->from && image_function_begins(s->o, s->from, insn->address))
			break;
		if (is_emulated(insn->bytes, insn->size)) {
			s->site = insn->address;
			s->saves = saves;
			return;
		}
		if (!nop && is_long_nop(insn->bytes, insn->size) &&
		    !becomes_call(insn->bytes, insn->size))
			nop = insn->address;
		if (decoder_leaves(&s->d))
			break;
	}
	if (nop)
		s->site = nop;
}

/* Whether a jump to @target would pass the new site without passing the probed instruction. */
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
		const struct symbol *symbol = image_symbol_at(s->o, lo - 1);

		if (!symbol || s->start - symbol->addr > MAX_FUNCTION)
			break;
		lo = symbol->addr;
	}
	return lo == s->start || check_branches(s, lo, s->start, false);
}

/* Checks every byte that could begin a long branch or a call. False: one seems to lead in between.
 * A wrong guess is rare and harmless. */
static bool check_long_branches(const struct search *s)
{
	uint64_t lo = image_code_start(s->o, s->from);
	struct bytes code = decoder_code(&s->d, s->o, lo);

	if (!code.data || code.size > MAX_SECTION || s->o->searched > MAX_SEARCHED)
		return false;
	s->o->searched += code.size;
	for (size_t i = 0; i + 5 <= code.size; i++) {
		uint8_t b = code.data[i];
		int32_t distance;

		/* A long conditional branch is 0f and a second byte, which stands where a jump has
		 * its first. */
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

static bool instruction_is_cheap(struct decoder *d, const struct image *o, uint64_t addr)
{
	struct bytes code = decoder_code(d, o, addr);

	return decoder_next(d, &code, &addr) && (is_emulated(d->insn->bytes, d->insn->size) ||
						    is_long_nop(d->insn->bytes, d->insn->size));
}

/* Whether there is a better site. */
static bool find_better(struct search *s)
{
	if (image_is_go(s->o) && go_entry_site(&s->d, s->o, s->from, &s->site))
		return true;
	if (instruction_is_cheap(&s->d, s->o, s->from) ||
	    !image_function_bounds(s->o, s->from, &s->start, &s->end) ||
	    s->end - s->start > MAX_FUNCTION)
		return false;
	walk(s);
	return s->site != s->from && is_certain(s);
}

int image_cheap_site(struct image *o, uint64_t offset, uint64_t *ret)
{
	struct search s = {.o = o};
	uint64_t moved;

	*ret = offset;
	if (!image_address(o, offset, &s.from) || !image_is_code(o, s.from))
		return -1;
	s.site = s.from;
	if (!decoder_init(&s.d, o) && find_better(&s) && image_offset(o, s.site, &moved))
		*ret = moved;
	decoder_deinit(&s.d);
	return 0;
}

bool image_site_is_cheap(struct image *o, uint64_t offset)
{
	struct decoder d;
	uint64_t addr;
	bool cheap;

	cheap = !decoder_init(&d, o) && image_address(o, offset, &addr) &&
		instruction_is_cheap(&d, o, addr);
	decoder_deinit(&d);
	return cheap;
}

/* The instruction at s->from is a nop that becomes a call, and another one of its function has been
 * executed before. s->site: the next one. */
static bool is_call_nop(struct search *s)
{
	struct bytes code = decoder_code(&s->d, s->o, s->from);
	bool bounded = image_function_bounds(s->o, s->from, &s->start, &s->end);

	s->site = s->from;
	return decoder_next(&s->d, &code, &s->site) &&
	       becomes_call(s->d.insn->bytes, s->d.insn->size) && !(bounded && s->from == s->start);
}

bool image_site_may_clobber(struct image *o, uint64_t offset, uint64_t *ret_next)
{
	struct search s = {.o = o};
	bool may;

	*ret_next = 0;
	may = !decoder_init(&s.d, o) && image_address(o, offset, &s.from) && is_call_nop(&s);
	if (may && s.site < s.end && s.end - s.start <= MAX_FUNCTION && is_certain(&s) &&
	    !image_offset(o, s.site, ret_next))
		*ret_next = 0;
	decoder_deinit(&s.d);
	return may;
}
