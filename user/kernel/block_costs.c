// SPDX-License-Identifier: BSD-3-Clause
/* What probes of blocks cost on this machine, measured on blocks of our own; see blocks.h. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/estimate/stats.h"
#include "kernel/blocks.h"
#include "kernel/nops.h"
#include "kernel/session_private.h"

#include "cozbpf.skel.h"

#define ROUNDS 31
#define PAUSE_NS 6000000 /* between rounds: the state of a machine changes */

/*
 * Short blocks: the kernel emulates a nop, and steps the other instruction singly. In between are
 * some 0.2 us of multiplications, each of which waits for the one before: what an empty block takes
 * is hidden while the CPU recovers from the probe, or adds to that.
 */
#if defined(__x86_64__)
#define STEPPED "lea 1(%rdi), %rax"
#define BODY                                                                      \
	"mov $56, %ecx\n1: imul %rax, %rax\n imul %rax, %rax\n imul %rax, %rax\n" \
	" imul %rax, %rax\n dec %ecx\n jnz 1b\n"
#define FUNCTION "@function"
#else
#define STEPPED "add x0, x0, #1"
#define BODY                                                                 \
	"mov x1, #56\n1: mul x9, x9, x9\n mul x9, x9, x9\n mul x9, x9, x9\n" \
	" mul x9, x9, x9\n subs x1, x1, #1\n b.ne 1b\n"
#define FUNCTION "%function"
#endif
#define PLACE(name, entry, exit)                                                      \
	__asm__(".text\n.globl " #name ", " #name "_exit\n.type " #name ", " FUNCTION \
		"\n.balign 64\n" #name ": " entry "\n" BODY #name "_exit: " exit      \
		"\n ret\n.size " #name ", . - " #name "\n");                          \
	void name(void);                                                              \
	void name##_exit(void)
PLACE(block_cheap_cheap, "nop", "nop");
PLACE(block_cheap_stepped, "nop", STEPPED);
PLACE(block_stepped_cheap, STEPPED, "nop");
PLACE(block_stepped_stepped, STEPPED, STEPPED);
PLACE(block_cheap, "nop", "nop");
PLACE(block_stepped, STEPPED, STEPPED);

/* What a round measures. Stepping takes some ten times as long. */
static const struct place {
	void (*code)(void), (*exit)(void); /* the same: it is only counted */
	bool entry_is_cheap, exit_is_cheap;
	unsigned calls;
} places[] = {
    {block_cheap_cheap, block_cheap_cheap_exit, true, true, 200},
    {block_cheap_stepped, block_cheap_stepped_exit, true, false, 50},
    {block_stepped_cheap, block_stepped_cheap_exit, false, true, 50},
    {block_stepped_stepped, block_stepped_stepped_exit, false, false, 50},
    {block_cheap, block_cheap, true, true, 200},
    {block_stepped, block_stepped, false, false, 50},
};
#define PLACES (sizeof(places) / sizeof(*places))

/* Of each place and round: what a call costs, and what lies between the two readings. */
struct measured {
	double cost[PLACES][ROUNDS], bias[PLACES][ROUNDS];
};

/* Mean of some calls. */
static double time_calls(const struct place *p)
{
	uint64_t from = session_now_ns();

	for (unsigned i = 0; i < p->calls; i++)
		p->code();
	return (double)(session_now_ns() - from) / p->calls;
}

/* The same without probes: the least of some, since its code takes a fixed number of cycles. */
static double time_plain(const struct place *p)
{
	double least = time_calls(p), ns;

	for (int i = 0; i < ROUNDS; i++) {
		ns = time_calls(p);
		least = ns < least ? ns : least;
	}
	return least;
}

static double not_below_0(double ns)
{
	return ns > 0 ? ns : 0;
}

static void measure_round(
    struct session *s, const double plain[PLACES], unsigned round, struct measured *ret)
{
	struct block_reading r;

	for (unsigned i = 0; i < PLACES; i++) {
		session_clear_block(s, i);
		ret->cost[i][round] = not_below_0(time_calls(&places[i]) - plain[i]);
		session_read_block(s, i, &r);
		ret->bias[i][round] =
		    r.timed ? not_below_0((double)r.sum_ns / (double)r.timed - plain[i]) : 0;
	}
}

static uint64_t whole_median(double *of_rounds)
{
	return (uint64_t)(median(of_rounds, ROUNDS) + 0.5);
}

/* A visit to an entry and one to an exit of the same sort are taken to cost the same. */
static void keep(struct session *s, struct measured *m)
{
	struct cozbpf_blocks *b = &s->bpf->bss->blocks;

	for (unsigned i = 0; i < PLACES; i++) {
		const struct place *p = &places[i];

		if (p->exit != p->code)
			b->bias_ns[COZBPF_BLOCK_PAIR_OF(!p->entry_is_cheap, !p->exit_is_cheap)] =
			    whole_median(m->bias[i]);
		else
			b->cost_ns[COZBPF_BLOCK_SORT_OF(COZBPF_BLOCK_COUNTED, !p->entry_is_cheap)] =
			    whole_median(m->cost[i]);
		if (p->exit != p->code && p->entry_is_cheap == p->exit_is_cheap)
			b->cost_ns[COZBPF_BLOCK_SORT_OF(COZBPF_BLOCK_ENTRY, !p->entry_is_cheap)] =
			    (whole_median(m->cost[i]) + 1) / 2;
	}
	memset((void *)b->stale, 0, sizeof(b->stale));
	for (unsigned i = 0; i < PLACES; i++)
		session_clear_block(s, i);
	blocks_forget_probes(s);
}

static int measure(struct session *s, struct error *e)
{
	struct block_probe probes[PLACES];
	double plain[PLACES];
	const struct timespec gap = {0, PAUSE_NS};
	struct measured m;
	int window;

	for (unsigned i = 0; i < PLACES; i++) {
		probes[i] = (struct block_probe){.path = "/proc/self/exe",
		    .entry = own_code_offset(places[i].code),
		    .exit = own_code_offset(places[i].exit),
		    .entry_is_cheap = places[i].entry_is_cheap,
		    .exit_is_cheap = places[i].exit_is_cheap,
		    .slot = i};
		if (!probes[i].entry)
			return error_set(e, EXIT_OTHER, "our own code is in no file");
		plain[i] = time_plain(&places[i]);
	}
	window = session_open_blocks(s, probes, PLACES, e);
	if (window < 0)
		return -1;
	for (unsigned i = 0; i < PLACES; i++)
		time_calls(&places[i]);
	for (unsigned round = 0; round < ROUNDS; round++) {
		measure_round(s, plain, round, &m);
		nanosleep(&gap, NULL);
	}
	session_close_blocks(s, window);
	keep(s, &m);
	return 0;
}

int session_calibrate_blocks(struct session *s, struct error *e)
{
	struct cozbpf_thread self = {
	    .member = 1, .tgid = (uint32_t)getpid(), .account.run_since = session_now_ns()};
	int threads = bpf_map__fd(s->bpf->maps.threads),
	    open = bpf_map__fd(s->bpf->maps.block_threads), err, pidfd;

	/* A descriptor of a process names its first thread. */
	if (gettid() != getpid())
		return error_set(e, EXIT_OTHER, "probes are measured in the first thread only");
	pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (pidfd < 0 || bpf_map_update_elem(threads, &pidfd, &self, BPF_NOEXIST)) {
		error_set(
		    e, EXIT_OTHER, "probes of blocks cannot be measured: %s", strerror(errno));
		if (pidfd >= 0)
			close(pidfd);
		return -1;
	}
	err = measure(s, e);
	bpf_map_delete_elem(threads, &pidfd);
	bpf_map_delete_elem(open, &pidfd);
	close(pidfd);
	return err;
}

uint64_t session_block_bias_ns(const struct session *s, const struct block_probe *p)
{
	const uint64_t *bias = (const uint64_t *)s->bpf->bss->blocks.bias_ns;

	return p->entry == p->exit
		   ? 0
		   : bias[COZBPF_BLOCK_PAIR_OF(!p->entry_is_cheap, !p->exit_is_cheap)];
}

uint64_t session_block_cost_ns(const struct session *s, const struct block_probe *p)
{
	const uint64_t *cost = (const uint64_t *)s->bpf->bss->blocks.cost_ns;

	if (p->entry == p->exit)
		return cost[COZBPF_BLOCK_SORT_OF(COZBPF_BLOCK_COUNTED, !p->entry_is_cheap)];
	return cost[COZBPF_BLOCK_SORT_OF(COZBPF_BLOCK_ENTRY, !p->entry_is_cheap)] +
	       cost[COZBPF_BLOCK_SORT_OF(COZBPF_BLOCK_EXIT, !p->exit_is_cheap)];
}
