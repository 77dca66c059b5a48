/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU quotas of control groups (cpu.max, cpu.cfs_quota_us): how long the kernel has held processes
 * back because their groups had used their quotas up. */
#ifndef COZBPF_QUOTA_H
#define COZBPF_QUOTA_H

#include <stddef.h>
#include <stdint.h>

/* Groups under watch; zeroed is empty. */
struct quota {
	struct quota_group *groups;
	size_t n;
};

/*
 * Takes the group of process @pid and all groups above it into the watch: the quota of any of them
 * holds the process back. What there was before does not count. Groups that are watched already
 * stay as they are; where nothing can be read nothing is added.
 */
void quota_watch(struct quota *q, int pid);

/* Reads on. A group that has gone, as a container's does with its last process, keeps what was last
 * read: to be called now and then. */
void quota_update(struct quota *q);

/* Time in ns for which CPUs were denied to the groups under watch, as last read. Sums over groups
 * and CPUs, so it may exceed real time. */
uint64_t quota_throttled_ns(const struct quota *q);

/* Empty again. */
void quota_deinit(struct quota *q);

#endif
