// SPDX-License-Identifier: BSD-3-Clause
/* See filters.h. The filters are run here, with what the handler (user/shim/pause.c) hands over. */
#include "target/filters.h"

#include <errno.h>
#include <linux/audit.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>

#include "target/cbpf.h"
#include "target/keeper.h"
#include "target/procfs.h"
#include "target/tracee.h"

#define GET_FILTER 0x420c /* PTRACE_SECCOMP_GET_FILTER, which not every libc has */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

/* In no mapping, so a filter that lets calls pass from certain code only refuses it: it would not
 * know the handler's page either. */
#define UNKNOWN_CODE 4096

static const struct {
	const char *name;
	struct seccomp_data data; /* a pointer stands as 1 << 46, a place like that of a stack */
} calls[] = {
    {"clock_gettime", {SYS_clock_gettime, ARCH, UNKNOWN_CODE, {CLOCK_MONOTONIC, 1ULL << 46}}},
    {"clock_nanosleep",
	{SYS_clock_nanosleep, ARCH, UNKNOWN_CODE, {CLOCK_MONOTONIC, TIMER_ABSTIME, 1ULL << 46}}},
    {"rt_sigreturn", {SYS_rt_sigreturn, ARCH, UNKNOWN_CODE, {0}}},
};

static bool lets_pass(uint32_t answer)
{
	uint32_t action = answer & SECCOMP_RET_ACTION_FULL;

	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

static int refuse(int pid, const char *call, struct error *e)
{
	error_set(e, EXIT_FORBIDDEN,
	    "process %d has a seccomp filter that forbids %s(), which each pause needs", pid, call);
	return error_hint(
	    e, "let the filter allow the call, or run the program without it to profile it");
}

/* The filters of a thread that is held. */
static int check_filters(const struct tracee *t, struct error *e)
{
	struct sock_filter code[BPF_MAXINSNS];
	long n;

	for (unsigned long i = 0; (n = ptrace(GET_FILTER, t->tid, i, NULL)) >= 0; i++) {
		if (n > BPF_MAXINSNS || ptrace(GET_FILTER, t->tid, i, code) != n)
			return refuse(t->pid, "unknown calls", e);
		for (size_t c = 0; c < sizeof(calls) / sizeof(calls[0]); c++)
			if (!lets_pass(cbpf_run(code, (size_t)n, &calls[c].data)))
				return refuse(t->pid, calls[c].name, e);
	}
	if (errno == ENOENT) /* there are no more */
		return 0;
	error_set(e, EXIT_FORBIDDEN, "the seccomp filter of process %d cannot be read: %s", t->pid,
	    strerror(errno));
	return error_hint(e, "run cozbpf as root, and without a seccomp filter of its own");
}

struct check {
	struct error *e;
	int status;
};

static bool check_thread(int pid, int tid, void *arg)
{
	int mode = procfs_seccomp(pid, tid);
	struct check *c = arg;
	struct tracee t;

	if (mode == SECCOMP_MODE_STRICT) {
		error_set(c->e, EXIT_FORBIDDEN,
		    "process %d is in seccomp's strict mode, which kills it at each pause", pid);
		c->status = error_hint(c->e, "run the program without it to profile it");
	} else if (mode) { /* filters, or unreadable */
		c->status = tracee_hold_thread(pid, tid, &t, c->e);
		if (c->status) {
			if (procfs_has_ended(procfs_state(pid, tid)))
				c->status = 0; /* it has ended meanwhile */
			return !c->status;
		}
		c->status = check_filters(&t, c->e);
		tracee_release(&t);
	}
	return !c->status;
}

static int check_threads(void *arg, struct error *e)
{
	struct check c = {.e = e};

	procfs_threads(*(const int *)arg, check_thread, &c);
	return c.status;
}

static bool has_none(int pid, int tid, void *arg)
{
	return !(*(bool *)arg = procfs_seccomp(pid, tid));
}

bool filters_any(int pid)
{
	bool any = false;

	procfs_threads(pid, has_none, &any);
	return any;
}

int filters_check(int pid, struct error *e)
{
	return filters_any(pid) ? keeper_run(check_threads, &pid, e) : 0;
}
