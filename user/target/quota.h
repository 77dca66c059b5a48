/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU quotas of control groups (cpu.max, cpu.cfs_quota_us): how long the kernel has held a process back because its group had used its quota up. */
#ifndef COZBPF_QUOTA_H
#define COZBPF_QUOTA_H

#include <stdint.h>

/*
 * Time in ns for which CPUs were denied to the control group of process @pid and to the groups above it, since they were made. 0 where no
 * quota was ever set or nothing can be read. Sums over CPUs, so it may exceed real time.
 */
uint64_t quota_throttled_ns(int pid);

#endif
