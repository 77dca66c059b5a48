// SPDX-License-Identifier: BSD-3-Clause
/* Unwind tables from .eh_frame, read by libdw; see unwind.h. */
#include "symbols/elf/unwind.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "symbols/elf/object.h"
#include "symbols/elf/privileges.h"

/* DWARF's numbers of registers on x86-64 */
enum { REG_RBP = 6, REG_RSP = 7, REG_RIP = 16 };

/* Addresses in a row without a rule. Padding has fewer, so the rest is gone through in larger
 * steps. */
#define FAR_MISSES 4096
#define FAR_STEP 16

struct rows {
	struct cozbpf_unwind_row *v;
	size_t n, room, max;
	const bool *stop;
};

static bool same_rule(const struct cozbpf_unwind_row *a, const struct cozbpf_unwind_row *b)
{
	return a->kind == b->kind && a->cfa == b->cfa && a->rbp == b->rbp;
}

static int add_row(struct rows *r, const struct cozbpf_unwind_row *row)
{
	struct cozbpf_unwind_row *bigger;

	if ((r->n && same_rule(&r->v[r->n - 1], row)) || r->n == r->max)
		return 0;
	if (r->n == r->room) {
		r->room = r->room ? 2 * r->room : 1024;
		bigger = realloc(r->v, r->room * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		r->v = bigger;
	}
	r->v[r->n++] = *row;
	return 0;
}

static bool fits(int64_t value)
{
	return value >= INT16_MIN && value <= INT16_MAX;
}

/* The caller's stack pointer: a register and an offset, or the one expression that is known, that
 * of the PLT. */
static bool read_cfa(Dwarf_Frame *frame, struct cozbpf_unwind_row *row)
{
	/* The PLT that linkers make has DW_CFA_def_cfa_expression: rsp + 8, and 8 more from the
	 * 11th byte of an entry on. */
	static const uint8_t plt[] = {DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and,
	    DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) || !n)
		return false;
	if (n == 1 && ops[0].atom == DW_OP_bregx && fits((int64_t)ops[0].number2) &&
	    (ops[0].number == REG_RSP || ops[0].number == REG_RBP)) {
		row->kind = ops[0].number == REG_RSP ? COZBPF_UNWIND_RSP : COZBPF_UNWIND_RBP;
		row->cfa = (int16_t)ops[0].number2;
		return true;
	}
	for (size_t i = 0; i < n && n == sizeof(plt); i++)
		if (ops[i].atom != plt[i])
			return false;
	row->kind = COZBPF_UNWIND_PLT;
	row->cfa = 8;
	return n == sizeof(plt);
}

/* Where the caller's frame pointer is: unchanged, or saved below the CFA. */
static bool read_rbp(Dwarf_Frame *frame, struct cozbpf_unwind_row *row)
{
	Dwarf_Op mem[3], *ops;
	size_t n;
	int64_t offset;

	if (dwarf_frame_register(frame, REG_RBP, mem, &ops, &n))
		return false;
	if (!n)
		/* Unchanged. Undefined counts as unchanged: no caller needs the value. */
		return true;
	offset = n == 1 ? 0 : (int64_t)ops[1].number;
	if (ops[0].atom != DW_OP_call_frame_cfa || n > 2 ||
	    (n == 2 && ops[1].atom != DW_OP_plus_uconst) || offset % 8 || offset >= 0 ||
	    offset / 8 < INT8_MIN)
		return false;
	row->rbp = (int8_t)(offset / 8);
	return true;
}

/* Compilers keep the return address right below the CFA. At the bottom of the stack it is
 * undefined. */
static bool has_caller(Dwarf_Frame *frame)
{
	Dwarf_Op mem[3], *ops;
	size_t n;

	return !dwarf_frame_register(frame, REG_RIP, mem, &ops, &n) && n == 2 &&
	       ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_plus_uconst &&
	       (int64_t)ops[1].number == -8;
}

/* The row at @addr; *@end is where it ends. False: no rule is known. */
static bool read_row(Dwarf_CFI *cfi, uint64_t addr, struct cozbpf_unwind_row *row, uint64_t *end)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr from, to;
	bool is_signal;

	if (dwarf_cfi_addrframe(cfi, addr, &frame) || !frame)
		return false;
	if (dwarf_frame_info(frame, &from, &to, &is_signal) >= 0 && to > addr) {
		*end = to;
		if (is_signal || !has_caller(frame) || !read_cfa(frame, row) ||
		    !read_rbp(frame, row))
			row->kind = COZBPF_UNWIND_NONE;
	}
	free(frame);
	return *end > addr;
}

/* Headers may promise any size, so the walk ends where the file ends. */
static int add_code(const struct object *o, Dwarf_CFI *cfi, const struct segment *code,
    uint64_t file_size, struct rows *r)
{
	uint64_t at = code->lo, end = code->hi;
	unsigned missed = 0;

	if (!object_clip(o, &at, &end))
		return 0;
	end = end < file_size ? end : file_size;
	for (uint64_t addr = code->lo, step; at < end && at <= UINT32_MAX && r->n < r->max;
	     at += step, addr += step) {
		struct cozbpf_unwind_row row = {0};
		uint64_t to = 0;
		bool found = read_row(cfi, addr, &row, &to);

		if (__atomic_load_n(r->stop, __ATOMIC_RELAXED))
			break;
		if (row.kind == COZBPF_UNWIND_NONE)
			row = (struct cozbpf_unwind_row){0};
		row.lo = (uint32_t)at;
		if ((!r->n || row.lo > r->v[r->n - 1].lo) && add_row(r, &row))
			return -ENOMEM;
		missed = found ? 0 : missed + 1;
		step = found ? to - addr : missed > FAR_MISSES ? FAR_STEP : 1;
		if (step > end - at)
			break;
	}
	return 0;
}

int object_unwind_rows(
    struct object *o, size_t max, const bool *stop, struct cozbpf_unwind_row **ret, size_t *n)
{
	WITHOUT_PRIVILEGES;
	struct rows r = {.max = max, .stop = stop};
	struct error changed;
	GElf_Ehdr header;
	struct stat st;
	Dwarf_CFI *cfi;
	int err = 0;

	*ret = NULL;
	*n = 0;
	if (!gelf_getehdr(o->main.elf, &header) || header.e_machine != EM_X86_64 ||
	    fstat(o->main.fd, &st))
		return 0;
	cfi = dwarf_getcfi_elf(o->main.elf);
	for (size_t i = 0; cfi && !err && i < o->n_code; i++)
		err = add_code(o, cfi, &o->code[i], (uint64_t)st.st_size, &r);
	dwarf_cfi_end(cfi);
	if (err || object_check(o, &changed)) {
		free(r.v);
		return err;
	}
	if (r.n == r.max && r.n)
		/* This row stands for all code that there was no room for. */
		r.v[r.n - 1].kind = COZBPF_UNWIND_NONE;
	*ret = r.v;
	*n = r.n;
	return 0;
}
