// SPDX-License-Identifier: BSD-3-Clause
/* `cozbpf -p PID`: processes that run already, from finding out what they are to leaving them as
 * they were. */
#include "run/run.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run/target_file.h"
#include "target/cgroup.h"
#include "target/owner.h"
#include "target/procfs.h"

#define MAX_MEMBERS 1024     /* processes of a control group */
#define JOIN_NS 100000000ULL /* how often it is looked who has joined the group */

/* Adds a process to those attached to. -1 with @e. */
static int add_attached(struct runner *r, int pid, struct error *e)
{
	struct attached *bigger = realloc(
			    r->target.attached, (r->target.n_attached + 1) * sizeof(*bigger)),
			*a;

	if (!bigger)
		return error_set(e, EXIT_OTHER, "out of memory");
	r->target.attached = bigger;
	a = &bigger[r->target.n_attached++];
	*a = (struct attached){
	    .pid = pid, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0), .claim_fd = -1};
	if (a->pidfd < 0)
		return error_set(e, EXIT_OTHER, "process %d has ended: %s", pid, strerror(errno));
	a->claim_fd = owner_claim(pid, e);
	return a->claim_fd < 0 ? -1 : 0;
}

static int resolve_cgroup(struct runner *r, struct error *e)
{
	size_t n;
	int *pids;

	if (cgroup_find(r->o.cgroup, r->target.cgroup, sizeof(r->target.cgroup), e))
		return -1;
	pids = calloc(MAX_MEMBERS, sizeof(*pids));
	n = pids ? cgroup_processes(r->target.cgroup, pids, MAX_MEMBERS) : 0;
	for (size_t i = 0; i < n; i++)
		if (pids[i] != getpid() && procfs_live_thread(pids[i]) &&
		    add_attached(r, pids[i], e)) {
			free(pids);
			return -1;
		}
	free(pids);
	if (r->target.n_attached)
		return 0;
	error_set(e, EXIT_USAGE, "the control group '%s' has no process", r->target.cgroup);
	return error_hint(
	    e, "has the container ended? see /proc/PID/cgroup of one of its processes");
}

int run_attach_resolve(struct runner *r, struct error *e)
{
	int pids[MAX_MEMBERS];

	for (size_t i = 0; i < r->o.pids.n; i++)
		if (target_pid(r->o.pids.items[i], &pids[0], e) || add_attached(r, pids[0], e))
			return -1;
	if (r->o.cgroup && resolve_cgroup(r, e))
		return -1;
	for (unsigned i = 0; i < r->target.n_attached && i < MAX_MEMBERS; i++)
		pids[i] = r->target.attached[i].pid;
	if (target_program(pids[0], r->target.path, sizeof(r->target.path), e))
		return -1;
	r->target.signal = inject_choose_signal(
	    pids, r->target.n_attached < MAX_MEMBERS ? r->target.n_attached : MAX_MEMBERS, e);
	return r->target.signal ? 0 : -1;
}

void run_attach_deinit(struct runner *r)
{
	for (unsigned i = 0; i < r->target.n_attached; i++) {
		if (r->target.attached[i].pidfd >= 0)
			close(r->target.attached[i].pidfd);
		if (r->target.attached[i].claim_fd >= 0)
			close(r->target.attached[i].claim_fd);
	}
	free(r->target.attached);
	r->target.attached = NULL;
}

int run_attach_object(
    const struct runner *r, const char *path, struct object **ret, struct error *e)
{
	char root[64], file[PATH_MAX + 64], seen[PATH_MAX];
	struct object_place place = {file, seen, root};
	int pid = r->target.attached[0].pid;

	if (maps_resolve(pid, path, seen, sizeof(seen)))
		return error_set(
		    e, EXIT_USAGE, "process %d sees no file '%s': %s", pid, path, strerror(errno));
	for (unsigned i = 0; i < r->target.n_attached; i++)
		if (!target_object(r->target.attached[i].pid, seen, ret, e))
			return 0;
		else if (e->status)
			return -1;
	maps_root(pid, root, sizeof(root));
	snprintf(file, sizeof(file), "%s%s", root, seen);
	return object_open_at(&place, ret, e);
}

/* The lines of a program attached to. The first one is MAIN where a progress point names no binary.
 */
static int add_lines(struct runner *r, int pid, struct error *e)
{
	struct object *o = NULL;
	struct line_object identity;
	char path[PATH_MAX];
	size_t n = 0;
	int err = 0;

	if (target_program(pid, path, sizeof(path), e))
		return -1;
	if (target_object(pid, path, &o, e))
		return e->status ? -1
				 : error_set(e, EXIT_OTHER, "process %d has no code of '%s' mapped",
				       pid, path);
	identity = object_identity(o);
	if (line_map_find_object(&r->files.lines, &identity) >= 0) {
		object_close(o);
		return 0;
	}
	run_warn_build(r, pid, path);
	if (scope_has_binary(&r->files.scope, path, true))
		err = object_add_lines(o, &r->files.scope, &r->files.lines, &n, e);
	if (r->o.verbose && !err)
		run_say(r, "'%s': %zu lines in scope", path, n);
	if (r->files.main_object || err)
		object_close(o);
	else
		r->files.main_object = o;
	return err;
}

int run_attach_lines(struct runner *r, struct error *e)
{
	for (unsigned i = 0; i < r->target.n_attached; i++) {
		if (!add_lines(r, r->target.attached[i].pid, e))
			continue;
		if (!r->o.cgroup ||
		    i + 1 ==
			r->target.n_attached) /* of a group some may have no lines, as a shell */
			return r->files.main_object ? 0 : -1;
		if (r->o.verbose)
			run_say(r, "%s", e->cause);
	}
	return 0;
}

bool run_attach_ended(const struct runner *r)
{
	for (unsigned i = 0; i < r->target.n_attached; i++) {
		struct pollfd fd = {.fd = r->target.attached[i].pidfd, .events = POLLIN};

		if (poll(&fd, 1, 0) != 1)
			return false;
	}
	return true;
}

static int begin_process(struct runner *r, int pid, struct error *e)
{
	struct process *p = run_add_process(r, pid, RUN_RESCAN_LAST_NS);

	if (!p)
		return error_set(e, EXIT_OTHER, "out of memory");
	if (run_inject_now(r, p, e))
		return -1;
	run_map_process(r, pid);
	return 0;
}

/* Those that have come into the control group otherwise than by a fork within it (which the kernel
 * side follows): docker exec and the like. */
void run_attach_join(struct runner *r, uint64_t now)
{
	int pids[MAX_MEMBERS];
	struct error e = {0};
	bool any = false;
	size_t n;

	if (!r->o.cgroup || now < r->target.join_ns)
		return;
	r->target.join_ns = now + JOIN_NS;
	n = cgroup_processes(r->target.cgroup, pids, MAX_MEMBERS);
	for (size_t i = 0; i < n; i++) {
		if (run_has_process(r, pids[i]) || pids[i] == getpid() ||
		    !procfs_live_thread(pids[i]))
			continue;
		if (add_attached(r, pids[i], &e) || begin_process(r, pids[i], &e)) {
			if (procfs_live_thread(pids[i]))
				run_say(r, "warning: %s", e.cause);
			continue;
		}
		if (add_lines(r, pids[i], &e) && r->o.verbose)
			run_say(r, "%s", e.cause);
		session_add_lines(r->session, &r->files.lines, &e);
		run_map_process(r, pids[i]);
		quota_watch(&r->target.quota, pids[i]);
		any = true;
	}
	if (any && session_adopt(r->session, &e))
		run_say(r, "warning: %s", e.cause);
}

int run_attach_begin(struct runner *r, struct error *e)
{
	struct counters counters;
	unsigned begun = 0;

	for (unsigned i = 0; i < r->target.n_attached; i++) {
		if (!begin_process(r, r->target.attached[i].pid, e))
			begun++;
		else if (!r->o.cgroup)
			return -1;
		else if (procfs_live_thread(r->target.attached[i].pid))
			run_say(r, "warning: %s", e->cause);
	}
	if (!begun || session_adopt(r->session, e))
		return -1;
	session_read(r->session, &counters);
	if (r->o.verbose)
		run_say(r, "attached to %u process%s with %lld threads", r->target.n_attached,
		    r->target.n_attached == 1 ? "" : "es", (long long)counters.threads);
	return 0;
}
