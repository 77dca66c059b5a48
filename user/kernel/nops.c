// SPDX-License-Identifier: BSD-3-Clause
/* Visits to nops of our own, in a child; see nops.h. */
#include "kernel/nops.h"

#include <errno.h>
#include <link.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VISITS 500
#define UPROBE_TYPE "/sys/bus/event_source/devices/uprobe/type"

#if defined(__x86_64__)
__asm__(".text\n"
	".globl nop_first\n.type nop_first, @function\n"
	"nop_first: nop\n\tmov $1, %eax\n\tret\n.size nop_first, . - nop_first\n"
	/* Returns 1 as long as a word of its red zone is what it was. */
	".globl nop_long\n.type nop_long, @function\n"
	"nop_long: movq $1, -8(%rsp)\n"
	"nop_long_itself: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
	"\tmovq -8(%rsp), %rax\n\tret\n.size nop_long, . - nop_long\n");
long nop_long(void);
void nop_long_itself(void);
#else
__asm__(".text\n"
	".globl nop_first\n.type nop_first, %function\n"
	"nop_first: adr xzr, .\n\tmov x0, 1\n\tret\n.size nop_first, . - nop_first\n");
#define nop_long NULL
#define nop_long_itself NULL
#endif
long nop_first(void);

struct code_look {
	uintptr_t address;
	uint64_t offset;
};

static int look_at_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct code_look *look = arg;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = look->address - info->dlpi_addr - p->p_vaddr;

		if (p->p_type == PT_LOAD && at < p->p_memsz)
			look->offset = at + p->p_offset;
	}
	return 1; /* the first one is our executable */
}

uint64_t own_code_offset(void (*code)(void))
{
	struct code_look look = {.address = (uintptr_t)code};

	dl_iterate_phdr(look_at_program, &look);
	return look.offset;
}

/* A probe that counts, in this thread. The descriptor, or -errno. */
static int open_probe(uint64_t offset)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
	    .uprobe_path = (uintptr_t) "/proc/self/exe",
	    .probe_offset = offset};
	FILE *in = fopen(UPROBE_TYPE, "re");
	int fd = -ENOENT;

	if (in && fscanf(in, "%u", &attr.type) == 1) { /* NOLINT(cert-err34-c): the kernel's own */
		fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	if (in)
		fclose(in);
	return fd;
}

/* Whether a process has got the page in which instructions are executed singly. */
static bool has_copies(void)
{
	FILE *in = fopen("/proc/self/maps", "re");
	char line[512];
	bool has = false;

	while (in && !has && fgets(line, sizeof(line), in))
		has = strstr(line, "[uprobes]");
	if (in)
		fclose(in);
	return has;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t time_visits(long (*code)(void))
{
	uint64_t from = now_ns();

	for (int i = 0; i < VISITS; i++)
		code();
	return (now_ns() - from) / VISITS;
}

static int visit(long (*code)(void), void (*nop)(void), struct nop_visit *ret)
{
	uint64_t offset = nop ? own_code_offset(nop) : 0, plain;
	int fd;

	if (!offset)
		return -ENOTSUP;
	code();
	plain = time_visits(code);
	fd = open_probe(offset);
	if (fd < 0)
		return fd;
	code(); /* the first visit gets the page, or makes the probe a faster one */
	ret->ns = time_visits(code);
	ret->ns -= plain < ret->ns ? plain : ret->ns;
	ret->is_stepped = has_copies();
	ret->clobbers = code() != 1;
	return 0; /* the process ends, and the probe with it */
}

struct answer {
	int err;
	struct nop_visit visit;
};

/* In a child, which has no page for copies yet. */
int nop_try(enum nop_sort sort, struct nop_visit *ret)
{
	struct answer a = {.err = -EIO};
	int ends[2];
	pid_t pid;

	*ret = (struct nop_visit){0};
	if (pipe(ends))
		return -errno;
	pid = fork();
	if (!pid) {
		a.err = sort == NOP_LONG ? visit(nop_long, nop_long_itself, &a.visit)
					 : visit(nop_first, (void (*)(void))nop_first, &a.visit);
		_exit(write(ends[1], &a, sizeof(a)) != sizeof(a));
	}
	close(ends[1]);
	if (pid < 0 || read(ends[0], &a, sizeof(a)) != sizeof(a))
		a.err = -EIO;
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	*ret = a.visit;
	return a.err;
}

/* What a trial of the long nop has told; NULL: it could not be tried. */
static const struct nop_visit *try_long(void)
{
	static enum { UNTRIED, TOLD, FAILED } known;
	static struct nop_visit v;

	if (known == UNTRIED)
		known = nop_try(NOP_LONG, &v) ? FAILED : TOLD;
	return known == TOLD ? &v : NULL;
}

bool nop_long_is_best(void)
{
	const struct nop_visit *v = try_long();

	return v && !v->is_stepped && !v->clobbers;
}

bool nop_long_clobbers(void)
{
	const struct nop_visit *v = try_long();

	return !v || v->clobbers;
}
