// SPDX-License-Identifier: BSD-3-Clause
/* Our side of a sandbox: starts the reader, opens what it asks for, takes its answer, and says how
 * it ended; see sandbox.h. */
#include "symbols/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "symbols/sandbox/messages.h"
#include "symbols/sandbox/reader.h"

/* Crafted files take time and memory in proportion to their size, and less of both than this. */
#define MEMORY (4ULL << 30)
#define MEMORY_PER_BYTE 16
#define CPU_S 60
#define BYTES_PER_CPU_S (1 << 20)
/* A disk may be slow, and the machine busy: so many times the CPU time may pass, and more. */
#define WALL_FACTOR 2
#define WALL_S 240
/* Bytes of an answer: ranges of 24 bytes for a few bytes of a line table, which may be compressed.
 */
#define ANSWER (64ULL << 20)
#define ANSWER_PER_BYTE 32

#define STOP_MS 5
#define WAIT_MS 1000
#define PIPE_BYTES (1 << 20) /* fewer turns than with 64 KiB */

enum outcome { READ, STOPPED, TOO_LONG, NONSENSE, ENDED };

struct reading {
	const struct sandbox *s;
	struct reader_ends limits;
	pid_t pid;
	int answers, requests;
	struct frame frame;
	size_t got; /* of the frame, then of the bytes behind it */
	struct in in;
};

static bool unfiltered; /* set by any thread */

bool sandbox_is_unfiltered(void)
{
	return __atomic_load_n(&unfiltered, __ATOMIC_RELAXED);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* One request. False: it is none. */
static bool serve(const struct reading *r)
{
	char path[REQUEST_SIZE];
	ssize_t n = recv(r->requests, path, sizeof(path), MSG_DONTWAIT);
	struct opened reply = {"it may not be opened"};
	union one_descriptor control = {0};
	struct iovec out = {&reply, sizeof(reply)};
	struct msghdr answer = {.msg_iov = &out, .msg_iovlen = 1};
	int fd = -1;

	if (n <= 0) /* 0: the reader has ended */
		return !n || errno == EAGAIN || errno == EINTR || errno == ECONNRESET;
	if (n < 2 || path[n - 1])
		return false;
	if (r->s->open)
		fd = r->s->open(r->s->ctx, path, reply.why, sizeof(reply.why));
	if (fd >= 0) {
		struct cmsghdr *c;

		answer.msg_control = control.bytes;
		answer.msg_controllen = CMSG_SPACE(sizeof(fd));
		c = CMSG_FIRSTHDR(&answer);
		*c = (struct cmsghdr){CMSG_LEN(sizeof(fd)), SOL_SOCKET, SCM_RIGHTS};
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	n = sendmsg(r->requests, &answer, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (fd >= 0)
		close(fd);
	return n == sizeof(reply);
}

static bool frame_is_good(struct reading *r)
{
	uint64_t most = ANSWER + r->s->bytes * ANSWER_PER_BYTE;

	if (r->frame.is_error > 1 ||
	    (r->frame.is_error ? r->frame.size != sizeof(struct error) : r->frame.size > most))
		return false;
	r->in.n = (size_t)r->frame.size;
	r->in.data = malloc(r->in.n ? r->in.n : 1);
	return r->in.data;
}

static bool is_whole(const struct reading *r)
{
	return r->in.data && r->got == sizeof(r->frame) + r->in.n;
}

/* Takes what has come of the answer: READ when that is all of it, or some. */
static enum outcome take(struct reading *r)
{
	char *to = (char *)&r->frame + r->got;
	size_t left = sizeof(r->frame) - r->got;
	ssize_t n;

	if (r->in.data) {
		to = (char *)r->in.data + (r->got - sizeof(r->frame));
		left = sizeof(r->frame) + r->in.n - r->got;
	}
	n = read(r->answers, to, left);
	if (n < 0 && errno == EINTR)
		return READ;
	if (n <= 0)
		return ENDED;
	r->got += (size_t)n;
	if (r->got == sizeof(r->frame) && !r->in.data && !frame_is_good(r))
		return NONSENSE;
	return READ;
}

static enum outcome follow(struct reading *r)
{
	uint64_t end = now_ms() + 1000 * (WALL_FACTOR * (uint64_t)r->limits.cpu_s + WALL_S);
	struct pollfd fds[] = {{r->answers, POLLIN, 0}, {r->requests, POLLIN, 0}};
	enum outcome how = READ;
	uint64_t asked = 0, now;

	while (how == READ && !is_whole(r)) {
		now = now_ms();
		if (now > end)
			return TOO_LONG;
		if (r->s->stop && now - asked >= STOP_MS) {
			asked = now;
			if (r->s->stop(r->s->ctx))
				return STOPPED;
		}
		if (poll(fds, 2, r->s->stop ? STOP_MS : WAIT_MS) <= 0)
			continue;
		/* An answer comes after all requests. */
		if (fds[1].revents & POLLIN && !serve(r))
			return NONSENSE;
		if (fds[1].revents & (POLLHUP | POLLERR))
			fds[1].fd = -1;
		if (fds[0].revents)
			how = take(r);
	}
	return how;
}

/* Waits for the end of a reader whose pipe is closed. It has 100 ms, and then is ended. */
static enum outcome wait_for_end(pid_t pid, enum outcome how, int *status)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	pid_t ended = 0;

	for (int i = 0; how == ENDED && i < 100 && !ended; i++) {
		ended = waitpid(pid, status, WNOHANG);
		if (!ended)
			nanosleep(&pause, NULL);
	}
	if (ended)
		return how;
	kill(pid, SIGKILL);
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
	return how == ENDED ? NONSENSE : how;
}

int sandbox_distrust(const char *what, struct error *e)
{
	error_set(
	    e, EXIT_NO_RESULT, "reading '%s' failed: the reader's answer makes no sense", what);
	return error_hint(e, SANDBOX_HINT);
}

static const char *signal_name(int sig)
{
	static const struct {
		int sig;
		const char *name;
	} names[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGILL, "SIGILL"},
	    {SIGFPE, "SIGFPE"}, {SIGABRT, "SIGABRT"}, {SIGSYS, "SIGSYS"}, {SIGTRAP, "SIGTRAP"},
	    {SIGKILL, "SIGKILL"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].sig == sig)
			return names[i].name;
	return "another signal";
}

static int explain(const struct reading *r, enum outcome how, int status, struct error *e)
{
	int sig = how == ENDED && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	const char *what = r->s->what;

	if (how == STOPPED)
		return error_set(e, EXIT_OTHER,
		    "the debug information of '%s' was not read to its end: a signal came", what);
	if (how == TOO_LONG)
		error_set(e, EXIT_NO_RESULT, "reading '%s' did not end in %u s", what,
		    WALL_FACTOR * r->limits.cpu_s + WALL_S);
	else if (sig == SIGXCPU)
		error_set(e, EXIT_NO_RESULT,
		    "reading '%s' failed: the reader was stopped after %u s of CPU time", what,
		    r->limits.cpu_s);
	else if (how == ENDED && WIFEXITED(status) && WEXITSTATUS(status) == READER_NOT_CONFINED)
		return error_set(e, EXIT_OTHER,
		    "reading '%s' failed: the reader could not give its rights up", what);
	else if (sig)
		error_set(e, EXIT_NO_RESULT, "reading '%s' failed: the reader %s (%s)", what,
		    sig == SIGKILL ? "was killed" : "crashed", signal_name(sig));
	else
		return sandbox_distrust(what, e);
	return error_hint(e, SANDBOX_HINT);
}

/* The reader's own error, as far as it is one. */
static int pass_on(const struct reading *r, struct error *e)
{
	struct error theirs;

	memcpy(&theirs, r->in.data, sizeof(theirs));
	if (theirs.status <= EXIT_OK || theirs.status > EXIT_NO_RESULT ||
	    !memchr(theirs.cause, 0, sizeof(theirs.cause)) ||
	    !memchr(theirs.hint, 0, sizeof(theirs.hint)))
		return sandbox_distrust(r->s->what, e);
	if (e)
		*e = theirs;
	return -1;
}

/*
 * Waits until the reader has closed our descriptors, or has ended. Killed while it closes the last
 * one of a probe, it would leave the probe's breakpoints where they are: the kernel gives up on
 * removing them for a process that is to die.
 */
static void wait_for_confinement(const struct reading *r)
{
	char byte;

	while (read(r->answers, &byte, 1) < 0 && errno == EINTR)
		;
}

/* The child inherits that all signals are blocked, until it is ready for some. */
static int start(struct reading *r, sandbox_work *work, void *arg)
{
	int answers[2], requests[2], err = 0;
	struct reader_ends ends = r->limits;
	sigset_t all, before;

	if (pipe2(answers, O_CLOEXEC))
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, requests)) {
		err = -errno;
		close(answers[0]);
		close(answers[1]);
		return err;
	}
	fcntl(answers[0], F_SETPIPE_SZ, PIPE_BYTES);
	ends.parent = getpid();
	ends.answers = answers[1];
	ends.requests = requests[1];
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	r->pid = fork();
	if (!r->pid)
		reader_main(r->s, &ends, work, arg);
	if (r->pid < 0)
		err = -errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(answers[1]);
	close(requests[1]);
	r->answers = answers[0];
	r->requests = requests[0];
	if (!err)
		wait_for_confinement(r);
	return err;
}

int sandbox_run(
    const struct sandbox *s, sandbox_work *work, void *arg, struct in *ret, struct error *e)
{
	struct reading r = {.s = s, .answers = -1, .requests = -1};
	enum outcome how = ENDED;
	int err, status = 0;

	r.limits.memory = s->memory ? s->memory : MEMORY + s->bytes * MEMORY_PER_BYTE;
	r.limits.cpu_s = s->cpu_s ? s->cpu_s : CPU_S + (unsigned)(s->bytes / BYTES_PER_CPU_S);
	err = start(&r, work, arg);
	if (!err)
		how = wait_for_end(r.pid, follow(&r), &status);
	if (r.answers >= 0)
		close(r.answers);
	if (r.requests >= 0)
		close(r.requests);
	if (err)
		err = error_set(
		    e, EXIT_OTHER, "cannot start a reader of '%s': %s", s->what, strerror(-err));
	else if (how != READ)
		err = explain(&r, how, status, e);
	else if (r.frame.is_error)
		err = pass_on(&r, e);
	if (how == READ && !r.frame.is_filtered)
		__atomic_store_n(&unfiltered, true, __ATOMIC_RELAXED);
	if (err)
		in_free(&r.in);
	else
		*ret = r.in;
	return err;
}
