// SPDX-License-Identifier: BSD-3-Clause
/* `cozbpf -p PID`: processes that run already, from finding out what they are to leaving them as
 * they were. The table is declared in target.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/session.h"
#include "run/clock.h"
#include "run/console.h"
#include "run/files.h"
#include "run/handlers.h"
#include "run/jit.h"
#include "run/mappings.h"
#include "run/options.h"
#include "run/processes.h"
#include "run/target.h"
#include "run/target_file.h"
#include "target/cgroup.h"
#include "target/procfs.h"
#include "target/program.h"

/* processes of a control group: one more than there is room for */
#define MAX_MEMBERS (COZBPF_PROCESSES + 1)
/* how often it is looked who has joined the group */
#define JOIN_NS 100000000ULL
/* for each member: a look takes some 2 us then */
#define JOIN_EACH_NS 100000ULL

/* when to ask again for a member that another cozbpf had */
#define REFUSED_NS 2000000000ULL

/* Whether a member of the group is to be attached to: it is neither one of ours, as a guard's
 * command is, nor known already, and it lives. */
static bool is_newcomer(struct target *t, int pid)
{
	return !processes_have(t, pid) && !claims_have(&t->attached, pid) &&
	       !claims_refused(&t->attached, pid, monotonic_ns()) && procfs_live_thread(pid) &&
	       !procfs_descends(pid, getpid());
}

/* One that has not just ended is told of, once. */
static void refuse(struct target *t, int pid, const struct error *e)
{
	if (procfs_live_thread(pid) &&
	    claims_refuse(&t->attached, pid, monotonic_ns() + REFUSED_NS))
		console_say(t->console, "warning: %s", e->cause);
}

/* As long as others are left, only want of descriptors or memory ends a run. */
static bool is_fatal(int pid, const struct error *e)
{
	return e->status != EXIT_FORBIDDEN && procfs_live_thread(pid);
}

static int fail_no_member(const struct target *t, struct error *e)
{
	if (t->attached.n_refused) {
		error_set(e, EXIT_FORBIDDEN,
		    "no process of the control group '%s' can be attached to", t->cgroup);
		return error_hint(e, "'cozbpf doctor -p PID' tells why, of one of them");
	}
	error_set(e, EXIT_USAGE, "the control group '%s' has no process", t->cgroup);
	return error_hint(
	    e, "has the container ended? see /proc/PID/cgroup of one of its processes");
}

static int resolve_cgroup(struct target *t, struct error *e)
{
	size_t n;

	if (cgroup_find(t->o->cgroup, t->cgroup, sizeof(t->cgroup), e))
		return -1;
	t->members = calloc(MAX_MEMBERS, sizeof(*t->members));
	if (!t->members)
		return error_set(e, EXIT_OTHER, "out of memory");
	n = cgroup_processes(t->cgroup, t->members, MAX_MEMBERS);
	if (n == MAX_MEMBERS) {
		error_set(e, EXIT_FORBIDDEN, "the control group '%s' has more than %d processes",
		    t->cgroup, COZBPF_PROCESSES);
		return error_hint(
		    e, "name a group below it, or the processes that matter: -p PID -p PID");
	}
	for (size_t i = 0; i < n; i++) {
		if (!is_newcomer(t, t->members[i]) || !claims_add(&t->attached, t->members[i], e))
			continue;
		if (is_fatal(t->members[i], e))
			return -1;
		refuse(t, t->members[i], e);
	}
	claims_drop_ended(&t->attached);
	return t->attached.n ? 0 : fail_no_member(t, e);
}

static void say_stopped(const struct target *t)
{
	for (unsigned i = 0; i < t->attached.n; i++) {
		int pid = t->attached.items[i].pid;

		if (procfs_state(pid, pid) == 'T')
			console_say(t->console,
			    "warning: process %d is stopped; 'kill -CONT %d' lets it go on", pid,
			    pid);
	}
}

/* That of the first process; a member of a group may have ended since it was claimed. */
static int find_program(struct target *t, struct error *e)
{
	unsigned n = t->o->cgroup ? t->attached.n : 1;

	for (unsigned i = 0; i < n; i++) {
		int pid = t->attached.items[i].pid;

		if (!target_program(pid, t->path, sizeof(t->path), e)) {
			program_name(pid, t->path, t->name);
			return 0;
		}
	}
	return -1;
}

static int find(struct target *t, struct error *e)
{
	int pid, *pids;

	for (size_t i = 0; i < t->o->pids.n; i++)
		if (target_pid(t->o->pids.items[i], &pid, e) || claims_add(&t->attached, pid, e))
			return -1;
	if (t->o->cgroup && resolve_cgroup(t, e))
		return -1;
	say_stopped(t);
	if (find_program(t, e))
		return -1;
	pids = calloc(t->attached.n, sizeof(*pids));
	if (!pids)
		return error_set(e, EXIT_OTHER, "out of memory");
	for (unsigned i = 0; i < t->attached.n; i++)
		pids[i] = t->attached.items[i].pid;
	t->signal = inject_choose_signal(pids, t->attached.n, e);
	free(pids);
	return t->signal > 0 ? 0 : -1;
}

/* The first that sees a file at @path, which is @seen without links; 0: none does. */
static int find_who_sees(const struct target *t, const char *path, char *seen, size_t size)
{
	for (unsigned i = 0; i < t->attached.n; i++)
		if (!maps_resolve(t->attached.items[i].pid, path, seen, size))
			return t->attached.items[i].pid;
	return 0;
}

static int find_file(
    struct target *t, const char *path, const char *name, struct file **ret, struct error *e)
{
	char root[64], file[PATH_MAX + 64], seen[PATH_MAX];
	int pid = find_who_sees(t, path, seen, sizeof(seen));
	struct map_entry m;

	(void)name;
	if (!pid)
		return error_set(e, EXIT_USAGE, "process %d sees no file '%s': %s",
		    t->attached.items[0].pid, path, strerror(errno));
	for (unsigned i = 0; i < t->attached.n; i++) {
		if (!target_mapping(t->attached.items[i].pid, seen, &m, e)) {
			*ret = files_mapped(t->files, t->attached.items[i].pid, &m);
			return *ret ? 0 : error_set(e, EXIT_OTHER, "out of memory");
		}
		if (e->status)
			return -1;
	}
	maps_root(pid, root, sizeof(root));
	snprintf(file, sizeof(file), "%s%s", root, seen);
	*ret = files_named(t->files, pid, seen, file);
	return *ret ? 0 : error_set(e, EXIT_OTHER, "out of memory");
}

/* The lines of a program attached to. The first one is MAIN where a progress point names no binary.
 */
static int add_lines(struct target *t, int pid, struct error *e)
{
	struct map_entry m;
	struct file *file;
	char path[PATH_MAX];
	int err;

	if (target_program(pid, path, sizeof(path), e))
		return -1;
	if (target_mapping(pid, path, &m, e))
		return e->status ? -1
				 : error_set(e, EXIT_OTHER, "process %d has no code of '%s' mapped",
				       pid, path);
	file = files_mapped(t->files, pid, &m);
	if (!file)
		return error_set(e, EXIT_OTHER, "out of memory");
	err = mappings_read_program(t->files, pid, file, e);
	files_close(t->files);
	return err;
}

/* Whether any of the programs has debug information. They stay open for add_lines(), which tells of
 * what cannot be opened. */
static bool any_debug_info(struct target *t)
{
	struct error e;
	char path[PATH_MAX];
	struct map_entry m;
	struct object *o;
	bool any = false;

	for (unsigned i = 0; !any && i < t->attached.n; i++) {
		int pid = t->attached.items[i].pid;
		struct file *file = NULL;

		if (!target_program(pid, path, sizeof(path), &e) &&
		    !target_mapping(pid, path, &m, &e))
			file = files_mapped(t->files, pid, &m);
		if (file)
			file->is_program = true;
		any = file && !files_open(t->files, file, &o, &e) && object_has_debug_info(o);
	}
	return any;
}

/* Some may have no lines. Of a group that is usual: a shell, for example. */
static int add_all_lines(struct target *t, struct error *e)
{
	for (unsigned i = 0; i < t->attached.n; i++) {
		int pid = t->attached.items[i].pid;

		if (!add_lines(t, pid, e))
			continue;
		if (i + 1 == t->attached.n && !t->files->main_object)
			return -1;
		if (!t->o->cgroup || t->o->verbose)
			console_say(t->console,
			    "warning: the program of process %d stays out of scope: %s%s%s", pid,
			    e->cause, *e->hint ? "; " : "", e->hint);
	}
	return 0;
}

/* A process that names the functions that it makes; 0: none does. */
static int find_maker(struct target *t)
{
	for (unsigned i = 0; i < t->attached.n; i++)
		if (jit_has_map(t->files, t->attached.items[i].pid))
			return t->attached.items[i].pid;
	return 0;
}

static int read_lines(struct target *t, struct error *e)
{
	struct files *f = t->files;

	mappings_decide_units(f, any_debug_info(t), find_maker(t));
	if (add_all_lines(t, e))
		return -1;
	for (unsigned i = 0; i < t->attached.n; i++)
		jit_read_names(f, t->attached.items[i].pid);
	return f->lines.n_ranges || f->scope.n_binaries ? 0 : files_fail_no_lines(f, e);
}

static bool has_ended(struct target *t)
{
	return claims_all_ended(&t->attached);
}

/* Of a group other programs without lines are usual, so only that the line table has become full is
 * said in any case. */
static void add_newcomer(struct target *t, int pid)
{
	bool was_full = t->files->is_full;
	struct error e = {0};

	if (add_lines(t, pid, &e) && (t->o->verbose || t->files->is_full > was_full))
		console_say(t->console,
		    "warning: the program of process %d stays out of scope: %s%s%s", pid, e.cause,
		    *e.hint ? "; " : "", e.hint);
}

/* Those that have come into the control group otherwise than by a fork within it (which the kernel
 * side follows): docker exec and the like. */
static void join(struct target *t, uint64_t now)
{
	const int *pids = t->members;
	struct error e = {0};
	bool any = false;
	size_t n;

	if (!t->o->cgroup || now < t->join_ns)
		return;
	claims_drop_ended(&t->attached);
	n = cgroup_processes(t->cgroup, t->members, MAX_MEMBERS);
	t->join_ns = now + JOIN_NS + n * JOIN_EACH_NS;
	if (n == MAX_MEMBERS) {
		console_say(t->console,
		    "warning: the control group has more than %d processes now; those that come "
		    "are not profiled",
		    COZBPF_PROCESSES);
		t->join_ns = UINT64_MAX;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (!is_newcomer(t, pids[i]))
			continue;
		if (claims_add(&t->attached, pids[i], &e)) {
			refuse(t, pids[i], &e);
			continue;
		}
		if (processes_begin(t, pids[i], &e)) {
			if (procfs_live_thread(pids[i]))
				console_say(t->console, "warning: %s", e.cause);
			continue;
		}
		add_newcomer(t, pids[i]);
		processes_read(t, pids[i]);
		quota_watch(&t->quota, pids[i]);
		any = true;
	}
	if (any && session_adopt(t->session, &e))
		console_say(t->console, "warning: %s", e.cause);
	else if (any)
		handlers_check_filters(t);
}

/* Those that have been given their handlers. -1 with @e. */
static int begin(struct target *t, int *begun, size_t *n, struct error *e)
{
	for (unsigned i = 0; i < t->attached.n; i++) {
		int pid = t->attached.items[i].pid;

		if (!processes_begin(t, pid, e))
			begun[(*n)++] = pid;
		else if (!t->o->cgroup)
			return -1;
		else if (procfs_live_thread(pid))
			console_say(t->console, "warning: %s", e->cause);
	}
	return *n ? 0 : -1;
}

/* Suggestions are of no lines, so for them it does not matter which lines find room. */
static void read_mappings(struct target *t, const int *begun, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		t->files->running = begun + i;
		t->files->n_running = t->o->suggests ? 0 : n - i;
		processes_read(t, begun[i]);
	}
	t->files->n_running = 0;
}

static int hold(struct target *t, const sigset_t *mask, bool with_counters, struct error *e)
{
	int err, *begun = calloc(t->attached.n, sizeof(*begun));
	struct counters counters;
	size_t n = 0;

	(void)mask;
	(void)with_counters;
	if (!begun)
		return error_set(e, EXIT_OTHER, "out of memory");
	err = begin(t, begun, &n, e);
	if (!err)
		read_mappings(t, begun, n);
	free(begun);
	if (err || session_adopt(t->session, e))
		return -1;
	handlers_check_filters(t);
	session_read(t->session, &counters);
	if (t->o->verbose)
		console_say(t->console, "attached to %u process%s with %lld threads", t->attached.n,
		    t->attached.n == 1 ? "" : "es", (long long)counters.threads);
	return 0;
}

static int start(struct target *t, struct error *e)
{
	(void)t;
	(void)e;
	return 0;
}

static bool has_stopped(struct target *t)
{
	(void)t;
	return false;
}

static void go_on(struct target *t)
{
	(void)t;
}

/* All signals are for us alone. */
static unsigned take_signal(struct target *t, const struct signalfd_siginfo *info)
{
	int sig = (int)info->ssi_signo;

	(void)t;
	return sig != SIGCONT && sig != SIGWINCH ? TARGET_SIGNAL_ENDS : 0;
}

static void watch_quotas(struct target *t)
{
	for (unsigned i = 0; i < t->attached.n; i++)
		quota_watch(&t->quota, t->attached.items[i].pid);
}

static void leave(struct target *t)
{
	(void)t;
}

static void send_nothing(struct target *t, int sig)
{
	(void)t;
	(void)sig;
}

static void release(struct target *t)
{
	session_detach(t->session);
	handlers_take_back(t);
}

const struct target_ops target_attached = {
    .restarts = false,
    .find = find,
    .read_lines = read_lines,
    .find_file = find_file,
    .hold = hold,
    .start = start,
    .join = join,
    .has_ended = has_ended,
    .has_stopped = has_stopped,
    .has_continued = has_stopped,
    .go_on = go_on,
    .take_signal = take_signal,
    .watch_quotas = watch_quotas,
    .leave = leave,
    .send = send_nothing,
    .release = release,
};
