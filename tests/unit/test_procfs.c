// SPDX-License-Identifier: BSD-3-Clause
/* What /proc tells of processes: status files of any length. The process is the test itself;
 * long status files are made here. */
#include "check.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/procfs.h"

/* The kernel prints all groups of a process, 65536 at most, before its signals and capabilities. */
TEST(status_with_many_groups)
{
	FILE *f = tmpfile();
	char path[64], *text;
	uint64_t value = 0;

	CHECK(f);
	fprintf(f, "Name:\tx\nUid:\t1\t2\nGroups:\t");
	for (unsigned i = 0; i < 65536; i++)
		fprintf(f, "%u ", 4000000000U + i);
	fprintf(f, "\nSigBlk:\t0000080000000000\nSeccomp:\t2\n");
	fflush(f);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(f));
	text = procfs_read_status(path);
	CHECK(procfs_number(text, "SigBlk", 16, &value));
	CHECK_EQ(value, 1LL << 43);
	CHECK(procfs_number(text, "Seccomp", 10, &value));
	CHECK_EQ(value, 2);
	free(text);
	fclose(f);
}

TEST(numbers_of_a_status)
{
	uint64_t value = 7;

	CHECK(!procfs_number("Name:\tCapEff:\t1\nUid:\t0\n", "CapEff", 16, &value));
	CHECK(!procfs_number("Name:\tx\nCapEff:\t\nCapBnd:\t1\n", "CapEff", 16, &value));
	CHECK(!procfs_number("Name:\tx\nCapEff:\tzz\n", "CapEff", 16, &value));
	CHECK(!procfs_number("", "CapEff", 16, &value));
	CHECK(!procfs_number(NULL, "CapEff", 16, &value));
	CHECK_EQ(value, 7);
	CHECK(procfs_number("Name:\tx\nCapPrm:\t00000000ffffffff\nCapEff:\t000001fffeffffff\n",
	    "CapEff", 16, &value));
	CHECK_EQ(value, 0x1fffeffffffLL);
	CHECK(procfs_number("Name:\tx\nCapEff:\t0", "CapEff", 16, &value));
	CHECK_EQ(value, 0);
}

TEST(own_status)
{
	int pid = getpid(), status;
	struct signal_masks masks;
	sigset_t mask, before;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_BLOCK, &mask, &before);
	CHECK(procfs_signals(pid, pid, &masks));
	CHECK(masks.blocked & 1ULL << (SIGUSR1 - 1));
	sigprocmask(SIG_SETMASK, &before, NULL);
	CHECK_EQ(procfs_tgid(pid), pid);
	CHECK_EQ(procfs_parent(pid), getppid());
	CHECK(procfs_seccomp(pid, pid) >= 0);
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	CHECK(!procfs_read_status("/proc/self/nothing"));
	CHECK(!procfs_signals(pid, pid, &masks));
	CHECK_EQ(procfs_seccomp(pid, pid), 0);
	CHECK_EQ(procfs_tgid(pid), 0);
}
