/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting the command: it exists, held before its exec, while the kernel side is set up; then it
 * goes on as if we were not there. */
#ifndef COZBPF_LAUNCH_H
#define COZBPF_LAUNCH_H

#include <signal.h>
#include <stdbool.h>

#include "core/text/errors.h"
#include "target/identity.h"

struct launch {
	int pid, pidfd;
	int go_fd, result_fd; /* -1 once used */
};

/* Where @command would be found in PATH, or itself when it has a '/'; @ret is an absolute path. -1
 * with @e. */
int launch_find(const char *command, char *ret, size_t size, struct error *e);

struct launch_options {
	char **argv;
	const char *path; /* as launch_find() gave it */
	const char *shim; /* absolute path of the shim library; added to LD_PRELOAD */
	int signal;       /* told to the shim in COZBPF_SIGNAL */
	bool counters;    /* the shim is to hand out counters for Coz's places: COZBPF_COUNTERS */
	const struct identity *identity;
	const sigset_t *mask; /* signal mask the command gets */
};

int launch_prepare(const struct launch_options *o, struct launch *ret, struct error *e);

/* Lets it exec. -1 with @e when that fails; the process has ended then. */
int launch_go(struct launch *l, const char *path, struct error *e);
void launch_deinit(struct launch *l); /* closes descriptors; does not touch the process, except when
					 it was never let go: that one ends */

/* The shim library: $COZBPF_SHIM, beside our own executable, or below the installation prefix. -1
 * with @e when it is in none of them. */
int launch_find_shim(char *ret, size_t size, struct error *e);

#endif
