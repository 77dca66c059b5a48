// SPDX-License-Identifier: BSD-3-Clause
/* perf_event_open for sampling; see sampling.h. */
#include "kernel/sampling.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RATE_FILE "/proc/sys/kernel/perf_event_max_sample_rate"
/* The kernel counts samples from tick to tick, and periods vary by 5 % between experiments. */
#define RATE_SPARE 1.25

struct event {
	int fd;                /* the link's */
	struct bpf_link *link; /* NULL: the CPU is offline */
	uint64_t enabled_ns;   /* at the last look */
};

struct sampling {
	struct bpf_program *prog;
	uint64_t period_ns;
	double factor; /* on it */
	int n;
	struct event events[]; /* by CPU */
};

/*
 * 1 ms becomes 0.987 ms. The digits of the golden ratio keep the period off every small multiple
 * and fraction of 1, 4 and 10 ms. Those are the ticks and timers of programs and kernels, and
 * samples must not lock to them.
 */
static uint64_t unlocked_period(uint64_t period_ns)
{
	return period_ns - period_ns / 77 - period_ns / 6180;
}

static int open_event(int cpu, uint64_t period_ns)
{
	struct perf_event_attr attr = {
	    .size = sizeof(attr),
	    .type = PERF_TYPE_SOFTWARE,
	    .config = PERF_COUNT_SW_CPU_CLOCK,
	    .sample_period = period_ns,
	    .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
	    .exclude_idle = 1,
	    .disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* 1: sampling has begun on the CPU; 0: it is offline. -1 with @e. */
static int start_on(struct sampling *s, int cpu, struct error *e)
{
	int fd = open_event(cpu, (uint64_t)((double)s->period_ns * s->factor)), err = errno;

	if (fd < 0 && (err == ENODEV || err == EINVAL))
		return 0;
	if (fd < 0) {
		error_set(e, EXIT_FORBIDDEN, "cannot sample CPU %d: %s", cpu, strerror(err));
		error_hint(e, "run as root or with CAP_PERFMON; above 2, "
			      "kernel.perf_event_paranoid may ask for CAP_SYS_ADMIN");
		return error_hint_files(e, err);
	}
	s->events[cpu] = (struct event){fd, bpf_program__attach_perf_event(s->prog, fd), 0};
	if (s->events[cpu].link)
		return 1;
	error_set(e, EXIT_FORBIDDEN, "cannot attach the sample program: %s", strerror(errno));
	close(fd);
	return -1;
}

/* Between the CPUs' samples. */
static struct timespec stagger_of(uint64_t period_ns)
{
	int online = (int)sysconf(_SC_NPROCESSORS_ONLN);

	return (struct timespec){0, (long)(period_ns / (uint64_t)(online > 0 ? online : 1))};
}

int sampling_start(
    struct bpf_program *prog, uint64_t period_ns, struct sampling **ret, struct error *e)
{
	int n = libbpf_num_possible_cpus(), any = 0;
	struct sampling *s = calloc(1, sizeof(*s) + sizeof(s->events[0]) * (size_t)n);
	const struct timespec stagger = stagger_of(period_ns);

	if (!s)
		return error_set(e, EXIT_OTHER, "out of memory");
	*s = (struct sampling){
	    .prog = prog, .period_ns = unlocked_period(period_ns), .factor = 1, .n = n};
	for (int cpu = 0; cpu < n; cpu++) {
		int started = start_on(s, cpu, e);

		if (started < 0) {
			sampling_stop(s);
			return -1;
		}
		any |= started;
		if (started)
			nanosleep(&stagger, NULL);
	}
	*ret = s;
	return any ? 0 : error_set(e, EXIT_FORBIDDEN, "no CPU could be sampled");
}

uint64_t sampling_shortest_period(void)
{
	char line[24] = "";
	FILE *in = fopen(RATE_FILE, "re");
	uint64_t rate;

	if (!in)
		return 0;
	rate = fgets(line, sizeof(line), in) ? strtoull(line, NULL, 10) : 0;
	fclose(in);
	return rate ? (uint64_t)(RATE_SPARE * 1e9 / (double)rate) : 0;
}

uint64_t sampling_period(const struct sampling *s)
{
	return s->period_ns;
}

void sampling_begin_anew(struct sampling *s, uint64_t period_ns)
{
	sampling_rest(s);
	s->period_ns = unlocked_period(period_ns);
	sampling_set_period(s, 1);
	sampling_go_on(s);
}

/* A new period begins at once, so the CPUs get theirs one after the other. */
void sampling_set_period(struct sampling *s, double factor)
{
	uint64_t period_ns = (uint64_t)((double)s->period_ns * factor);
	const struct timespec stagger = stagger_of(period_ns);
	struct timespec next;

	s->factor = factor;
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (int i = 0; i < s->n; i++) {
		if (!s->events[i].link || ioctl(s->events[i].fd, PERF_EVENT_IOC_PERIOD, &period_ns))
			continue;
		next.tv_nsec += stagger.tv_nsec;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}

/* The kernel ends the event of a CPU that goes offline for good, and its time stands still. */
static bool has_ended(struct event *event)
{
	struct {
		uint64_t count, enabled_ns;
	} now;
	uint64_t before = event->enabled_ns;

	if (read(event->fd, &now, sizeof(now)) != sizeof(now))
		return false;
	event->enabled_ns = now.enabled_ns;
	return now.enabled_ns == before;
}

int sampling_revive(struct sampling *s, struct error *e)
{
	int changed = 0;

	for (int cpu = 0; cpu < s->n; cpu++) {
		struct event *event = &s->events[cpu];

		if (event->link && has_ended(event)) {
			bpf_link__destroy(event->link);
			*event = (struct event){0};
			changed++;
		}
		if (!event->link && start_on(s, cpu, e))
			changed++;
	}
	return changed;
}

void sampling_rest(struct sampling *s)
{
	for (int i = 0; i < s->n; i++)
		if (s->events[i].link)
			ioctl(s->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void sampling_go_on(struct sampling *s)
{
	const struct timespec stagger = stagger_of(s->period_ns);

	for (int i = 0; i < s->n; i++)
		if (s->events[i].link && !ioctl(s->events[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			nanosleep(&stagger, NULL);
}

void sampling_stop(struct sampling *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->n; i++)
		bpf_link__destroy(s->events[i].link);
	free(s);
}
