// SPDX-License-Identifier: BSD-3-Clause
/* What probes and samples cost on this machine, measured on code of our own; see session.h. */
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel/sampling.h"
#include "kernel/session_private.h"

#include "cozbpf.skel.h"

#define COST_CALLS 2000
#define COST_PERIODS 64
#define COST_PERIOD_NS 250000 /* several samples for each tick of any kernel */
#define COST_GAP_NS 500       /* reading the clock takes some 30 ns */

static uint64_t time_calls(void (*what)(void))
{
	uint64_t from = session_now_ns();

	for (int i = 0; i < COST_CALLS; i++)
		what();
	return session_now_ns() - from;
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

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * The median of the gaps that a thread sees in the clock which does nothing but look at it and is sampled four times a millisecond. Other interrupts are fewer, and
 * losing the CPU is rarer yet.
 */
static uint64_t sample_cost_ns(void)
{
	uint64_t gaps[4 * COST_PERIODS], from = session_now_ns(), now = from, before;
	size_t n = 0;

	while (n < 4 * COST_PERIODS && now - from < COST_PERIODS * COST_PERIOD_NS) {
		before = now;
		now = session_now_ns();
		if (now - before >= COST_GAP_NS)
			gaps[n++] = now - before;
	}
	if (n < COST_PERIODS / 2)
		return 0;
	qsort(gaps, n, sizeof(gaps[0]), compare);
	return gaps[n / 2] < COST_PERIOD_NS / 4 ? gaps[n / 2] : 0; /* more is no sample's: others have the CPU */
}

uint64_t session_account_samples(struct session *s)
{
	uint64_t ns;

	sampling_set_period(s->sampling, (double)COST_PERIOD_NS / (double)s->period_ns);
	ns = sample_cost_ns();
	sampling_set_period(s->sampling, 1);
	s->bpf->bss->control.sample_cost_ns = ns;
	return ns;
}
