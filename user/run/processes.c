// SPDX-License-Identifier: BSD-3-Clause
/* The list of the target's processes. A process is looked at when it executes a program, and again
 * while it loads libraries; see processes.h. */
#include "run/processes.h"

#include <stdlib.h>

#include "kernel/session.h"
#include "run/clock.h"
#include "run/files.h"
#include "run/goroutines.h"
#include "run/handlers.h"
#include "run/jit.h"
#include "run/mappings.h"
#include "run/options.h"
#include "run/spins.h"
#include "target/procfs.h"
#include "run/target.h"
#include "run/unwinder.h"

/* the loader maps a program's libraries within milliseconds of the exec */
#define RESCAN_FIRST_NS 5000000ULL
/* where libraries are not in scope, and only their unwind tables are missing */
#define RESCAN_RARE_NS 8000000000ULL

static struct process **find(struct target *t, int pid)
{
	struct process **p = &t->processes;

	while (*p && (*p)->pid != pid)
		p = &(*p)->next;
	return p;
}

bool processes_have(struct target *t, int pid)
{
	return *find(t, pid);
}

/* Adds a process that is not there yet. NULL: out of memory. */
static struct process *add(struct target *t, int pid, uint64_t interval_ns)
{
	struct process **at = find(t, pid), *p = *at;

	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		*at = p;
	}
	p->pid = pid;
	p->start = procfs_start(pid);
	p->interval_ns = interval_ns;
	p->probed = false;
	p->rescan_ns = monotonic_ns() + p->interval_ns;
	return p;
}

void processes_read(struct target *t, int pid)
{
	struct process *p = *find(t, pid);

	mappings_read(t->files, pid, p ? &p->probed : NULL);
}

int processes_begin(struct target *t, int pid, struct error *e)
{
	struct process *p = add(t, pid, RESCAN_LAST_NS);

	if (!p)
		return error_set(e, EXIT_OTHER, "out of memory");
	return handlers_inject(t, p, e);
}

static void take_exec(struct target *t, int pid)
{
	struct process *p;

	/* they would hold for the new program, too */
	session_drop_calls(t->session, pid);
	session_drop_spins(t->session, pid);
	session_drop_goroutines(t->session, pid);
	session_drop_counters(t->session, pid);
	jit_forget(t->files, pid);
	p = add(t, pid, RESCAN_FIRST_NS);
	processes_read(t, pid);
	if (p)
		handlers_after_exec(t, p);
}

static void take_fork(struct target *t, int pid, int parent)
{
	/* mappings were copied in the kernel */
	struct process *p = add(t, pid, RESCAN_LAST_NS);

	if (p)
		handlers_after_fork(p, *find(t, parent));
	if (t->o->sync_uprobe || t->files->spins_probed)
		processes_read(t, pid);
}

static void take_exit(struct target *t, int pid)
{
	struct process **at = find(t, pid), *gone = *at;

	session_drop_calls(t->session, pid);
	session_end_spins(t->session, pid);
	session_drop_goroutines(t->session, pid);
	session_drop_counters(t->session, pid);
	if (!procfs_live_thread(pid)) /* nor is the number another process's */
		session_drop_mappings(t->session, pid);
	jit_forget(t->files, pid);
	if (!gone)
		return;
	*at = gone->next;
	handlers_forget(gone);
	free(gone);
}

void processes_on_event(struct target *t, const struct cozbpf_event *event)
{
	int pid = (int)event->tgid;

	if (event->kind == COZBPF_EVENT_EXEC)
		take_exec(t, pid);
	else if (event->kind == COZBPF_EVENT_FORK)
		take_fork(t, pid, (int)event->arg);
	else if (event->kind == COZBPF_EVENT_EXIT)
		take_exit(t, pid);
}

/* Its end was not told of, and its number may be a stranger's by now. */
static bool has_gone(const struct process *p)
{
	uint64_t start = procfs_start(p->pid);

	return start ? p->start && start != p->start : !procfs_live_thread(p->pid);
}

/* Where it has gone it is none of the target's any more. */
static bool drop_gone(struct target *t, const struct process *p)
{
	if (!has_gone(p))
		return false;
	/* else session_adopt() takes whoever has the number */
	session_drop_mappings(t->session, p->pid);
	take_exit(t, p->pid);
	return true;
}

void processes_read_all(struct target *t)
{
	for (struct process *p = t->processes, *next; p; p = next) {
		next = p->next;
		if (drop_gone(t, p))
			continue;
		p->probed = false;
		processes_read(t, p->pid);
	}
}

void processes_rescan(struct target *t, uint64_t now, bool is_awaited)
{
	uint64_t last =
	    scope_has_libraries(&t->files->scope) || is_awaited ? RESCAN_LAST_NS : RESCAN_RARE_NS;
	bool all = unwinder_collect(t->files);

	all |= spins_begin(t->files);
	goroutines_check(t->files);
	for (struct process *p = t->processes, *next; p; p = next) {
		bool reads = all || now >= p->rescan_ns, looks = p->shim_ns && now >= p->shim_ns;

		next = p->next;
		if ((!reads && !looks) || drop_gone(t, p))
			continue;
		if (looks)
			handlers_look(t, p, now);
		if (!reads)
			continue;
		processes_read(t, p->pid);
		p->interval_ns = p->interval_ns * 2 > last ? last : p->interval_ns * 2;
		p->rescan_ns = now + p->interval_ns;
	}
}

void processes_deinit(struct target *t)
{
	while (t->processes) {
		struct process *next = t->processes->next;

		handlers_forget(t->processes);
		free(t->processes);
		t->processes = next;
	}
}
