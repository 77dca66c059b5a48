// SPDX-License-Identifier: BSD-3-Clause
/* See attach_checks.h. */
#include "target/attach_checks.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "core/text/errors.h"
#include "target/filters.h"
#include "target/inject.h"
#include "target/keeper.h"
#include "target/owner.h"
#include "target/process_checks.h"
#include "target/procfs.h"
#include "target/tracee.h"

static void check_holder(int pid, struct finding *f)
{
	int tracer = procfs_tracer(pid), claim;
	struct error e;
	char comm[32];

	if (tracer) {
		finding_set(f, FINDING_MISSING, "process %d is being traced by process %d (%s)",
		    pid, tracer, procfs_comm(tracer, comm, sizeof(comm)));
		finding_hint(f, "end the debugger or strace that holds it");
		return;
	}
	claim = owner_claim(pid, &e);
	if (claim < 0) {
		finding_set(f, FINDING_MISSING, "%.200s", e.cause);
		finding_hint(f, "%.300s", e.hint);
		return;
	}
	close(claim);
	finding_set(f, FINDING_OK, "neither a debugger nor another cozbpf has process %d (%s)", pid,
	    procfs_comm(pid, comm, sizeof(comm)));
}

static void check_kind(int pid, struct finding *f)
{
	struct process_vdso vdso;
	struct error e;

	if (tracee_vdso(pid, &vdso, &e)) {
		finding_set(f, FINDING_MISSING, "%.200s", e.cause);
		finding_hint(f, "%.300s", e.hint);
	} else
		finding_set(f, FINDING_OK, "a 64-bit program");
}

/* Whether a pause would be let through, and a thread can be held. */
static int try_to_hold(void *arg, struct error *e)
{
	int pid = *(const int *)arg;
	struct tracee t;

	if (filters_check(pid, e) || tracee_hold(pid, &t, e))
		return -1;
	tracee_release(&t);
	return 0;
}

static void check_calls(int pid, struct finding *f)
{
	bool filtered = filters_any(pid);
	struct error e;

	if (filtered && !(process_caps() & CAP_BIT_SYS_ADMIN)) {
		finding_set(f, FINDING_MISSING,
		    "it has a seccomp filter, which only CAP_SYS_ADMIN can suspend");
		finding_hint(f, "sudo cozbpf ...");
	} else if (keeper_run(try_to_hold, &pid, &e)) {
		finding_set(f, FINDING_MISSING, "%.200s", e.cause);
		finding_hint(f, "%.300s", e.hint);
	} else {
		finding_set(f, FINDING_OK,
		    filtered ? "its seccomp filter allows what pauses need, and can be suspended"
			     : "no seccomp filter");
	}
}

struct thread_counts {
	int signal;
	unsigned threads, blocked, stuck;
};

static bool count_thread(int pid, int tid, void *arg)
{
	struct thread_counts *c = arg;
	struct signal_masks masks;

	procfs_signals(pid, tid, &masks);
	c->threads++;
	c->blocked += masks.blocked >> (c->signal - 1) & 1;
	c->stuck += procfs_state(pid, tid) == 'D';
	return true;
}

static void check_threads(int pid, struct finding *f)
{
	struct error e;
	struct thread_counts c = {.signal = inject_choose_signal(&pid, 1, &e)};

	if (c.signal < 0) {
		finding_set(f, FINDING_MISSING, "%.200s", e.cause);
		return;
	}
	procfs_threads(pid, count_thread, &c);
	if (c.blocked)
		finding_set(f, FINDING_WARNING,
		    "%u of %u threads block signal %d: it will be unblocked for the time of "
		    "profiling",
		    c.blocked, c.threads, c.signal);
	else if (c.stuck == c.threads)
		finding_set(f, FINDING_WARNING,
		    "all %u threads wait uninterruptibly at the moment: none can be stopped",
		    c.threads);
	else
		finding_set(f, FINDING_OK, "%u threads, signal %d is free", c.threads, c.signal);
}

size_t attach_checks(int pid, struct finding *ret, size_t max)
{
	static const struct {
		const char *name;
		void (*run)(int pid, struct finding *f);
	} checks[] = {
	    {"held by others", check_holder},
	    {"kind of process", check_kind},
	    {"system calls", check_calls},
	    {"threads", check_threads},
	};
	size_t n = 0;

	for (; n < max && n < sizeof(checks) / sizeof(checks[0]); n++) {
		ret[n].name = checks[n].name;
		checks[n].run(pid, &ret[n]);
	}
	return n;
}
