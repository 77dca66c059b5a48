// SPDX-License-Identifier: BSD-3-Clause
/* perf_event_open for sampling; see sampling.h. */
#include "kernel/sampling.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct event {
	int fd; /* the link's */
	struct bpf_link *link;
};

struct sampling {
	uint64_t period_ns;
	int n;
	struct event events[];
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
	    .exclude_idle = 1,
	    .disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int sampling_start(
    struct bpf_program *prog, uint64_t period_ns, struct sampling **ret, struct error *e)
{
	int n = libbpf_num_possible_cpus(), online = (int)sysconf(_SC_NPROCESSORS_ONLN);
	struct sampling *s = calloc(1, sizeof(*s) + sizeof(s->events[0]) * (size_t)n);
	struct timespec stagger = {0, (long)(period_ns / (uint64_t)(online > 0 ? online : 1))};

	if (!s)
		return error_set(e, EXIT_OTHER, "out of memory");
	s->period_ns = unlocked_period(period_ns);
	for (int cpu = 0; cpu < n; cpu++) {
		int fd = open_event(cpu, s->period_ns);

		if (fd < 0 && (errno == ENODEV || errno == EINVAL))
			continue; /* offline */
		if (fd < 0) {
			int err = errno;

			error_set(
			    e, EXIT_FORBIDDEN, "cannot sample CPU %d: %s", cpu, strerror(err));
			error_hint(e, "run as root or with CAP_PERFMON; `cozbpf doctor` tells");
			error_hint_files(e, err);
			sampling_stop(s);
			return -1;
		}
		s->events[s->n] = (struct event){fd, bpf_program__attach_perf_event(prog, fd)};
		if (!s->events[s->n].link) {
			error_set(e, EXIT_FORBIDDEN, "cannot attach the sample program: %s",
			    strerror(errno));
			close(fd);
			sampling_stop(s);
			return -1;
		}
		s->n++;
		nanosleep(&stagger, NULL);
	}
	*ret = s;
	return s->n ? 0 : error_set(e, EXIT_FORBIDDEN, "no CPU could be sampled");
}

void sampling_set_period(struct sampling *s, double factor)
{
	uint64_t period_ns = (uint64_t)((double)s->period_ns * factor);

	for (int i = 0; i < s->n; i++)
		ioctl(s->events[i].fd, PERF_EVENT_IOC_PERIOD, &period_ns);
}

void sampling_stop(struct sampling *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->n; i++)
		bpf_link__destroy(s->events[i].link);
	free(s);
}
