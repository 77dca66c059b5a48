/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of a control group, such as a container's, and of all groups below it. */
#ifndef COZBPF_CGROUP_H
#define COZBPF_CGROUP_H

#include <stddef.h>
#include <stdio.h>

#include "core/text/errors.h"

/*
 * Finds the directory of a group. @name is the directory, or its path from /proc/PID/cgroup
 * ("/system.slice/x.service"), which is looked for in every mounted hierarchy. Returns 0, or -1
 * with @e.
 */
int cgroup_find(const char *name, char *ret, size_t size, struct error *e);

/* The processes that a file cgroup.procs names, at most @max. Returns their number. */
size_t cgroup_parse(FILE *procs, int *ret, size_t max);

/* Fills in the processes of the group @directory, at most @max. Returns their number, @max where
 * there may be more; 0 also when the group has gone. */
size_t cgroup_processes(const char *directory, int *ret, size_t max);

#endif
