/* SPDX-License-Identifier: BSD-3-Clause */
/* For how long threads waited, and what else the scheduler tells of them, over the time of a run.
 * /proc is looked at now and then: of threads that end in between, what came last is missing. */
#ifndef COZBPF_THREAD_TIMES_H
#define COZBPF_THREAD_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of all threads; the kernel may not tell some of it, which is 0 then. */
struct thread_sums {
	uint64_t blocked_ns, runnable_ns;
	uint64_t switches, preemptions, migrations;
};

/* What /proc tells of one thread, since it began. */
struct thread_reading {
	uint64_t executed_ns, runnable_ns;
	uint64_t switches, preemptions, migrations;
};

struct thread_times {
	uint64_t began_ns; /* CLOCK_BOOTTIME */
	struct thread_seen {
		int tid;
		uint64_t from_ns, to_ns; /* it lived, within the run and as far as it was seen */
		struct thread_reading first, last;
	} * threads;
	size_t n, room;
};

/* A run begins now. */
void thread_times_begin(struct thread_times *t);
/* Looks at the threads of a process. */
void thread_times_look(struct thread_times *t, int pid);
void thread_times_sum(const struct thread_times *t, struct thread_sums *ret);
void thread_times_deinit(struct thread_times *t);

/* Page faults of a process since it began. False: it is gone. */
struct fault_counts {
	uint64_t minor, major;
};
bool process_faults(int pid, struct fault_counts *ret);

#endif
