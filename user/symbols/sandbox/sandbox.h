/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to user/symbols/: a reader, which is a child of ours that reads what others have written.
 * It is forked for each reading, so it has a copy of our memory, and it sends back bytes. It has no
 * capabilities, no files but those that it is given, and hardly any system call; memory and time
 * end. What it sends may be anything.
 */
#ifndef COZBPF_SANDBOX_H
#define COZBPF_SANDBOX_H

#include "core/text/errors.h"
#include "symbols/sandbox/wire.h"

struct sandbox {
	const char *what; /* the file's path, for messages */
	/* The reader's files; -1: none. */
	const int *files;
	size_t n_files;
	uint64_t bytes; /* of these: limits grow with them */
	/* We open what the reader asks for. A descriptor, which the sandbox closes, or -1 with
	 * @why. NULL: nothing is opened. */
	int (*open)(void *ctx, const char *path, char *why, size_t size);
	/* Asked every few milliseconds. True ends the reading. NULL: nobody is asked. */
	bool (*stop)(void *ctx);
	void *ctx;
	/* 0: by default */
	unsigned cpu_s;
	uint64_t memory; /* bytes */
};

#define SANDBOX_FILES 4

/*
 * Runs @work in a reader. 0 with what @work has put into @out, the caller's to in_free(), where
 * @work returned 0. -1 with @e where @work returned -1 with one, and where the reader crashed, ran
 * out of its time or memory, or was stopped (EXIT_NO_RESULT, EXIT_OTHER). Any thread may call it.
 */
typedef int sandbox_work(void *arg, struct out *out, struct error *e);
int sandbox_run(
    const struct sandbox *s, sandbox_work *work, void *arg, struct in *ret, struct error *e);

/* In the reader: asks us to open @path. As file_open() (elf/openfile.h); @root is known to us. */
int sandbox_open(const char *root, const char *path, char *why, size_t size);

/* Whether some reader had to do without a filter of system calls. */
bool sandbox_is_unfiltered(void);

/* What a reader has sent makes no sense. -1 with @e. */
int sandbox_distrust(const char *what, struct error *e);

#endif
