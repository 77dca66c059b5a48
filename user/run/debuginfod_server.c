// SPDX-License-Identifier: BSD-3-Clause
/* The process that fetches debug files, one child for each. */
#include "run/debuginfod_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "symbols/elf/debuginfod.h"
#include "symbols/elf/privileges.h"
#include "target/identity.h"

/* Downloads at the same time. */
#define MAX_WORKERS 8
/* A server may send without an end. */
#define MAX_BYTES (4ULL << 30)
#define REPORT_MS 200
/* Ours, behind the standard streams. */
#define SOCKET 3

/* Of a worker, for on_progress(). */
static struct fetch_reply coming;
static uint64_t reported_ms;

static void reply(const struct fetch_reply *r, int fd, int flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct iovec out = {(void *)r, sizeof(*r)};
	struct msghdr m = {.msg_iov = &out, .msg_iovlen = 1};

	if (fd >= 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		*CMSG_FIRSTHDR(&m) = (struct cmsghdr){CMSG_LEN(sizeof(fd)), SOL_SOCKET, SCM_RIGHTS};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &fd, sizeof(fd));
	}
	sendmsg(SOCKET, &m, MSG_NOSIGNAL | flags);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool on_progress(uint64_t bytes, uint64_t of)
{
	struct pollfd asker = {.fd = SOCKET};
	uint64_t now = now_ms();

	if (poll(&asker, 1, 0) > 0)
		return true;
	if (now - reported_ms < REPORT_MS)
		return false;
	reported_ms = now;
	coming.bytes = bytes;
	coming.of = of;
	reply(&coming, -1, MSG_DONTWAIT);
	return false;
}

static void fetch(const struct fetch_request *request)
{
	struct fetch_reply r = {.number = request->number, .state = FETCH_FAILED};
	int fd;

	coming = (struct fetch_reply){.number = request->number, .state = FETCH_COMING};
	fd = debuginfod_fetch(request->build_id, on_progress);
	if (fd >= 0)
		r.state = FETCH_DONE;
	else
		r.err = -fd;
	reply(&r, fd, 0);
}

/* As the invoking user, without capabilities. Answers are no longer for the terminal. */
static bool give_up_rights(int socket)
{
	int null;
	struct rlimit files;
	struct identity id;
	struct error e;

	dup2(socket, SOCKET);
	null = open("/dev/null", O_RDWR);
	if (null < 0 || getrlimit(RLIMIT_FSIZE, &files))
		return false;
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	/* What an older kernel leaves open does no harm: no probe is set yet. */
	syscall(SYS_close_range, SOCKET + 1, ~0U, 0);
	if (files.rlim_cur > MAX_BYTES)
		files.rlim_cur = MAX_BYTES;
	if (setrlimit(RLIMIT_FSIZE, &files) || identity_resolve(NULL, &id, &e) ||
	    identity_assume(&id))
		return false;
	privileges_drop();
	return true;
}

/* Signals of a terminal are blocked, and no error of write() ends us. */
static void set_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

void fetch_serve(int socket)
{
	struct fetch_request request;
	unsigned workers = 0;

	prctl(PR_SET_NAME, "debuginfod", 0, 0, 0);
	set_signals();
	if (!give_up_rights(socket))
		_exit(1);
	debuginfod_load();
	while (recv(SOCKET, &request, sizeof(request), 0) == sizeof(request)) {
		struct fetch_reply busy = {request.number, FETCH_FAILED, EAGAIN, 0, 0};
		pid_t worker = -1;

		while (workers && waitpid(-1, NULL, WNOHANG) > 0)
			workers--;
		if (workers < MAX_WORKERS)
			worker = fork();
		if (!worker) {
			fetch(&request);
			_exit(0);
		}
		if (worker > 0)
			workers++;
		else
			reply(&busy, -1, 0);
	}
	_exit(0);
}
