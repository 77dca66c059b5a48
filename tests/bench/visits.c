// SPDX-License-Identifier: BSD-3-Clause
/* The time of a loop's turn that passes a progress point, for each kind: "KIND NANOSECONDS" lines.
 * The difference between runs with and without probes is the cost of a visit. */
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <coz.h>

#define TURNS 100000

#if defined(__x86_64__)
#define STEPPED "lea 1(%rdi), %rax\n\tret"
#define CHEAP "push %rbx\n\tpop %rbx\n\tret"
#else
#define STEPPED "add x0, x0, #1\n\tret"
#define CHEAP "nop\n\tret"
#endif
#define FUNCTION(name, body)                                                            \
	void name(void);                                                                \
	__asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ": " body \
		"\n.size " #name ", . - " #name "\n")

FUNCTION(visit_stepped, STEPPED);
FUNCTION(visit_cheap, CHEAP);
FUNCTION(visit_return, CHEAP);
FUNCTION(visit_begin, CHEAP);
FUNCTION(visit_end, CHEAP);

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#define TIME(kind, statement)                                                               \
	do {                                                                                \
		uint64_t start = now_ns();                                                  \
                                                                                            \
		for (int i = 0; i < TURNS; i++)                                             \
			statement;                                                          \
		printf("%s %.1f\n", kind, (double)(now_ns() - start) / TURNS); /* NOLINT */ \
	} while (0)

int main(void)
{
	uint64_t start = now_ns();

	while (now_ns() - start <
	       500000000) /* late probes are there by then, and the CPU has reached its speed */
		;
	TIME("stepped", visit_stepped());
	TIME("cheap", visit_cheap());
	TIME("return", visit_return());
	TIME("marker", COZ_PROGRESS_NAMED("marker"));
	TIME("tracepoint", syscall(SYS_getppid));
	TIME("latency", (visit_begin(), visit_end()));
	return 0;
}
