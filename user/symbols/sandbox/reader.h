/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/sandbox/: the reader's side. */
#ifndef COZBPF_READER_PROCESS_H
#define COZBPF_READER_PROCESS_H

#include <sys/types.h>

#include "symbols/sandbox/confine.h"
#include "symbols/sandbox/sandbox.h"

#define SANDBOX_HINT "other files are read; please report this together with the file"

/* Exit status of a reader that could not give its rights up, and so has read nothing. */
#define READER_NOT_CONFINED 2

/* The first byte that comes from a reader: it has closed what it had of ours. */
#define READER_CONFINED "c"

/* What the reader has from us. */
struct reader_ends {
	pid_t parent;
	int answers, requests; /* a pipe and a socket */
	uint64_t memory;       /* bytes */
	unsigned cpu_s;
};

/* To be called in the child, with all signals blocked. */
void reader_main(const struct sandbox *s, const struct reader_ends *ends, sandbox_work *work,
    void *arg) __attribute__((noreturn));

#endif
