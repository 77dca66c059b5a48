/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that --sync=uprobe probes: those of the paper's Tables 1 and 2, and those that Coz and
 * others have added since. */
#ifndef COZBPF_SYNC_CALLS_H
#define COZBPF_SYNC_CALLS_H

#include <stdbool.h>
#include <stddef.h>

struct sync_call {
	const char *name;
	unsigned cookie; /* COZBPF_CALL_* and COZBPF_RESULT_* of abi.h */
};

extern const struct sync_call sync_calls[];
extern const size_t n_sync_calls;

/* Whether a mapped file is the library that has these calls, by the last part of its path: glibc's
 * libc or libpthread, or musl. */
bool is_sync_library(const char *path);

#endif
