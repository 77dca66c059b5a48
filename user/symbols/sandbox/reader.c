// SPDX-License-Identifier: BSD-3-Clause
/* The reader's side of a sandbox; see sandbox.h. */
#include "symbols/sandbox/reader.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "symbols/sandbox/messages.h"

static int requests = -1;

int sandbox_open(const char *root, const char *path, char *why, size_t size)
{
	struct opened reply = {0};
	union one_descriptor control = {0};
	struct iovec out = {(void *)path, strlen(path) + 1}, in = {&reply, sizeof(reply)};
	struct msghdr ask = {.msg_iov = &out, .msg_iovlen = 1};
	struct msghdr answer = {.msg_iov = &in,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *c;
	int fd = -1;

	(void)root;
	if (out.iov_len > REQUEST_SIZE || sendmsg(requests, &ask, MSG_NOSIGNAL) < 0 ||
	    recvmsg(requests, &answer, 0) != sizeof(reply)) {
		snprintf(why, size, "it cannot be asked for");
		return -1;
	}
	c = CMSG_FIRSTHDR(&answer);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	else
		snprintf(why, size, "%s", reply.why);
	return fd;
}

static bool write_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t written = write(fd, p, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		p += written;
		n -= (size_t)written;
	}
	return true;
}

static void answer(int fd, bool is_filtered, bool is_error, const void *data, size_t n)
{
	const struct frame frame = {is_error, is_filtered, n};

	if (write_all(fd, &frame, sizeof(frame)))
		write_all(fd, data, n);
}

/* A limit is the only reason for which memory is short here. */
static void answer_error(const struct sandbox *s, const struct reader_ends *ends, bool is_filtered,
    bool no_memory, struct error *e)
{
	if (no_memory || !strncmp(e->cause, "out of memory", strlen("out of memory"))) {
		error_set(e, EXIT_NO_RESULT, "reading '%s' failed: it needed more than %llu MB",
		    s->what, (unsigned long long)(ends->memory >> 20));
		error_hint(e, SANDBOX_HINT);
	}
	answer(ends->answers, is_filtered, true, e, sizeof(*e));
}

void reader_main(
    const struct sandbox *s, const struct reader_ends *ends, sandbox_work *work, void *arg)
{
	int keep[SANDBOX_FILES + 2] = {ends->answers, ends->requests};
	struct confinement c = {keep, 2, ends->memory, ends->cpu_s, ends->parent};
	bool is_filtered = false;
	struct error e = {0};
	struct out out = {0};

	prctl(PR_SET_NAME, "reader", 0, 0, 0);
	for (size_t i = 0; i < s->n_files && i < SANDBOX_FILES; i++)
		keep[c.n_keep++] = s->files[i];
	if (confine(&c, &is_filtered))
		_exit(READER_NOT_CONFINED);
	write_all(ends->answers, READER_CONFINED, 1);
	requests = ends->requests;
	if (work(arg, &out, &e) || out.failed)
		answer_error(s, ends, is_filtered, out.failed, &e);
	else
		answer(ends->answers, is_filtered, false, out.data, out.n);
	_exit(0);
}
