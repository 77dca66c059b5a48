/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes a program step by step from its first breakpoint (int3) to its second one, and judges
 * its blocks: each instruction executed is in one block, and each block is entered at its begin. */
#ifndef COZBPF_TESTS_BLOCKS_STEPS_H
#define COZBPF_TESTS_BLOCKS_STEPS_H

#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debug_fixture.h"

#define STEPS_MAX 1000000
/* setjmp() returns more often than it is called. */
#define STEPS_TWICE "jumps"

struct steps {
	uint8_t *code; /* the file */
	uint64_t size;
	uint32_t *hits;  /* by file offset */
	uint64_t *trace; /* file offsets; UINT64_MAX: of another file */
	size_t n, cap;
	uint64_t lo, hi, offset; /* where its code is mapped */
};

static inline void steps_deinit(struct steps *s)
{
	free(s->code);
	free(s->hits);
	free(s->trace);
}

static inline void steps_read_file(struct steps *s, const char *path)
{
	FILE *f = fopen(path, "r");

	CHECK(f);
	if (!f)
		return;
	fseek(f, 0, SEEK_END);
	s->size = (uint64_t)ftell(f);
	rewind(f);
	s->code = malloc(s->size);
	s->hits = calloc(s->size, sizeof(*s->hits));
	CHECK_EQ(fread(s->code, 1, s->size, f), s->size);
	fclose(f);
}

/* Where the program's code is. */
static inline void steps_find_code(struct steps *s, pid_t pid, const char *path)
{
	const char *name = strrchr(path, '/');
	char file[64], line[4096], rights[8];
	FILE *maps;

	snprintf(file, sizeof(file), "/proc/%d/maps", pid);
	maps = fopen(file, "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long lo, hi, offset;

		if (sscanf(line, "%lx-%lx %7s %lx", &lo, &hi, rights, &offset) == 4 &&
		    strchr(rights, 'x') && strstr(line, name)) {
			s->lo = lo;
			s->hi = hi;
			s->offset = offset;
		}
	}
	if (maps)
		fclose(maps);
	CHECK(s->hi);
}

static inline void steps_note(struct steps *s, uint64_t ip)
{
	uint64_t at = ip >= s->lo && ip < s->hi ? ip - s->lo + s->offset : UINT64_MAX;

	/* a repeated instruction is one; so is a stretch of other code */
	if (s->n && s->trace[s->n - 1] == at)
		return;
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 65536;
		s->trace = realloc(s->trace, s->cap * sizeof(*s->trace));
	}
	s->trace[s->n++] = at;
	if (at < s->size)
		s->hits[at]++;
}

static inline pid_t steps_start(const char *path)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	execl(path, path, (char *)NULL);
	_exit(127);
}

/* False: it has ended. *@is_breakpoint: an int3 was executed. */
static inline bool steps_wait(pid_t pid, bool *is_breakpoint)
{
	siginfo_t info;
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP ||
	    ptrace(PTRACE_GETSIGINFO, pid, NULL, &info))
		return false;
	*is_breakpoint = info.si_code == SI_KERNEL;
	return true;
}

static inline uint64_t steps_ip(pid_t pid)
{
	return (uint64_t)ptrace(
	    PTRACE_PEEKUSER, pid, (void *)offsetof(struct user_regs_struct, rip), NULL);
}

/* Lets the program go until it is back in its own code, wherever that is: all of it is breakpoints
 * meanwhile. Steps through the C library would take a minute. */
static inline bool steps_go_back(struct steps *s, pid_t pid)
{
	size_t size = s->hi - s->lo;
	uint8_t *code = malloc(size), *traps = malloc(size);
	bool is_breakpoint = false;
	char file[64];
	FILE *memory;

	snprintf(file, sizeof(file), "/proc/%d/mem", pid);
	memory = fopen(file, "r+");
	memset(traps, 0xcc, size);
	if (memory && pread(fileno(memory), code, size, (off_t)s->lo) == (ssize_t)size &&
	    pwrite(fileno(memory), traps, size, (off_t)s->lo) == (ssize_t)size &&
	    !ptrace(PTRACE_CONT, pid, NULL, NULL) && steps_wait(pid, &is_breakpoint) &&
	    is_breakpoint)
		is_breakpoint =
		    pwrite(fileno(memory), code, size, (off_t)s->lo) == (ssize_t)size &&
		    !ptrace(PTRACE_POKEUSER, pid, (void *)offsetof(struct user_regs_struct, rip),
			steps_ip(pid) - 1);
	if (memory)
		fclose(memory);
	free(code);
	free(traps);
	return is_breakpoint;
}

/* Up to the second breakpoint. False: it did not come there. */
static inline bool steps_walk(struct steps *s, pid_t pid)
{
	bool is_breakpoint = false;

	while (!is_breakpoint && s->n < STEPS_MAX) {
		uint64_t ip = steps_ip(pid);

		steps_note(s, ip);
		if (ip < s->lo || ip >= s->hi) {
			if (!steps_go_back(s, pid))
				return false;
			continue;
		}
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) || !steps_wait(pid, &is_breakpoint))
			return false;
	}
	return is_breakpoint;
}

static inline bool steps_execute(struct steps *s, const char *path)
{
	bool is_breakpoint = false, ended = false;
	pid_t pid = steps_start(path);
	int status;

	steps_read_file(s, path);
	if (steps_wait(pid, &is_breakpoint) && !ptrace(PTRACE_CONT, pid, NULL, NULL) &&
	    steps_wait(pid, &is_breakpoint) && is_breakpoint) {
		steps_find_code(s, pid, path);
		ended = steps_walk(s, pid);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	CHECK(ended);
	return ended;
}

/* Its target is where the next step has to be: a block's begin. */
static inline bool steps_is_jump(const uint8_t *p)
{
	while (*p == 0x3e || *p == 0xf2) /* notrack, bnd */
		p++;
	return (*p & 0xf0) == 0x70 || *p == 0xeb || *p == 0xe9 || (*p & 0xfc) == 0xe0 ||
	       (*p == 0x0f && (p[1] & 0xf0) == 0x80) ||
	       (*p == 0xff && ((p[1] >> 3 & 7) == 4 || (p[1] >> 3 & 7) == 5)) ||
	       (*p == 0x41 && p[1] == 0xff && (p[2] >> 3 & 7) == 4);
}

static inline bool steps_is_return(const uint8_t *p)
{
	return *p == 0xc3 || *p == 0xc2 || (*p == 0xf3 && p[1] == 0xc3);
}

/* How a block's instruction may follow what was executed before. */
static inline bool steps_follow(const struct steps *s, size_t i, uint64_t start)
{
	uint64_t at = s->trace[i], before = i ? s->trace[i - 1] : UINT64_MAX;

	if (at == start)
		return true;
	if (before == UINT64_MAX || steps_is_return(s->code + before))
		return true; /* from what the block has called */
	return !steps_is_jump(s->code + before) && before >= start && before < at;
}

/* Of one block: how often its places were passed. */
static inline void steps_judge_block(
    const struct steps *s, const struct block_site *b, unsigned *bad)
{
	uint32_t entered = s->hits[b->start];

	*bad += s->hits[b->entry] != entered;
	if (b->exit == b->end)
		*bad += !b->calls && s->hits[b->exit] < entered;
	else
		*bad += b->calls ? s->hits[b->exit] > entered : s->hits[b->exit] != entered;
	for (uint64_t at = b->start; at < b->end; at++)
		*bad +=
		    s->hits[at] > entered || (s->hits[at] && !b->calls && s->hits[at] != entered);
}

/* The block that an executed place is in; NULL: none. */
static inline const struct block_site *steps_block_at(
    const struct block_site *sites, size_t n, uint64_t at)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (sites[mid].start <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && at < sites[lo - 1].end ? &sites[lo - 1] : NULL;
}

static inline void steps_judge(const struct steps *s, struct loaded *l, const char *what)
{
	size_t n = l->map.n_ranges, outside = 0, middle = 0, executed = 0;
	struct block_site *sites = calloc(n, sizeof(*sites));
	uint64_t *starts = calloc(n, sizeof(*starts));
	unsigned bad = 0;

	for (size_t i = 0; i < n; i++)
		starts[i] = l->map.ranges[i].lo;
	CHECK_EQ(object_block_sites(l->o, starts, n, sites, &l->e), 0);
	for (size_t i = 0; i < n; i++) {
		CHECK(sites[i].start == starts[i] && sites[i].end == l->map.ranges[i].hi);
		executed += s->hits[starts[i]] != 0;
		if (strcmp(sites[i].function, STEPS_TWICE) != 0)
			steps_judge_block(s, &sites[i], &bad);
	}
	for (size_t i = 0; i < s->n; i++) {
		const struct block_site *b = steps_block_at(sites, n, s->trace[i]);

		outside += !b && s->trace[i] != UINT64_MAX;
		middle += b && !steps_follow(s, i, b->start);
	}
	printf("%s: %zu steps, %zu blocks, %zu executed\n", what, s->n, n, executed);
	CHECK(executed > 30);
	CHECK_EQ(outside, 0);
	CHECK_EQ(middle, 0);
	CHECK_EQ(bad, 0);
	free(starts);
	free(sites);
}

#endif
