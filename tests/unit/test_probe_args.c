// SPDX-License-Identifier: BSD-3-Clause
/* Argument texts of static probes, as compilers write them and as nobody should; and the arguments
 * of functions. */
#include "check.h"

#include <stddef.h>
#include <stdint.h>

#include "core/places/probe_args.h"
#include "core/experiment/rng.h"

#if defined(__x86_64__)
#include <asm/ptrace.h>
#endif

static void check_arg(enum probe_arch arch, const char *args, unsigned n, struct cozbpf_arg want)
{
	struct cozbpf_arg a;
	struct error e = {0};

	CHECK_EQ(probe_arg_parse(arch, args, n, &a, &e), 0);
	if (*e.cause)
		fprintf(stderr, "  '%s': %s\n", args, e.cause);
	CHECK_EQ(a.kind, want.kind);
	CHECK_EQ(a.size, want.size);
	CHECK_EQ(a.is_signed, want.is_signed);
	CHECK_EQ(a.reg_off, want.reg_off);
	CHECK_EQ(a.value, want.value);
}

#define REG(bytes, sign, off) ((struct cozbpf_arg){COZBPF_ARG_REG, bytes, sign, 0, off, 0})
#define MEM(bytes, sign, off, at) ((struct cozbpf_arg){COZBPF_ARG_MEM, bytes, sign, 0, off, at})
#define CONST(bytes, sign, v) ((struct cozbpf_arg){COZBPF_ARG_CONST, bytes, sign, 0, 0, v})

static void check_refused(enum probe_arch arch, const char *args, unsigned n, const char *why)
{
	struct cozbpf_arg a = REG(8, 1, 8);
	struct error e = {0};

	CHECK_EQ(probe_arg_parse(arch, args, n, &a, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK(strstr(e.cause, why) && *e.hint);
	if (!strstr(e.cause, why))
		fprintf(stderr, "  '%s': %s\n", args, e.cause);
	CHECK_EQ(a.kind, COZBPF_ARG_NONE);
}

TEST(x86_registers)
{
	check_arg(PROBE_X86_64, "8@%rdi", 0, REG(8, 0, 112));
	check_arg(PROBE_X86_64, "1@%al", 0, REG(1, 0, 80));
	check_arg(PROBE_X86_64, "-1@%ah", 0, REG(1, 1, 81));
	check_arg(PROBE_X86_64, "-4@%r10d", 0, REG(4, 1, 56));
	check_arg(PROBE_X86_64, "2@%r15w", 0, REG(2, 0, 0));
	check_arg(PROBE_X86_64, "1@%sil", 0, REG(1, 0, 104));
	check_arg(PROBE_X86_64, "1@%r9b", 0, REG(1, 0, 64));
	check_arg(PROBE_X86_64, "8@%rsp", 0, REG(8, 0, 152));
	check_arg(PROBE_X86_64, "4@%rax", 0, REG(4, 0, 80)); /* the lower half */
	check_arg(PROBE_X86_64, "%edx", 0, REG(4, 0, 96));
}

TEST(x86_memory_and_constants)
{
	check_arg(PROBE_X86_64, "-4@-20(%rbp)", 0, MEM(4, 1, 32, -20));
	check_arg(PROBE_X86_64, "8@(%rax)", 0, MEM(8, 0, 80, 0));
	check_arg(PROBE_X86_64, "2@0x18(%r13)", 0, MEM(2, 0, 16, 24));
	check_arg(PROBE_X86_64, "4@$5", 0, CONST(4, 0, 5));
	check_arg(PROBE_X86_64, "-4@$-5", 0, CONST(4, 1, -5));
	check_arg(PROBE_X86_64, "8@$0x10", 0, CONST(8, 0, 16));
	check_arg(PROBE_X86_64, "8@$18446744073709551615", 0, CONST(8, 0, -1));
	check_arg(PROBE_X86_64, "8(%rsp)", 0, MEM(8, 0, 152, 8));
}

TEST(x86_later_arguments)
{
	const char *args = "8@%rdi -4@-20(%rbp)  1@$7 8@%r8";

	check_arg(PROBE_X86_64, args, 1, MEM(4, 1, 32, -20));
	check_arg(PROBE_X86_64, args, 2, CONST(1, 0, 7));
	check_arg(PROBE_X86_64, args, 3, REG(8, 0, 72));
	check_refused(PROBE_X86_64, args, 4, "there is no argument 4: the probe has 4");
	check_refused(PROBE_X86_64, "", 0, "the probe has 0");
	check_refused(PROBE_X86_64, "  ", 0, "the probe has 0");
	/* An unreadable argument does not hinder the next one. */
	check_arg(PROBE_X86_64, "8@(%rax,%rbx,8) 8@%rcx", 1, REG(8, 0, 88));
}

TEST(x86_refused)
{
	check_refused(PROBE_X86_64, "8@(%rax,%rbx,8)", 0, "element of an array");
	check_refused(PROBE_X86_64, "8@8(,%rbx,8)", 0, "element of an array");
	check_refused(PROBE_X86_64, "4@counter(%rip)", 0, "relative to the instruction");
	check_refused(PROBE_X86_64, "4@counter+8(%rip)", 0, "relative to the instruction");
	check_refused(PROBE_X86_64, "4@counter(%rax)", 0, "a symbol is part of");
	check_refused(PROBE_X86_64, "4@counter", 0, "absolute address");
	check_refused(PROBE_X86_64, "8@$counter", 0, "address of a symbol");
	check_refused(PROBE_X86_64, "8@%fs:0", 0, "thread-local");
	check_refused(PROBE_X86_64, "8@%fs:8(%rax)", 0, "thread-local");
	check_refused(PROBE_X86_64, "8f@%xmm0", 0, "floating-point number");
	check_refused(PROBE_X86_64, "8@%xmm0", 0, "floating-point register");
	check_refused(PROBE_X86_64, "8@%st(1)", 0, "floating-point register");
	check_refused(PROBE_X86_64, "8@%eax", 0, "not that of its register");
	check_refused(PROBE_X86_64, "8@%rxx", 0, "not known");
	check_refused(PROBE_X86_64, "8@%", 0, "not known");
	check_refused(PROBE_X86_64, "8@(%rxx)", 0, "not known");
	check_refused(PROBE_X86_64, "8@()", 0, "not known");
	check_refused(PROBE_X86_64, "8@(%eax)", 0, "less than 64 bits");
	check_refused(PROBE_X86_64, "3@%rax", 0, "neither 1, 2, 4 nor 8");
	check_refused(PROBE_X86_64, "x@%rax", 0, "damaged");
	check_refused(PROBE_X86_64, "@%rax", 0, "damaged");
	check_refused(PROBE_X86_64, "8@", 0, "damaged");
	check_refused(PROBE_X86_64, "8@8(%rax", 0, "damaged");
	check_refused(PROBE_X86_64, "-9223372036854775808@%rax", 0, "neither");
	check_refused(PROBE_X86_64, "8@99999999999999999999(%rax)", 0, "symbol");
	/* The name of a point of coz.h is no argument. */
	check_refused(PROBE_X86_64, "transaction", 0, "absolute");
}

TEST(arm64)
{
	check_arg(PROBE_ARM64, "8@x0", 0, REG(8, 0, 0));
	check_arg(PROBE_ARM64, "-4@w30", 0, REG(4, 1, 240));
	check_arg(PROBE_ARM64, "8@sp", 0, REG(8, 0, 248));
	check_arg(PROBE_ARM64, "8@x29 -4@[sp, 20] 8@x1", 1, MEM(4, 1, 248, 20));
	check_arg(PROBE_ARM64, "8@x29 -4@[sp, 20] 8@x1", 2, REG(8, 0, 8));
	check_arg(PROBE_ARM64, "8@[x19]", 0, MEM(8, 0, 152, 0));
	check_arg(PROBE_ARM64, "8@[x19, #-8]", 0, MEM(8, 0, 152, -8));
	check_arg(PROBE_ARM64, "8@[x19,16]", 0, MEM(8, 0, 152, 16));
	check_arg(PROBE_ARM64, "4@5", 0, CONST(4, 0, 5));
	check_arg(PROBE_ARM64, "-4@-1", 0, CONST(4, 1, -1));
	check_arg(PROBE_ARM64, "4@wzr", 0, CONST(4, 0, 0));
	check_refused(PROBE_ARM64, "8@[x0, x1]", 0, "element of an array");
	check_refused(PROBE_ARM64, "8@[x0, x1, lsl 3]", 0, "element of an array");
	check_refused(PROBE_ARM64, "8@[x0, :lo12:counter]", 0, "symbol");
	check_refused(PROBE_ARM64, "8@d0", 0, "floating-point register");
	check_refused(PROBE_ARM64, "8@w0", 0, "not that of its register");
	check_refused(PROBE_ARM64, "8@x31", 0, "symbol");
	check_refused(PROBE_ARM64, "8@[x31]", 0, "not known");
	check_refused(PROBE_ARM64, "8@[w0]", 0, "less than 64 bits");
	check_refused(PROBE_ARM64, "8@[sp, 20", 0, "damaged");
	check_refused(PROBE_ARM64, "8@[sp", 0, "damaged");
}

TEST(function_arguments)
{
	static const uint32_t x86[] = {112, 104, 96, 88, 72, 64};
	struct cozbpf_arg a;
	struct error e = {0};

	for (unsigned n = 0; n < 6; n++) {
		CHECK_EQ(probe_arg_function(PROBE_X86_64, false, n, &a, &e), 0);
		CHECK(
		    a.kind == COZBPF_ARG_REG && a.size == 8 && !a.is_signed && a.reg_off == x86[n]);
		CHECK_EQ(probe_arg_function(PROBE_ARM64, false, n, &a, &e), 0);
		CHECK(a.kind == COZBPF_ARG_REG && a.size == 8 && a.reg_off == 8 * n);
	}
	CHECK_EQ(probe_arg_function(PROBE_X86_64, false, 6, &a, &e), -1);
	CHECK_EQ(e.status, EXIT_USAGE);
	CHECK(strstr(e.hint, "0 to 5"));
	CHECK_EQ(probe_arg_function(PROBE_ARM64, true, 8, &a, &e), -1);
	/* r11, by Go's convention */
	CHECK_EQ(probe_arg_function(PROBE_X86_64, true, 8, &a, &e), 0);
	CHECK_EQ(a.reg_off, 48);
	CHECK_EQ(probe_arg_function(PROBE_X86_64, true, 9, &a, &e), -1);
}

#if defined(__x86_64__)
/* The offsets are those of the system header. */
TEST(offsets)
{
	check_arg(PROBE_X86_64, "8@%rdi", 0, REG(8, 0, offsetof(struct pt_regs, rdi)));
	check_arg(PROBE_X86_64, "8@%rbp", 0, REG(8, 0, offsetof(struct pt_regs, rbp)));
	check_arg(PROBE_X86_64, "8@%rbx", 0, REG(8, 0, offsetof(struct pt_regs, rbx)));
	check_arg(PROBE_X86_64, "8@%rax", 0, REG(8, 0, offsetof(struct pt_regs, rax)));
	check_arg(PROBE_X86_64, "8@%rcx", 0, REG(8, 0, offsetof(struct pt_regs, rcx)));
	check_arg(PROBE_X86_64, "8@%rdx", 0, REG(8, 0, offsetof(struct pt_regs, rdx)));
	check_arg(PROBE_X86_64, "8@%rsi", 0, REG(8, 0, offsetof(struct pt_regs, rsi)));
	check_arg(PROBE_X86_64, "8@%rsp", 0, REG(8, 0, offsetof(struct pt_regs, rsp)));
	check_arg(PROBE_X86_64, "8@%r8", 0, REG(8, 0, offsetof(struct pt_regs, r8)));
	check_arg(PROBE_X86_64, "8@%r11", 0, REG(8, 0, offsetof(struct pt_regs, r11)));
	check_arg(PROBE_X86_64, "8@%r12", 0, REG(8, 0, offsetof(struct pt_regs, r12)));
	check_arg(PROBE_X86_64, "8@%r13", 0, REG(8, 0, offsetof(struct pt_regs, r13)));
	check_arg(PROBE_X86_64, "8@%r14", 0, REG(8, 0, offsetof(struct pt_regs, r14)));
}
#endif

/* Any text in a file gives an argument that makes sense, or an error with its reason. */
TEST(any_text)
{
	static const char letters[] = "8@%rdi -4(x0[sp,2]$1)f#w:b";
	struct rng rng = {11};
	char text[200];

	for (int round = 0; round < 200000; round++) {
		size_t len = rng_below(&rng, round % 50 ? 24 : sizeof(text));
		struct cozbpf_arg a;
		struct error e = {0};

		for (size_t i = 0; i < len; i++)
			text[i] = letters[rng_below(&rng, sizeof(letters) - 1)];
		text[len] = 0;
		if (probe_arg_parse(round & 1 ? PROBE_ARM64 : PROBE_X86_64, text,
			(unsigned)rng_below(&rng, 3), &a, &e)) {
			CHECK(e.status == EXIT_USAGE && *e.cause && *e.hint &&
			      a.kind == COZBPF_ARG_NONE);
			continue;
		}
		CHECK(a.kind >= COZBPF_ARG_CONST && a.kind <= COZBPF_ARG_MEM && a.is_signed <= 1 &&
		      !a.pad && a.reg_off <= 248);
		CHECK(a.size == 1 || a.size == 2 || a.size == 4 || a.size == 8);
	}
}
