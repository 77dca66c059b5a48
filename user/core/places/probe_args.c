// SPDX-License-Identifier: BSD-3-Clause
/* Reads the argument text of static probes, and tells where functions have their arguments; see
 * probe_args.h. */
#include "core/places/probe_args.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARG_TEXT 128 /* longest text of one argument: twice of what compilers write */
#define ARM64_ARGS 8

/* Offsets in struct pt_regs: arch/x86/include/asm/ptrace.h and arch/arm64/include/asm/ptrace.h,
 * both part of the kernel's ABI. */
enum {
	X86_R15 = 0,
	X86_R14 = 8,
	X86_R13 = 16,
	X86_R12 = 24,
	X86_BP = 32,
	X86_BX = 40,
	X86_R11 = 48,
	X86_R10 = 56,
	X86_R9 = 64,
	X86_R8 = 72,
	X86_AX = 80,
	X86_CX = 88,
	X86_DX = 96,
	X86_SI = 104,
	X86_DI = 112,
	X86_SP = 152,
	ARM64_SP = 31 * 8,
};

/* Registers with the names of their parts of 8, 4, 2 and 1 bytes. */
static const struct x86_reg {
	const char *names[4];
	uint32_t off;
} x86_regs[] = {
    {{"rax", "eax", "ax", "al"}, X86_AX},
    {{"rbx", "ebx", "bx", "bl"}, X86_BX},
    {{"rcx", "ecx", "cx", "cl"}, X86_CX},
    {{"rdx", "edx", "dx", "dl"}, X86_DX},
    {{"rsi", "esi", "si", "sil"}, X86_SI},
    {{"rdi", "edi", "di", "dil"}, X86_DI},
    {{"rbp", "ebp", "bp", "bpl"}, X86_BP},
    {{"rsp", "esp", "sp", "spl"}, X86_SP},
    {{"r8", "r8d", "r8w", "r8b"}, X86_R8},
    {{"r9", "r9d", "r9w", "r9b"}, X86_R9},
    {{"r10", "r10d", "r10w", "r10b"}, X86_R10},
    {{"r11", "r11d", "r11w", "r11b"}, X86_R11},
    {{"r12", "r12d", "r12w", "r12b"}, X86_R12},
    {{"r13", "r13d", "r13w", "r13b"}, X86_R13},
    {{"r14", "r14d", "r14w", "r14b"}, X86_R14},
    {{"r15", "r15d", "r15w", "r15b"}, X86_R15},
    /* The second lowest byte, which four of them have. */
    {{"", "", "", "ah"}, X86_AX + 1},
    {{"", "", "", "bh"}, X86_BX + 1},
    {{"", "", "", "ch"}, X86_CX + 1},
    {{"", "", "", "dh"}, X86_DX + 1},
};

/* Offset of the register called @name; *@size: bytes of the named part. False: no such register. */
static bool x86_reg_find(const char *name, uint32_t *off, unsigned *size)
{
	for (size_t i = 0; i < sizeof(x86_regs) / sizeof(*x86_regs); i++) {
		for (unsigned k = 0; k < 4; k++) {
			if (!*name || strcmp(x86_regs[i].names[k], name))
				continue;
			*off = x86_regs[i].off;
			*size = 8U >> k;
			return true;
		}
	}
	return false;
}

/* x0 to x30, w0 to w30, sp, and two old names. xzr and wzr are not registers here but the constant
 * 0. */
static bool arm64_reg_find(const char *name, uint32_t *off, unsigned *size)
{
	unsigned n = 0;

	*size = *name == 'w' ? 4 : 8;
	if (!strcmp(name, "sp")) {
		*off = ARM64_SP;
	} else if (!strcmp(name, "fp") || !strcmp(name, "lr")) {
		*off = (*name == 'f' ? 29 : 30) * 8;
	} else {
		if ((*name != 'x' && *name != 'w') || !name[1] || strlen(name) > 3)
			return false;
		for (const char *c = name + 1; *c; c++) {
			if (*c < '0' || *c > '9')
				return false;
			n = n * 10 + (unsigned)(*c - '0');
		}
		if (n > 30)
			return false;
		*off = n * 8;
	}
	return true;
}

/* A number that fills the whole text, decimal or hexadecimal, possibly negative. */
static bool read_number(const char *text, int64_t *ret)
{
	const char *digits = text + (*text == '-' || *text == '+');
	bool hex = !strncmp(digits, "0x", 2);
	char *end;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	/* Constants above the largest signed number have no sign. */
	*ret = *text == '-' ? strtoll(text, &end, hex ? 16 : 10)
			    : (int64_t)strtoull(text, &end, hex ? 16 : 10);
	return !*end && !errno;
}

/* An operand without its size. Each of these functions returns NULL, or the reason why the operand
 * cannot be had. `size` 0: no size was written. */
static const char *reg_operand(struct cozbpf_arg *a, uint32_t off, unsigned size)
{
	if (!a->size)
		a->size = (uint8_t)size;
	if (a->size > size)
		return "its size is not that of its register";
	a->kind = COZBPF_ARG_REG;
	a->reg_off = off;
	return NULL;
}

static const char *const_operand(struct cozbpf_arg *a, const char *text)
{
	int64_t value;

	if (!read_number(text, &value))
		return "its constant is the address of a symbol";
	a->kind = COZBPF_ARG_CONST;
	a->value = value;
	return NULL;
}

static const char *mem_operand(
    struct cozbpf_arg *a, uint32_t base, unsigned size, int64_t displacement)
{
	if (size != 8)
		return "it stands at an address of less than 64 bits";
	a->kind = COZBPF_ARG_MEM;
	a->reg_off = base;
	a->value = displacement;
	return NULL;
}

static const char *x86_memory(struct cozbpf_arg *a, char *text)
{
	char *open = strchr(text, '('), *close = open ? strchr(open, ')') : NULL;
	int64_t displacement = 0;
	uint32_t off;
	unsigned size;

	if (*text == '%' && strchr(text, ':'))
		return "it is thread-local";
	if (!open)
		return "it stands at an absolute address";
	if (!close || close[1])
		return "its text is damaged";
	*open = *close = 0;
	if (!strcmp(open + 1, "%rip"))
		return "it stands at an address relative to the instruction";
	if (strchr(open + 1, ','))
		return "it is an element of an array, whose index is in another register";
	if (*text && !read_number(text, &displacement))
		return "it stands at an address that a symbol is part of";
	if (open[1] != '%' || !x86_reg_find(open + 2, &off, &size))
		return "its register is not known";
	return mem_operand(a, off, size, displacement);
}

static const char *x86_operand(struct cozbpf_arg *a, char *text)
{
	uint32_t off;
	unsigned size;

	if (*text == '$')
		return const_operand(a, text + 1);
	if (*text != '%' || strchr(text, ':'))
		return x86_memory(a, text);
	if (x86_reg_find(text + 1, &off, &size))
		return reg_operand(a, off, size);
	if (strstr(text, "mm") || !strncmp(text, "%st", 3))
		return "it is in a floating-point register";
	return "its register is not known";
}

static const char *arm64_memory(struct cozbpf_arg *a, char *text)
{
	char *close = strchr(text, ']'), *comma;
	int64_t displacement = 0;
	uint32_t off;
	unsigned size;

	if (!close || close[1])
		return "its text is damaged";
	*close = 0;
	comma = strchr(text, ',');
	if (comma) {
		*comma++ = 0;
		comma += strspn(comma, " #");
		if (!read_number(comma, &displacement)) {
			if (*comma == ':')
				return "it stands at an address that a symbol is part of";
			return "it is an element of an array, whose index is in another register";
		}
	}
	if (!arm64_reg_find(text + 1, &off, &size))
		return "its register is not known";
	return mem_operand(a, off, size, displacement);
}

static const char *arm64_operand(struct cozbpf_arg *a, char *text)
{
	uint32_t off;
	unsigned size;

	if (*text == '[')
		return arm64_memory(a, text);
	if (arm64_reg_find(text, &off, &size))
		return reg_operand(a, off, size);
	if (!strcmp(text, "xzr") || !strcmp(text, "wzr"))
		return const_operand(a, "0");
	if (strchr("vqdshb", *text) && text[1] >= '0' && text[1] <= '9')
		return "it is in a floating-point register";
	return const_operand(a, text + (*text == '#'));
}

/* "-4@OPERAND", or OPERAND alone as old versions of the header wrote it. */
static const char *parse_one(enum probe_arch arch, char *text, struct cozbpf_arg *a)
{
	char *at = strchr(text, '@');
	const char *why;
	int64_t size;

	if (at) {
		*at = 0;
		if (at > text && at[-1] == 'f')
			return "it is a floating-point number";
		if (!read_number(text, &size))
			return "its text is damaged";
		a->is_signed = size < 0;
		size = size < 0 ? -(uint64_t)size : (uint64_t)size;
		if (size != 1 && size != 2 && size != 4 && size != 8)
			return "it is neither 1, 2, 4 nor 8 bytes long";
		a->size = (uint8_t)size;
		text = at + 1;
	}
	why = !*text                ? "its text is damaged"
	      : arch == PROBE_ARM64 ? arm64_operand(a, text)
				    : x86_operand(a, text);
	if (!why && !a->size)
		a->size = 8;
	return why;
}

/* Length of the argument at @text. Blanks separate arguments, but not within brackets (arm64's
 * "[sp, 20]"). */
static size_t arg_length(const char *text)
{
	bool bracket = false;
	size_t len = 0;

	for (; text[len] && (bracket || text[len] != ' '); len++)
		bracket = text[len] == '[' || (bracket && text[len] != ']');
	return len;
}

int probe_arg_parse(
    enum probe_arch arch, const char *args, unsigned n, struct cozbpf_arg *ret, struct error *e)
{
	char text[ARG_TEXT], whole[ARG_TEXT];
	const char *at = args + strspn(args, " "), *why;
	unsigned i = 0;
	size_t len;

	memset(ret, 0, sizeof(*ret));
	while (*at && i < n) {
		at += arg_length(at);
		at += strspn(at, " ");
		i++;
	}
	if (!*at) {
		error_set(e, EXIT_USAGE, "there is no argument %u: the probe has %u", n, i);
		return error_hint(e,
		    i ? "arguments count from 0" : "name another probe, or leave out the argument");
	}
	len = arg_length(at);
	why = len < sizeof(text) ? NULL : "its text is damaged";
	len = len < sizeof(text) ? len : sizeof(text) - 1;
	memcpy(text, at, len);
	text[len] = 0;
	memcpy(whole, text, sizeof(whole));
	if (!why)
		why = parse_one(arch, text, ret);
	if (!why)
		return 0;
	memset(ret, 0, sizeof(*ret));
	error_set(
	    e, EXIT_USAGE, "argument %u of the probe, '%s', cannot be read: %s", n, whole, why);
	return error_hint(e, "name another argument, or none");
}

int probe_arg_function(
    enum probe_arch arch, bool go, unsigned n, struct cozbpf_arg *ret, struct error *e)
{
	static const uint32_t x86_c[] = {X86_DI, X86_SI, X86_DX, X86_CX, X86_R8, X86_R9};
	static const uint32_t x86_go[] = {
	    X86_AX, X86_BX, X86_CX, X86_DI, X86_SI, X86_R8, X86_R9, X86_R10, X86_R11};
	const uint32_t *x86 = go ? x86_go : x86_c;
	unsigned known = arch == PROBE_ARM64 ? ARM64_ARGS
			 : go                ? sizeof(x86_go) / sizeof(*x86_go)
					     : sizeof(x86_c) / sizeof(*x86_c);

	memset(ret, 0, sizeof(*ret));
	if (n >= known) {
		error_set(e, EXIT_USAGE, "argument %u of a function is not in a register", n);
		return error_hint(e, "arguments 0 to %u can be used", known - 1);
	}
	*ret = (struct cozbpf_arg){
	    .kind = COZBPF_ARG_REG, .size = 8, .reg_off = arch == PROBE_ARM64 ? n * 8 : x86[n]};
	return 0;
}
