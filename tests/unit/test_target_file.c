// SPDX-License-Identifier: BSD-3-Clause
/* Processes as -p names them: which reasons are told. */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

#include "run/target_file.h"

TEST(own_program)
{
	struct error e = {0};
	char path[4096] = "";

	CHECK_EQ(target_program(getpid(), path, sizeof(path), &e), 0);
	CHECK(strstr(path, "test_target_file"));
}

/* Between two looks at a process it may end. */
TEST(process_that_has_ended)
{
	char path[4096], cause[64];
	struct error e = {0};
	siginfo_t info;
	int pid = fork();

	if (!pid)
		_exit(0);
	snprintf(cause, sizeof(cause), "process %d has ended", pid);
	CHECK_EQ(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	CHECK_EQ(target_program(pid, path, sizeof(path), &e), -1);
	CHECK_EQ(e.status, EXIT_OTHER);
	CHECK_STR(e.cause, cause);
	waitpid(pid, NULL, 0);
	e = (struct error){0};
	CHECK_EQ(target_program(pid, path, sizeof(path), &e), -1);
	CHECK_EQ(e.status, EXIT_OTHER);
	CHECK_STR(e.cause, cause);
}
