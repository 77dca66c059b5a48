// SPDX-License-Identifier: BSD-3-Clause
/*
 * A function of Go begins with a check that its stack has room: a comparison with a field of g,
 * which r14 points to, and a branch to code at the function's end that makes room and then jumps
 * back to the first instruction. Large frames compute the new stack pointer in r12 before.
 *
 * So the first instruction and the branch may be executed twice in a call, and what is behind the
 * branch once. There "push rbp" stands since Go 1.21. Before, it is "sub rsp", which the kernel
 * does not emulate: then the branch is the place. The compiler makes no other jumps into this code.
 */
#include "symbols/code/goentry.h"

#define GUARD 16        /* offsets in g: the goroutine's limit, */
#define SYSTEM_GUARD 24 /* and that of functions for the system's stack */

static bool is_room(const struct decoder *d)
{
	const cs_x86_op *op = d->insn->detail->x86.operands;

	return d->insn->id == X86_INS_LEA && op[0].type == X86_OP_REG && op[0].reg == X86_REG_R12 &&
	       op[1].mem.base == X86_REG_RSP;
}

static bool is_check(const struct decoder *d, x86_reg pointer)
{
	const cs_x86 *x = &d->insn->detail->x86;
	const cs_x86_op *op = x->operands;

	return d->insn->id == X86_INS_CMP && x->op_count == 2 && op[0].type == X86_OP_REG &&
	       op[0].reg == pointer && op[1].type == X86_OP_MEM && op[1].mem.base == X86_REG_R14 &&
	       op[1].mem.index == X86_REG_INVALID &&
	       (op[1].mem.disp == GUARD || op[1].mem.disp == SYSTEM_GUARD);
}

bool go_entry_site(struct decoder *d, const struct image *o, uint64_t addr, uint64_t *ret)
{
	struct bytes code = decoder_code(d, o, addr);
	x86_reg pointer = X86_REG_RSP;
	uint64_t branch;

	if (!decoder_next(d, &code, &addr))
		return false;
	if (is_room(d)) {
		pointer = X86_REG_R12;
		if (!decoder_next(d, &code, &addr))
			return false;
	}
	branch = addr;
	if (!is_check(d, pointer) || !decoder_next(d, &code, &addr) || d->insn->id != X86_INS_JBE)
		return false;
	*ret = addr;
	if (!decoder_next(d, &code, &addr) || !is_emulated(d->insn->bytes, d->insn->size))
		*ret = branch;
	return true;
}
