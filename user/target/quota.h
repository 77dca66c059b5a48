/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU quotas of control groups (cpu.max, cpu.cfs_quota_us): how long the kernel held processes back
 * because their groups had used up their quotas. */
#ifndef COZBPF_QUOTA_H
#define COZBPF_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Watched groups; zeroed is empty. */
struct quota {
	struct quota_group *groups;
	size_t n;
};

/*
 * Adds the group of process @pid and all groups above it to the watch: the quota of any of them
 * holds the process back. Time before this call does not count. Watched groups stay as they are;
 * unreadable ones are not added.
 */
void quota_watch(struct quota *q, int pid);

/* Reads on; call it now and then. A group ends with its last process, as a container's does; then
 * the last reading stays. */
void quota_update(struct quota *q);

/* Time in ns for which CPUs were denied to the watched groups, as last read. A sum over groups and
 * CPUs, so it may exceed real time. */
uint64_t quota_throttled_ns(const struct quota *q);

/* From the text of a cpu.stat file: the time in ns for which the group was ever held back. */
uint64_t quota_parse_stat(const char *text);

/* From the text of a /proc/PID/cgroup file: the process's group in the hierarchy of version 2
 * ("0::PATH"), or in the version 1 hierarchy with the cpu controller ("N:cpu,cpuacct:PATH"). */
bool quota_parse_group(FILE *in, bool v2, char *ret, size_t size);

/* Makes it empty again. */
void quota_deinit(struct quota *q);

#endif
