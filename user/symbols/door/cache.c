// SPDX-License-Identifier: BSD-3-Clause
/* A file for each key; see cache.h. */
#include "symbols/door/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/hash.h"

#define SUBDIRECTORY "cozbpf"
#define MAGIC "cozbpfC1" /* its number changes with the format of the file */
#define NAME_SIZE 32

/* Behind it are the key and the answer. */
struct header {
	char magic[8];
	uint64_t key_size, answer_size;
	uint64_t sum; /* of both: a crash of the machine may leave any bytes */
};

static bool is_ours(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Goes from the directory @at, which it closes, to @name in it. -1: there is none of ours. */
static int enter(int at, const char *name, bool makes)
{
	struct stat st;
	int fd;

	if (makes)
		mkdirat(at, name, 0700);
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at >= 0)
		close(at);
	if (fd >= 0 && (fstat(fd, &st) || !is_ours(&st))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Of a user whom sudo has made root HOME may still be the user's: it is not root's then. */
static int open_directory(bool makes)
{
	const char *base = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	int at = -1;

	if (base && *base == '/') {
		at = enter(AT_FDCWD, base, makes);
	} else if (home && *home == '/') {
		at = enter(AT_FDCWD, home, false);
		at = at < 0 ? -1 : enter(at, ".cache", makes);
	}
	return at < 0 ? -1 : enter(at, SUBDIRECTORY, makes);
}

static uint64_t sum_of(const void *key, size_t key_size, const void *answer, size_t answer_size)
{
	return hash_bytes(hash_bytes(0, key, key_size), answer, answer_size);
}

/* Of two keys with one name the later one is kept. */
static void name_of(const struct out *key, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%016llx", (unsigned long long)hash_bytes(0, key->data, key->n));
}

static bool read_whole(int fd, void *data, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size && (n = read(fd, (char *)data + done, size - done)) > 0)
		done += (size_t)n;
	return done == size;
}

static bool write_whole(int fd, const void *data, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size && (n = write(fd, (const char *)data + done, size - done)) > 0)
		done += (size_t)n;
	return done == size;
}

/* The file's key and answer in one piece, if they are those of @key. NULL: they are not. */
static uint8_t *read_entry(int fd, const struct out *key, struct header *h)
{
	struct stat st;
	uint8_t *data;
	size_t size;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_ours(&st) ||
	    st.st_size > CACHE_MAX_ENTRY || !read_whole(fd, h, sizeof(*h)) ||
	    memcmp(h->magic, MAGIC, sizeof(h->magic)) || h->key_size != key->n)
		return NULL;
	size = (size_t)st.st_size - sizeof(*h);
	data = size >= key->n && h->answer_size == size - key->n ? malloc(size + 1) : NULL;
	if (data && read_whole(fd, data, size) && !memcmp(data, key->data, key->n) &&
	    sum_of(data, key->n, data + key->n, h->answer_size) == h->sum)
		return data;
	free(data);
	return NULL;
}

bool cache_get(const struct out *key, struct in *ret)
{
	int at = open_directory(false), fd;
	char name[NAME_SIZE];
	uint8_t *data = NULL;
	struct header h;

	if (at < 0)
		return false;
	name_of(key, name);
	fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		data = read_entry(fd, key, &h);
		if (data)
			futimens(fd, NULL);
		close(fd);
	}
	close(at);
	if (data)
		*ret = (struct in){.data = data, .n = key->n + h.answer_size, .at = key->n};
	return data;
}

/* Bytes of the files in @at, and the one that was used last of all long ago. */
static off_t look_over(int at, char oldest[NAME_MAX + 1])
{
	int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct timespec first = {0};
	off_t sum = 0;
	struct stat st;

	*oldest = 0;
	for (struct dirent *e; d && (e = readdir(d));) {
		if (fstatat(at, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		sum += st.st_size;
		if (*oldest &&
		    (st.st_mtim.tv_sec > first.tv_sec ||
			(st.st_mtim.tv_sec == first.tv_sec && st.st_mtim.tv_nsec >= first.tv_nsec)))
			continue;
		first = st.st_mtim;
		snprintf(oldest, NAME_MAX + 1, "%s", e->d_name);
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return sum;
}

static void make_room(int at)
{
	char oldest[NAME_MAX + 1];

	while (look_over(at, oldest) > CACHE_MAX_BYTES && *oldest && !unlinkat(at, oldest, 0))
		;
}

void cache_put(const struct out *key, const struct in *answer)
{
	struct header h = {
	    MAGIC, key->n, answer->n, sum_of(key->data, key->n, answer->data, answer->n)};
	char name[NAME_SIZE], made[NAME_SIZE];
	int at, fd;

	if (key->n + answer->n > CACHE_MAX_ENTRY - sizeof(h) || (at = open_directory(true)) < 0)
		return;
	name_of(key, name);
	/* Others look at it when it is whole. */
	snprintf(made, sizeof(made), "new-%d", gettid());
	unlinkat(at, made, 0);
	fd = openat(at, made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0) {
		bool is_whole = write_whole(fd, &h, sizeof(h)) &&
				write_whole(fd, key->data, key->n) &&
				write_whole(fd, answer->data, answer->n);

		if (close(fd) || !is_whole || renameat(at, made, at, name))
			unlinkat(at, made, 0);
		make_room(at);
	}
	close(at);
}
