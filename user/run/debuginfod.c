// SPDX-License-Identifier: BSD-3-Clause
/* Our side of the fetching: asks the process of debuginfod_server.c, and waits, with a limit. */
#include "run/debuginfod.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/text/paths.h"
#include "run/clock.h"
#include "run/debuginfod_private.h"
#include "run/interrupt.h"
#include "symbols/elf/debuginfod.h"
#include "symbols/symbols.h"

#define URLS "DEBUGINFOD_URLS"
#define S_NS ((uint64_t)1000000000)
/* In all, once the target runs: what is in the cache comes in some 10 ms. */
#define HURRIED_NS (3 * S_NS / 10)
/* Until the user is told what we wait for. */
#define SILENT_NS (S_NS / 2)
#define WAIT_MS 50

enum outcome { FETCHED, FAILED, LATE, LEFT };

static bool is_set(void)
{
	const char *urls = getenv(URLS);

	return urls && urls[strspn(urls, " ")];
}

/* One message, if any has come. *@fd: the descriptor with it, or -1. False: there is none. */
static bool take(const struct debuginfod *d, struct fetch_reply *ret, int *fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec in = {ret, sizeof(*ret)};
	struct msghdr m = {.msg_iov = &in,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *c;

	*fd = -1;
	if (recvmsg(d->socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != sizeof(*ret))
		return false;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return true;
}

/* Ctrl-C before the target runs is for the wait alone. */
static bool take_interrupt(const struct debuginfod *d)
{
	const struct timespec now = {0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	return !d->hurried && sigtimedwait(&set, NULL, &now) == SIGINT;
}

static void show(
    const struct debuginfod *d, const char *name, const struct fetch_reply *r, uint64_t waited)
{
	char size[64] = "", text[256];

	if (waited < SILENT_NS)
		return;
	if (r->of)
		snprintf(size, sizeof(size), ", %.1f of %.1f MB", (double)r->bytes / 1e6,
		    (double)r->of / 1e6);
	snprintf(text, sizeof(text), "debuginfod: '%.80s'%s, %" PRIu64 " s; Ctrl-C: go on without",
	    name, size, waited / S_NS);
	console_waits(d->console, text);
}

/* Waits for the answer to the latest request. *@ret has it, and *@fd the file. */
static enum outcome wait_for_answer(
    struct debuginfod *d, const char *name, struct fetch_reply *ret, int *fd)
{
	uint64_t start = monotonic_ns(), end = start + d->left_ns, now = start;
	struct pollfd p = {.fd = d->socket, .events = POLLIN};

	for (;;) {
		if (take_interrupt(d) || is_to_end())
			return LEFT;
		poll(&p, 1, now < end ? WAIT_MS : 0);
		if (p.revents & (POLLHUP | POLLERR) && !(p.revents & POLLIN))
			return FAILED;
		if (take(d, ret, fd)) {
			bool is_ours = ret->number == d->asked;

			if (is_ours && ret->state != FETCH_COMING)
				return *fd >= 0 ? FETCHED : FAILED;
			if (*fd >= 0)
				close(*fd);
			*fd = -1;
			if (is_ours)
				show(d, name, ret, now - start);
		}
		now = monotonic_ns();
		if (now >= end)
			return LATE;
	}
}

static bool is_usual(enum outcome how, int err)
{
	return how == FETCHED || (how == FAILED && err == ENOENT);
}

/* What is wrong once: the next files are likely to meet with the same. */
static void tell(struct debuginfod *d, enum outcome how, const char *name, int err)
{
	if (is_usual(how, err)) {
		if (d->verbose)
			console_say(d->console, "debuginfod has %s debug file of '%s'",
			    how == FETCHED ? "the" : "no", name);
		return;
	}
	if (d->told)
		return;
	d->told = true;
	if (how == FAILED && err == ENOSYS)
		console_say(d->console,
		    "warning: " URLS " is set, but libdebuginfod is not installed; hint: "
		    "apt install libdebuginfod1");
	else if (how == FAILED)
		console_say(d->console, "warning: debuginfod gives no debug file of '%s': %s", name,
		    err ? strerror(err) : "its process has ended");
	else
		console_say(d->console,
		    "debuginfod: going on without the debug file of '%s'; what is downloaded "
		    "meanwhile the next run will find",
		    name);
}

static int fetch(void *ctx, const char *build_id, const char *path)
{
	struct debuginfod *d = ctx;
	struct fetch_request request = {.number = ++d->asked};
	struct fetch_reply answer = {0};
	const char *name = path_base(path);
	uint64_t start = monotonic_ns(), took;
	enum outcome how = FAILED;
	sigset_t set, before;
	int fd = -1;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	snprintf(request.build_id, sizeof(request.build_id), "%s", build_id);
	if (send(d->socket, &request, sizeof(request), MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
		how = wait_for_answer(d, name, &answer, &fd);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	took = monotonic_ns() - start;
	d->left_ns = took < d->left_ns && is_usual(how, answer.err) ? d->left_ns - took : 0;
	console_clear_progress(d->console);
	tell(d, how, name, answer.err);
	return fd;
}

void debuginfod_start(struct debuginfod *d, struct console *console, bool verbose, unsigned wait_s)
{
	int ends[2];
	pid_t pid;

	*d = (struct debuginfod){.console = console, .verbose = verbose, .left_ns = wait_s * S_NS};
	if (!is_set() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return;
	pid = fork();
	if (!pid)
		fetch_serve(ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return;
	}
	d->socket = ends[0];
	d->pid = pid;
	debug_files_from(fetch, d);
}

void debuginfod_hurry(struct debuginfod *d)
{
	d->hurried = true;
	if (d->left_ns > HURRIED_NS)
		d->left_ns = HURRIED_NS;
}

void debuginfod_stop(struct debuginfod *d)
{
	if (d->pid <= 0)
		return;
	debug_files_from(NULL, NULL);
	/* Whoever has it from a fork of ours does not keep the process. */
	shutdown(d->socket, SHUT_RDWR);
	close(d->socket);
	waitpid(d->pid, NULL, 0);
	*d = (struct debuginfod){0};
}

void debuginfod_check(struct finding *ret)
{
	ret->name = "debuginfod";
	if (!is_set()) {
		finding_set(ret, FINDING_OK, URLS " is not set: debug files have to be installed");
	} else if (debuginfod_load()) {
		finding_set(ret, FINDING_OK,
		    URLS " is set: debug files that are not installed are fetched");
	} else {
		finding_set(
		    ret, FINDING_WARNING, URLS " is set, but libdebuginfod cannot be loaded");
		finding_hint(ret, "apt install libdebuginfod1");
	}
}
