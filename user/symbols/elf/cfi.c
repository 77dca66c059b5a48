// SPDX-License-Identifier: BSD-3-Clause
/* Reads .eh_frame; see cfi.h. */
#include "symbols/elf/cfi.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "symbols/elf/cfi_machine.h"

#define REMEMBERED 16 /* states that a function may keep at a time; compilers keep one */
/* Bytes of what functions have in common. Each function reads it again, so it must not be large. */
#define COMMON_MAX 256

/* What functions have in common (a CIE). */
struct common {
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of addresses, DW_EH_PE_* */
	bool has_size;    /* of the augmentation, in each function */
	uint8_t lsda;     /* the encoding of its address; DW_EH_PE_omit: there is none */
	bool is_signal;   /* the frame of a signal handler's return */
	struct reader instructions;
};

/* What is executed: the rules so far, and where they hold. */
struct machine {
	const struct common *common;
	struct cfi_state now, initial, remembered[REMEMBERED];
	unsigned n_remembered;
	uint64_t loc;
	const struct cfi *cfi;
};

/* An address in one of the encodings that linkers write. */
static uint64_t read_address(struct reader *r, const struct cfi *c, uint8_t encoding)
{
	uint64_t place = c->addr + (uint64_t)(r->p - c->bytes.data), v;

	switch (encoding & 0xf) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		v = read_u64(r);
		break;
	case DW_EH_PE_udata4:
		v = read_u32(r);
		break;
	case DW_EH_PE_sdata4:
		v = (uint64_t)(int64_t)(int32_t)read_u32(r);
		break;
	case DW_EH_PE_udata2:
		v = read_u16(r);
		break;
	case DW_EH_PE_sdata2:
		v = (uint64_t)(int64_t)(int16_t)read_u16(r);
		break;
	case DW_EH_PE_uleb128:
		v = read_uleb(r);
		break;
	case DW_EH_PE_sleb128:
		v = (uint64_t)read_sleb(r);
		break;
	default:
		reader_fail(r);
		return 0;
	}
	if ((encoding & 0xf0) == DW_EH_PE_pcrel)
		return v + place;
	if (encoding & 0xf0)
		reader_fail(r);
	return v;
}

/* The entry at @offset: its content, and the offset behind it. False: there is no further one. */
static bool read_entry(const struct cfi *c, uint64_t offset, struct reader *ret, uint64_t *next)
{
	struct reader r =
	    reader_at(c->bytes, offset, offset < c->bytes.size ? c->bytes.size - offset : 0);
	uint64_t size = read_u32(&r);

	if (size == UINT32_MAX)
		size = read_u64(&r);
	if (r.bad || !size || size > reader_left(&r))
		return false;
	*ret = (struct reader){r.p, r.p + size, false};
	*next = (uint64_t)(ret->end - c->bytes.data);
	return true;
}

/* What the letters of an augmentation announce. */
static void read_augmentation(
    struct reader *r, const struct cfi *c, const char *letters, struct common *ret)
{
	uint64_t size = read_uleb(r);
	struct reader data = {r->p, r->p, false};

	read_skip(r, size);
	data.end = r->p;
	ret->has_size = true;
	for (letters++; *letters && !r->bad; letters++) {
		if (*letters == 'R')
			ret->encoding = read_u8(&data);
		else if (*letters == 'P')
			read_address(&data, c, read_u8(&data) & 0xf);
		else if (*letters == 'L')
			ret->lsda = read_u8(&data);
		else if (*letters == 'S')
			ret->is_signal = true;
		else if (*letters == 'B') /* the other key signs return addresses (arm64) */
			continue;
		else
			reader_fail(r);
	}
	if (data.bad)
		reader_fail(r);
}

static bool read_common(const struct cfi *c, uint64_t offset, struct common *ret)
{
	const char *letters;
	struct reader r;
	uint64_t next;
	uint8_t version;

	*ret = (struct common){.lsda = DW_EH_PE_omit};
	if (!read_entry(c, offset, &r, &next) || reader_left(&r) > COMMON_MAX || read_u32(&r))
		return false;
	version = read_u8(&r);
	letters = read_string(&r);
	ret->code_align = read_uleb(&r);
	ret->data_align = read_sleb(&r);
	if ((version == 1 ? read_u8(&r) : read_uleb(&r)) != c->machine->ra ||
	    (version != 1 && version != 3))
		return false;
	if (*letters == 'z')
		read_augmentation(&r, c, letters, ret);
	else if (*letters)
		return false;
	ret->instructions = r;
	return !r.bad;
}

/* The address of the landing pads, of a function's augmentation; 0: none. */
static uint64_t read_lsda(const struct cfi *c, const struct common *common, struct reader r)
{
	uint64_t place = c->addr + (uint64_t)(r.p - c->bytes.data), addr;

	if (common->lsda == DW_EH_PE_omit)
		return 0;
	addr = read_address(&r, c, common->lsda);
	/* No table is written as 0, whatever that is relative to. */
	return r.bad || addr == place ? 0 : addr;
}

/* Reads a function's description up to its instructions. */
static bool read_function(const struct cfi *c, uint64_t offset, struct common *common,
    struct reader *ret, struct cfi_function *f)
{
	uint64_t next, place, back;

	if (!read_entry(c, offset, ret, &next))
		return false;
	place = (uint64_t)(ret->p - c->bytes.data);
	back = read_u32(ret);
	if (!back || back > place || !read_common(c, place - back, common))
		return false;
	f->at = (uint32_t)offset;
	f->lo = read_address(ret, c, common->encoding);
	f->hi = f->lo + read_address(ret, c, common->encoding & 0xf);
	f->lsda = 0;
	if (common->has_size) {
		uint64_t size = read_uleb(ret);

		f->lsda = read_lsda(c, common, *ret);
		read_skip(ret, size);
	}
	return !ret->bad && f->hi > f->lo;
}

static int by_address(const void *a, const void *b)
{
	const struct cfi_function *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

int cfi_functions(const struct cfi *c, struct cfi_function **ret, size_t *n)
{
	struct cfi_function *bigger;
	uint64_t offset = 0, next;
	struct common common;
	struct reader r;
	size_t room = 0;

	*ret = NULL;
	*n = 0;
	for (; offset <= UINT32_MAX && read_entry(c, offset, &r, &next); offset = next) {
		if (*n == room) {
			room = room ? 2 * room : 256;
			bigger = realloc(*ret, room * sizeof(*bigger));
			if (!bigger) {
				free(*ret);
				*ret = NULL;
				return -ENOMEM;
			}
			*ret = bigger;
		}
		*n += read_function(c, offset, &common, &r, &(*ret)[*n]);
	}
	if (*n)
		qsort(*ret, *n, sizeof(**ret), by_address);
	return 0;
}

static struct cfi_rule *rule_of(const struct machine *m, struct cfi_state *s, uint64_t reg)
{
	return reg == m->cfi->machine->fp ? &s->fp : reg == m->cfi->machine->ra ? &s->ra : NULL;
}

static void set_rule(struct machine *m, uint64_t reg, int kind, uint64_t offset)
{
	struct cfi_rule *rule = rule_of(m, &m->now, reg);

	if (rule)
		*rule = (struct cfi_rule){kind, (int64_t)offset};
}

static void restore_rule(struct machine *m, uint64_t reg)
{
	struct cfi_rule *rule = rule_of(m, &m->now, reg), *initial = rule_of(m, &m->initial, reg);

	if (rule)
		*rule = *initial;
}

/* An offset in units of the common alignment. Damaged ones wrap around. */
static uint64_t aligned(const struct machine *m, uint64_t offset)
{
	return offset * (uint64_t)m->common->data_align;
}

static void set_cfa(struct machine *m, uint64_t reg, uint64_t offset)
{
	m->now.cfa = CFA_REGISTER;
	m->now.cfa_register = reg;
	m->now.cfa_offset = (int64_t)offset;
}

/* The one expression that is known: rsp + 8, and 8 more from the 11th byte of an entry on. Linkers
 * write it for the PLT. */
static void set_cfa_expression(struct machine *m, struct reader *r)
{
	static const uint8_t plt[] = {DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and,
	    DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	uint64_t size = read_uleb(r);
	const uint8_t *code = r->p;

	read_skip(r, size);
	m->now.cfa =
	    !r->bad && size == sizeof(plt) && !memcmp(code, plt, size) ? CFA_PLT : CFA_OTHER;
}

/* Instructions that set where the CFA is. False: it is none of them. */
static bool define_cfa(struct machine *m, struct reader *r, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = read_uleb(r);
		set_cfa(m, reg, read_uleb(r));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = read_uleb(r);
		set_cfa(m, reg, aligned(m, (uint64_t)read_sleb(r)));
		return true;
	case DW_CFA_def_cfa_register:
		m->now.cfa_register = read_uleb(r);
		break;
	case DW_CFA_def_cfa_offset:
		m->now.cfa_offset = (int64_t)read_uleb(r);
		break;
	case DW_CFA_def_cfa_offset_sf:
		m->now.cfa_offset = (int64_t)aligned(m, (uint64_t)read_sleb(r));
		break;
	case DW_CFA_def_cfa_expression:
		set_cfa_expression(m, r);
		return true;
	default:
		return false;
	}
	if (m->now.cfa != CFA_REGISTER) /* there is nothing that these could change */
		reader_fail(r);
	return true;
}

/* Instructions that say where a register is. False: it is none of them. */
static bool define_rule(struct machine *m, struct reader *r, uint8_t op)
{
	uint64_t reg = 0;

	if ((op & 0xc0) == DW_CFA_offset) {
		set_rule(m, op & 0x3f, RULE_SAVED, aligned(m, read_uleb(r)));
		return true;
	}
	if ((op & 0xc0) == DW_CFA_restore) {
		restore_rule(m, op & 0x3f);
		return true;
	}
	if ((op >= DW_CFA_offset_extended && op <= DW_CFA_register) || op == DW_CFA_expression ||
	    op == DW_CFA_offset_extended_sf ||
	    (op >= DW_CFA_val_offset && op <= DW_CFA_val_expression) ||
	    op == DW_CFA_GNU_negative_offset_extended)
		reg = read_uleb(r);
	switch (op) {
	case DW_CFA_offset_extended:
		set_rule(m, reg, RULE_SAVED, aligned(m, read_uleb(r)));
		return true;
	case DW_CFA_offset_extended_sf:
		set_rule(m, reg, RULE_SAVED, aligned(m, (uint64_t)read_sleb(r)));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		set_rule(m, reg, RULE_SAVED, 0 - aligned(m, read_uleb(r)));
		return true;
	case DW_CFA_restore_extended:
		restore_rule(m, reg);
		return true;
	case DW_CFA_undefined: /* counts as unchanged: no caller needs the value */
	case DW_CFA_same_value:
		set_rule(m, reg, RULE_SAME, 0);
		return true;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf: /* as long as the unsigned one */
		read_uleb(r);
		set_rule(m, reg, RULE_OTHER, 0);
		return true;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		read_skip(r, read_uleb(r));
		set_rule(m, reg, RULE_OTHER, 0);
		return true;
	default:
		return false;
	}
}

/* Instructions that are neither. Unknown ones end the description. */
static void keep_state(struct machine *m, struct reader *r, uint8_t op)
{
	if (op == DW_CFA_remember_state && m->n_remembered < REMEMBERED)
		m->remembered[m->n_remembered++] = m->now;
	else if (op == DW_CFA_restore_state && m->n_remembered)
		m->now = m->remembered[--m->n_remembered];
	else if (op == DW_CFA_GNU_args_size)
		read_uleb(r);
	else if (op != DW_CFA_nop && (!op || op != m->cfi->machine->ignored))
		reader_fail(r);
}

/* True when @op moves on, to *@to. */
static bool advances(const struct machine *m, struct reader *r, uint8_t op, uint64_t *to)
{
	uint64_t delta = op & 0x3f;

	if (op == DW_CFA_set_loc) {
		*to = read_address(r, m->cfi, m->common->encoding);
		return true;
	}
	if (op >= DW_CFA_advance_loc1 && op <= DW_CFA_advance_loc4)
		delta = read_uint(r, 1U << (op - DW_CFA_advance_loc1));
	else if ((op & 0xc0) != DW_CFA_advance_loc)
		return false;
	*to = m->loc + delta * m->common->code_align;
	return true;
}

static struct cozbpf_unwind_row row_of(const struct machine *m)
{
	if (m->common->is_signal)
		return (struct cozbpf_unwind_row){0};
	return m->cfi->machine->row(&m->now);
}

/* Executes up to the next move, which leads to *@to. False: there is none, or @r is bad. */
static bool execute(struct machine *m, struct reader *r, uint64_t *to)
{
	while (reader_left(r)) {
		uint8_t op = read_u8(r);

		if (advances(m, r, op, to))
			return !r->bad;
		if (!define_cfa(m, r, op) && !define_rule(m, r, op))
			keep_state(m, r, op);
	}
	return false;
}

int cfi_rows(const struct cfi *c, const struct cfi_function *f, cfi_row_fn *fn, void *ctx)
{
	struct machine m = {.cfi = c, .loc = f->lo, .now.cfa = CFA_OTHER};
	struct cozbpf_unwind_row row = {0};
	struct cfi_function same;
	struct common common;
	struct reader r;
	uint64_t to;
	int err = 0;

	m.common = &common;
	if (!read_function(c, f->at, &common, &r, &same) ||
	    execute(&m, &common.instructions, &to) || common.instructions.bad)
		return fn(f->lo, &row, ctx);
	m.initial = m.now;
	while (!err && execute(&m, &r, &to) && to >= m.loc && to < f->hi) {
		row = row_of(&m);
		if (to > m.loc)
			err = fn(m.loc, &row, ctx);
		m.loc = to;
	}
	if (r.bad)
		m.now.cfa = CFA_OTHER;
	row = row_of(&m);
	return err ? err : fn(m.loc, &row, ctx);
}
