/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/: what an instruction means for blocks, on x86-64 (by capstone) and on
 * arm64 (whose branches a few masks tell). */
#ifndef COZBPF_BLOCKINSN_H
#define COZBPF_BLOCKINSN_H

#include "symbols/code/decode.h"

#define INSN_ENDS 0x1U      /* what is executed next need not be what follows */
#define INSN_STOPS 0x2U     /* it never is */
#define INSN_CALLS 0x4U     /* a function, or the kernel; execution goes on behind it */
#define INSN_REPEATS 0x8U   /* it is a loop by itself, such as rep movs */
#define INSN_COMPUTES 0x10U /* it jumps to an address that is computed */
#define INSN_ENTERED 0x20U  /* it marks where computed jumps may lead: endbr64, bti j */
#define INSN_IDLE 0x40U     /* it fills space */
#define INSN_CHEAP 0x80U    /* the kernel emulates it under a uprobe */
#define INSN_REFUSED 0x100U /* the kernel takes no uprobe there */

struct block_insn {
	uint64_t addr;
	uint64_t target; /* of a jump or call; 0: none, or it is computed */
	uint64_t refers; /* the address that it computes from its own; 0: none */
	unsigned size, kinds;
};

struct insn_reader {
	struct decoder d; /* on arm64 of ->file only */
	bool is_arm64;
};

/* 0, or -1 with @e for other machines. Needs deinit in both cases. */
int insn_reader_init(struct insn_reader *r, struct image *o, struct error *e);
void insn_reader_deinit(struct insn_reader *r);
/* Reads the instruction at the start of @code, at address *@addr, and advances both. False: there
 * is none. */
bool insn_next(struct insn_reader *r, struct bytes *code, uint64_t *addr, struct block_insn *ret);

#endif
