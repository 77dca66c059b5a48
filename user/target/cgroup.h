/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of a control group, those of the groups below it included: a container's. */
#ifndef COZBPF_CGROUP_H
#define COZBPF_CGROUP_H

#include <stddef.h>

#include "core/text/errors.h"

/*
 * Finds the directory of a group: @name is one, or its path as /proc/PID/cgroup has it
 * ("/system.slice/x.service"), looked for in every hierarchy that is mounted. 0, or -1 with @e.
 */
int cgroup_find(const char *name, char *ret, size_t size, struct error *e);

/* Processes in the group @directory, at most @max; how many there are. 0 too when the group has
 * gone. */
size_t cgroup_processes(const char *directory, int *ret, size_t max);

#endif
