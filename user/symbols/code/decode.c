// SPDX-License-Identifier: BSD-3-Clause
/* Decodes x86-64 instructions, and tells which of them the kernel emulates under a uprobe. */
#include "symbols/code/decode.h"

int decoder_init(struct decoder *d, const struct image *o)
{
	GElf_Ehdr header;
	size_t size;
	char *data;

	*d = (struct decoder){0};
	if (!gelf_getehdr(o->main.elf, &header) || header.e_machine != EM_X86_64 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64)
		return -1;
	data = elf_rawfile(o->main.elf, &size);
	if (!data || cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle) != CS_ERR_OK) {
		d->handle = 0;
		return -1;
	}
	d->file = (struct bytes){(const uint8_t *)data, size};
	d->insn = cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK ? cs_malloc(d->handle)
									      : NULL;
	return d->insn ? 0 : -1;
}

void decoder_deinit(struct decoder *d)
{
	if (d->insn)
		cs_free(d->insn, 1);
	if (d->handle)
		cs_close(&d->handle);
}

struct bytes decoder_code(const struct decoder *d, const struct image *o, uint64_t addr)
{
	uint64_t lo = addr, hi = image_code_end(o, addr);
	struct reader r;

	if (hi <= addr || !image_clip(o, &lo, &hi))
		return (struct bytes){0};
	/* The file may be shorter than its headers say. */
	if (hi > d->file.size)
		hi = d->file.size;
	if (hi <= lo)
		return (struct bytes){0};
	r = reader_at(d->file, lo, hi - lo);
	return (struct bytes){r.p, reader_left(&r)};
}

bool decoder_next(struct decoder *d, struct bytes *code, uint64_t *addr)
{
	return code->data && cs_disasm_iter(d->handle, &code->data, &code->size, addr, d->insn);
}

static bool in_group(const struct decoder *d, uint8_t group)
{
	return cs_insn_group(d->handle, d->insn, group);
}

bool decoder_leaves(const struct decoder *d)
{
	switch (d->insn->id) {
	case X86_INS_LOOP:
	case X86_INS_LOOPE:
	case X86_INS_LOOPNE:
	case X86_INS_JCXZ:
	case X86_INS_JECXZ:
	case X86_INS_JRCXZ:
	case X86_INS_XBEGIN:
	case X86_INS_XABORT:
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
	case X86_INS_UD2:
	case X86_INS_HLT:
	case X86_INS_INT3:
		return true;
	default:
		return in_group(d, CS_GRP_JUMP) || in_group(d, CS_GRP_CALL) ||
		       in_group(d, CS_GRP_RET) || in_group(d, CS_GRP_INT) ||
		       in_group(d, CS_GRP_IRET) || in_group(d, CS_GRP_BRANCH_RELATIVE);
	}
}

bool decoder_target(const struct decoder *d, uint64_t *ret)
{
	const cs_x86 *x = &d->insn->detail->x86;

	if (!decoder_leaves(d) || x->op_count != 1 || x->operands[0].type != X86_OP_IMM ||
	    in_group(d, CS_GRP_RET) || in_group(d, CS_GRP_INT))
		return false;
	*ret = (uint64_t)x->operands[0].imm;
	return true;
}

bool decoder_jumps_anywhere(const struct decoder *d)
{
	const cs_x86 *x = &d->insn->detail->x86;
	const cs_x86_op *op = &x->operands[0];

	if (!in_group(d, CS_GRP_JUMP) || (x->op_count == 1 && op->type == X86_OP_IMM))
		return false;
	/* A jump through one fixed place goes to another object, by the global offset table. */
	return !(x->op_count == 1 && op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP &&
		 op->mem.index == X86_REG_INVALID);
}

/* General registers and their parts: number plus one, so that 0 means none. */
#define PARTS(n, r, e, w, b)                                                       \
	[X86_REG_##r] = (n) + 1, [X86_REG_##e] = (n) + 1, [X86_REG_##w] = (n) + 1, \
	[X86_REG_##b] = (n) + 1
static const uint8_t register_numbers[X86_REG_ENDING] = {
    PARTS(0, RAX, EAX, AX, AL),
    PARTS(1, RCX, ECX, CX, CL),
    PARTS(2, RDX, EDX, DX, DL),
    PARTS(3, RBX, EBX, BX, BL),
    PARTS(4, RSP, ESP, SP, SPL),
    PARTS(5, RBP, EBP, BP, BPL),
    PARTS(6, RSI, ESI, SI, SIL),
    PARTS(7, RDI, EDI, DI, DIL),
    PARTS(8, R8, R8D, R8W, R8B),
    PARTS(9, R9, R9D, R9W, R9B),
    PARTS(10, R10, R10D, R10W, R10B),
    PARTS(11, R11, R11D, R11W, R11B),
    PARTS(12, R12, R12D, R12W, R12B),
    PARTS(13, R13, R13D, R13W, R13B),
    PARTS(14, R14, R14D, R14W, R14B),
    PARTS(15, R15, R15D, R15W, R15B),
    [X86_REG_AH] = 1,
    [X86_REG_CH] = 2,
    [X86_REG_DH] = 3,
    [X86_REG_BH] = 4,
};

int register_number(x86_reg reg)
{
	return (unsigned)reg < X86_REG_ENDING ? register_numbers[reg] - 1 : -1;
}

uint32_t decoder_writes(const struct decoder *d, bool *flags)
{
	cs_regs read, written;
	uint8_t n_read, n_written;
	uint32_t set = 0;

	*flags = true;
	if (cs_regs_access(d->handle, d->insn, read, &n_read, written, &n_written))
		return ~0U;
	*flags = d->insn->detail->x86.eflags != 0;
	for (uint8_t i = 0; i < n_written; i++) {
		int number = register_number((x86_reg)written[i]);

		*flags |= written[i] == X86_REG_EFLAGS;
		set |= number < 0 ? 0 : 1U << number;
	}
	return set;
}

bool decoder_refers(const struct decoder *d, unsigned operand, uint64_t *ret)
{
	const cs_x86 *x = &d->insn->detail->x86;
	const cs_x86_op *op;

	if (operand >= x->op_count)
		return false;
	op = &x->operands[operand];
	if (op->type != X86_OP_MEM || op->mem.index != X86_REG_INVALID ||
	    op->mem.segment != X86_REG_INVALID)
		return false;
	if (op->mem.base == X86_REG_RIP)
		*ret = d->insn->address + d->insn->size + (uint64_t)op->mem.disp;
	else if (op->mem.base == X86_REG_INVALID) /* programs linked to a fixed address */
		*ret = (uint64_t)op->mem.disp;
	else
		return false;
	return true;
}

bool is_emulated(const uint8_t *insn, size_t size)
{
	switch (size) {
	case 1: /* nop; push of a register */
		return insn[0] == 0x90 || (insn[0] & 0xf8) == 0x50;
	case 2: /* push of r8 to r15; jmp; conditional jumps */
		return (insn[0] == 0x41 && (insn[1] & 0xf8) == 0x50) || insn[0] == 0xeb ||
		       (insn[0] & 0xf0) == 0x70;
	case 5: /* call, jmp */
		return insn[0] == 0xe8 || insn[0] == 0xe9;
	case 6: /* conditional jumps */
		return insn[0] == 0x0f && (insn[1] & 0xf0) == 0x80;
	default:
		return false;
	}
}

bool is_long_nop(const uint8_t *insn, size_t size)
{
	static const uint8_t nops[9][8] = {
	    [2] = {0x66, 0x90},
	    [3] = {0x0f, 0x1f, 0x00},
	    [4] = {0x0f, 0x1f, 0x40, 0x00},
	    [5] = {0x0f, 0x1f, 0x44, 0x00, 0x00},
	    [6] = {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
	    [7] = {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
	    [8] = {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
	};

	return size >= 2 && size <= 8 && !memcmp(insn, nops[size], size);
}

bool becomes_call(const uint8_t *insn, size_t size)
{
	return size == 5 && is_long_nop(insn, size);
}
