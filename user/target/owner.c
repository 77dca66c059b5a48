// SPDX-License-Identifier: BSD-3-Clause
/* See owner.h. */
#include "target/owner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "target/procfs.h"

/* Names for a process, in order: another user may hold one of them just to be in the way. */
#define NAMES 16

/* A holder that has ended: how often it is looked whether the name is free, and after what time. */
#define GONE_LOOKS 500
#define GONE_US 10000

/* Process numbers are unique within their namespace. The start time tells a process from a later
 * one with its number. */
static socklen_t name_of(int pid, int i, struct sockaddr_un *ret)
{
	struct stat st = {0};

	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	stat("/proc/self/ns/pid", &st);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1,
			       "cozbpf/%" PRIu64 "/%d/%" PRIu64 "/%d", (uint64_t)st.st_ino, pid,
			       procfs_start(pid), i));
}

/* Who holds the name; pid 0: unknown. */
static struct ucred holder(const struct sockaddr_un *name, socklen_t size)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct ucred who = {0};
	socklen_t len = sizeof(who);

	if (fd < 0 || connect(fd, (const struct sockaddr *)name, size) ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
		who = (struct ucred){0};
	if (fd >= 0)
		close(fd);
	return who;
}

/* Whether that user may profile the process, as far as we can tell. */
static bool has_business(int pid, uid_t user)
{
	char name[32];
	struct stat st;

	snprintf(name, sizeof(name), "/proc/%d", pid);
	return !user || user == geteuid() || (!stat(name, &st) && st.st_uid == user);
}

/*
 * Takes the name. 0; or an errno, with who holds it. A cozbpf that was killed holds its names until
 * a child that it was just making has closed its copies (symbols/sandbox/). That is waited for, but
 * for nobody who is only in the way.
 */
static int take(
    int fd, int pid, const struct sockaddr_un *name, socklen_t size, struct ucred *owner)
{
	for (int looks = 0;; looks++) {
		int err = bind(fd, (const struct sockaddr *)name, size) || listen(fd, SOMAXCONN)
			      ? errno
			      : 0;

		*owner = err == EADDRINUSE ? holder(name, size) : (struct ucred){0};
		if (!owner->pid || !has_business(pid, owner->uid) ||
		    procfs_live_thread(owner->pid) || looks == GONE_LOOKS)
			return err;
		usleep(GONE_US);
	}
}

static int refuse(int pid, const struct ucred *owner, struct error *e)
{
	char comm[32];

	error_set(e, EXIT_FORBIDDEN, "process %d is being profiled already, by process %d (%s)",
	    pid, owner->pid, procfs_comm(owner->pid, comm, sizeof(comm)));
	return error_hint(e, "wait until it has ended, or end it: kill -INT %d", owner->pid);
}

int owner_claim(int pid, struct error *e)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
	    err = fd < 0 ? errno : EADDRINUSE;

	for (int i = 0; fd >= 0 && err == EADDRINUSE && i < NAMES; i++) {
		struct sockaddr_un name;
		socklen_t size = name_of(pid, i, &name);
		struct ucred owner;

		err = take(fd, pid, &name, size, &owner);
		if (!err)
			return fd;
		if (owner.pid && has_business(pid, owner.uid)) {
			close(fd);
			return refuse(pid, &owner, e);
		}
	}
	if (fd >= 0)
		close(fd);
	/* others are in the way, of this process alone */
	error_set(e, err == EADDRINUSE ? EXIT_FORBIDDEN : EXIT_OTHER, "cannot claim process %d: %s",
	    pid, strerror(err));
	return error_hint_files(e, err);
}

void owner_answer(int fd)
{
	for (int i = 0; i < SOMAXCONN; i++) {
		int asked = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

		if (asked < 0)
			return;
		close(asked);
	}
}
