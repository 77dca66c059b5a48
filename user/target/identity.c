// SPDX-License-Identifier: BSD-3-Clause
/* See identity.h. */
#include "target/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* more than any user has; the kernel allows 65536 */
#define MAX_GROUPS 1024

static const struct passwd *find_user(const char *user)
{
	const struct passwd *p = getpwnam(user);
	unsigned long uid;
	char *end;

	if (p || *user < '0' || *user > '9')
		return p;
	errno = 0;
	uid = strtoul(user, &end, 10);
	/* A larger one would be taken for another user, 2^32 for root. */
	return !*end && !errno && uid < UINT32_MAX ? getpwuid((uid_t)uid) : NULL;
}

static const char *const callers[] = {"SUDO_UID", "PKEXEC_UID", "DOAS_USER"};

int identity_resolve(const char *user, struct identity *ret, struct error *e)
{
	const struct passwd *p;

	memset(ret, 0, sizeof(*ret));
	ret->uid = geteuid();
	ret->gid = getegid();
	/* Who has become root by one of these is not to find files of root's. */
	for (size_t i = 0; !user && ret->uid == 0 && i < sizeof(callers) / sizeof(*callers); i++)
		user = getenv(callers[i]);
	if (!user)
		return 0;
	p = find_user(user);
	if (!p) {
		error_set(e, EXIT_USAGE, "there is no user '%s'", user);
		return error_hint(e, "name one with --user, for example --user root");
	}
	ret->change = p->pw_uid != ret->uid;
	ret->uid = p->pw_uid;
	ret->gid = p->pw_gid;
	snprintf(ret->name, sizeof(ret->name), "%s", p->pw_name);
	snprintf(ret->home, sizeof(ret->home), "%s", p->pw_dir);
	if (ret->change && geteuid() != 0)
		return error_set(
		    e, EXIT_FORBIDDEN, "only root can run the command as '%s'", ret->name);
	return 0;
}

int identity_assume(const struct identity *id)
{
	if (!id->change)
		return 0;
	if (initgroups(id->name, id->gid) || setgid(id->gid) || setuid(id->uid))
		return -errno;
	setenv("HOME", id->home, 1);
	setenv("USER", id->name, 1);
	setenv("LOGNAME", id->name, 1);
	return 0;
}

int identity_become_caller(struct error *e)
{
	struct identity id;
	int err;

	if (identity_resolve(NULL, &id, e))
		return -1;
	err = identity_assume(&id);
	return err ? error_set(
			 e, EXIT_OTHER, "cannot go on as user '%s': %s", id.name, strerror(-err))
		   : 0;
}

/* Of this thread alone, unlike setgroups() of libc. */
static void set_groups(size_t n, const gid_t *groups)
{
	syscall(SYS_setgroups, n, groups);
}

/* As whom this thread opens files. */
static void take_files_of(const struct identity *id)
{
	gid_t groups[MAX_GROUPS];
	int n = MAX_GROUPS;

	if (getgrouplist(id->name, id->gid, groups, &n) < 0)
		n = 0;
	set_groups((size_t)n, groups);
	setfsgid(id->gid);
	setfsuid(id->uid);
}

/* What this thread was before it took a user's rights. */
struct own_files {
	gid_t groups[MAX_GROUPS];
	int n;
};

/* Paths are followed with the user's rights, never with root's. */
static void begin_files(const struct identity *id, struct own_files *ret)
{
	ret->n = getgroups(MAX_GROUPS, ret->groups);
	if (id->change)
		take_files_of(id);
}

/* Keeps errno. */
static void end_files(const struct identity *id, const struct own_files *own)
{
	int err = errno;

	if (id->change) {
		setfsuid(geteuid());
		setfsgid(getegid());
		set_groups(own->n > 0 ? (size_t)own->n : 0, own->groups);
	}
	errno = err;
}

bool identity_may_read(const struct identity *id, const char *path)
{
	struct own_files own;
	int fd;

	begin_files(id, &own);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	end_files(id, &own);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int identity_open_append(const struct identity *id, const char *path)
{
	struct own_files own;
	int fd;

	begin_files(id, &own);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	end_files(id, &own);
	return fd < 0 ? -errno : fd;
}

int identity_rename(const struct identity *id, const char *from, const char *to)
{
	struct own_files own;
	int err;

	begin_files(id, &own);
	err = to ? rename(from, to) : unlink(from);
	end_files(id, &own);
	return err ? -errno : 0;
}

/* 0 or -errno. */
static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		data += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Writes @part, of which a process of our number may have left one, and moves it to @path. 0 or
 * -errno. */
static int write_and_move(const char *part, const char *path, const void *data, size_t size)
{
	struct stat st;
	int err, fd;

	/* A device, a pipe or a link is not ours to replace. */
	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST;
	unlink(part);
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	err = write_all(fd, data, size);
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(part, path))
		err = -errno;
	if (err)
		unlink(part);
	return err;
}

int identity_replace(const struct identity *id, const char *path, const void *data, size_t size)
{
	struct own_files own;
	char *part;
	int err;

	if (asprintf(&part, "%s.%d.part", path, (int)getpid()) < 0)
		return -ENOMEM;
	begin_files(id, &own);
	err = write_and_move(part, path, data, size);
	end_files(id, &own);
	free(part);
	return err;
}
