// SPDX-License-Identifier: BSD-3-Clause
/* Answers of readers kept from run to run: what is found again, what is not trusted, how much
 * stays, and which files have a key. */
#include "debug_fixture.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/door/cache.h"
#include "symbols/door/object.h"

static char base[PATH_MAX];

static void empty_cache(void)
{
	CHECK(run("rm -rf base file* && mkdir base && chmod 755 base"));
	CHECK(realpath(DIR "/base", base) != NULL);
	setenv("XDG_CACHE_HOME", base, 1);
}

static void keep(const char *key, const void *data, size_t n)
{
	const struct in answer = {.data = (uint8_t *)data, .n = n};
	struct out k = {0};

	put_string(&k, key);
	cache_put(&k, &answer);
	out_free(&k);
}

static bool find(const char *key, struct in *ret)
{
	struct out k = {0};
	bool found;

	*ret = (struct in){0};
	put_string(&k, key);
	found = cache_get(&k, ret);
	out_free(&k);
	return found;
}

static bool is_there(const char *key)
{
	struct in in;
	bool found = find(key, &in);

	in_free(&in);
	return found;
}

/* Whether @key's answer is there, which is @data then. */
static bool is_kept(const char *key, const char *data)
{
	struct in in;
	bool found = find(key, &in);

	if (found) {
		CHECK_EQ(in.n - in.at, strlen(data));
		CHECK(!memcmp(in.data + in.at, data, strlen(data)));
	}
	in_free(&in);
	return found;
}

static void keep_one(void)
{
	empty_cache();
	keep("key", "answer", 6);
	CHECK(is_kept("key", "answer"));
}

TEST(kept)
{
	keep_one();
	CHECK(!is_kept("another key", "answer"));
	keep("key", "a later answer", 14);
	CHECK(is_kept("key", "a later answer"));
	keep("another key", "", 0);
	CHECK(is_kept("another key", ""));
	CHECK(run("[ $(ls base/cozbpf | wc -l) = 2 ] && [ $(stat -c %%a base/cozbpf) = 700 ]"));
}

/* What others may have written is read anew, and replaced. */
TEST(not_trusted)
{
	static const char *const changes[] = {
	    "chmod 666 base/cozbpf/*",
	    "chmod 777 base/cozbpf",
	    "chmod 777 base",
	    "f=$(echo base/cozbpf/*) && mv $f base/elsewhere && ln -s ../elsewhere $f",
	    "f=$(echo base/cozbpf/*) && rm $f && mkfifo $f",
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		keep_one();
		CHECK(run("%s", changes[i]));
		CHECK(!is_kept("key", "answer"));
		CHECK(run("chmod 755 base && chmod 700 base/cozbpf"));
		keep("key", "once more", 9);
		CHECK(is_kept("key", "once more"));
	}
	for (int i = 0; !geteuid() && i < 2; i++) {
		keep_one();
		CHECK(run(i ? "chown 1 base/cozbpf" : "chown 1 base/cozbpf/*"));
		CHECK(!is_kept("key", "answer"));
	}
}

/* A crash of the machine leaves any bytes, and a full disk too few. */
TEST(damaged)
{
	uint8_t whole[46];
	glob_t files = {0};
	int fd;

	keep_one();
	CHECK_EQ(glob(DIR "/base/cozbpf/*", 0, NULL, &files), 0);
	CHECK_EQ(files.gl_pathc, 1);
	fd = files.gl_pathc ? open(files.gl_pathv[0], O_RDWR) : -1;
	CHECK_EQ(lseek(fd, 0, SEEK_END), sizeof(whole));
	CHECK_EQ(pread(fd, whole, sizeof(whole), 0), sizeof(whole));
	for (int at = 0; at < (int)sizeof(whole); at++) {
		CHECK_EQ(pwrite(fd, "\377", 1, at), 1);
		if (whole[at] != 0xff)
			CHECK(!is_kept("key", "answer"));
		CHECK_EQ(pwrite(fd, whole, sizeof(whole), 0), sizeof(whole));
		CHECK(is_kept("key", "answer"));
		CHECK_EQ(ftruncate(fd, at), 0);
		CHECK(!is_kept("key", "answer"));
		CHECK_EQ(pwrite(fd, whole, sizeof(whole), 0), sizeof(whole));
	}
	CHECK(is_kept("key", "answer"));
	close(fd);
	globfree(&files);
}

TEST(nowhere)
{
	empty_cache();
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", "relative", 1);
	keep("key", "answer", 6);
	CHECK(!is_kept("key", "answer"));
	CHECK(access("relative", F_OK));
	setenv("HOME", base, 1);
	keep("key", "answer", 6);
	CHECK(is_kept("key", "answer"));
	CHECK(run("test -d base/.cache/cozbpf"));
}

/* Those used last stay. Entries 1 to 4 are large and empty. */
TEST(room)
{
	const size_t n = 20 << 20;
	char *data = calloc(1, CACHE_MAX_ENTRY), key[16];

	empty_cache();
	keep("too large", data, CACHE_MAX_ENTRY);
	CHECK(run("[ ! -e base/cozbpf ] || [ -z \"$(ls base/cozbpf)\" ]"));
	for (int i = 0; i < 5; i++) {
		snprintf(key, sizeof(key), "%d", i);
		keep(key, "answer", 6);
		CHECK(run("f=$(ls -t -d base/cozbpf/* | head -n 1) && ln -s $f file%d && "
			  "truncate -s %s $f && touch -d '-%d minutes' $f",
		    i, i ? "60M" : "+0", 9 - i));
	}
	CHECK(is_there("0")); /* used again */
	keep("5", data, n);
	CHECK(run("[ $(ls base/cozbpf | wc -l) = 5 ] && ! [ -e file1 ] && [ -e file2 ] && "
		  "[ -e file3 ] && [ -e file4 ]"));
	CHECK(is_there("0") && is_there("5"));
	free(data);
	empty_cache();
}

/* The key of a program's files as they are now; "" with a false return where they have none. */
static bool key_of(const char *path, const char *root, char hex[8192])
{
	struct object *o = NULL;
	struct out key = {0};
	struct error e;
	bool has;

	*hex = 0;
	CHECK_EQ(object_open(path, root, &o, &e), 0);
	has = o && object_key(o, &key);
	for (size_t i = 0; has && i < key.n && 2 * i < 8000; i++)
		sprintf(hex + 2 * i, "%02x", key.data[i]);
	out_free(&key);
	object_close(o);
	return has;
}

/* A key holds for the files as they are. */
TEST(keys)
{
	const char *path = build("gcc", "-g -O2 -Wl,--build-id=0xabcdef01", "lines.c", "whole");
	char first[8192], second[8192], root[PATH_MAX], inside[PATH_MAX + 8];

	CHECK(!key_of(path, "", first)); /* written just now */
	sleep(3);
	CHECK(key_of(path, "", first));
	CHECK(key_of(path, "", second));
	CHECK_STR(first, second);
	/* Same bytes, same time of modification, same build id. */
	CHECK(run("cp -p whole copy && mv copy whole"));
	sleep(3);
	CHECK(key_of(path, "", second));
	CHECK(strcmp(first, second));
	/* Of a container, which can make any file. */
	CHECK(realpath(DIR, root) != NULL);
	snprintf(inside, sizeof(inside), "%s/whole", root);
	CHECK(!key_of(inside, root, first));
}
