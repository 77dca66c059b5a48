// SPDX-License-Identifier: BSD-3-Clause
/* Recognises idle loops; see idleloop.h. What instructions read and write is told here: capstone
 * takes xor of a register with itself for a read, and a conditional move for a write only. */
#include "symbols/code/idleloop.h"

#include <string.h>

/* Registers, four bits each: bits 0 to 7, 8 to 15, 16 to 31 and 32 to 63. */
#define PARTS 4
#define WHOLE 15U
/* Flags: that of the carry, and the other ones. */
#define CARRY 1U
#define OTHERS 2U
#define FLAGS (CARRY | OTHERS)

/* What an instruction does. */
struct effects {
	uint64_t reads, writes; /* of registers */
	uint64_t stored;        /* of those read: what is stored by it depends on these */
	unsigned flags_read, flags_written, flags_touched; /* touched: some of them, or perhaps */
	bool loads, stores;
};

enum form {
	FORM_UNKNOWN,
	FORM_NONE,     /* it does nothing, or orders accesses to memory */
	FORM_MOVE,     /* from the second operand to the first */
	FORM_ADDRESS,  /* the same, but memory is only named */
	FORM_COMPARE,  /* all operands are read */
	FORM_CHANGE,   /* the first operand is read and written, others are read */
	FORM_EXCHANGE, /* both are read and written */
	FORM_COMPARE_EXCHANGE,
};

/* How an instruction's operands are used, and which flags it writes. */
struct rule {
	enum form form;
	unsigned flags_written, flags_touched;
};

static struct rule rule_of(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_NOP:
	case X86_INS_LFENCE:
	case X86_INS_MFENCE:
	case X86_INS_SFENCE:
		return (struct rule){.form = FORM_NONE};
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
		return (struct rule){.form = FORM_MOVE};
	case X86_INS_LEA:
		return (struct rule){.form = FORM_ADDRESS};
	case X86_INS_CMP:
	case X86_INS_TEST:
		return (struct rule){.form = FORM_COMPARE, .flags_written = FLAGS};
	case X86_INS_BT:
		return (struct rule){FORM_COMPARE, CARRY, FLAGS};
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
	case X86_INS_OR:
	case X86_INS_XOR:
	case X86_INS_NEG:
		return (struct rule){.form = FORM_CHANGE, .flags_written = FLAGS};
	case X86_INS_INC:
	case X86_INS_DEC:
		return (struct rule){.form = FORM_CHANGE, .flags_written = OTHERS};
	case X86_INS_SHL:
	case X86_INS_SHR:
	case X86_INS_SAR: /* by 0 they leave the flags as they are */
		return (struct rule){.form = FORM_CHANGE, .flags_touched = FLAGS};
	case X86_INS_BTS:
	case X86_INS_BTR:
		return (struct rule){FORM_CHANGE, CARRY, FLAGS};
	case X86_INS_NOT:
		return (struct rule){.form = FORM_CHANGE};
	case X86_INS_XCHG:
		return (struct rule){.form = FORM_EXCHANGE};
	case X86_INS_CMPXCHG:
		return (struct rule){.form = FORM_COMPARE_EXCHANGE, .flags_written = FLAGS};
	default:
		return (struct rule){0};
	}
}

/* Flags that decide on a condition, by the low four bits of its code. */
static unsigned flags_of_condition(unsigned code)
{
	switch (code >> 1) {
	case 1: /* below */
		return CARRY;
	case 3: /* below or equal */
		return FLAGS;
	default:
		return OTHERS;
	}
}

static uint64_t whole_register(x86_reg reg)
{
	int number = register_number(reg);

	return number < 0 ? 0 : (uint64_t)WHOLE << PARTS * number;
}

/* The parts of a register that an operand names; 0: it is no general register. */
static uint64_t named_parts(const cs_x86_op *op)
{
	static const unsigned by_size[9] = {[1] = 1, [2] = 3, [4] = 7, [8] = WHOLE};
	int number = register_number(op->reg);
	bool is_high = op->reg == X86_REG_AH || op->reg == X86_REG_BH || op->reg == X86_REG_CH ||
		       op->reg == X86_REG_DH;

	if (number < 0 || op->size > 8)
		return 0;
	return (uint64_t)(is_high ? 2 : by_size[op->size]) << PARTS * number;
}

/* A write of 32 bits clears those above. */
static uint64_t written_parts(const cs_x86_op *op)
{
	return op->size == 4 ? whole_register(op->reg) : named_parts(op);
}

/* Adds an operand. False: it is of a kind that no rule covers. */
static bool add_operand(struct effects *e, const cs_x86_op *op, bool reads, bool writes)
{
	switch (op->type) {
	case X86_OP_IMM:
		return !writes;
	case X86_OP_REG:
		if (!named_parts(op))
			return false;
		e->reads |= reads ? named_parts(op) : 0;
		e->writes |= writes ? written_parts(op) : 0;
		return true;
	case X86_OP_MEM:
		e->reads |= whole_register(op->mem.base) | whole_register(op->mem.index);
		e->loads |= reads;
		e->stores |= writes;
		return true;
	default:
		return false;
	}
}

/* xor and sub of a register with itself make 0. */
static bool makes_zero(const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;

	return (insn->id == X86_INS_XOR || insn->id == X86_INS_SUB) && x->op_count == 2 &&
	       x->operands[0].type == X86_OP_REG && x->operands[1].type == X86_OP_REG &&
	       x->operands[0].reg == x->operands[1].reg;
}

/* setcc and cmovcc; false: it is neither. A move that does not take place keeps the register. */
static bool conditional_effects(const cs_insn *insn, struct effects *e)
{
	const cs_x86 *x = &insn->detail->x86;
	bool moves = (x->opcode[1] & 0xf0) == 0x40;

	if (x->opcode[0] != 0x0f || (!moves && (x->opcode[1] & 0xf0) != 0x90) ||
	    x->op_count != 1U + moves)
		return false;
	e->flags_read = flags_of_condition(x->opcode[1] & 15);
	return add_operand(e, &x->operands[0], moves, true) &&
	       (!moves || add_operand(e, &x->operands[1], true, false));
}

static bool operand_effects(const cs_insn *insn, enum form form, struct effects *e)
{
	const cs_x86 *x = &insn->detail->x86;
	bool reads_first = form == FORM_COMPARE || (form >= FORM_CHANGE && !makes_zero(insn));
	bool writes_first = form != FORM_COMPARE;

	if (!x->op_count || !add_operand(e, &x->operands[0], reads_first, writes_first))
		return false;
	for (uint8_t i = 1; i < x->op_count; i++)
		if (!add_operand(e, &x->operands[i], form != FORM_ADDRESS && !makes_zero(insn),
			form == FORM_EXCHANGE))
			return false;
	return true;
}

/* Stores that try a lock: xchg, and others with the prefix. What they store must not come from
 * memory, or it is not the same in each turn. */
static bool tries_lock(const cs_insn *insn, struct effects *e)
{
	const cs_x86 *x = &insn->detail->x86;
	bool is_locked = x->prefix[0] == X86_PREFIX_LOCK;
	const cs_x86_op *stored = &x->operands[x->op_count - 1];

	/* of two operands xchg names the one in memory first or last */
	if (insn->id == X86_INS_XCHG && stored->type == X86_OP_MEM)
		stored = &x->operands[0];
	e->stored = stored->type == X86_OP_REG ? named_parts(stored) : 0;
	switch (insn->id) {
	case X86_INS_XCHG:
		return true;
	case X86_INS_CMPXCHG:
	case X86_INS_BTS:
	case X86_INS_BTR:
		return is_locked;
	default:
		return false;
	}
}

/* False: it may do something that an idle loop does not. */
static bool effects_of(const cs_insn *insn, struct effects *e)
{
	struct rule rule = rule_of(insn);

	*e = (struct effects){.flags_written = rule.flags_written,
	    .flags_touched = rule.flags_written | rule.flags_touched};
	if (rule.form == FORM_NONE)
		return true;
	if (rule.form == FORM_UNKNOWN)
		return conditional_effects(insn, e) && !e->stores;
	if (!operand_effects(insn, rule.form, e))
		return false;
	if (rule.form == FORM_COMPARE_EXCHANGE) {
		cs_x86_op accumulator = {.type = X86_OP_REG,
		    .reg = X86_REG_RAX,
		    .size = insn->detail->x86.operands[0].size};

		/* what is found there, or what was there before */
		e->reads |= named_parts(&accumulator);
		e->writes |= named_parts(&accumulator);
	}
	return !e->stores || tries_lock(insn, e);
}

/* What the instructions of a turn have done so far. */
struct turn {
	uint64_t written, carried; /* carried: read before they were written */
	uint64_t foreign;          /* what is there may come from memory */
	unsigned flags_written, flags_touched, flags_carried;
	bool loads, stores;
};

static bool take(struct turn *t, const struct effects *e)
{
	bool is_foreign = e->loads || e->reads & t->foreign || e->flags_read;

	if (e->stored & t->foreign || (e->stores && t->stores))
		return false;
	t->carried |= e->reads & ~t->written;
	t->flags_carried |= e->flags_read & ~t->flags_written;
	t->written |= e->writes;
	t->flags_written |= e->flags_written;
	t->flags_touched |= e->flags_touched;
	t->foreign = is_foreign ? t->foreign | e->writes : t->foreign & ~e->writes;
	t->loads |= e->loads;
	t->stores |= e->stores;
	return true;
}

/* Nothing goes from turn to turn, but what is the same all the time. */
static bool is_same_again(const struct turn *t)
{
	return t->loads && !(t->carried & t->written) && !(t->flags_carried & t->flags_touched);
}

bool near_branch_at(const uint8_t *code, size_t size, struct near_branch *ret)
{
	/* by the upper three bits of the condition: overflow, below, equal, both, sign, parity,
	 * less, less or equal */
	static const uint32_t conditions[] = {
	    0x800, 0x1, 0x40, 0x41, 0x80, 0x4, COZBPF_BRANCH_LESS, COZBPF_BRANCH_LESS | 0x40};
	uint8_t condition;

	if (size >= 2 && (code[0] == 0xeb || (code[0] & 0xf0) == 0x70))
		ret->size = 2;
	else if (size >= 5 && code[0] == 0xe9)
		ret->size = 5;
	else if (size >= 6 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80)
		ret->size = 6;
	else
		return false;
	if (ret->size == 2)
		ret->distance = (int8_t)code[1];
	else
		memcpy(&ret->distance, code + ret->size - 4, 4);
	condition = code[ret->size == 6] & 15;
	ret->condition = code[0] == 0xeb || code[0] == 0xe9
			     ? 0
			     : conditions[condition >> 1] | (condition & 1 ? COZBPF_BRANCH_NOT : 0);
	return true;
}

/* A branch within the loop begins a turn, or leaves the loop. The last one begins a turn. */
static bool take_branch(
    struct turn *t, const cs_insn *insn, const struct near_branch *b, uint64_t head, uint64_t end)
{
	uint64_t next = insn->address + insn->size, target = next + (uint64_t)(int64_t)b->distance;
	struct effects e = {0};

	if (b->condition)
		e.flags_read = flags_of_condition(insn->bytes[insn->size == 6] & 15);
	else if (next != end)
		return false;
	return take(t, &e) && (target == head || (next != end && (target < head || target >= end)));
}

bool is_idle_loop(struct decoder *d, const uint8_t *code, size_t size, uint64_t head, uint64_t end)
{
	struct bytes left = {code, size};
	struct near_branch branch;
	struct turn t = {0};
	struct effects e;
	uint64_t at = head;
	bool ends = false;

	for (int i = 0; !ends && i < IDLE_LOOP_INSTRUCTIONS; i++) {
		if (!decoder_next(d, &left, &at) || at > end)
			return false;
		ends = at == end;
		if (near_branch_at(d->insn->bytes, d->insn->size, &branch) &&
		    branch.size == d->insn->size) {
			if (!take_branch(&t, d->insn, &branch, head, end))
				return false;
		} else if (ends || !effects_of(d->insn, &e) || !take(&t, &e)) {
			return false;
		}
	}
	return ends && is_same_again(&t);
}
