// SPDX-License-Identifier: BSD-3-Clause
/* A file that a command writes when a signal ends it. The rest is in tests/e2e/merge.sh. */
#include "folder.h"

#include <glob.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/outfile.h"

static size_t count(const char *pattern)
{
	glob_t all;
	size_t n = glob(pattern, 0, NULL, &all) ? 0 : all.gl_pathc;

	globfree(&all);
	return n;
}

/* A child begins a file, gets the signal, and ends the file if it still can. Its status. */
static int write_and_raise(int number)
{
	struct outfile f;
	struct error e;
	int status = -1;

	if (!fork()) {
		if (outfile_open(&f, "out.coz", &e) || count("out.coz.*.part") != 1)
			_exit(1);
		fputs("text", f.out);
		raise(number);
		_exit(outfile_close(&f, 0, &e) ? 1 : 0);
	}
	CHECK(wait(&status) > 0);
	return status;
}

TEST(a_signal_leaves_nothing)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};

	new_folder();
	CHECK(!chdir(COZBPF_FIXTURES));
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		int status = write_and_raise(ends[i]);

		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == ends[i]);
		CHECK_EQ(count("out.coz*"), 0);
	}
	/* As nohup has it. */
	signal(SIGHUP, SIG_IGN);
	CHECK_EQ(write_and_raise(SIGHUP), 0);
	signal(SIGHUP, SIG_DFL);
	CHECK_EQ(count("out.coz*"), 1);
}

/* Of a process that was killed and had our number. */
TEST(a_file_that_was_left)
{
	char part[64];
	struct outfile f;
	struct error e = {0};
	FILE *left;

	new_folder();
	CHECK(!chdir(COZBPF_FIXTURES));
	snprintf(part, sizeof(part), "out.coz.%d.part", (int)getpid());
	left = fopen(part, "w");
	CHECK(left && !fclose(left));
	CHECK_EQ(outfile_open(&f, "out.coz", &e), 0);
	CHECK_EQ(outfile_close(&f, 0, &e), 0);
	CHECK_EQ(count("out.coz*"), 1);
}
