// SPDX-License-Identifier: BSD-3-Clause
/* A command that we launch, as often as there are runs; the table is declared in target.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/text/paths.h"
#include "kernel/session.h"
#include "run/clock.h"
#include "run/console.h"
#include "run/files.h"
#include "run/handlers.h"
#include "run/mappings.h"
#include "run/options.h"
#include "run/target.h"
#include "target/owner.h"

/* Where it cannot be preloaded, handlers are injected as into static programs. */
static int find_shim(struct target *t, struct error *e)
{
	const char *why;

	if (t->shim_known)
		return 0;
	if (launch_find_shim(t->shim, sizeof(t->shim), e))
		return -1;
	t->shim_known = true;
	why = launch_shim_refusal(t->shim, &t->identity);
	if (!why)
		return 0;
	if (!run_only_watches(t->o))
		console_say(t->console,
		    "warning: '%s' is not preloaded, so the handler is injected: %s", t->shim, why);
	*t->shim = 0;
	return 0;
}

static int find(struct target *t, struct error *e)
{
	t->signal = INJECT_FIRST_SIGNAL;
	snprintf(t->name, sizeof(t->name), "%s", path_base(t->o->command[0]));
	return launch_find(t->o->command[0], t->executed, sizeof(t->executed), e) ||
		       launch_resolve(t->executed, t->path, sizeof(t->path), e) || find_shim(t, e)
		   ? -1
		   : 0;
}

static bool is_script(const char *path)
{
	char magic[2] = "";
	FILE *f = fopen(path, "re");

	if (f) {
		if (fread(magic, 1, 2, f) != 2)
			magic[0] = 0;
		fclose(f);
	}
	return magic[0] == '#' && magic[1] == '!';
}

/* The command's own file. The binaries of a script come with the exec of its children. */
static int open_main(struct target *t, struct error *e)
{
	struct file *file;

	if (is_script(t->path)) {
		if (t->files->scope.n_binaries)
			return 0;
		error_set(e, EXIT_USAGE,
		    "'%s' is a script, whose interpreter is hardly what is to be profiled",
		    t->path);
		return error_hint(
		    e, "name the binaries that it starts, for example -b '%%/%s'", "myprogram");
	}
	file = files_named(t->files, 0, t->path, t->path);
	if (!file)
		return error_set(e, EXIT_OTHER, "out of memory");
	return files_set_program(t->files, file, t->name, e) ||
		       files_open(t->files, file, &t->files->main_object, e)
		   ? -1
		   : 0;
}

static int read_lines(struct target *t, struct error *e)
{
	uint64_t start = monotonic_ns();
	struct files *f = t->files;
	size_t n = 0;

	if (open_main(t, e))
		return -1;
	if (!f->main_object || !scope_has_binary(&f->scope, t->path, true))
		return 0;
	mappings_decide_units(f, object_has_debug_info(f->main_object), 0);
	if (object_add_units(f->main_object, &f->scope, &f->lines, &n, e))
		return -1;
	if (!n && !f->scope.n_binaries)
		return files_fail_no_lines(f, e);
	if (t->o->verbose)
		console_say(t->console, "%zu %ss, %zu address ranges in scope, read in %.0f ms", n,
		    scope_unit(&f->scope, f->lines.lines[1].line), f->lines.n_ranges,
		    (double)(monotonic_ns() - start) / 1e6);
	return 0;
}

static int find_file(
    struct target *t, const char *path, const char *name, struct file **ret, struct error *e)
{
	char real[PATH_MAX];

	if (!realpath(path, real)) {
		error_set(e, EXIT_USAGE, "cannot open '%s' of progress point '%s': %s", path, name,
		    strerror(errno));
		return error_hint(e, "PATH is that of the binary which holds the symbol");
	}
	*ret = files_named(t->files, 0, real, real);
	return *ret ? 0 : error_set(e, EXIT_OTHER, "out of memory");
}

static int hold(struct target *t, const sigset_t *mask, bool with_counters, struct error *e)
{
	const struct launch_options o = {.argv = t->o->command,
	    .path = t->executed,
	    .shim = t->shim,
	    .signal = t->signal,
	    .quantum_ns = session_pause_mode(t->session)->quantum_ns,
	    .counters = with_counters,
	    .identity = &t->identity,
	    .mask = mask};

	if (launch_prepare(&o, &t->launch, e))
		return -1;
	t->claim_fd = owner_claim(t->launch.pid, e);
	if (t->claim_fd >= 0 &&
	    !session_add_process(t->session, t->launch.pid, t->launch.pidfd, t->o->command[0], e))
		return 0;
	return -1;
}

static int start(struct target *t, struct error *e)
{
	return launch_go(&t->launch, t->executed, e);
}

static void join(struct target *t, uint64_t now)
{
	(void)t;
	(void)now;
}

static bool has_ended(struct target *t)
{
	int status;
	pid_t pid = wait4(t->launch.pid, &status, WNOHANG, &t->usage);

	if (!pid)
		return false;
	t->ended_by = 0;
	t->exit_status = EXIT_OTHER;
	if (pid < 0) /* ECHILD: there is no status to wait for */
		return true;
	t->ended_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	t->exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

static bool has_stopped(struct target *t)
{
	siginfo_t info = {0};

	return !waitid(P_PID, (id_t)t->launch.pid, &info, WSTOPPED | WNOHANG) && info.si_pid;
}

static bool has_continued(struct target *t)
{
	siginfo_t info = {0};

	return !waitid(P_PID, (id_t)t->launch.pid, &info, WCONTINUED | WNOHANG) && info.si_pid;
}

/* By number it could go to somebody else: the command may have ended, and have been waited for. */
static void send(const struct target *t, int sig)
{
	syscall(SYS_pidfd_send_signal, t->launch.pidfd, sig, NULL, 0);
}

static void go_on(struct target *t)
{
	send(t, SIGCONT);
}

/* The terminal sends to its whole foreground group, the command included. Anybody else has sent to
 * us alone. */
static unsigned take_signal(struct target *t, const struct signalfd_siginfo *info)
{
	int sig = (int)info->ssi_signo;

	if (info->ssi_code <= 0 && (int)info->ssi_pid != t->launch.pid)
		send(t, sig);
	/* The terminal has stopped us together with the command, which goes on already. */
	if (sig == SIGCONT)
		return TARGET_SIGNAL_SPOILS;
	return sig == SIGINT || sig == SIGTERM || sig == SIGQUIT || sig == SIGHUP
		   ? TARGET_SIGNAL_ENDS
		   : 0;
}

/* A command begins in our group. */
static void watch_quotas(struct target *t)
{
	quota_watch(&t->quota, getpid());
}

static void leave(struct target *t)
{
	session_detach(t->session);
	handlers_take_back(t);
}

/* The number of a process that has ended may be somebody else's by now. */
static void send_to_member(const struct target *t, int pid, int sig)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return;
	if (session_has_process(t->session, fd))
		syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
	close(fd);
}

static void send_all(struct target *t, int sig)
{
	for (const struct process *p = t->processes; p; p = p->next)
		if (p->pid != t->launch.pid)
			send_to_member(t, p->pid, sig);
	send(t, sig);
}

static void release(struct target *t)
{
	if (t->claim_fd >= 0)
		close(t->claim_fd);
	t->claim_fd = -1;
	launch_deinit(&t->launch);
}

const struct target_ops target_launched = {
    .restarts = true,
    .find = find,
    .read_lines = read_lines,
    .find_file = find_file,
    .hold = hold,
    .start = start,
    .join = join,
    .has_ended = has_ended,
    .has_stopped = has_stopped,
    .has_continued = has_continued,
    .go_on = go_on,
    .take_signal = take_signal,
    .watch_quotas = watch_quotas,
    .leave = leave,
    .send = send_all,
    .release = release,
};
