// SPDX-License-Identifier: BSD-3-Clause
/* Loops drawn at random, and executed: in those that are recognised as idle nothing changes from
 * turn to turn. What a loop that waits must not do makes any of them work. */
#include "check.h"

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "symbols/code/idleloop.h"

#if defined(__x86_64__)

#define LOOPS 300000
#define MAX_BODY 8
#define WORDS 8

/* rax, rcx, rdx and rbx, flags and memory before and after a turn. */
struct state {
	uint64_t registers[4], flags;
	uint64_t memory[WORDS];
};

/* Executes @code with the memory at rdi. */
void turn(struct state *s, uint64_t *memory, const void *code);
__asm__(".text\n.type turn, @function\nturn:\n"
	"push %rbx\npush %rbp\npush %rdi\n"
	"mov %rdx, %r11\nmov %rsi, %r10\n"
	"pushq 32(%rdi)\npopfq\n"
	"mov (%rdi), %rax\nmov 8(%rdi), %rcx\nmov 16(%rdi), %rdx\nmov 24(%rdi), %rbx\n"
	"mov %r10, %rdi\n"
	"call *%r11\n"
	"pushfq\npop %r9\npop %rdi\n"
	"mov %rax, (%rdi)\nmov %rcx, 8(%rdi)\nmov %rdx, 16(%rdi)\nmov %rbx, 24(%rdi)\n"
	"mov %r9, 32(%rdi)\npop %rbp\npop %rbx\nret\n.size turn, .-turn\n");

#define FLAGS 0x8d5U

static uint64_t seed = 20241126;

static unsigned draw(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % n;
}

/* How an instruction is encoded behind its opcode. */
enum operands {
	NONE,
	MEMORY,      /* a register, and 8 bytes of the memory by number */
	MEMORY_FLAG, /* the same, and one byte behind */
	BOTH_REGISTERS,
	REGISTER_IMM, /* with a digit in place of a register */
	REGISTER_DIGIT,
	IN_OPCODE, /* the register is in the opcode, four bytes behind */
};

static const struct template
{
	uint8_t size, opcode[4];
	enum operands operands;
	int digit; /* in place of the register; -1: none */
	bool may_be_wide;
}
templates[] = {
    {1, {0x8b}, MEMORY, -1, true},                  /* mov from memory */
    {1, {0x8a}, MEMORY, -1, false},                 /* of one byte, ah to bh as well */
    {2, {0x0f, 0xb6}, MEMORY, -1, true},            /* movzx */
    {2, {0x66, 0x8b}, MEMORY, -1, false},           /* of two bytes */
    {1, {0x3b}, MEMORY, -1, true},                  /* cmp */
    {1, {0x85}, MEMORY, -1, true},                  /* test */
    {1, {0x03}, MEMORY, -1, true},                  /* add */
    {1, {0x33}, MEMORY, -1, true},                  /* xor */
    {1, {0x89}, BOTH_REGISTERS, -1, true},          /* mov */
    {1, {0x88}, BOTH_REGISTERS, -1, false},         /* of one byte */
    {1, {0x01}, BOTH_REGISTERS, -1, true},          /* add */
    {1, {0x29}, BOTH_REGISTERS, -1, true},          /* sub */
    {1, {0x31}, BOTH_REGISTERS, -1, true},          /* xor */
    {1, {0x30}, BOTH_REGISTERS, -1, false},         /* of one byte */
    {1, {0x21}, BOTH_REGISTERS, -1, true},          /* and */
    {1, {0x39}, BOTH_REGISTERS, -1, true},          /* cmp */
    {1, {0x11}, BOTH_REGISTERS, -1, true},          /* adc */
    {1, {0x19}, BOTH_REGISTERS, -1, true},          /* sbb */
    {2, {0x0f, 0x44}, BOTH_REGISTERS, -1, true},    /* cmove */
    {2, {0x0f, 0x42}, BOTH_REGISTERS, -1, true},    /* cmovb */
    {2, {0x0f, 0x94}, REGISTER_DIGIT, 0, false},    /* sete */
    {2, {0x0f, 0x92}, REGISTER_DIGIT, 0, false},    /* setb */
    {1, {0x83}, REGISTER_IMM, 0, true},             /* add */
    {1, {0x83}, REGISTER_IMM, 4, true},             /* and */
    {1, {0x83}, REGISTER_IMM, 7, true},             /* cmp */
    {1, {0xc1}, REGISTER_IMM, 5, true},             /* shr */
    {1, {0xd3}, REGISTER_DIGIT, 4, true},           /* shl by cl */
    {1, {0xff}, REGISTER_DIGIT, 0, true},           /* inc */
    {1, {0xff}, REGISTER_DIGIT, 1, true},           /* dec */
    {1, {0xf7}, REGISTER_DIGIT, 2, true},           /* not */
    {1, {0xf7}, REGISTER_DIGIT, 3, true},           /* neg */
    {2, {0x0f, 0xba}, REGISTER_IMM, 4, true},       /* bt */
    {2, {0x0f, 0xba}, REGISTER_IMM, 5, true},       /* bts */
    {1, {0xb8}, IN_OPCODE, -1, false},              /* mov of a constant */
    {1, {0x87}, MEMORY, -1, true},                  /* xchg */
    {1, {0x86}, MEMORY, -1, false},                 /* of one byte */
    {3, {0xf0, 0x0f, 0xb1}, MEMORY, -1, false},     /* lock cmpxchg */
    {3, {0xf0, 0x0f, 0xb0}, MEMORY, -1, false},     /* of one byte */
    {3, {0xf0, 0x0f, 0xba}, MEMORY_FLAG, 5, false}, /* lock bts */
    {3, {0xf0, 0x0f, 0xba}, MEMORY_FLAG, 6, false}, /* lock btr */
    {3, {0xf0, 0x0f, 0xba}, MEMORY_FLAG, 7, false}, /* lock btc */
    {3, {0xf0, 0x0f, 0xc1}, MEMORY, -1, false},     /* lock xadd */
    {1, {0x89}, MEMORY, -1, true},                  /* mov to memory */
    {1, {0x01}, MEMORY, -1, true},                  /* add to memory */
    {1, {0x90}, NONE, -1, false},                   /* nop */
};

/* What no loop that waits does. */
static const struct {
	uint8_t size, code[8];
} breakers[] = {
    {3, {0x41, 0xff, 0xc1}},       /* inc r9d */
    {4, {0x4d, 0x8b, 0x09, 0x90}}, /* mov r9, [r9] */
    {3, {0x89, 0x47, 0x40}},       /* mov [rdi + 64], eax */
    {3, {0x83, 0x07, 0x01}},       /* add dword [rdi], 1 */
    {4, {0xf0, 0x0f, 0xc1, 0x0f}}, /* lock xadd */
    {2, {0x0f, 0x31}},             /* rdtsc */
    {3, {0x0f, 0x01, 0xf9}},       /* rdtscp */
    {2, {0x0f, 0xa2}},             /* cpuid */
    {3, {0x0f, 0xc7, 0xf0}},       /* rdrand */
    {2, {0x0f, 0x05}},             /* syscall */
    {2, {0xf3, 0x90}},             /* pause */
    {1, {0xac}},                   /* lodsb */
    {2, {0xf3, 0xa4}},             /* rep movsb */
    {1, {0xec}},                   /* in */
    {1, {0x50}},                   /* push */
    {1, {0xc3}},                   /* ret */
    {5, {0xe8, 0, 0, 0, 0}},       /* call */
    {2, {0xff, 0xd0}},             /* call rax */
    {2, {0xeb, 0x00}},             /* jmp to the next one */
    {2, {0x74, 0x00}},             /* je to the next one */
    {2, {0xcd, 0x80}},             /* int */
    {4, {0xf3, 0x0f, 0x10, 0x07}}, /* movss */
};

static size_t emit(uint8_t *at)
{
	const struct template *t = &templates[draw(sizeof(templates) / sizeof(*templates))];
	unsigned number = draw(4), other = t->digit >= 0 ? (unsigned)t->digit : draw(4);
	uint8_t *p = at;

	/* One in three is of 64 bits; of bytes half are the upper ones. */
	if (t->may_be_wide && !draw(3))
		*p++ = 0x48;
	else if (t->size == 1 && t->digit < 0 && !(t->opcode[0] & 1) && t->operands != IN_OPCODE)
		other += draw(2) * 4;
	memcpy(p, t->opcode, t->size);
	p += t->size;
	switch (t->operands) {
	case MEMORY:
	case MEMORY_FLAG:
		*p++ = (uint8_t)(0x47 | other << 3);
		*p++ = (uint8_t)(draw(3) * 8);
		if (t->operands == MEMORY_FLAG)
			*p++ = (uint8_t)draw(4);
		break;
	case BOTH_REGISTERS:
	case REGISTER_DIGIT:
	case REGISTER_IMM:
		*p++ = (uint8_t)(0xc0 | other << 3 | number);
		if (t->operands == REGISTER_IMM)
			*p++ = (uint8_t)draw(4);
		break;
	case IN_OPCODE:
		p[-1] |= (uint8_t)number;
		memset(p, 0, 4);
		*p = (uint8_t)draw(3);
		p += 4;
		break;
	default:
		break;
	}
	return (size_t)(p - at);
}

struct body {
	uint8_t code[192];
	size_t n, starts[MAX_BODY + 1], size;
};

static void draw_body(struct body *b)
{
	b->size = 0;
	b->n = 1 + draw(MAX_BODY);
	for (size_t i = 0; i < b->n; i++) {
		b->starts[i] = b->size;
		b->size += emit(b->code + b->size);
	}
	b->starts[b->n] = b->size;
}

/* Of the body with a branch back behind. */
static bool is_idle(struct decoder *d, struct body *b, uint8_t branch)
{
	b->code[b->size] = branch;
	b->code[b->size + 1] = (uint8_t) - (int)(b->size + 2);
	return is_idle_loop(d, b->code, b->size + 2, 0x1000, 0x1000 + b->size + 2);
}

static void draw_state(struct state *s)
{
	for (size_t i = 0; i < 4; i++)
		s->registers[i] = draw(2) ? draw(3) : (uint64_t)draw(1 << 30) << 20 | draw(1 << 30);
	for (size_t i = 0; i < WORDS; i++)
		s->memory[i] = draw(2) ? draw(3) : (uint64_t)draw(1 << 30) << 20 | draw(1 << 30);
	s->flags = 0x202 | (uint64_t)(draw(1 << 12) & FLAGS);
}

static void next_turn(struct state *s, const uint8_t *code)
{
	turn(s, s->memory, code);
	s->flags = 0x202 | (s->flags & FLAGS);
}

static bool is_same(const struct state *a, const struct state *b)
{
	return !memcmp(a->registers, b->registers, sizeof(a->registers)) &&
	       !memcmp(a->memory, b->memory, sizeof(a->memory)) && a->flags == b->flags;
}

/* The first turn may take the lock, and brings registers to what they then have. */
static bool stands_still(const struct body *b, uint8_t *page)
{
	struct state s, before;

	memcpy(page, b->code, b->size);
	page[b->size] = 0xc3;
	draw_state(&s);
	next_turn(&s, page);
	next_turn(&s, page);
	before = s;
	next_turn(&s, page);
	return is_same(&before, &s);
}

static bool locks(const struct body *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->code[b->starts[i]] == 0xf0 || (b->code[b->starts[i]] & 0xfe) == 0x86)
			return true;
	return false;
}

static void say(const struct body *b, const char *what)
{
	fprintf(stderr, "  %s:", what);
	for (size_t i = 0; i < b->size; i++)
		fprintf(stderr, " %02x", b->code[i]);
	fprintf(stderr, "\n");
}

/* The body with the instruction at its start @i that no loop has which waits. */
static void check_broken(struct decoder *d, const struct body *b, size_t i, size_t breaker)
{
	size_t at = b->starts[i], size = breakers[breaker].size;
	struct body broken = *b;

	memcpy(broken.code + at, breakers[breaker].code, size);
	memcpy(broken.code + at + size, b->code + at, b->size - at);
	broken.size += size;
	if (!is_idle(d, &broken, 0xeb))
		return;
	say(&broken, "taken for idle");
	CHECK(!"work is work");
}

static void begin(struct decoder *d)
{
	*d = (struct decoder){0};
	CHECK_EQ(cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle), CS_ERR_OK);
	CHECK_EQ(cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON), CS_ERR_OK);
	d->insn = cs_malloc(d->handle);
}

TEST(random_loops)
{
	uint8_t *page = mmap(
	    NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned idle = 0, locked = 0, work = 0;
	struct decoder d;
	struct body b;

	CHECK(page != MAP_FAILED);
	begin(&d);
	for (int i = 0; page != MAP_FAILED && i < LOOPS; i++) {
		draw_body(&b);
		if (!is_idle(&d, &b, 0xeb)) {
			work++;
			continue;
		}
		idle++;
		locked += locks(&b);
		for (int j = 0; j < 4; j++) {
			if (stands_still(&b, page))
				continue;
			say(&b, "changes");
			CHECK(!"nothing changes");
			break;
		}
		check_broken(
		    &d, &b, draw((unsigned)b.n + 1), draw(sizeof(breakers) / sizeof(*breakers)));
	}
	printf("%u idle, %u with a lock, %u at work\n", idle, locked, work);
	CHECK(idle > LOOPS / 100 && locked > LOOPS / 1000 && work > LOOPS / 2);
	decoder_deinit(&d);
}

/* A branch back by flags that the loop does not make decides the same each time. */
TEST(flags)
{
	static const struct {
		const char *what;
		uint8_t size, code[12], branch;
		bool is_idle;
	} loops[] = {
	    {"mov (%rdi), %eax", 2, {0x8b, 0x07}, 0x74, true},
	    {"cmp $0, (%rdi)", 3, {0x83, 0x3f, 0x00}, 0x77, true},
	    {"bt $3, (%rdi): carry", 4, {0x0f, 0xba, 0x27, 0x03}, 0x73, true},
	    {"bt $3, (%rdi): equal", 4, {0x0f, 0xba, 0x27, 0x03}, 0x74, false},
	    {"mov; inc %eax: equal", 4, {0x8b, 0x07, 0xff, 0xc0}, 0x75, true},
	    {"mov; shl %cl, %eax", 4, {0x8b, 0x07, 0xd3, 0xe0}, 0x75, false},
	    {"cmp; mov", 5, {0x83, 0x3f, 0x00, 0x8b, 0x07}, 0x7e, true},
	};
	struct decoder d;
	struct body b = {0};

	begin(&d);
	for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		memcpy(b.code, loops[i].code, loops[i].size);
		b.size = loops[i].size;
		if (is_idle(&d, &b, loops[i].branch) == loops[i].is_idle)
			continue;
		fprintf(stderr, "  %s\n", loops[i].what);
		CHECK(!"flags are known");
	}
	decoder_deinit(&d);
}

/* A branch of each kind, as the processor decides. */
TEST(conditions)
{
	uint8_t *page = mmap(
	    NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct near_branch branch;

	CHECK(page != MAP_FAILED);
	for (unsigned condition = 0; page != MAP_FAILED && condition < 16; condition++) {
		const uint8_t back[] = {(uint8_t)(0x70 | condition), 0x80};
		const uint8_t set[] = {0x0f, (uint8_t)(0x90 | condition), 0xc0, 0xc3};

		CHECK(near_branch_at(back, 2, &branch));
		CHECK_EQ(branch.size, 2);
		CHECK_EQ(branch.distance, -128);
		memcpy(page, set, sizeof(set));
		for (unsigned flags = 0; flags < 1U << 12; flags++) {
			struct state s = {.flags = 0x202 | (flags & FLAGS)};

			turn(&s, s.memory, page);
			if ((int)(s.registers[0] & 1) !=
			    cozbpf_branch_taken(flags & FLAGS, branch.condition))
				CHECK_EQ(condition, flags);
		}
	}
	CHECK(!near_branch_at((const uint8_t[]){0x0f, 0x84, 0, 0, 0}, 5, &branch));
	CHECK(!near_branch_at((const uint8_t[]){0xe8, 0, 0, 0, 0}, 5, &branch));
	CHECK(near_branch_at((const uint8_t[]){0xe9, 0xfb, 0xff, 0xff, 0xff}, 5, &branch));
	CHECK_EQ(branch.distance, -5);
	CHECK_EQ(branch.condition, 0);
}
#endif
