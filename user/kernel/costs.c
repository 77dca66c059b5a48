// SPDX-License-Identifier: BSD-3-Clause
/* What probes and samples cost on this machine, measured on code of our own; see session.h. */
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "core/estimate/stats.h"
#include "kernel/nops.h"
#include "kernel/sampling.h"
#include "kernel/session_private.h"

#include "cozbpf.skel.h"

#define COST_CALLS 2000
#define COST_PERIODS 64
#define COST_PERIOD_MAX_NS 1000000 /* longer periods would take long */
#define COST_GAP_NS 500            /* reading the clock takes some 30 ns */
#define COST_SAMPLE_NS 50000 /* what happens so soon after the begin of a sample belongs to it */

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* CPU time: the target may have the CPU in between. */
static uint64_t time_calls(void (*what)(void))
{
	uint64_t from = cpu_ns();

	for (int i = 0; i < COST_CALLS; i++)
		what();
	return cpu_ns() - from;
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
	const struct multi_sites at = {
	    .pid = getpid(), .path = path, .offsets = &offset, .cookies = &cookie, .n = 1};
	int fd = multi_attach(s->bpf->progs.on_call, &at);

	if (fd < 0)
		return 0;
	probed = time_calls(lock_and_unlock);
	close(fd);
	return cost_of_one(plain, probed);
}

/* Two functions: the kernel executes their probed instructions in different ways. */
#if defined(__x86_64__)
__asm__(".text\n"
	".globl session_cheap_place\n.type session_cheap_place, @function\n"
	"session_cheap_place: nop\n\tret\n.size session_cheap_place, . - session_cheap_place\n"
	".globl session_stepped_place\n.type session_stepped_place, @function\n"
	"session_stepped_place: lea 1(%rdi), %rax\n\tret\n.size session_stepped_place, . - "
	"session_stepped_place\n");
#else
__asm__(".text\n"
	".globl session_cheap_place\n.type session_cheap_place, %function\n"
	"session_cheap_place: nop\n\tret\n.size session_cheap_place, . - session_cheap_place\n"
	".globl session_stepped_place\n.type session_stepped_place, %function\n"
	"session_stepped_place: add x0, x0, #1\n\tret\n.size session_stepped_place, . - "
	"session_stepped_place\n");
#endif
void session_cheap_place(void);
void session_stepped_place(void);

uint64_t session_visit_cost_ns(const struct session *s, enum visit_sort sort)
{
	void (*place)(void) = sort == VISIT_STEPPED || sort == VISIT_RETURN_STEPPED
				  ? session_stepped_place
				  : session_cheap_place;
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = sort >= VISIT_RETURN);
	uint64_t offset = own_code_offset(place);
	struct bpf_link *link;
	uint64_t plain, probed;

	if (!offset)
		return 0;
	plain = time_calls(place);
	link = bpf_program__attach_uprobe_opts(
	    s->bpf->progs.on_visit, 0, "/proc/self/exe", offset, &opts);
	if (!link)
		return 0;
	probed = time_calls(place);
	bpf_link__destroy(link);
	return cost_of_one(plain, probed);
}

/* The cost of one sample, and by how much it began before it was due. */
struct look {
	uint64_t began, whole, entry;
	int64_t early;
};

/* Adds the gap [@before, @now) in which we did not execute, as a sample of its own or as more of
 * the @n-th. Returns the number of samples now. */
static size_t add_gap(struct look *looks, size_t n, volatile struct cozbpf_control *control,
    uint64_t before, uint64_t now)
{
	uint64_t seen = control->sample_seen_ns, due = control->sample_due_ns;

	if (seen > before && seen < now) {
		looks[n] = (struct look){.began = before,
		    .whole = now - before,
		    .entry = seen - before,
		    .early = due ? (int64_t)(due - before) : 0};
		return n + 1;
	}
	if (n && before - looks[n - 1].began < COST_SAMPLE_NS)
		looks[n - 1].whole += now - before;
	return n;
}

/* Fills the looks of a thread that only looks at the clock. A look is a gap in which a sample's
 * program has looked at the clock, too. */
static size_t look_at_samples(
    volatile struct cozbpf_control *control, uint64_t period_ns, struct look *looks)
{
	uint64_t from = session_now_ns(), now = from, before;
	size_t n = 0;

	control->sample_cpu = 1 + (unsigned)sched_getcpu();
	while (n < COST_PERIODS && now - from < 2 * COST_PERIODS * period_ns) {
		before = now;
		now = session_now_ns();
		if (now - before < COST_GAP_NS)
			continue;
		n = add_gap(looks, n, control, before, now);
		control->sample_cpu = 1 + (unsigned)sched_getcpu();
	}
	control->sample_cpu = 0;
	return n;
}

struct sample_cost session_measure_samples(struct session *s, bool sample_free)
{
	struct cozbpf_control *control = &s->bpf->bss->control;
	double whole[COST_PERIODS], entry[COST_PERIODS], early[COST_PERIODS];
	uint64_t period = s->period_ns < COST_PERIOD_MAX_NS ? s->period_ns : COST_PERIOD_MAX_NS;
	struct look looks[COST_PERIODS];
	struct sample_cost ret;
	size_t n;

	control->sample_cost_ns = control->sample_entry_ns = 0; /* of another period */
	sampling_set_period(s->sampling, (double)period / (double)s->period_ns);
	n = look_at_samples(control, period, looks);
	sampling_set_period(s->sampling, 1);
	for (size_t i = 0; i < n; i++) {
		whole[i] = (double)looks[i].whole;
		entry[i] = (double)looks[i].entry;
		early[i] = (double)looks[i].early;
	}
	if (n < COST_PERIODS / 2)
		return (struct sample_cost){0};
	ret = (struct sample_cost){.whole_ns = (uint64_t)select_kth(whole, n, n / 2),
	    .entry_ns = (uint64_t)select_kth(entry, n, n / 2)};
	if (ret.whole_ns > period / 4)
		return (struct sample_cost){0}; /* no sample's: others have the CPU */
	control->sample_cost_ns = ret.whole_ns;
	control->sample_entry_ns = (uint32_t)ret.entry_ns;
	control->sample_early_ns = (int64_t)select_kth(early, n, n / 2);
	control->sample_free = sample_free;
	return ret;
}

uint64_t session_sample_cost(const struct session *s)
{
	const struct cozbpf_control *control = &s->bpf->bss->control;

	return control->sample_free ? 0 : control->sample_cost_ns;
}
