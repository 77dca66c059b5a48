/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Noise made on purpose: other work on the machine, by a schedule that its seed repeats. It ends
 * with its parent, and after --seconds. tests/bench/noise_check.py holds each kind against what is
 * promised here. What runs beside the noise is elsewhere (machine.py).
 */
#include "workload.h"
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>

#define MS 1000000ull
#define CPUS_MAX 64
#define MEMORY_BYTES (64u << 20) /* larger than caches */
#define SLICE_NS MS              /* slow: half of each such slice is taken */
#define INTERRUPT_NS 50000       /* interrupts: what each one takes */
#define PERIOD_MIN_NS 100000     /* between two of a CPU */
#define PERIOD_MAX_NS 400000
#define FIFO_PRIORITY 10

/* One stretch of noise, in ns since the start. */
struct stretch {
	uint64_t begin_ns, end_ns, draw;
};

struct kind {
	const char *name;
	uint64_t gap_ms[2], length_ms[2]; /* least and most, each as likely as any between */
	void (*prepare)(void);
	void (*act)(const struct stretch *);
	int every_cpu, in_time; /* a thread for each CPU; real-time priority */
};

static struct {
	const struct kind *kind;
	uint64_t seed, start_ns;
	double seconds;
	int print, n_cpus;
	char *memory;
	int events[CPUS_MAX];
} noise;

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1dull;
}

static uint64_t draw_ns(uint64_t *state, const uint64_t ms[2])
{
	return ms[0] * MS + draw(state) % ((ms[1] - ms[0]) * MS + 1);
}

/* The stretch that follows @s. */
static void next_stretch(uint64_t *state, struct stretch *s)
{
	s->begin_ns = s->end_ns + draw_ns(state, noise.kind->gap_ms);
	s->end_ns = s->begin_ns + draw_ns(state, noise.kind->length_ms);
	s->draw = draw(state);
}

/* Sleeps until @ns after the start. */
static void sleep_until(uint64_t ns)
{
	uint64_t at = noise.start_ns + ns;
	struct timespec t = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static uint64_t executed_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* A stretch is CPU time here: where the CPUs are busy the burst ends later, and the next one still
 * begins in time. */
static void act_busy(const struct stretch *s)
{
	uint64_t end = executed_ns() + s->end_ns - s->begin_ns;

	while (executed_ns() < end)
		SPIN(1000);
}

static void prepare_memory(void)
{
	noise.memory = (char *)malloc(MEMORY_BYTES);
	if (!noise.memory)
		work_fail("malloc");
	memset(noise.memory, 1, MEMORY_BYTES);
}

/* Copies one half onto the other, in pieces, from where the last burst ended. */
static void act_memory(const struct stretch *s)
{
	static size_t at;
	const size_t half = MEMORY_BYTES / 2, piece = 64 << 10;
	uint64_t end = executed_ns() + s->end_ns - s->begin_ns;

	while (executed_ns() < end) {
		memcpy(noise.memory + half + at, noise.memory + at, piece);
		at = (at + piece) % half;
	}
}

/* Nothing but an interrupt runs before a real-time thread: it has the first half of each slice. */
static void act_slow(const struct stretch *s)
{
	for (uint64_t slice = s->begin_ns; slice < s->end_ns; slice += SLICE_NS) {
		uint64_t end = noise.start_ns + slice + SLICE_NS / 2;

		sleep_until(slice);
		while (work_now_ns() < end)
			SPIN(100);
	}
}

/* A BPF program that keeps a CPU for INTERRUPT_NS. It is bounded by its turns as well. */
static int load_interrupt(void)
{
	const struct bpf_insn program[] = {
	    {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ktime_get_ns},
	    {BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_0, 0, 0},
	    {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_6, 0, 0, INTERRUPT_NS},
	    {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_7, 0, 0, 0},
	    {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ktime_get_ns}, /* the loop */
	    {BPF_JMP | BPF_JGE | BPF_X, BPF_REG_0, BPF_REG_6, 2, 0},
	    {BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_7, 0, 0, 1},
	    {BPF_JMP | BPF_JLT | BPF_K, BPF_REG_7, 0, -4, INTERRUPT_NS / 10},
	    {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
	    {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insns = (uintptr_t)program;
	attr.insn_cnt = sizeof(program) / sizeof(program[0]);
	attr.license = (uintptr_t) "GPL";
	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* A timer of each CPU. Nobody counts its interrupts: their time is that of whoever runs. */
static void prepare_interrupts(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(attr),
	    .config = PERF_COUNT_SW_CPU_CLOCK,
	    .sample_period = PERIOD_MIN_NS,
	    .disabled = 1};
	int program = load_interrupt();

	for (int cpu = 0; cpu < noise.n_cpus; cpu++) {
		noise.events[cpu] =
		    syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (noise.events[cpu] < 0)
			work_fail("perf_event_open");
		if (ioctl(noise.events[cpu], PERF_EVENT_IOC_SET_BPF, program))
			work_fail("ioctl(PERF_EVENT_IOC_SET_BPF)");
	}
}

static void act_interrupts(const struct stretch *s)
{
	uint64_t period = PERIOD_MIN_NS + s->draw % (PERIOD_MAX_NS - PERIOD_MIN_NS);

	for (int cpu = 0; cpu < noise.n_cpus; cpu++)
		if (ioctl(noise.events[cpu], PERF_EVENT_IOC_PERIOD, &period) ||
		    ioctl(noise.events[cpu], PERF_EVENT_IOC_ENABLE, 0))
			work_fail("ioctl");
	sleep_until(s->end_ns);
	for (int cpu = 0; cpu < noise.n_cpus; cpu++)
		ioctl(noise.events[cpu], PERF_EVENT_IOC_DISABLE, 0);
}

static const struct kind kinds[] = {
    {"busy", {5, 25}, {5, 5}, NULL, act_busy, 0, 0},              /* a quarter of one CPU */
    {"memory", {1, 9}, {5, 5}, prepare_memory, act_memory, 0, 0}, /* half of one CPU */
    {"slow", {100, 3000}, {100, 3000}, NULL, act_slow, 1, 1},
    {"interrupts", {100, 1000}, {100, 1000}, prepare_interrupts, act_interrupts, 0, 1},
};

/* Follows the schedule, on the CPU of that number where each CPU has a thread. */
static void *follow(void *cpu)
{
	struct sched_param priority = {.sched_priority = FIFO_PRIORITY};
	struct stretch s = {0, 0, 0};
	uint64_t state = noise.seed;

	if (noise.kind->every_cpu)
		work_pin((long)(intptr_t)cpu);
	if (noise.kind->in_time && !noise.print && sched_setscheduler(0, SCHED_FIFO, &priority))
		work_fail("sched_setscheduler");
	for (;;) {
		next_stretch(&state, &s);
		if (s.begin_ns > noise.seconds * 1e9)
			return NULL;
		if (noise.print) {
			printf("%.3f %.3f %llu\n", s.begin_ns / 1e6, s.end_ns / 1e6,
			    (unsigned long long)s.draw);
			continue;
		}
		sleep_until(s.begin_ns);
		noise.kind->act(&s);
	}
}

static void usage(void)
{
	fprintf(stderr, "usage: noise busy|memory|slow|interrupts [--seed N] [--seconds S] "
			"[--print 1]\n"
			"--print: prints the stretches, begin and end in ms, in place of making "
			"noise\n");
	exit(2);
}

static void parse(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name))
			noise.kind = &kinds[i];
	if (!noise.kind)
		usage();
	noise.seed = 1;
	noise.seconds = 60;
	for (int i = 2; i < argc; i += 2) {
		const char *value = argv[i + 1];

		if (value && !strcmp(argv[i], "--seed"))
			noise.seed = strtoull(value, NULL, 10);
		else if (value && !strcmp(argv[i], "--seconds"))
			noise.seconds = atof(value);
		else if (value && !strcmp(argv[i], "--print"))
			noise.print = atoi(value);
		else
			usage();
	}
	/* Neighbouring seeds begin alike, and 0 stays 0. */
	noise.seed = (noise.seed + 1) * 0x9e3779b97f4a7c15ull;
}

int main(int argc, char **argv)
{
	pid_t parent = getppid();

	parse(argc, argv);
	if (noise.print) {
		follow(NULL);
		return 0;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return 1;
	alarm((unsigned)noise.seconds + 1);
	noise.n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (noise.n_cpus > CPUS_MAX)
		noise.n_cpus = CPUS_MAX;
	if (noise.kind->prepare)
		noise.kind->prepare();
	noise.start_ns = work_now_ns();
	printf("ready %llu\n", (unsigned long long)noise.start_ns);
	fflush(stdout);
	for (int cpu = 1; noise.kind->every_cpu && cpu < noise.n_cpus; cpu++)
		work_thread(follow, (void *)(intptr_t)cpu);
	follow(NULL);
	return 0;
}
