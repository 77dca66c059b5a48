/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts the command. It exists, held before its exec, while the kernel side is set up; then it
 * runs as if we were not there. */
#ifndef COZBPF_LAUNCH_H
#define COZBPF_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/text/errors.h"
#include "target/identity.h"

/* Where whoever started us ignores SIGCHLD, the kernel would take our children's statuses away.
 * Commands alone get that disposition again. */
void launch_keep_statuses(void);

struct launch {
	int pid, pidfd;
	int go_fd, result_fd; /* -1 once used */
};

/* What to execute: @command in PATH, as execvp() would, or itself when it has a '/'. A script and a
 * program of many names see this path. Returns -1 with @e when it is not found. */
int launch_find(const char *command, char *ret, size_t size, struct error *e);
/* The file that it leads to: an absolute path without links. -1 with @e. */
int launch_resolve(const char *path, char *ret, size_t size, struct error *e);

struct launch_options {
	char **argv;
	const char *path;    /* from launch_find() */
	const char *shim;    /* from launch_find_shim(); added to LD_PRELOAD. "": nothing is */
	int signal;          /* the shim reads it in COZBPF_SIGNAL */
	uint32_t quantum_ns; /* likewise in COZBPF_QUANTUM; 0: it is not set */
	bool counters;       /* the shim gives counters to Coz's places: COZBPF_COUNTERS */
	const struct identity *identity;
	const sigset_t *mask; /* signal mask of the command */
};

int launch_prepare(const struct launch_options *o, struct launch *ret, struct error *e);

/* Lets the process exec. Returns -1 with @e when that fails; then the process has ended. */
int launch_go(struct launch *l, const char *path, struct error *e);
/* Closes descriptors. A process that was never let go ends; any other stays untouched. */
void launch_deinit(struct launch *l);

/* The absolute path of the shim library: $COZBPF_SHIM, or beside our own executable, or below the
 * installation prefix. Returns -1 with @e when it is nowhere. */
int launch_find_shim(char *ret, size_t size, struct error *e);
/* Why the loader of a command that runs as @id would complain about it, in each program that the
 * command starts; NULL: it can be preloaded. */
const char *launch_shim_refusal(const char *shim, const struct identity *id);

#endif
