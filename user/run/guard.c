// SPDX-License-Identifier: BSD-3-Clause
/* Asking the machine and the user's command; see guard.h. */
#include "run/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run/console.h"
#include "target/descriptors.h"
#include "target/identity.h"

/* in which the command has to answer; a guard that takes longer is no help in a series of 5 s */
#define ANSWER_NS 5000000000ULL
/* ms that one that was killed is waited for */
#define MOMENTS 100
/* The command's statuses, as those of test and grep: it is so, so pause; it is not; else an error.
 */
#define STATUS_PAUSE 0
#define STATUS_GO_ON 1
/* the shell's, of a command that cannot be run */
#define STATUS_NO_COMMAND 127

/* Above what was asked for, or not known. */
static bool is_loaded(const struct guard *g)
{
	FILE *in = g->load_most > 0 ? fopen("/proc/loadavg", "re") : NULL;
	double load;
	bool is_known;

	if (g->load_most <= 0)
		return false;
	is_known = in && fscanf(in, "%lf", &load) == 1;
	if (in)
		fclose(in);
	return !is_known || load > g->load_most;
}

/* In a process group of its own: its children end with it. What it says is not to spoil the live
 * view. */
static void execute(const struct guard *g)
{
	int none = open("/dev/null", O_RDWR);

	setpgid(0, 0);
	if (none < 0 || dup2(none, STDIN_FILENO) < 0 || dup2(none, STDOUT_FILENO) < 0 ||
	    (console_has_view(g->console) && dup2(none, STDERR_FILENO) < 0) ||
	    identity_assume(g->identity))
		_exit(STATUS_NO_COMMAND);
	descriptors_put_back();
	sigprocmask(SIG_SETMASK, g->mask, NULL);
	execl("/bin/sh", "sh", "-c", g->command, NULL);
	_exit(STATUS_NO_COMMAND);
}

static void warn(struct guard *g, const char *what)
{
	if (!g->has_warned)
		console_say(g->console,
		    "warning: '%s' %s, so no experiments are made; it is to exit with 0 to pause "
		    "them and with 1 to have them made",
		    g->command, what);
	g->has_warned = true;
}

static void answer(struct guard *g, bool may)
{
	g->may = may;
	g->is_answered = true;
}

static void start(struct guard *g)
{
	g->pid = fork();
	if (!g->pid)
		execute(g);
	if (g->pid > 0)
		setpgid(g->pid, g->pid);
	g->pidfd = g->pid > 0 ? (int)syscall(SYS_pidfd_open, g->pid, 0) : -1;
	if (g->pid > 0)
		return;
	g->pid = 0;
	warn(g, "cannot be run");
	answer(g, false);
}

/* Whether what was killed has not gone yet. */
static bool is_stuck(struct guard *g)
{
	if (g->killed && waitpid(g->killed, NULL, WNOHANG))
		g->killed = 0;
	return g->killed;
}

/* Kills what runs. It may take its time to go, as one that waits for a disk. */
static void end(struct guard *g)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	if (!g->pid)
		return;
	kill(-g->pid, SIGKILL);
	kill(g->pid, SIGKILL);
	g->killed = g->pid;
	for (int i = 0; i < MOMENTS && is_stuck(g); i++)
		nanosleep(&moment, NULL);
	if (g->pidfd >= 0)
		close(g->pidfd);
	g->pid = 0;
}

static void take_status(struct guard *g, int status)
{
	bool pauses = WIFEXITED(status) && WEXITSTATUS(status) == STATUS_PAUSE,
	     goes_on = WIFEXITED(status) && WEXITSTATUS(status) == STATUS_GO_ON;

	if (g->pidfd >= 0)
		close(g->pidfd);
	g->pid = 0;
	if (!pauses && !goes_on)
		warn(g, WIFEXITED(status) ? "has failed" : "was killed");
	answer(g, goes_on);
}

void guard_ask(struct guard *g, uint64_t now)
{
	if (g->pid)
		return;
	g->asked_ns = now;
	g->is_answered = false;
	if (is_loaded(g) || is_stuck(g))
		answer(g, false);
	else if (g->command)
		start(g);
	else
		answer(g, true);
}

enum duty_guard guard_answer(struct guard *g, uint64_t now)
{
	int status;

	if (g->pid && waitpid(g->pid, &status, WNOHANG) == g->pid) {
		take_status(g, status);
	} else if (g->pid && now > g->asked_ns + ANSWER_NS) {
		end(g);
		warn(g, "takes more than five seconds");
		answer(g, false);
	}
	if (!g->is_answered)
		return DUTY_GUARD_OPEN;
	return g->may ? DUTY_GUARD_YES : DUTY_GUARD_NO;
}

uint64_t guard_next(const struct guard *g)
{
	return g->pid ? g->asked_ns + ANSWER_NS + 1 : UINT64_MAX;
}

int guard_fd(const struct guard *g)
{
	return g->pid ? g->pidfd : -1;
}

void guard_deinit(struct guard *g)
{
	end(g);
}
