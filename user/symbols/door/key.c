// SPDX-License-Identifier: BSD-3-Clause
/* What tells an object's files, as they are now, from all others; see object.h. */
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "symbols/door/object.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
/* Two writes within a tick of the kernel's clock leave one time of change. */
#define SETTLED_S 2

/* Whether the kernel alone says when a file has changed. A file system of a user's process, or of
 * another machine, may say anything. */
static bool has_true_times(int fd)
{
	static const uint32_t kinds[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
	    F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, TMPFS_MAGIC};
	struct statfs fs;

	for (size_t i = 0; !fstatfs(fd, &fs) && i < sizeof(kinds) / sizeof(*kinds); i++)
		if ((uint32_t)fs.f_type == kinds[i])
			return true;
	return false;
}

static bool put_times(struct out *key, const struct stat *st)
{
	put_u64(key, st->st_dev);
	put_u64(key, st->st_ino);
	put_u64(key, (uint64_t)st->st_size);
	put_bytes(key, &st->st_mtim, sizeof(st->st_mtim));
	put_bytes(key, &st->st_ctim, sizeof(st->st_ctim));
	return st->st_ctim.tv_sec + SETTLED_S <= time(NULL);
}

static bool put_file(struct out *key, const struct held_file *f)
{
	struct stat st;

	put_string(key, f->path);
	return f->fd < 0 || (!fstat(f->fd, &st) && has_true_times(f->fd) && put_times(key, &st));
}

bool object_key(const struct object *o, struct out *key)
{
	struct stat reader;

	/* Another reader may answer otherwise. */
	if (*o->root || stat("/proc/self/exe", &reader))
		return false;
	put_times(key, &reader);
	put_string(key, o->path);
	put_string(key, o->real_path);
	put_bytes(key, o->build_id, sizeof(o->build_id));
	return put_file(key, &o->main) && put_file(key, &o->debug) && put_file(key, &o->alt) &&
	       !key->failed;
}
