// SPDX-License-Identifier: BSD-3-Clause
/* Seccomp filters: what they answer. */
#include "check.h"

#include <linux/audit.h>
#include <stddef.h>

#include "target/cbpf.h"

#define AT(field) offsetof(struct seccomp_data, field)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(field))
#define RETURN(k) BPF_STMT(BPF_RET | BPF_K, k)
#define ANSWER(code, data) cbpf_run(code, sizeof(code) / sizeof(code[0]), data)

static const struct seccomp_data call = {
    .nr = 230, .arch = AUDIT_ARCH_X86_64, .instruction_pointer = 0x123456789, .args = {1, ~0ULL}};

TEST(allow_list)
{
	const struct sock_filter code[] = {
	    LOAD(arch),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 3),
	    LOAD(nr),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 15, 2, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 228, 1, 0),
	    RETURN(SECCOMP_RET_ERRNO | 38),
	    RETURN(SECCOMP_RET_ALLOW),
	};
	struct seccomp_data other = call;

	CHECK_EQ(ANSWER(code, &call), SECCOMP_RET_ERRNO | 38);
	other.nr = 228;
	CHECK_EQ(ANSWER(code, &other), SECCOMP_RET_ALLOW);
	other.nr = 15;
	CHECK_EQ(ANSWER(code, &other), SECCOMP_RET_ALLOW);
	other.arch = AUDIT_ARCH_I386;
	CHECK_EQ(ANSWER(code, &other), SECCOMP_RET_ERRNO | 38);
}

/* libseccomp's way: a binary tree of greater-or-equal, with arguments in halves. */
TEST(arguments_and_ranges)
{
	const struct sock_filter code[] = {
	    LOAD(nr),
	    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 230, 0, 5),
	    BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 230, 4, 0),
	    LOAD(args[1]),
	    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1, 0, 2),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(args[1]) + 4),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
	    RETURN(SECCOMP_RET_KILL_THREAD),
	    RETURN(SECCOMP_RET_ALLOW),
	};
	struct seccomp_data other = call;

	CHECK_EQ(ANSWER(code, &call), SECCOMP_RET_KILL_THREAD);
	other.args[1] = 1;
	CHECK_EQ(ANSWER(code, &other), SECCOMP_RET_ALLOW);
	other.args[1] = 2;
	CHECK_EQ(ANSWER(code, &other), SECCOMP_RET_KILL_THREAD);
	other.args[1] = 1;
	other.nr = 231;
	CHECK_EQ(ANSWER(code, &other), SECCOMP_RET_KILL_THREAD);
	other.nr = 229;
	CHECK_EQ(ANSWER(code, &other), SECCOMP_RET_KILL_THREAD);
}

/* Computes with every operation; the sum is returned as the answer. */
TEST(arithmetic)
{
	const struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),    /* A: 64 */
	    BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 8),   /* 72 */
	    BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 7),   /* 10 */
	    BPF_STMT(BPF_ST, 3),                      /* memory[3]: 10 */
	    BPF_STMT(BPF_LDX | BPF_W | BPF_MEM, 3),   /* X: 10 */
	    BPF_STMT(BPF_ALU | BPF_MUL | BPF_X, 0),   /* 100 */
	    BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 1),   /* 99 */
	    BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 1),   /* 98 */
	    BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 4),   /* 1568 */
	    BPF_STMT(BPF_ALU | BPF_OR | BPF_K, 3),    /* 1571 */
	    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~2U), /* 1569 */
	    BPF_STMT(BPF_ALU | BPF_NEG, 0),
	    BPF_STMT(BPF_MISC | BPF_TAX, 0),
	    BPF_STMT(BPF_STX, 0),
	    BPF_STMT(BPF_LD | BPF_IMM, 31),
	    BPF_STMT(BPF_MISC | BPF_TXA, 0),
	    BPF_STMT(BPF_ALU | BPF_NEG, 0), /* 1569 */
	    BPF_STMT(BPF_LDX | BPF_IMM, 5),
	    BPF_STMT(BPF_ALU | BPF_RSH | BPF_X, 0), /* 49 */
	    BPF_STMT(BPF_JMP | BPF_JA, 1),
	    RETURN(1),
	    BPF_STMT(BPF_RET | BPF_A, 0),
	};

	CHECK_EQ(ANSWER(code, &call), 49);
}

TEST(address)
{
	const struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(instruction_pointer) + 4),
	    BPF_STMT(BPF_RET | BPF_A, 0),
	};

	CHECK_EQ(ANSWER(code, &call), 1);
}

/* Nothing that the kernel would refuse is taken for an answer, or read beyond its end. */
TEST(not_a_filter)
{
	const struct sock_filter beyond[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(call)), RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter odd[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter bytes[] = {
	    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter memory[] = {
	    BPF_STMT(BPF_ST, BPF_MEMWORDS), RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter zero[] = {
	    BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0), RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter far[] = {
	    BPF_STMT(BPF_JMP | BPF_JA, ~0U), RETURN(SECCOMP_RET_ALLOW)};

	CHECK_EQ(ANSWER(beyond, &call), SECCOMP_RET_KILL_PROCESS);
	CHECK_EQ(ANSWER(odd, &call), SECCOMP_RET_KILL_PROCESS);
	CHECK_EQ(ANSWER(bytes, &call), SECCOMP_RET_KILL_PROCESS);
	CHECK_EQ(ANSWER(memory, &call), SECCOMP_RET_KILL_PROCESS);
	CHECK_EQ(ANSWER(zero, &call), SECCOMP_RET_KILL_PROCESS);
	CHECK_EQ(ANSWER(far, &call), SECCOMP_RET_KILL_PROCESS);
	CHECK_EQ(cbpf_run(far, 0, &call), SECCOMP_RET_KILL_PROCESS);
}
