/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Debug files that are not installed, from the servers that DEBUGINFOD_URLS names. A server that
 * hangs costs some seconds at the start, and the names. Whom we ask is a process of ours, which has
 * libdebuginfod, the rights of the invoking user, and nothing of the target.
 */
#ifndef COZBPF_RUN_DEBUGINFOD_H
#define COZBPF_RUN_DEBUGINFOD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/text/finding.h"
#include "run/console.h"

/* All zero: nobody is asked. */
struct debuginfod {
	/* private */
	struct console *console;
	bool verbose;
	pid_t pid;  /* 0: there is none */
	int socket; /* to it */
	uint32_t asked;
	uint64_t left_ns; /* that we still wait, in all */
	bool hurried, told;
};

/* Where DEBUGINFOD_URLS is set, object_open_at() asks from now on. All answers together are waited
 * for at most @wait_s. To be called while there is one thread, and before rights are given up. */
void debuginfod_start(struct debuginfod *d, struct console *console, bool verbose, unsigned wait_s);
/* The target runs: hardly anything is waited for any more. Downloads go on. */
void debuginfod_hurry(struct debuginfod *d);
/* Downloads end. */
void debuginfod_stop(struct debuginfod *d);

/* For `cozbpf doctor`. */
void debuginfod_check(struct finding *ret);

#endif
