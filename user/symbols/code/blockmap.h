/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to user/symbols/: where basic blocks begin and end in the code of an object.
 *
 * Each function is decoded from its first instruction to its end. A block begins at the begin of a
 * function, behind what ends a block, and at each target of a branch, wherever in the object the
 * branch is. A computed jump does not tell its targets. They are sought in what compilers make:
 *   - tables of distances (gcc and clang with -fPIE): read at each address that the function
 *     computes from its own, as long as they lead to the same function; they are from the table, or
 *     from a label;
 *   - tables of addresses: each word of the object's data, or relocation, that holds the address
 *     of an instruction in a function with a computed jump;
 *   - labels whose address the function takes; marks of computed jumps (endbr64, bti); what was
 *     aligned, where execution does not get there from before;
 *   - the landing pads of exceptions, by .gcc_except_table.
 * A place that is taken for a target and is none splits a block in two, and both are blocks all the
 * same. A target that is not found (tables of bytes and halves, which arm64 has; jumps of code in
 * the object's assembler; setjmp()) is an entry in a block's middle. The block is then left without
 * having been entered, and such executions are not counted.
 *
 * A function has no blocks at all where its code is not understood: an instruction that capstone
 * does not know, or a branch of its own into an instruction's middle. Probes there could break the
 * program. What fills space between blocks is none.
 */
#ifndef COZBPF_BLOCKMAP_H
#define COZBPF_BLOCKMAP_H

#include "core/places/linemap.h"
#include "symbols/code/blockinsn.h"

/* What is known of a byte of the file. */
#define BLOCK_BEGINS 0x1U /* an instruction begins there */
#define BLOCK_TARGET 0x2U /* a branch of the same function leads there */
#define BLOCK_JOINED 0x4U /* or something else does, perhaps */
#define BLOCK_ENDS 0x8U   /* the instruction there ends a block */
#define BLOCK_STOPS 0x10U /* and execution does not go on behind it */
#define BLOCK_IDLE 0x20U  /* it fills space */

/* An address that a function with a computed jump computes from its own. */
struct code_ref {
	size_t range; /* of the function */
	uint64_t addr;
};

struct block_map {
	struct image *o;
	struct insn_reader reader;
	struct line_map functions; /* of image_add_each_function(); borrowed names */
	uint64_t *first;           /* of each function: the file offset where it begins */
	uint8_t *flags;            /* of each byte of the file */
	bool *computes, *is_bad;   /* of each range of ->functions */
	struct code_ref *refs;
	size_t n_refs, refs_cap;
};

/* A block: [lo, hi) in file offsets, in range @range of ->functions. */
struct block {
	uint64_t lo, hi;
	size_t range;
};

/* 0, or -1 with @e. Needs deinit in both cases. */
int block_map_init(struct block_map *b, struct image *o, struct error *e);
void block_map_deinit(struct block_map *b);

/* The first block of range @range at @offset or behind it; false: there is none. */
bool block_next(const struct block_map *b, size_t range, uint64_t offset, struct block *ret);
/* The block that begins at @offset; false: none does. */
bool block_at(const struct block_map *b, uint64_t offset, struct block *ret);
/* Of the range that a file offset is in, the index; false: it is in none. */
bool block_range_of(const struct block_map *b, uint64_t offset, size_t *ret);

/* jumptables.c: marks the targets of computed jumps, once all instructions are known. */
void block_map_resolve(struct block_map *b);

#endif
