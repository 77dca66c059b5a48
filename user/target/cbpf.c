// SPDX-License-Identifier: BSD-3-Clause
/* See cbpf.h. Jumps go forward only, so every program ends. */
#include "target/cbpf.h"

#include <stdbool.h>
#include <string.h>

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
};

/* 0, or -1: the kernel forbids such an operation, or ends the program there. Of a shift's width the
 * kernel takes the lowest five bits. */
static int compute(struct machine *m, const struct sock_filter *i)
{
	uint32_t by = BPF_SRC(i->code) == BPF_X ? m->x : i->k;

	switch (BPF_OP(i->code)) {
	case BPF_ADD:
		m->a += by;
		return 0;
	case BPF_SUB:
		m->a -= by;
		return 0;
	case BPF_MUL:
		m->a *= by;
		return 0;
	case BPF_DIV:
		m->a = by ? m->a / by : 0;
		return by ? 0 : -1;
	case BPF_AND:
		m->a &= by;
		return 0;
	case BPF_OR:
		m->a |= by;
		return 0;
	case BPF_XOR:
		m->a ^= by;
		return 0;
	case BPF_LSH:
		m->a = m->a << (by & 31);
		return 0;
	case BPF_RSH:
		m->a = m->a >> (by & 31);
		return 0;
	case BPF_NEG:
		m->a = -m->a;
		return 0;
	default:
		return -1;
	}
}

/* 0, or -1: there is nothing to load from there. */
static int load(const struct machine *m, const struct sock_filter *i,
    const struct seccomp_data *data, uint32_t *ret)
{
	switch (i->code & ~BPF_CLASS(~0)) {
	case BPF_W | BPF_ABS:
		if (BPF_CLASS(i->code) != BPF_LD || i->k % 4 || i->k >= sizeof(*data))
			return -1;
		memcpy(ret, (const char *)data + i->k, 4);
		return 0;
	case BPF_W | BPF_LEN:
		*ret = sizeof(*data);
		return 0;
	case BPF_W | BPF_IMM:
		*ret = i->k;
		return 0;
	case BPF_W | BPF_MEM:
		if (i->k >= BPF_MEMWORDS)
			return -1;
		*ret = m->memory[i->k];
		return 0;
	default:
		return -1;
	}
}

/* By how many instructions to jump; -1: no such jump. */
static int64_t jump(const struct machine *m, const struct sock_filter *i)
{
	uint32_t with = BPF_SRC(i->code) == BPF_X ? m->x : i->k;

	switch (BPF_OP(i->code)) {
	case BPF_JA:
		return i->k;
	case BPF_JEQ:
		return m->a == with ? i->jt : i->jf;
	case BPF_JGT:
		return m->a > with ? i->jt : i->jf;
	case BPF_JGE:
		return m->a >= with ? i->jt : i->jf;
	case BPF_JSET:
		return m->a & with ? i->jt : i->jf;
	default:
		return -1;
	}
}

/* One instruction that neither jumps nor returns. 0, or -1. */
static int step(struct machine *m, const struct sock_filter *i, const struct seccomp_data *data)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_LD:
		return load(m, i, data, &m->a);
	case BPF_LDX:
		return load(m, i, data, &m->x);
	case BPF_ST:
	case BPF_STX:
		if (i->k >= BPF_MEMWORDS)
			return -1;
		m->memory[i->k] = BPF_CLASS(i->code) == BPF_ST ? m->a : m->x;
		return 0;
	case BPF_ALU:
		return compute(m, i);
	case BPF_MISC:
		if (BPF_MISCOP(i->code) == BPF_TAX)
			m->x = m->a;
		else
			m->a = m->x;
		return 0;
	default:
		return -1;
	}
}

uint32_t cbpf_run(const struct sock_filter *code, size_t n, const struct seccomp_data *data)
{
	struct machine m = {0};

	for (size_t at = 0; at < n; at++) {
		const struct sock_filter *i = &code[at];

		if (BPF_CLASS(i->code) == BPF_RET)
			return BPF_RVAL(i->code) == BPF_A ? m.a : i->k;
		if (BPF_CLASS(i->code) == BPF_JMP) {
			int64_t by = jump(&m, i);

			if (by < 0)
				break;
			at += (size_t)by;
		} else if (step(&m, i, data)) {
			break;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}
