/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs executed instruction by instruction, to count how often each place of them is executed.
 * x86-64. */
#ifndef COZBPF_TESTS_TRACE_H
#define COZBPF_TESTS_TRACE_H

#include "debug_fixture.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/elf/image.h"

#define MAX_STEPS 3000000

/* How often each address of [lo, lo + size), link-time, was executed. */
struct trace {
	uint64_t lo;
	size_t size;
	uint32_t *count;
	long steps;
	bool ended; /* with status 0 */
};

/* What is added to the link-time addresses of a program that has just been started. */
static uint64_t load_bias(struct object *o, pid_t pid)
{
	char path[64], line[5000];
	unsigned long long start, offset, found = 0;
	GElf_Ehdr header = {0};
	FILE *f;

	if (!gelf_getehdr(o->main.elf, &header) || header.e_type == ET_EXEC)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "r");
	/* A program without a fixed address begins at 0. */
	while (f && !found && fgets(line, sizeof(line), f))
		if (strstr(line, strrchr(object_path(o), '/')) &&
		    sscanf(line, "%llx-%*x %*s %llx", &start, &offset) == 2 && !offset)
			found = start;
	if (f)
		fclose(f);
	return found;
}

static inline void set_byte(pid_t pid, uint64_t addr, uint8_t byte)
{
	uint64_t at = addr & ~7ULL, shift = (addr & 7) * 8;
	uint64_t word = (uint64_t)ptrace(PTRACE_PEEKTEXT, pid, (void *)at, NULL);

	ptrace(PTRACE_POKETEXT, pid, (void *)at,
	    (void *)((word & ~(0xffULL << shift)) | (uint64_t)byte << shift));
}

static inline uint8_t file_byte(struct object *o, uint64_t offset)
{
	FILE *f = fopen(object_path(o), "r");
	uint8_t byte = 0;

	CHECK(f && !fseek(f, (long)offset, SEEK_SET) && fread(&byte, 1, 1, f) == 1);
	if (f)
		fclose(f);
	return byte;
}

static inline struct trace run_traced(struct object *o, const char *path)
{
	struct trace t = {
	    .lo = o->segments[0].lo, .size = o->segments[o->n_segments - 1].hi - o->segments[0].lo};
	uint64_t bias = 0;
	pid_t pid;
	int status;

	t.count = calloc(t.size, sizeof(*t.count));
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(path, path, NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && t.steps++ < MAX_STEPS) {
		struct user_regs_struct regs;

		if (t.steps == 1)
			bias = load_bias(o, pid);
		if (ptrace(PTRACE_GETREGS, pid, NULL, &regs))
			break;
		if (regs.rip - bias - t.lo < t.size)
			t.count[regs.rip - bias - t.lo]++;
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL))
			break;
	}
	t.ended = WIFEXITED(status) && !WEXITSTATUS(status);
	if (!WIFEXITED(status) && !WIFSIGNALED(status)) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	CHECK(t.ended);
	return t;
}

/* Runs a program with breakpoints and counts how often the code at each file offset is executed.
 * That is faster than stepping where few places matter. One place may be there several times. */
static inline bool count_hits(
    struct object *o, const char *path, const uint64_t *offsets, uint32_t *hits, size_t n)
{
	uint64_t bias = 0, addr;
	pid_t pid = fork();
	int status;

	memset(hits, 0, n * sizeof(*hits));
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(path, path, NULL);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return false;
	bias = load_bias(o, pid);
	for (size_t i = 0; i < n; i++)
		if (object_address(o, offsets[i], &addr))
			set_byte(pid, addr + bias, 0xcc);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	while (
	    waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP) {
		struct user_regs_struct regs;
		uint8_t original = 0;

		ptrace(PTRACE_GETREGS, pid, NULL, &regs);
		regs.rip--;
		for (size_t i = 0; i < n; i++) {
			if (!object_address(o, offsets[i], &addr) || addr + bias != regs.rip)
				continue;
			hits[i]++;
			original = file_byte(o, offsets[i]);
		}
		ptrace(PTRACE_SETREGS, pid, NULL, &regs);
		set_byte(pid, regs.rip, original);
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			break;
		set_byte(pid, regs.rip, 0xcc);
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	}
	if (!WIFEXITED(status)) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return false;
	}
	return !WEXITSTATUS(status);
}

/* How often what is at a file offset was executed. */
static inline uint32_t executed(const struct object *o, const struct trace *t, uint64_t offset)
{
	uint64_t addr = 0;

	return object_address(o, offset, &addr) && addr - t->lo < t->size ? t->count[addr - t->lo]
									  : 0;
}

#endif
