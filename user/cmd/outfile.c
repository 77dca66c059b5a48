// SPDX-License-Identifier: BSD-3-Clause
/* See outfile.h. */
#include "cmd/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/blocks/blockformat.h"
#include "core/profile/profile.h"
#include "symbols/elf/privileges.h"

/* What a signal that ends us removes; one file is written at a time. */
static char *volatile unfinished;

static int fail(const char *name, struct error *e)
{
	error_set(e, EXIT_OTHER, "cannot write '%s': %s", name,
	    errno == ELOOP ? "it is a link of another user" : strerror(errno));
	return error_hint(e, "name another file; - is standard output");
}

static void forget(struct outfile *f)
{
	unfinished = NULL;
	free(f->path);
	free(f->part);
	*f = (struct outfile){0};
}

/* Where the name leads, without links. A file that is to come has no links. -1 with errno. */
static int resolve(struct outfile *f)
{
	struct stat link;

	if (!lstat(f->name, &link) && S_ISLNK(link.st_mode) && link.st_uid &&
	    link.st_uid != geteuid()) {
		errno = ELOOP;
		return -1;
	}
	f->path = realpath(f->name, NULL);
	if (!f->path && errno == ENOENT)
		f->path = strdup(f->name);
	return f->path ? 0 : -1;
}

/* It keeps the owner of what it replaces, as far as we may set that, and the mode. What that group
 * could do is not for another one. */
static void take_over(FILE *out, const struct stat *old)
{
	mode_t mode = old->st_mode & 0777;

	if (fchown(fileno(out), old->st_uid, old->st_gid))
		mode = (mode & 0707) | (mode & 07) << 3;
	if (fchmod(fileno(out), mode))
		errno = 0;
}

/* A container's file is often one of the host's, mounted by itself. */
static bool is_mounted(const char *path)
{
	struct statx x;

	return !statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &x) &&
	       (x.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/* What cannot be replaced: no regular file, or one that has no name of its own (/dev/stdout). */
static bool is_direct(const struct outfile *f, const struct stat *what)
{
	struct stat link;

	return !S_ISREG(what->st_mode) || !strncmp(f->name, "/dev/", 5) ||
	       !strncmp(f->name, "/proc/", 6) ||
	       (!lstat(f->path, &link) && S_ISLNK(link.st_mode)) || is_mounted(f->path);
}

/* SA_RESETHAND: the signal that is raised again ends us. */
static void remove_unfinished(int number)
{
	if (unfinished)
		unlink(unfinished);
	raise(number);
}

static void watch_signals(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction old, action = {.sa_handler = remove_unfinished, .sa_flags = SA_RESETHAND};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!sigaction(ends[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(ends[i], &action, NULL);
}

static FILE *open_beside(struct outfile *f)
{
	FILE *ret;

	if (asprintf(&f->part, "%s.%d.part", f->path, (int)getpid()) < 0) {
		f->part = NULL;
		return NULL;
	}
	watch_signals();
	/* Who was killed had the same number, in a container: nobody writes that file any more. */
	unlink(f->part);
	ret = fopen(f->part, "wxe");
	if (ret)
		unfinished = f->part;
	return ret;
}

/* The directory takes no file of ours. */
static bool is_closed(int err)
{
	return err == EACCES || err == EPERM || err == EROFS;
}

/* -1 with errno. */
static int open_path(struct outfile *f)
{
	bool is_there, is_new;
	struct stat old;

	if (resolve(f))
		return -1;
	is_there = !stat(f->path, &old);
	if (is_there && access(f->path, W_OK))
		return -1;
	/* A link to nothing yet is not replaced, so what it leads to is made. */
	is_new = !is_there && lstat(f->path, &old);
	if (is_new || (is_there && !is_direct(f, &old))) {
		f->out = open_beside(f);
		if (f->out && is_there)
			take_over(f->out, &old);
		if (f->out || is_new || !is_closed(errno))
			return f->out ? 0 : -1;
		free(f->part);
		f->part = NULL;
	}
	f->out = fopen(f->path, "we");
	return f->out ? 0 : -1;
}

int outfile_open(struct outfile *f, const char *name, struct error *e)
{
	*f = (struct outfile){.name = name};
	if (!strcmp(name, "-")) {
		f->out = stdout;
		return 0;
	}
	if (!open_path(f))
		return 0;
	fail(name, e);
	forget(f);
	return -1;
}

int outfile_close(struct outfile *f, int err, struct error *e)
{
	bool bad = fflush(f->out) || ferror(f->out);

	if (f->out != stdout)
		bad |= fclose(f->out) != 0;
	if (!err && (bad || (f->part && rename(f->part, f->path))))
		err = fail(f->out == stdout ? "standard output" : f->name, e);
	if (err && f->part)
		unlink(f->part);
	forget(f);
	return err;
}

/* What the file @name is: "log of blocks", "profile", or NULL. */
static const char *kind_of(const char *name)
{
	struct stat st;
	char text[64];
	const char *ret = NULL;
	size_t n;
	FILE *in;
	int fd;

	if (stat(name, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return NULL;
	/* A pipe that takes the file's place meanwhile is not waited for. */
	fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	in = fdopen(fd, "r");
	if (!in) {
		close(fd);
		return NULL;
	}
	privileges_lower();
	n = fread(text, 1, sizeof(text), in);
	rewind(in);
	if (n && block_format_is_log(text, n))
		ret = "log of blocks";
	else if (profile_is_one(in))
		ret = "profile";
	privileges_raise();
	fclose(in);
	return ret;
}

/* Measurements are hours of work, so a typing error must not overwrite them. */
int outfile_check(const char *name, const char *what, struct error *e)
{
	const char *kind = kind_of(name);

	if (!kind || !strcmp(kind, what))
		return 0;
	error_set(e, EXIT_USAGE, "'%s' is a %s, not a %s", name, kind, what);
	return error_hint(e, "name another file for the %s to be written", what);
}
