// SPDX-License-Identifier: BSD-3-Clause
/* What /proc tells of processes: status files of any length, and words in memory. The process is
 * the test itself; long status files are made here. */
#include "check.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/procfs.h"

#define WORD 0x1122334455667788ULL

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

/* A stack may end before as much as is read at once. What cannot be read may hold anything. */
TEST(word_at_the_end_of_a_mapping)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t end = (uint64_t)(uintptr_t)at + 2 * page, word = WORD;
	int pid = getpid();

	CHECK(at != MAP_FAILED);
	munmap(at + 2 * page, page);
	CHECK(!procfs_may_hold(pid, end - 2 * page, 4 * page, WORD, WORD + 1));
	CHECK(!procfs_may_hold(pid, end - 64, 4 * page, WORD, WORD + 1));
	memcpy(at + 2 * page - sizeof(word), &word, sizeof(word));
	CHECK(procfs_may_hold(pid, end - 64, 4 * page, WORD, WORD + 1));
	CHECK(procfs_may_hold(pid, end - page - 64, 4 * page, WORD, WORD + 1));
	CHECK(procfs_may_hold(pid, end, page, WORD, WORD + 1));
	CHECK(procfs_may_hold(0x7ffffff0, end - 64, page, WORD, WORD + 1));
	munmap(at, 2 * page);
}
