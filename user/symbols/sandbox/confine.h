/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/sandbox/: how a reader gives its rights up, for good. */
#ifndef COZBPF_CONFINE_H
#define COZBPF_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct confinement {
	const int *keep; /* descriptors that stay open, in any order */
	size_t n_keep;
	uint64_t memory; /* bytes, beyond what we have ourselves */
	unsigned cpu_s;
	pid_t parent; /* ends us with itself */
};

/* Sanitizers need system calls and address space of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/*
 * Gives up files, shared memory, capabilities and system calls of the calling process, which a
 * fork has just made with all signals blocked. Signals that we are sent stay blocked; faults end
 * the process. 0 with whether system calls are filtered, or -1: something stayed that must not.
 */
int confine(const struct confinement *c, bool *is_filtered);

#endif
