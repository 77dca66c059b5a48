// SPDX-License-Identifier: BSD-3-Clause
/* What probes cost on this machine, measured on functions of our own; see session.h. */
#include <link.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "kernel/session_private.h"

#include "cozbpf.skel.h"

#define COST_CALLS 2000

static uint64_t time_calls(void (*what)(void))
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < COST_CALLS; i++)
		what();
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (uint64_t)(to.tv_sec - from.tv_sec) * 1000000000ULL + (uint64_t)to.tv_nsec - (uint64_t)from.tv_nsec;
}

static uint64_t cost_of_one(uint64_t plain_ns, uint64_t probed_ns)
{
	return probed_ns > plain_ns ? (probed_ns - plain_ns) / COST_CALLS : 0;
}

static void lock_and_unlock(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

uint64_t session_probe_cost_ns(const struct session *s, const char *path, uint64_t offset)
{
	uint64_t plain = time_calls(lock_and_unlock), probed, cookie = 0;
	const struct multi_sites at = {.pid = getpid(), .path = path, .offsets = &offset, .cookies = &cookie, .n = 1};
	int fd = multi_attach(s->bpf->progs.on_call, &at);

	if (fd < 0)
		return 0;
	probed = time_calls(lock_and_unlock);
	close(fd);
	return cost_of_one(plain, probed);
}

/* Two functions that differ in how the kernel executes their probed instruction. */
#if defined(__x86_64__)
__asm__(".text\n"
	".globl session_cheap_place\n.type session_cheap_place, @function\n"
	"session_cheap_place: nop\n\tret\n.size session_cheap_place, . - session_cheap_place\n"
	".globl session_stepped_place\n.type session_stepped_place, @function\n"
	"session_stepped_place: lea 1(%rdi), %rax\n\tret\n.size session_stepped_place, . - session_stepped_place\n");
#else
__asm__(".text\n"
	".globl session_cheap_place\n.type session_cheap_place, %function\n"
	"session_cheap_place: nop\n\tret\n.size session_cheap_place, . - session_cheap_place\n"
	".globl session_stepped_place\n.type session_stepped_place, %function\n"
	"session_stepped_place: add x0, x0, #1\n\tret\n.size session_stepped_place, . - session_stepped_place\n");
#endif
void session_cheap_place(void);
void session_stepped_place(void);

struct place_look {
	uintptr_t address;
	uint64_t offset; /* in the file; 0: not found */
};

static int look_at_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct place_look *look = arg;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = look->address - info->dlpi_addr - p->p_vaddr;

		if (p->p_type == PT_LOAD && at < p->p_memsz)
			look->offset = at + p->p_offset;
	}
	return 1; /* the first is our executable */
}

uint64_t session_visit_cost_ns(const struct session *s, enum visit_sort sort)
{
	void (*place)(void) = sort == VISIT_STEPPED || sort == VISIT_RETURN_STEPPED ? session_stepped_place : session_cheap_place;
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = sort >= VISIT_RETURN);
	struct place_look look = {.address = (uintptr_t)place};
	struct bpf_link *link;
	uint64_t plain, probed;

	dl_iterate_phdr(look_at_program, &look);
	if (!look.offset)
		return 0;
	plain = time_calls(place);
	link = bpf_program__attach_uprobe_opts(s->bpf->progs.on_visit, 0, "/proc/self/exe", look.offset, &opts);
	if (!link)
		return 0;
	probed = time_calls(place);
	bpf_link__destroy(link);
	return cost_of_one(plain, probed);
}
