// SPDX-License-Identifier: BSD-3-Clause
/* See owner.h. */
#include "target/owner.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "target/procfs.h"

/* Process numbers are unique within their namespace. The start time tells a process from a later
 * one with its number. */
static socklen_t name_of(int pid, struct sockaddr_un *ret)
{
	struct stat st = {0};

	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	stat("/proc/self/ns/pid", &st);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1,
			       "cozbpf/%" PRIu64 "/%d/%" PRIu64, (uint64_t)st.st_ino, pid,
			       procfs_start(pid)));
}

/* The process that holds the name; 0: unknown. */
static int holder(const struct sockaddr_un *name, socklen_t size)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), pid = 0;
	socklen_t len;
	struct ucred who;

	len = sizeof(who);
	if (fd >= 0 && !connect(fd, (const struct sockaddr *)name, size) &&
	    !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
		pid = who.pid;
	if (fd >= 0)
		close(fd);
	return pid;
}

int owner_claim(int pid, struct error *e)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), owner;
	struct sockaddr_un name;
	socklen_t size = name_of(pid, &name);
	char comm[32];

	if (fd >= 0 && !bind(fd, (const struct sockaddr *)&name, size) && !listen(fd, 1))
		return fd;
	if (fd < 0 || errno != EADDRINUSE) {
		int err = errno;

		if (fd >= 0)
			close(fd);
		error_set(e, EXIT_OTHER, "cannot claim process %d: %s", pid, strerror(err));
		return error_hint_files(e, err);
	}
	close(fd);
	owner = holder(&name, size);
	error_set(e, EXIT_FORBIDDEN, "process %d is being profiled already, by process %d (%s)",
	    pid, owner, procfs_comm(owner, comm, sizeof(comm)));
	return error_hint(e, "wait until it has ended, or end it: kill -INT %d", owner);
}
