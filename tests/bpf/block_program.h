/* SPDX-License-Identifier: BSD-3-Clause */
/* The program of known blocks that blocks.c looks at: it does what it is told through a pipe, and
 * says when that is done. */
#ifndef COZBPF_BLOCK_PROGRAM_H
#define COZBPF_BLOCK_PROGRAM_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Blocks: loops of a given number of turns, of instructions each of which waits for the one before,
 * so that nothing else of the CPU's state makes them faster. They lie between instructions that are
 * cheap to probe or that are stepped; a call; the loop once more, which nobody probes. */
#if defined(__x86_64__)
#define STEPPED "lea 1(%rdi), %rax"
#define CHAIN "imul %rax, %rax\n"
#define TURNS "1: " CHAIN CHAIN CHAIN CHAIN " dec %rdi\n jnz 1b\n"
#define CALL "mov %rdi, %rax\n mov %rsi, %rdi\n call *%rax\n"
#define PUSH "sub $8, %rsp\n"
#define POP "add $8, %rsp\n"
#else
#define STEPPED "add x1, x1, #1"
#define CHAIN "mul x9, x9, x9\n"
#define TURNS "1: " CHAIN CHAIN CHAIN CHAIN " subs x0, x0, #1\n b.ne 1b\n"
#define CALL "mov x9, x0\n mov x0, x1\n blr x9\n"
#define PUSH "stp x29, x30, [sp, #-16]!\n"
#define POP "ldp x29, x30, [sp], #16\n"
#endif
#define BLOCK(name, before, entry, body, exit, after)                                          \
	__asm__(".text\n.globl " #name ", " #name "_entry, " #name "_exit\n.balign 64\n" #name \
		":\n" before #name "_entry: " entry "\n" body #name "_exit: " exit "\n" after  \
		" ret\n");                                                                     \
	void name##_entry(void);                                                               \
	void name##_exit(void)
BLOCK(spin, "", "nop", TURNS, "nop", "");
BLOCK(stepped, "", STEPPED, TURNS, STEPPED, "");
BLOCK(plain, "", "nop", TURNS, "nop", "");
BLOCK(call, PUSH, "nop", CALL, "nop", POP);
void spin(uint64_t turns);
void stepped(uint64_t turns);
void plain(uint64_t turns);
void call(void (*what)(uint64_t), uint64_t n);

/* What the program is to do, @n times, and what it tells. */
enum order {
	DO_END,
	DO_TIME,     /* blocks of @turns, beside as many that are not probed */
	DO_NEST,     /* the same within a block */
	DO_RECURSE,  /* @turns deep */
	DO_JUMP,     /* out of the block, but for the last time */
	DO_WAIT,     /* within the block, for the next order */
	DO_FORK,     /* a child does DO_TIME */
	DO_COUNT,    /* executions of the block that is counted only */
	DO_CPU_TIME, /* executes @turns, beside nobody */
};
struct words {
	enum order order;
	uint64_t turns, n;
	/* Means, from one to the next: of those that are not probed, and those that are. */
	double plain_ns, cheap_ns, stepped_ns;
	uint64_t cpu_ns; /* of the thread, as the kernel says */
};

static struct words *words;
static int orders[2], answers[2];

static jmp_buf jump;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static void recurse(uint64_t depth)
{
	if (depth)
		call(recurse, depth - 1);
}

static void jump_out(uint64_t jumps)
{
	if (jumps)
		longjmp(jump, 1);
}

static void wait_inside(uint64_t unused)
{
	char c = 0;

	(void)unused;
	if (write(answers[1], &c, 1) != 1 || read(orders[0], &c, 1) != 1)
		_exit(1);
}

static void nested(uint64_t turns)
{
	for (int i = 0; i < 5; i++)
		spin(turns);
}

static void nested_plain(uint64_t turns)
{
	for (int i = 0; i < 5; i++)
		plain(turns);
}

static double time_of(void (*what)(uint64_t))
{
	uint64_t from = clock_ns(CLOCK_MONOTONIC);

	for (uint64_t i = 0; i < words->n; i++)
		what(words->turns);
	return (double)(clock_ns(CLOCK_MONOTONIC) - from) / (double)words->n;
}

static void nest(uint64_t turns)
{
	call(nested, turns);
}

static void do_time(bool nests)
{
	words->plain_ns = time_of(nests ? nested_plain : plain);
	words->cheap_ns = time_of(nests ? nest : spin);
	if (!nests)
		words->stepped_ns = time_of(stepped);
}

static void do_jumps(void)
{
	for (volatile uint64_t i = 0; i < words->n; i++)
		if (!setjmp(jump))
			call(jump_out, i + 1 < words->n);
}

static void do_fork(void)
{
	pid_t pid = fork();

	if (!pid) {
		do_time(false);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void do_cpu_time(void)
{
	uint64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (uint64_t i = 0; i < words->n; i++)
		spin(words->turns);
	words->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
}

static void obey(void)
{
	switch (words->order) {
	case DO_TIME:
	case DO_NEST:
		do_time(words->order == DO_NEST);
		break;
	case DO_RECURSE:
		for (uint64_t i = 0; i < words->n; i++)
			call(recurse, words->turns);
		break;
	case DO_JUMP:
		do_jumps();
		break;
	case DO_WAIT:
		call(wait_inside, 0);
		break;
	case DO_FORK:
		do_fork();
		break;
	case DO_COUNT:
		for (uint64_t i = 0; i < words->n; i++)
			plain(1);
		break;
	case DO_CPU_TIME:
		do_cpu_time();
		break;
	case DO_END:
		_exit(0);
	}
}

static int be_program(char **argv)
{
	char c;

	words = mmap(NULL, sizeof(*words), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[2]), 0);
	orders[0] = atoi(argv[3]);
	answers[1] = atoi(argv[4]);
	while (words != MAP_FAILED && read(orders[0], &c, 1) == 1) {
		obey();
		if (write(answers[1], &c, 1) != 1)
			return 1;
	}
	return 1;
}

#endif
