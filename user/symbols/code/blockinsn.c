// SPDX-License-Identifier: BSD-3-Clause
/* Instructions as blocks see them; see blockinsn.h. What the kernel refuses to probe is told by
 * is_prefix_bad() and good_insns_64 of arch/x86/kernel/uprobes.c, and by
 * aarch64_insn_is_steppable() of arch/arm64/kernel/probes/decode-insn.c. */
#include "symbols/code/blockinsn.h"

static uint16_t machine_of(const struct image *o)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(o->main.elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB)
		return EM_NONE;
	return header.e_machine;
}

int insn_reader_init(struct insn_reader *r, struct image *o, struct error *e)
{
	size_t size;
	char *data;

	*r = (struct insn_reader){.is_arm64 = machine_of(o) == EM_AARCH64};
	if (r->is_arm64) {
		data = elf_rawfile(o->main.elf, &size);
		r->d.file = (struct bytes){(const uint8_t *)data, data ? size : 0};
	} else if (machine_of(o) != EM_X86_64) {
		error_set(
		    e, EXIT_USAGE, "'%s' has no blocks: it is for another machine", image_path(o));
		return error_hint(e, "blocks are known of programs for x86-64 and arm64");
	} else if (decoder_init(&r->d, o)) {
		return error_set(e, EXIT_OTHER, "out of memory");
	}
	return 0;
}

void insn_reader_deinit(struct insn_reader *r)
{
	decoder_deinit(&r->d);
}

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || (byte & 0xfe) == 0xf2 || byte == 0xf0 ||
	       (byte & 0xe7) == 0x26 || (byte & 0xfe) == 0x64;
}

/* lock, segments other than fs and gs; and what only the kernel may execute, or traps. */
static bool is_refused(const uint8_t *insn, size_t size)
{
	size_t i = 0;
	uint8_t op;

	for (; i < size && is_prefix(insn[i]); i++)
		if (insn[i] == 0xf0 || (insn[i] & 0xe7) == 0x26)
			return true;
	if (i == size)
		return true;
	op = insn[i];
	if (op == 0x0f) /* ud2 */
		return i + 1 < size && insn[i + 1] == 0x0b;
	return (op >= 0x6c && op <= 0x6f) || (op >= 0xcc && op <= 0xcf) ||
	       (op >= 0xe4 && op <= 0xe7) || (op >= 0xec && op <= 0xef) || op == 0xf1 ||
	       op == 0xf4 || op == 0xfa || op == 0xfb;
}

/* movs, cmps, stos, lods and scas with rep. */
static bool repeats(const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;

	return (x->prefix[0] == X86_PREFIX_REP || x->prefix[0] == X86_PREFIX_REPNE) &&
	       ((x->opcode[0] >= 0xa4 && x->opcode[0] <= 0xa7) ||
		   (x->opcode[0] >= 0xaa && x->opcode[0] <= 0xaf));
}

static unsigned flow_of(const struct decoder *d)
{
	csh h = d->handle;
	const cs_insn *insn = d->insn;

	switch (insn->id) {
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
	case X86_INS_INT:
		return INSN_CALLS;
	case X86_INS_JMP:
	case X86_INS_LJMP:
	case X86_INS_UD2:
	case X86_INS_HLT:
		return INSN_ENDS | INSN_STOPS;
	case X86_INS_INT3: /* linkers fill space with it */
		return INSN_ENDS | INSN_STOPS | INSN_IDLE;
	case X86_INS_NOP:
		return INSN_IDLE;
	case X86_INS_ENDBR64:
		return INSN_ENTERED;
	default:
		break;
	}
	if (cs_insn_group(h, insn, CS_GRP_CALL))
		return INSN_CALLS;
	if (cs_insn_group(h, insn, CS_GRP_RET) || cs_insn_group(h, insn, CS_GRP_IRET))
		return INSN_ENDS | INSN_STOPS;
	if (decoder_leaves(d))
		return INSN_ENDS;
	return repeats(insn) ? INSN_REPEATS : 0;
}

static bool x86_next(struct decoder *d, struct bytes *code, uint64_t *addr, struct block_insn *ret)
{
	const cs_insn *insn = d->insn;

	if (!decoder_next(d, code, addr))
		return false;
	*ret = (struct block_insn){.addr = insn->address, .size = insn->size, .kinds = flow_of(d)};
	if (decoder_jumps_anywhere(d))
		ret->kinds |= INSN_COMPUTES;
	if (is_emulated(insn->bytes, insn->size))
		ret->kinds |= INSN_CHEAP;
	if (is_refused(insn->bytes, insn->size) || becomes_call(insn->bytes, insn->size))
		ret->kinds |= INSN_REFUSED;
	if (!decoder_target(d, &ret->target))
		ret->target = 0;
	if (insn->id != X86_INS_LEA || !decoder_refers(d, 1, &ret->refers))
		ret->refers = 0;
	return true;
}

/* The distance that @bits bits of the word from bit @at on hold, in words. */
static uint64_t distance(uint32_t word, unsigned at, unsigned bits)
{
	return (uint64_t)(int64_t)((int32_t)(word << (32 - at - bits)) >> (32 - bits)) * 4;
}

/* b, bl; b.cond, cbz, tbz. False: it is none of them. */
static bool arm64_direct(uint32_t word, struct block_insn *ret)
{
	if ((word & 0x7c000000) == 0x14000000) {
		ret->target = ret->addr + distance(word, 0, 26);
		ret->kinds = word >> 31 ? INSN_CALLS : INSN_ENDS | INSN_STOPS;
	} else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) {
		ret->target = ret->addr + distance(word, 5, 19);
		ret->kinds = INSN_ENDS;
	} else if ((word & 0x7e000000) == 0x36000000) {
		ret->target = ret->addr + distance(word, 5, 14);
		ret->kinds = INSN_ENDS;
	} else {
		return false;
	}
	ret->kinds |= INSN_CHEAP;
	return true;
}

/* br, blr, ret and those that check a signature; svc, brk and the like. */
static unsigned arm64_flow(uint32_t word)
{
	unsigned kind = word >> 21 & 7;

	if ((word & 0xfe000000) == 0xd6000000) {
		unsigned cheap = word >> 24 & 1 ? 0 : INSN_CHEAP;

		return cheap | (kind == 1 ? INSN_CALLS
				   : kind ? INSN_ENDS | INSN_STOPS
					  : INSN_ENDS | INSN_STOPS | INSN_COMPUTES);
	}
	if ((word & 0xff000000) == 0xd4000000) /* svc: its lowest bits are 1 */
		return INSN_REFUSED |
		       ((word & 0xe0001f) == 1 ? INSN_CALLS : INSN_ENDS | INSN_STOPS);
	return 0;
}

static unsigned arm64_other(uint32_t word)
{
	if (word == 0xd503201f)
		return INSN_IDLE | INSN_CHEAP;
	if ((word & 0xffffff3f) == 0xd503241f) /* bti */
		return word == 0xd503241f || word == 0xd503245f ? 0 : INSN_ENTERED;
	if ((word & 0x3f800000) == 0x08000000) /* exclusive loads and stores */
		return INSN_REFUSED;
	return 0;
}

/* A zero word is none: data, or the end of what was written. */
static bool arm64_next(struct bytes *code, uint64_t *addr, struct block_insn *ret)
{
	uint32_t word;

	if (code->size < sizeof(word))
		return false;
	memcpy(&word, code->data, sizeof(word));
	*ret = (struct block_insn){.addr = *addr, .size = sizeof(word)};
	if (!(word >> 16))
		return false;
	if (!arm64_direct(word, ret))
		ret->kinds = arm64_flow(word) ?: arm64_other(word);
	if ((word & 0x9f000000) == 0x10000000) /* adr: two bits stand apart */
		ret->refers = *addr + distance(word, 5, 19) + (word >> 29 & 3);
	code->data += sizeof(word);
	code->size -= sizeof(word);
	*addr += sizeof(word);
	return true;
}

bool insn_next(struct insn_reader *r, struct bytes *code, uint64_t *addr, struct block_insn *ret)
{
	if (!code->data)
		return false;
	return r->is_arm64 ? arm64_next(code, addr, ret) : x86_next(&r->d, code, addr, ret);
}
