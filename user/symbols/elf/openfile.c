// SPDX-License-Identifier: BSD-3-Clause
/* Files that a target names are found within its root, and looked at before they are opened; see
 * openfile.h. */
#include "symbols/elf/openfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "symbols/elf/privileges.h"

/* Sections of 32-bit DWARF end at 4 GiB, and the debug files of the largest browsers have 5 GiB.
 * The checksum of a sparse file of this size is there in a minute. */
#define MAX_BYTES (16LL << 30)
/* A rename anywhere makes the kernel give up a path with ".." in it. */
#define TRIES 16

/* Within the root also the links of /proc are refused, which lead anywhere. */
static int find_in(int root, const char *path, uint64_t flags)
{
	struct open_how how = {.flags = flags, .resolve = RESOLVE_IN_ROOT};
	int fd = -1;

	for (int i = 0; i < TRIES; i++) {
		fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd;
}

/* @flags: O_NOFOLLOW, or 0. */
static int find(const char *root, const char *path, int flags)
{
	size_t n = strlen(root);
	int at, fd, err;

	flags |= O_PATH | O_CLOEXEC;
	if (!n || strncmp(path, root, n) || path[n] != '/')
		return open(path, flags);
	at = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = at < 0 ? -1 : find_in(at, path + n, (uint64_t)flags);
	err = errno;
	if (at >= 0)
		close(at);
	errno = err;
	return fd;
}

static int find_with_rights(const char *root, const char *path, int flags)
{
	int fd, err;

	privileges_borrow();
	fd = find(root, path, flags);
	err = errno;
	privileges_return();
	errno = err;
	return fd;
}

int file_find(const char *root, const char *path)
{
	return find_with_rights(root, path, 0);
}

/* To read some of these files is an act: /proc/kmsg and trace_pipe give each byte once. */
static bool is_made_up(int fd)
{
	static const uint32_t kinds[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC,
	    TRACEFS_MAGIC, SECURITYFS_MAGIC, SELINUX_MAGIC, BPF_FS_MAGIC, CGROUP_SUPER_MAGIC,
	    CGROUP2_SUPER_MAGIC, EFIVARFS_MAGIC, PSTOREFS_MAGIC};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if ((uint32_t)fs.f_type == kinds[i])
			return true;
	return false;
}

int file_check(int fd, char *why, size_t size)
{
	struct stat st;

	if (fstat(fd, &st))
		snprintf(why, size, "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		snprintf(why, size, "it is not a regular file");
	else if (is_made_up(fd))
		snprintf(why, size, "it is a file of the kernel's, not of a disk");
	else if (st.st_size > MAX_BYTES)
		snprintf(why, size, "it has more than %lld GiB", MAX_BYTES >> 30);
	else
		return 0;
	return -1;
}

/* Opens what @found stands for: whatever the path names by now is not looked at again. */
static int open_found(int found, char *why, size_t size)
{
	char path[64];
	int fd;

	if (file_check(found, why, size))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		snprintf(why, size, "%s", strerror(errno));
	return fd;
}

/* Takes @found over. */
static int open_with_rights(int found, char *why, size_t size)
{
	int fd;

	if (found < 0) {
		snprintf(why, size, "%s",
		    errno == ENOSYS ? "this kernel lacks openat2(), which Linux 5.6 brought"
				    : strerror(errno));
		return -1;
	}
	privileges_borrow();
	fd = open_found(found, why, size);
	privileges_return();
	close(found);
	return fd;
}

int file_open(const char *root, const char *path, char *why, size_t size)
{
	return open_with_rights(file_find(root, path), why, size);
}

int file_open_owned(const char *root, const char *path, uid_t owner, char *why, size_t size)
{
	int fd = open_with_rights(find_with_rights(root, path, O_NOFOLLOW), why, size);
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && st.st_uid == owner && st.st_nlink == 1))
		return fd;
	snprintf(
	    why, size, "it %s", st.st_uid == owner ? "has several names" : "is another user's");
	close(fd);
	return -1;
}
