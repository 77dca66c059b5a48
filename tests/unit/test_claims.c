// SPDX-License-Identifier: BSD-3-Clause
/* Processes that are attached to: what is open for them, and for how long. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "descriptors.h"
#include "target/claims.h"
#include "target/owner.h"
#include "target/procfs.h"

static int begin(void)
{
	int pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

static void end(int pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(what_cannot_be_had_leaves_nothing)
{
	int pid = begin(), held;
	struct claims c = {0};
	struct error e = {0};
	unsigned before;

	held = owner_claim(pid, &e);
	before = descriptors();
	CHECK(held >= 0);
	CHECK_EQ(claims_add(&c, pid, &e), -1);
	CHECK_EQ(e.status, EXIT_FORBIDDEN);
	CHECK_EQ(c.n, 0);
	CHECK(claims_all_ended(&c));
	CHECK(!claims_refused(&c, pid, 1));
	CHECK(claims_refuse(&c, pid, 5));
	CHECK(!claims_refuse(&c, pid, 9));
	CHECK(claims_refused(&c, pid, 8));
	CHECK(!claims_refused(&c, pid, 9)); /* the other one may have let go of it */
	CHECK_EQ(c.n_refused, 1);
	CHECK(!claims_refused(&c, getpid(), 8));
	end(pid);
	/* The number may be a later process's. */
	CHECK(!claims_refused(&c, pid, 8));
	CHECK_EQ(claims_add(&c, pid, &e), -1);
	CHECK_EQ(e.status, EXIT_OTHER);
	CHECK_EQ(c.n, 0);
	CHECK_EQ(descriptors(), before);
	close(held);
	claims_deinit(&c);
}

TEST(what_has_ended_is_dropped)
{
	int first = begin(), second = begin();
	unsigned before = descriptors();
	struct claims c = {0};
	struct error e = {0};

	CHECK_EQ(claims_add(&c, first, &e), 0);
	CHECK_EQ(claims_add(&c, second, &e), 0);
	CHECK(claims_have(&c, first) && claims_have(&c, second) && !claims_have(&c, getpid()));
	CHECK_EQ(descriptors(), before + 4);
	end(first);
	CHECK(!claims_all_ended(&c));
	claims_drop_ended(&c);
	CHECK_EQ(descriptors(), before + 2);
	CHECK(!claims_have(&c, first) && claims_have(&c, second));
	end(second);
	CHECK(claims_all_ended(&c));
	claims_drop_ended(&c);
	CHECK_EQ(descriptors(), before);
	CHECK(claims_all_ended(&c));
	claims_deinit(&c);
}

TEST(descent)
{
	int ends[2], child, pid = -1;

	CHECK_EQ(pipe(ends), 0);
	child = fork();
	if (!child) {
		pid = begin();
		_exit(write(ends[1], &pid, sizeof(pid)) < 0 || pause());
	}
	CHECK_EQ(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
	CHECK(procfs_descends(getpid(), getpid()));
	CHECK(procfs_descends(child, getpid()));
	CHECK(procfs_descends(pid, getpid()));
	CHECK(!procfs_descends(getpid(), child));
	CHECK(!procfs_descends(getppid(), getpid()));
	kill(pid, SIGKILL);
	end(child);
	CHECK(!procfs_descends(child, getpid()));
	close(ends[0]);
	close(ends[1]);
}
