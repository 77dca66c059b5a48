// SPDX-License-Identifier: BSD-3-Clause
/* Files that a target names: nothing outside of its root is reached, and only regular files are
 * opened. */
#include "debug_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/elf/openfile.h"

#define ROOT DIR "/root"

static void make_root(void)
{
	CHECK(
	    run("rm -rf root link && mkdir -p root/dir root/etc && echo outside >outside && echo "
		"inside >root/inside && echo within >root/outside && ln -s /outside root/absolute "
		"&& ln -s ../../outside root/dir/up && ln -s ../outside root/near && ln -s "
		"'%s/outside' root/elsewhere && ln -s / root/top && mkfifo root/fifo && ln -s "
		"/proc/self/root/etc/passwd root/magic && ln -s loop root/loop && truncate -s 17G "
		"root/large && ln -s '%s/outside' link",
		DIR, DIR));
}

/* The first line of a file; why it cannot be had. */
static const char *content(const char *root, const char *path)
{
	static char text[256];
	ssize_t n;
	int fd = file_open(root, path, text, sizeof(text));

	if (fd < 0)
		return text;
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	text[strcspn(text, "\n")] = 0;
	close(fd);
	return text;
}

TEST(within_a_root)
{
	make_root();
	CHECK_STR(content(ROOT, ROOT "/inside"), "inside");
	CHECK_STR(content(ROOT, ROOT "/absolute"), "within");
	CHECK_STR(content(ROOT, ROOT "/near"), "within");
	CHECK_STR(content(ROOT, ROOT "/dir/up"), "within");
	CHECK_STR(content(ROOT, ROOT "/dir/../../../outside"), "within");
	CHECK_STR(content(ROOT, ROOT "/top/outside"), "within");
	CHECK_STR(content(ROOT, ROOT "/elsewhere"), "No such file or directory");
	CHECK_STR(content(ROOT, ROOT "/magic"), "No such file or directory");
	CHECK_STR(content(ROOT, ROOT "/loop"), "Too many levels of symbolic links");
	CHECK_STR(content(DIR "/no_root", DIR "/no_root/x"), "No such file or directory");
}

/* A path that only looks as if it were below the root is ours, and so is one without a root. */
TEST(outside_of_a_root)
{
	make_root();
	CHECK_STR(content(ROOT, DIR "/outside"), "outside");
	CHECK_STR(content(DIR "/out", DIR "/outside"), "outside");
	CHECK_STR(content("", DIR "/link"), "outside");
}

TEST(regular_files_only)
{
	make_root();
	CHECK_STR(content(ROOT, ROOT "/fifo"), "it is not a regular file");
	CHECK_STR(content(ROOT, ROOT "/dir"), "it is not a regular file");
	CHECK_STR(content("", "/dev/null"), "it is not a regular file");
	CHECK_STR(content("/dev", "/dev/kmsg"),
	    access("/dev/kmsg", F_OK) ? "No such file or directory" : "it is not a regular file");
	CHECK_STR(content("", "/proc/version"), "it is a file of the kernel's, not of a disk");
	CHECK_STR(content("/", "//proc/version"), "it is a file of the kernel's, not of a disk");
	CHECK_STR(content(ROOT, ROOT "/large"), "it has more than 16 GiB");
	CHECK_STR(content("", DIR "/nothing"), "No such file or directory");
	/* Links of /proc that we follow ourselves: a program that runs. */
	CHECK(!strncmp(content("", "/proc/self/exe"), "\177ELF", 4));
}

static const char *owned(const char *path, uid_t owner)
{
	static char text[256];
	int fd = file_open_owned(ROOT, path, owner, text, sizeof(text));

	if (fd < 0)
		return text;
	close(fd);
	return "opened";
}

/* In /tmp anybody can have made a file of the name. */
TEST(owned)
{
	uid_t me = geteuid();

	make_root();
	CHECK_STR(owned(ROOT "/inside", me), "opened");
	CHECK_STR(owned(ROOT "/top/inside", me), "opened");
	CHECK_STR(owned(ROOT "/inside", me + 1), "it is another user's");
	CHECK_STR(owned(ROOT "/near", me), "it is not a regular file");
	CHECK_STR(owned(ROOT "/fifo", me), "it is not a regular file");
	CHECK_STR(owned(ROOT "/nothing", me), "No such file or directory");
	CHECK(run("ln root/inside root/second"));
	CHECK_STR(owned(ROOT "/inside", me), "it has several names");
}

/* What a descriptor of file_find() stands for has not been opened. */
TEST(find_opens_nothing)
{
	struct stat st;
	int fd;
	char byte;

	make_root();
	fd = file_find(ROOT, ROOT "/fifo");
	CHECK(fd >= 0 && !fstat(fd, &st) && S_ISFIFO(st.st_mode));
	CHECK(read(fd, &byte, 1) < 0);
	close(fd);
}

/* A debug file that is a link out of the root is not taken: the one that the root has there is. */
TEST(debug_file_by_link)
{
	struct object *o;
	struct error e = {0};

	build("gcc", "-g -Wl,--build-id=0xabcdef0123456789", "lines.c", "linked");
	CHECK(run("rm -rf jail && mkdir -p jail/usr/lib/debug/.build-id/ab jail/bin && objcopy "
		  "--only-keep-debug linked linked.debug && strip linked && cp linked jail/bin && "
		  "ln -s '%s/linked.debug' jail/usr/lib/debug/.build-id/ab/cdef0123456789.debug",
	    DIR));
	CHECK_EQ(object_open(DIR "/jail/bin/linked", DIR "/jail", &o, &e), 0);
	CHECK(!object_has_debug_info(o));
	object_close(o);
	CHECK(run("cp linked.debug jail/linked.debug && ln -sf /linked.debug "
		  "jail/usr/lib/debug/.build-id/ab/cdef0123456789.debug"));
	CHECK_EQ(object_open(DIR "/jail/bin/linked", DIR "/jail", &o, &e), 0);
	CHECK(object_has_debug_info(o));
	object_close(o);
}
