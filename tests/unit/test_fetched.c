// SPDX-License-Identifier: BSD-3-Clause
/* Debug files that are not installed and are asked for by build id: who asks, and that what comes
 * is not trusted. Nothing here uses the network. */
#include "debug_fixture.h"

#include <fcntl.h>
#include <unistd.h>

#define BUILD "-g -O2 -Wl,--build-id=0xabcdef01"

/* What the asker answers, and what it was asked. */
static int answer;
static unsigned asked;
static char asked_id[64];

static int fetch(void *ctx, const char *build_id, const char *path)
{
	CHECK(ctx == &answer);
	CHECK(strstr(path, DIR));
	snprintf(asked_id, sizeof(asked_id), "%s", build_id);
	asked++;
	return answer;
}

static bool has_lines(const char *name, bool fetches, int fd)
{
	char path[4096];
	struct object_place place = {path, path, "", fetches};
	struct object *o = NULL;
	struct error e = {0};
	bool ret;

	snprintf(path, sizeof(path), "%s/%s", DIR, name);
	answer = fd;
	asked = 0;
	debug_files_from(fetch, &answer);
	CHECK_EQ(object_open_at(&place, &o, &e), 0);
	debug_files_from(NULL, NULL);
	ret = o && object_has_debug_info(o);
	if (ret) {
		struct probe_site *sites = NULL;
		size_t n = 0;

		CHECK_EQ(object_find_line(o, "lines.c", 10, &sites, &n, &e), 0);
		free(sites);
	}
	object_close(o);
	return ret;
}

static int opened(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

static bool build_stripped(void)
{
	build("gcc", BUILD, "lines.c", "whole");
	return run("objcopy --only-keep-debug whole whole.debug && strip -o bare whole");
}

TEST(fetched)
{
	CHECK(build_stripped());
	CHECK(has_lines("bare", true, opened(DIR "/whole.debug")));
	CHECK_EQ(asked, 1);
	CHECK_STR(asked_id, "abcdef01");
	CHECK(!has_lines("bare", true, -1));
	CHECK_EQ(asked, 1);
}

/* Nobody is asked for what is not wanted, or is there, or has no build id. */
TEST(not_asked)
{
	CHECK(build_stripped());
	CHECK(!has_lines("bare", false, -1));
	CHECK_EQ(asked, 0);
	CHECK(has_lines("whole", true, -1));
	CHECK_EQ(asked, 0);
	CHECK(run("objcopy --add-gnu-debuglink=whole.debug bare linked"));
	CHECK(has_lines("linked", true, -1));
	CHECK_EQ(asked, 0);
	build("gcc", "-Wl,--build-id=none", "lines.c", "unnamed");
	CHECK(!has_lines("unnamed", true, -1));
	CHECK_EQ(asked, 0);
}

TEST(not_taken)
{
	char self[] = "/proc/self/exe";

	CHECK(build_stripped());
	build("gcc", "-g -O2 -Wl,--build-id=0xabcdef02", "lines.c", "other");
	CHECK(!has_lines("bare", true, opened(DIR "/other")));
	CHECK(!has_lines("bare", true, opened(self)));
	CHECK(!has_lines("bare", true, opened("/proc/self/status")));
	CHECK(!has_lines("bare", true, opened("/dev/zero")));
	CHECK(!has_lines("bare", true, opened(DIR)));
	CHECK(run("rm -f pipe empty text && mkfifo pipe && : >empty && echo text >text"));
	CHECK(!has_lines("bare", true, opened(DIR "/pipe")));
	CHECK(!has_lines("bare", true, opened(DIR "/empty")));
	CHECK(!has_lines("bare", true, opened(DIR "/text")));
	CHECK(run("head -c 2000 whole.debug >short"));
	CHECK(!has_lines("bare", true, opened(DIR "/short")));
	CHECK_EQ(asked, 1);
}

/* What dwz has moved into a file of its own has another build id. */
TEST(shared_strings)
{
	CHECK(build_stripped());
	CHECK(run("printf 'no/such\\0\\022\\064\\126' >link && "
		  "objcopy --add-section .gnu_debugaltlink=link whole.debug whole.dwz"));
	CHECK(has_lines("bare", true, opened(DIR "/whole.dwz")));
	CHECK_EQ(asked, 2);
	CHECK_STR(asked_id, "123456");
}
