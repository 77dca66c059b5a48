/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs from processor to processor in call frame information: numbers of registers, and
 * which rules the kernel side knows. */
#ifndef COZBPF_CFI_MACHINE_H
#define COZBPF_CFI_MACHINE_H

#include <stdint.h>

#include <cozbpf/abi.h>

/* Where the caller's value of a register is. */
struct cfi_rule {
	enum { RULE_SAME, RULE_SAVED, RULE_OTHER } kind;
	int64_t offset; /* SAVED: from the CFA, bytes */
};

struct cfi_state {
	enum { CFA_REGISTER, CFA_PLT, CFA_OTHER } cfa;
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct cfi_rule fp, ra;
};

struct cfi_machine {
	uint8_t fp, sp, ra; /* DWARF's numbers of registers */
	uint8_t ignored;    /* an instruction of its own that changes no place; 0: none */
	/* The rules as the kernel side knows them, or COZBPF_UNWIND_NONE. */
	struct cozbpf_unwind_row (*row)(const struct cfi_state *s);
};

#endif
