/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: decodes the instructions of an object, one after the other (capstone).
 * x86-64 only. */
#ifndef COZBPF_DECODE_H
#define COZBPF_DECODE_H

#include <capstone/capstone.h>

#include "symbols/elf/image.h"

struct decoder {
	csh handle;
	cs_insn *insn; /* the last one decoded */
	struct bytes file;
};

/* 0, or -1 when the object is not for x86-64 or memory is short. Needs deinit in both cases. */
int decoder_init(struct decoder *d, const struct image *o);
void decoder_deinit(struct decoder *d);

/* Code from @addr (link-time) up to the end of its section; .data is NULL when it is no code or not
 * in the file. */
struct bytes decoder_code(const struct decoder *d, const struct image *o, uint64_t addr);
/* Decodes the instruction at the start of @code, at address *@addr, into d->insn, and advances
 * both. False: there is none. */
bool decoder_next(struct decoder *d, struct bytes *code, uint64_t *addr);

/* The functions below describe d->insn. */
/* The next instruction executed need not be the next one in memory. */
bool decoder_leaves(const struct decoder *d);
/* It branches to, or calls, a fixed address. */
bool decoder_target(const struct decoder *d, uint64_t *ret);
bool decoder_jumps_anywhere(const struct decoder *d); /* it jumps to an address that is computed */
/* The general registers that the instruction changes, a bit for each; *@flags: it changes the
 * flags. */
uint32_t decoder_writes(const struct decoder *d, bool *flags);
/* The address of an operand in memory, when that is fixed. */
bool decoder_refers(const struct decoder *d, unsigned operand, uint64_t *ret);

/* Number of the general register that @reg is or is a part of, as in machine code (rax is 0, r15 is
 * 15); -1: none. */
int register_number(x86_reg reg);
#define REGISTERS 16

/*
 * Whether the kernel emulates the instruction: branch_setup_xol_ops() and push_setup_xol_ops() of
 * arch/x86/kernel/uprobes.c, in every kernel since 4.16. Instructions with a prefix are left out,
 * since the kernel refuses some of them.
 */
bool is_emulated(const uint8_t *insn, size_t size);
/* Whether it is a nop of 2 to 8 bytes, as in the kernel's x86_nops[]: emulated since 6.16. */
bool is_long_nop(const uint8_t *insn, size_t size);
/* Whether Linux 6.18 makes a call of that nop, which overwrites the red zone of the function. */
bool becomes_call(const uint8_t *insn, size_t size);

#endif
