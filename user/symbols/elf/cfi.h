/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call frame information of .eh_frame (LSB Core 10.6.1, DWARF 5 6.4). libdw can be
 * asked for one address at a time only. Each question executes the instructions of the function up
 * to that address, so a crafted function took the square of its size. This reads each function
 * once.
 */
#ifndef COZBPF_CFI_H
#define COZBPF_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cozbpf/abi.h>

#include "symbols/elf/reader.h"

struct cfi_machine;

/* What is known of a processor (EM_*), or NULL. */
const struct cfi_machine *cfi_machine(uint16_t machine);

struct cfi {
	struct bytes bytes; /* the section, or all that may follow its begin */
	uint64_t addr;      /* link-time address of its first byte */
	const struct cfi_machine *machine;
};

/* What is known of a function: where its code is, and where its description is in the section. */
struct cfi_function {
	uint64_t lo, hi; /* link-time addresses */
	uint64_t lsda;   /* address of its table of landing pads; 0: none */
	uint32_t at;
};

/* The functions of the section, sorted by address. *@ret is the caller's to free. 0 or -ENOMEM. */
int cfi_functions(const struct cfi *c, struct cfi_function **ret, size_t *n);

/* Hands each row of the function to @fn: it holds from @lo on, up to the next one or the function's
 * end. Where no rule is known, the row is COZBPF_UNWIND_NONE. A row that @fn returns non-zero for
 * is the last one; that value is returned, else 0. */
typedef int cfi_row_fn(uint64_t lo, const struct cozbpf_unwind_row *row, void *ctx);
int cfi_rows(const struct cfi *c, const struct cfi_function *f, cfi_row_fn *fn, void *ctx);

#endif
