// SPDX-License-Identifier: BSD-3-Clause
/* See cfi_machine.h. */
#include "symbols/elf/cfi_machine.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "symbols/elf/cfi.h"

enum { X86_RBP = 6, X86_RSP = 7, X86_RIP = 16 };
enum { ARM64_X29 = 29, ARM64_X30 = 30, ARM64_SP = 31 };
#define NEGATE_RA_STATE 0x2d /* arm64: from here on x30 is signed, or no longer */

static bool fits(int64_t value)
{
	return value >= INT16_MIN && value <= INT16_MAX;
}

/* Compilers keep the return address right below the CFA. At the bottom of the stack it is
 * undefined. */
static struct cozbpf_unwind_row x86_row(const struct cfi_state *s)
{
	struct cozbpf_unwind_row row = {0};
	bool is_rsp = s->cfa_register == X86_RSP;
	int64_t slot = s->fp.kind == RULE_SAVED ? s->fp.offset / 8 : 0;

	if (s->ra.kind != RULE_SAVED || s->ra.offset != -8 || s->fp.kind == RULE_OTHER ||
	    s->cfa == CFA_OTHER)
		return row;
	if (s->fp.kind == RULE_SAVED && (s->fp.offset % 8 || slot >= 0 || slot < INT8_MIN))
		return row;
	if (s->cfa == CFA_REGISTER &&
	    (!fits(s->cfa_offset) || (!is_rsp && s->cfa_register != X86_RBP)))
		return row;
	row.kind = s->cfa == CFA_PLT ? COZBPF_UNWIND_PLT
		   : is_rsp          ? COZBPF_UNWIND_RSP
				     : COZBPF_UNWIND_RBP;
	row.cfa = s->cfa == CFA_PLT ? 8 : (int16_t)s->cfa_offset;
	row.slot = (int8_t)slot;
	return row;
}

/* The place at @offset from the CFA, counted from the nearer end of the frame. False: it is too far
 * from both. */
static bool arm64_slot(const struct cfi_state *s, int64_t offset, int8_t *ret)
{
	int64_t from_cfa = offset / 8, from_base = (s->cfa_offset + offset) / 8;

	if (offset % 8 || s->cfa_offset % 8 || offset >= 0)
		return false;
	*ret = (int8_t)(from_cfa >= INT8_MIN ? from_cfa : from_base);
	return from_cfa >= INT8_MIN || (from_base >= 0 && from_base <= INT8_MAX);
}

/* Compilers save x29 and x30 as a pair, or x30 alone where frame pointers are omitted. A function
 * that calls nobody saves neither. */
static struct cozbpf_unwind_row arm64_row(const struct cfi_state *s)
{
	struct cozbpf_unwind_row row = {0};
	bool is_sp = s->cfa_register == ARM64_SP, pair = s->fp.kind == RULE_SAVED;

	if (s->cfa != CFA_REGISTER || (!is_sp && s->cfa_register != ARM64_X29) ||
	    !fits(s->cfa_offset) || s->fp.kind == RULE_OTHER || s->ra.kind == RULE_OTHER)
		return row;
	if (pair && (s->ra.kind != RULE_SAVED || s->ra.offset != s->fp.offset + 8))
		return row;
	if (s->ra.kind == RULE_SAVED &&
	    !arm64_slot(s, pair ? s->fp.offset : s->ra.offset, &row.slot))
		return (struct cozbpf_unwind_row){0};
	row.kind = pair                       ? COZBPF_UNWIND_PAIR
		   : s->ra.kind == RULE_SAVED ? COZBPF_UNWIND_ALONE
					      : COZBPF_UNWIND_LINK;
	if (!is_sp)
		row.kind |= COZBPF_UNWIND_X29;
	row.cfa = (int16_t)s->cfa_offset;
	return row;
}

const struct cfi_machine *cfi_machine(uint16_t machine)
{
	static const struct cfi_machine x86 = {X86_RBP, X86_RSP, X86_RIP, 0, x86_row},
					arm64 = {ARM64_X29, ARM64_SP, ARM64_X30, NEGATE_RA_STATE,
					    arm64_row};

	return machine == EM_X86_64 ? &x86 : machine == EM_AARCH64 ? &arm64 : NULL;
}
