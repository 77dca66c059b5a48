/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a command beside a folder on a disk whose fsync() takes as long as is wanted. Its files live
 * in memory; writes reach the disk's cache at once, and fsync() waits for the service. The command
 * finds the folder in its environment (WORK_FOLDER).
 *
 * Mounts and shared memory are in name spaces of their own, which end with the command: nothing is
 * left behind.
 */
#define FUSE_USE_VERSION 31
#include "service.h"

#include <dirent.h>
#include <fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define FOLDER "/media" /* every system has it, and the command needs nothing there */

static int disk; /* the folder in memory */
static struct fuse *folder;

static const char *below(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static int status_of(long result)
{
	return result < 0 ? -errno : 0;
}

static int disk_open_flags(int flags)
{
	/* The kernel writes whole pages from its cache: it has to read, and it names the place. */
	return (flags & ~(O_ACCMODE | O_APPEND | O_DIRECT)) | O_RDWR | O_CLOEXEC;
}

static void *disk_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	connection->want |= connection->capable & FUSE_CAP_WRITEBACK_CACHE;
	config->use_ino = 1;
	config->kernel_cache = 1;
	config->attr_timeout = config->entry_timeout = 3600;
	return NULL;
}

static int disk_getattr(const char *path, struct stat *to, struct fuse_file_info *file)
{
	return status_of(
	    file ? fstat((int)file->fh, to) : fstatat(disk, below(path), to, AT_SYMLINK_NOFOLLOW));
}

static int disk_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
    struct fuse_file_info *file, enum fuse_readdir_flags flags)
{
	int fd = openat(disk, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!entries)
		return -errno;
	while ((entry = readdir(entries)))
		fill(buffer, entry->d_name, NULL, 0, 0);
	closedir(entries);
	return 0;
}

/* What a user makes is the user's: this process is root. */
static int give_away(const char *path)
{
	const struct fuse_context *caller = fuse_get_context();

	return status_of(
	    fchownat(disk, below(path), caller->uid, caller->gid, AT_SYMLINK_NOFOLLOW));
}

static int disk_mkdir(const char *path, mode_t mode)
{
	return mkdirat(disk, below(path), mode) ? -errno : give_away(path);
}

static int disk_mknod(const char *path, mode_t mode, dev_t device)
{
	return mknodat(disk, below(path), mode, device) ? -errno : give_away(path);
}

static int disk_create(const char *path, mode_t mode, struct fuse_file_info *file)
{
	int fd = openat(disk, below(path), disk_open_flags(file->flags) | O_CREAT, mode);

	if (fd < 0)
		return -errno;
	file->fh = (uint64_t)fd;
	return give_away(path);
}

static int disk_open(const char *path, struct fuse_file_info *file)
{
	int fd = openat(disk, below(path), disk_open_flags(file->flags));

	file->fh = (uint64_t)fd;
	return status_of(fd);
}

static int disk_release(const char *path, struct fuse_file_info *file)
{
	return status_of(close((int)file->fh));
}

static int disk_read(
    const char *path, char *to, size_t bytes, off_t at, struct fuse_file_info *file)
{
	ssize_t done = pread((int)file->fh, to, bytes, at);

	return done < 0 ? -errno : (int)done;
}

static int disk_write(
    const char *path, const char *from, size_t bytes, off_t at, struct fuse_file_info *file)
{
	ssize_t done = pwrite((int)file->fh, from, bytes, at);

	return done < 0 ? -errno : (int)done;
}

static int disk_fsync(const char *path, int is_data_only, struct fuse_file_info *file)
{
	serve_time();
	return 0;
}

static int disk_truncate(const char *path, off_t bytes, struct fuse_file_info *file)
{
	int fd = file ? (int)file->fh : openat(disk, below(path), O_RDWR | O_CLOEXEC), status;

	if (fd < 0)
		return -errno;
	status = status_of(ftruncate(fd, bytes));
	if (!file)
		close(fd);
	return status;
}

static int disk_fallocate(
    const char *path, int mode, off_t at, off_t bytes, struct fuse_file_info *file)
{
	return status_of(fallocate((int)file->fh, mode, at, bytes));
}

static int disk_unlink(const char *path)
{
	return status_of(unlinkat(disk, below(path), 0));
}

static int disk_rmdir(const char *path)
{
	return status_of(unlinkat(disk, below(path), AT_REMOVEDIR));
}

static int disk_rename(const char *from, const char *to, unsigned flags)
{
	return status_of(renameat2(disk, below(from), disk, below(to), flags));
}

static int disk_link(const char *from, const char *to)
{
	return status_of(linkat(disk, below(from), disk, below(to), 0));
}

static int disk_chmod(const char *path, mode_t mode, struct fuse_file_info *file)
{
	return status_of(fchmodat(disk, below(path), mode, 0));
}

static int disk_chown(const char *path, uid_t user, gid_t group, struct fuse_file_info *file)
{
	return status_of(fchownat(disk, below(path), user, group, AT_SYMLINK_NOFOLLOW));
}

static int disk_utimens(const char *path, const struct timespec t[2], struct fuse_file_info *file)
{
	return status_of(utimensat(disk, below(path), t, AT_SYMLINK_NOFOLLOW));
}

static int disk_statfs(const char *path, struct statvfs *to)
{
	return status_of(fstatvfs(disk, to));
}

static const struct fuse_operations operations = {
    .init = disk_init,
    .getattr = disk_getattr,
    .readdir = disk_readdir,
    .mkdir = disk_mkdir,
    .mknod = disk_mknod,
    .create = disk_create,
    .open = disk_open,
    .release = disk_release,
    .read = disk_read,
    .write = disk_write,
    .fsync = disk_fsync,
    .fsyncdir = disk_fsync,
    .truncate = disk_truncate,
    .fallocate = disk_fallocate,
    .unlink = disk_unlink,
    .rmdir = disk_rmdir,
    .rename = disk_rename,
    .link = disk_link,
    .chmod = disk_chmod,
    .chown = disk_chown,
    .utimens = disk_utimens,
    .statfs = disk_statfs,
};

/* Puts the disk in front of its own folder in memory. */
static void make_folder(void)
{
	char *words[] = {"slowdir", "-oallow_other", NULL};
	struct fuse_args options = FUSE_ARGS_INIT(2, words);

	if (unshare(CLONE_NEWNS | CLONE_NEWIPC) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("slowdir", "/dev/shm", "tmpfs", 0, "mode=1777") ||
	    mount("slowdir", FOLDER, "tmpfs", 0, "mode=0777"))
		work_fail("a folder in memory");
	disk = open(FOLDER, O_PATH | O_DIRECTORY | O_CLOEXEC);
	folder = fuse_new(&options, &operations, sizeof(operations), NULL);
	if (disk < 0 || !folder || fuse_mount(folder, FOLDER))
		work_fail("a FUSE file system");
	setenv("WORK_FOLDER", FOLDER, 1);
}

static void *serve_folder(void *argument)
{
	const struct sched_param first = {.sched_priority = 1};

	/* A disk needs no CPU, so the target must not keep this one from its CPU. Threads of
	 * libfuse inherit that. */
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		work_fail("sched_setscheduler");
	fuse_loop_mt(folder, 0);
	return NULL;
}

int main(int argc, char **argv)
{
	int i = take_service_options(argc, argv, 1);

	if (i + 1 >= argc || strcmp(argv[i], "--")) {
		fprintf(stderr, "usage: slowdir [--service-us N] [--steady-us N] [--iters-per-ms "
				"N] -- COMMAND...\n");
		return 2;
	}
	begin_service();
	make_folder();
	work_thread(serve_folder, NULL);
	return run(argv + i + 1);
}
