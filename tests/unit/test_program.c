// SPDX-License-Identifier: BSD-3-Clause
/* What programs are called that were started by links, and by what is none. */
#include "folder.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/text/paths.h"
#include "target/program.h"

static char self[PATH_MAX], dir[PATH_MAX];

/* A child that executes /bin/cat by @path, in the folder @at, and waits. @ret: its pipe. */
static int start(const char *at, const char *path, int *ret)
{
	int in[2], out[2], pid;
	char ready = 0;

	CHECK(!pipe(in) && !pipe(out));
	pid = fork();
	if (!pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		if (!chdir(at))
			execl(path, "any name", NULL);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	CHECK_EQ(write(in[1], "x", 1), 1);
	CHECK_EQ(read(out[0], &ready, 1), 1);
	close(out[0]);
	*ret = in[1];
	return pid;
}

/* The name of a program that was started so. */
static const char *name(const char *at, const char *path)
{
	static char ret[NAME_MAX + 1];
	int in, pid = start(at, path, &in);

	program_name(pid, self, ret);
	close(in);
	waitpid(pid, NULL, 0);
	return ret;
}

/* A path in a new folder. */
static const char *in_dir(const char *file)
{
	static char ret[2][2 * PATH_MAX];
	static unsigned n;

	n = !n;
	snprintf(ret[n], sizeof(ret[n]), "%s/%s", dir, file);
	return ret[n];
}

static void make_dir(void)
{
	new_folder();
	CHECK(realpath(COZBPF_FIXTURES, dir) && realpath("/bin/cat", self));
}

TEST(links)
{
	static const char bad[] = "bad\n\033[2Jname";

	make_dir();
	CHECK(!symlink(self, in_dir("server")) && !symlink("server", in_dir(bad)));
	CHECK_STR(name("/", self), path_base(self));
	CHECK_STR(name("/", in_dir("server")), "server");
	CHECK_STR(name("/", in_dir(bad)), bad);
	/* Such a path says nothing from elsewhere, and no such link is beside the file. */
	CHECK_STR(name(dir, "./server"), path_base(self));
	unlink(in_dir("server"));
	unlink(in_dir(bad));
	rmdir(dir);
}

TEST(links_beside_their_file)
{
	char command[3 * PATH_MAX], ret[NAME_MAX + 1];
	int in, pid;

	make_dir();
	snprintf(command, sizeof(command), "cp %s %s", self, in_dir("file"));
	CHECK(!system(command) && !symlink("file", in_dir("server")));
	CHECK(realpath(in_dir("file"), self));
	CHECK_STR(name(dir, "./server"), "server");
	CHECK_STR(name(dir, "./file"), "file");
	/* What is called so by now is another file. */
	pid = start(dir, "./server", &in);
	CHECK(!unlink(in_dir("server")) && !symlink("/bin/sh", in_dir("server")));
	program_name(pid, self, ret);
	CHECK_STR(ret, "file");
	close(in);
	waitpid(pid, NULL, 0);
	unlink(in_dir("server"));
	unlink(in_dir("file"));
	rmdir(dir);
}

TEST(processes_that_have_gone)
{
	char ret[NAME_MAX + 1];

	program_name(INT_MAX, "/usr/bin/server", ret);
	CHECK_STR(ret, "server");
}
