// SPDX-License-Identifier: BSD-3-Clause
/* The counters of a run, as far as the kernel side counts them; see core/profile/counters.def. */
#include <bpf/bpf.h>
#include <string.h>

#include "kernel/session_private.h"

#include "cozbpf.skel.h"

/* Adds up all counters of the processes, which follow the name. */
static void add_process(int pid, const struct cozbpf_proc_stats *stats, void *arg)
{
	size_t first = offsetof(struct cozbpf_proc_stats, samples) / sizeof(uint64_t);
	uint64_t one[sizeof(*stats) / sizeof(uint64_t)], *sum = arg;

	memcpy(one, stats, sizeof(one));
	for (size_t i = first; i < sizeof(one) / sizeof(one[0]); i++)
		sum[i] += one[i];
}

static uint64_t sum_cpus(const struct session *s, size_t member)
{
	uint64_t one, ret = 0;

	for (int i = 0; i < s->n_cpu_values; i++) {
		memcpy(&one, (const char *)&s->cpu_values[i] + member, sizeof(one));
		ret += one;
	}
	return ret;
}

void session_run_counters(const struct session *s, struct run_record *ret)
{
	const struct cozbpf_control *control = &s->bpf->bss->control;
	union {
		uint64_t sum[sizeof(struct cozbpf_proc_stats) / sizeof(uint64_t)];
		struct cozbpf_proc_stats stats;
	} processes = {{0}};
	struct cpu_use use;

	session_processes(s, add_process, processes.sum);
	session_cpu_use(s, &use); /* which reads cpu_values */
	memset(ret, 0, sizeof(*ret));
#define RUN 0
#define CPUS(member) sum_cpus(s, offsetof(struct cozbpf_cpu, member))
#define PROCESSES(member) processes.stats.member
#define COUNTER(name, key, unit, from, ...) ret->name = from;
#include "core/profile/counters.def"
}
